"""nano-graphrag with its defaults, but for one call at a time; answers by its local search."""

import asyncio
import time

from common import Output, chat, embed, load_job

job = load_job()
output = Output(job, "nano-graphrag", "nano-graphrag")

import bpe_openai  # noqa: E402
import numpy  # noqa: E402
import tiktoken  # noqa: E402

# its tokens, without fetching them from the network
tiktoken.encoding_for_model = bpe_openai.encoding_for_model

from nano_graphrag import GraphRAG, QueryParam  # noqa: E402
from nano_graphrag._utils import wrap_embedding_func_with_attrs  # noqa: E402


async def llm(prompt, system_prompt=None, history_messages=(), **kwargs):
    return await asyncio.to_thread(chat, job, prompt, system_prompt, list(history_messages))


@wrap_embedding_func_with_attrs(embedding_dim=job["dimension"], max_token_size=254)
async def vectors(texts):
    return numpy.array(await asyncio.to_thread(embed, job, list(texts)), dtype=numpy.float32)


async def main():
    began = time.perf_counter()
    rag = GraphRAG(
        working_dir=job["work"],
        best_model_func=llm,
        cheap_model_func=llm,
        best_model_max_async=1,
        cheap_model_max_async=1,
        embedding_func=vectors,
    )
    with open(job["text"], encoding="utf-8") as file:
        await rag.ainsert(file.read())
    graph = rag.chunk_entity_relation_graph._graph
    unquoted = lambda name: str(name).strip().strip('"')  # noqa: E731
    output.save(
        names=[
            (unquoted(node), unquoted(data.get("entity_type", ""))) for node, data in graph.nodes(data=True)
        ],
        relations=[
            (unquoted(a), unquoted(b), unquoted(data.get("description", "")))
            for a, b, data in graph.edges(data=True)
        ],
        read_seconds=round(time.perf_counter() - began, 1),
        stage="read",
        note="" if graph.number_of_nodes() else "no entity in any reply",
    )
    for key, question in job["questions"].items():
        began = time.perf_counter()
        answer = await rag.aquery(question, QueryParam(mode="local"))
        output.answer(key, began, answer)
    output.save(stage="done")


asyncio.run(main())
