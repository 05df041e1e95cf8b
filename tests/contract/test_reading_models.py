"""A book read over a server that speaks as Ollama does, down to the published graph, the views and an export."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import harbour_story as story
import pyarrow as pa
import pytest
from ollama_standin import recording
from stories import mentions_of, windows_of

from gutengraph_assets.extraction.book_graph import build_book_graph, write_book_graph
from gutengraph_assets.extraction.filter import filter_entities
from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_assets.extraction.reading.book import STEPS, Reader
from gutengraph_core import tables
from gutengraph_core.files import write_table
from gutengraph_core.graph.build import build_merged
from gutengraph_core.graph.export import collect
from gutengraph_core.graph.published import PublishedGraph
from gutengraph_core.library import Library
from gutengraph_core.llm import open_llm
from gutengraph_core.settings import Settings
from gutengraph_core.vectors import ChunkTable
from gutengraph_query.views import people
from gutengraph_query.views.notions import notions

NAMES = {"Captain Wren": "person", "Mrs. Agnes Pell": "person", "Lucy": "person", "Dr. Marlow": "person",
         "Silas Crane": "person", "Silas": "person", "Agnes": "person", "Harrow Quay": "place"}  # fmt: skip
PORTRAIT = {
    "role": "love interest", "gender": "", "character_type": "person", "social_class": "physician", "motivation": "to heal her",
    "motivation_quote": "Dr. Marlow sat with her four nights together", "arc": "", "arc_quote": "",
}  # fmt: skip
EVENT = {"name": "the proposal", "kind": "meeting", "quote": "Dr. Marlow had asked Agnes to marry him",
         "people": ["Dr. Marlow", "Agnes"], "place": ""}  # fmt: skip


@pytest.fixture
def server() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Answers as the recorded Ollama did, with the reply of a script in the place of the recorded text."""
    asked: list[dict[str, Any]] = []
    tags, show, chat = (recording(name)["response"]["body"] for name in ("tags", "show", "chat-schema-list"))
    show = {**show, "template": "<start_of_turn>user\n{{ .Prompt }}<end_of_turn>\n"}
    name = tags["models"][0]["name"]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(tags)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/api/show":
                return self._send(show)
            if self.path != "/api/chat":
                return self._send({"done": True})  # the client unloads the model
            asked.append(body)
            text = body["messages"][-1]["content"]
            if "events" in body["format"]["properties"]:
                # quoted twice, as both passages that a theme must have
                reply = {
                    "events": [EVENT] if EVENT["quote"] in text else [],
                    "themes": [{"name": "illness", "quote": "the marsh fever"}, {"name": "illness", "quote": "counted the days"}],
                    "atmospheres": [],
                }  # fmt: skip
            else:
                reply = PORTRAIT
            answered = {**chat, "message": {"role": "assistant", "content": json.dumps(reply)}}
            return self._send({**answered, "prompt_eval_count": len(text) // 3, "done_reason": "stop"})

        def _send(self, document: dict[str, Any]) -> None:
            data = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    serving = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield f"{name}@http://127.0.0.1:{serving.server_port}", asked
    serving.shutdown()
    serving.server_close()
    thread.join()


def test_what_an_instruct_model_reads_reaches_files_graph_views_and_export(
    library: Library, home: Any, server: tuple[str, list[dict[str, Any]]]
) -> None:
    address, asked = server
    name, _, url = address.partition("@")
    story.build_library(library, 7)
    settings = Settings(home=home, llm=f"ollama:{name}", ollama_host=url)
    record, body = library.record(7), story.body()
    windows, mentions = windows_of(body), mentions_of(body, NAMES)
    kept = filter_entities(record=record, body=body, windows=windows, mentions=mentions, settings=settings)
    embedder = story.ToyEmbedder()
    chunks, vectors = ChunkTable.open(library, embedder.identity).rows(7)
    llm = open_llm(settings.llm, settings)
    ledger = Ledger(library.path(7, "ledger.jsonl"), book=7)
    graph = build_book_graph(
        record=record, body=body, windows=windows, chunks=chunks, entities=kept.entities, merges=kept.merges,
        settings=settings, embedder=embedder, passages=vectors, reader=Reader(llm, ledger, settings),
    )  # fmt: skip
    llm.close()
    write_table(
        library.path(7, "chunks.parquet"), pa.Table.from_pylist(story.chunk_rows(7), schema=tables.CHUNKS)
    )
    write_book_graph(library, 7, graph)
    build_merged(library)

    assert {next(iter(body["format"]["required"])) for body in asked} == {"role", "events"}
    summaries = [ledger.summary(step) for step in STEPS]
    assert all(s.asked and not s.failed for s in summaries)
    published = PublishedGraph(library).current()
    found = people.network(published, library, 7)
    marlow = next(b for b in found.nodes if b.name == "Dr. Marlow")
    assert (marlow.role, marlow.character_type, marlow.social_class) == (
        "supporting",
        "human",
        "professional",
    )
    assert marlow.motivation == "to heal her"
    (proposal,) = people.events(found)
    assert {p.name for p in proposal.people} == {"Dr. Marlow", "Mrs. Agnes Pell"}
    assert proposal.told[0].quote == EVENT["quote"]
    assert people.events(people.network(published, library, 7, up_to=2)) == []
    illness = next(n for n in notions(published, 7) if n.name == "illness")
    assert len(illness.passages) == 2
    exported = {node["id"]: node for node in collect(published, 7).nodes}
    assert exported[proposal.event.id]["label"] == "Event"
    assert json.loads(exported[marlow.id]["raw"])["social_class"] == "dr"
