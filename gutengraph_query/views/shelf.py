"""The shelf: each book of the library with its state, and questions that its graph can answer."""

from __future__ import annotations

from pydantic import BaseModel, Field

from gutengraph_core.graph.read import Graph
from gutengraph_core.graph.schema import STATED, SYMMETRIC
from gutengraph_core.library import BookRecord, Library
from gutengraph_query.views.people import cast, network

STEPS = (
    "raw_text",
    "chunks",
    "embeddings_table",
    "story_arcs",
    "window_names",
    "filtered_entities",
    "enriched_graph",
)
"""A book's assets in the order in which they are made."""


class Shelved(BaseModel):
    """A book as `gutengraph books --json` gives it, and how far its build is."""

    id: int
    title: str
    authors: list[str]
    kind: str
    language: str
    status: str = Field(examples=["built"])
    reason: str
    remedy: str
    chunks: int
    cast: int
    relations: int
    built_at: str
    llm: str
    embedder: str
    percent: int | None = Field(description="While it is being built: share of its steps that stand.")
    published: bool = Field(description="Whether the published graph has it as it stands on disk.")


class Heading(BaseModel):
    """A chapter."""

    index: int
    title: str
    part: str
    start: int


class BookView(Shelved):
    """A book with its chapters."""

    subjects: list[str]
    words: int
    chapters: list[Heading]


def shelf(library: Library, graph: Graph | None) -> list[Shelved]:
    """Every book of the library, by number."""
    return [shelved(record, graph) for record in library.records()]


def shelved(record: BookRecord, graph: Graph | None) -> Shelved:
    """One book."""
    return Shelved(
        id=record.id,
        title=record.title,
        authors=record.authors,
        kind=record.kind,
        language=record.language,
        status=record.status,
        reason=record.reason,
        remedy=_remedy(record),
        chunks=record.counts.get("chunks", 0),
        cast=record.counts.get("cast", 0),
        relations=record.counts.get("relations", 0),
        built_at=record.built_at,
        llm=record.llm,
        embedder=record.embedder,
        percent=_percent(record) if record.status == "building" else None,
        published=graph is not None and graph.manifest.books.get(record.id) == record.graph_sha256,
    )


def book_view(record: BookRecord, graph: Graph | None) -> BookView:
    """One book and its chapters."""
    return BookView(
        **shelved(record, graph).model_dump(),
        subjects=record.subjects,
        words=record.counts.get("words", 0),
        chapters=[
            Heading(
                index=c.index,
                title=" ".join(c.title.split()),
                part=" ".join(c.part.split()),
                start=c.start,
            )
            for c in record.chapters
        ],
    )


def _remedy(record: BookRecord) -> str:
    if record.status in ("failed", "registered") and "`gutengraph" not in record.reason:
        return f"Run `gutengraph build {record.id}`."
    return ""


def _percent(record: BookRecord) -> int:
    """Steps that were made from what their upstream made last."""
    done = sum(
        all(
            above in record.steps and record.steps[above].version == version
            for above, version in record.steps[name].upstream.items()
        )
        for name in STEPS
        if name in record.steps
    )
    return round(100 * done / len(STEPS))


def examples(graph: Graph, library: Library, book: int | None, *, up_to: int | None = None) -> list[str]:
    """Three questions about `book`, or about the books of the graph, made from what its graph holds.

    One that an edge answers, one that a person's edges answer, one for the passages.
    """
    books = [book] if book is not None else graph.books
    asked: list[str] = []
    for shape in (_of_relation, _of_person, _of_passage):
        for turn in range(len(books)):
            one = books[(turn + len(asked)) % len(books)]  # another book for each, where there are several
            question = shape(graph, library, one, up_to)
            if question and question not in asked:
                asked.append(question)
                break
    return asked


def _of_relation(graph: Graph, library: Library, book: int, up_to: int | None) -> str:
    edges = network(graph, library, book, up_to=up_to).edges
    usable = [
        e for e in edges if e.type not in SYMMETRIC and e.type.endswith("_of") and e.confidence >= STATED
    ]
    usable = usable or [e for e in edges if e.type.endswith("_of")]
    if not usable:
        return ""
    edge = usable[0]
    kind = edge.type.removesuffix("_of").replace("_or_", " or ").replace("_", " ")
    return f"Who is the {kind} of {edge.b}?"


def _of_person(graph: Graph, library: Library, book: int, up_to: int | None) -> str:
    people = cast(network(graph, library, book, up_to=up_to))
    related = sorted((p for p in people if p.degree), key=lambda p: (-p.degree, -p.mentions, p.id))
    return f"Who is related to {related[0].name}?" if related else ""


def _of_passage(graph: Graph, library: Library, book: int, up_to: int | None) -> str:
    people = cast(network(graph, library, book, up_to=up_to))
    return f"How is {people[0].name} described?" if people else ""
