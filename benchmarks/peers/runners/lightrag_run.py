"""LightRAG with its defaults, but for one call at a time and gleaning as it comes; its storages in files."""

import asyncio
import os
import time

from common import Output, chat, embed, load_job

job = load_job()
output = Output(job, "LightRAG", "lightrag-hku")

import bpe_openai  # noqa: E402
import numpy  # noqa: E402
from lightrag import LightRAG, QueryParam  # noqa: E402
from lightrag.base import DocStatus  # noqa: E402
from lightrag.utils import EmbeddingFunc, Tokenizer  # noqa: E402


class Tokens:
    """The tokens that LightRAG counts by default, without fetching them from the network."""

    _encoding = bpe_openai.encoding_for_model("gpt-4o-mini")

    def encode(self, content):
        return self._encoding.encode(content)

    def decode(self, tokens):
        return self._encoding.decode(tokens)

    def __deepcopy__(self, memo):
        return self


async def llm(prompt, system_prompt=None, history_messages=None, **kwargs):
    return await asyncio.to_thread(chat, job, prompt, system_prompt, history_messages or [])


async def vectors(texts, **kwargs):
    return numpy.array(await asyncio.to_thread(embed, job, list(texts)), dtype=numpy.float32)


async def main():
    began = time.perf_counter()
    rag = LightRAG(
        working_dir=job["work"],
        llm_model_func=llm,
        llm_model_name=job["llm_model"],
        llm_model_max_async=1,
        embedding_func=EmbeddingFunc(embedding_dim=job["dimension"], max_token_size=254, func=vectors),
        tokenizer=Tokenizer(job["llm_model"], Tokens()),
    )
    await rag.initialize_storages()
    with open(job["text"], encoding="utf-8") as file:
        await rag.ainsert(file.read(), file_paths=os.path.basename(job["text"]))
    failed = await rag.doc_status.get_docs_by_statuses([DocStatus.FAILED])
    graph = rag.chunk_entity_relation_graph
    nodes, edges = await graph.get_all_nodes(), await graph.get_all_edges()
    output.save(
        names=[
            (str(node.get("entity_id", node.get("id"))), str(node.get("entity_type", ""))) for node in nodes
        ],
        relations=[(str(e["source"]), str(e["target"]), str(e.get("keywords", ""))) for e in edges],
        read_seconds=round(time.perf_counter() - began, 1),
        stage="read",
        note="; ".join(
            f"it marks the text as failed: {status.error_msg}"[:200] for status in failed.values()
        ),
    )
    for key, question in job["questions"].items():
        began = time.perf_counter()
        answer = await rag.aquery(question, QueryParam(mode="hybrid", enable_rerank=False))
        output.answer(key, began, answer)
    output.save(stage="done")
    await rag.finalize_storages()


asyncio.run(main())
