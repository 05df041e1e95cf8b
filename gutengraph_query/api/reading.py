"""`/books`, `/passages` and `/health`: what the library holds, and how the server fares."""

from __future__ import annotations

import time
from dataclasses import asdict
from importlib.metadata import version
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import BaseModel, Field

from gutengraph_core.errors import GutenGraphError, NotBuilt
from gutengraph_core.graph.read import Graph
from gutengraph_query.api.problems import responses
from gutengraph_query.brains import Brains
from gutengraph_query.listing import graph_with
from gutengraph_query.views import people
from gutengraph_query.views.arc import Arc, arc
from gutengraph_query.views.ledger import StepSummary, ledger
from gutengraph_query.views.notions import Merge, Notion, merges, notions
from gutengraph_query.views.passage import Page, page
from gutengraph_query.views.people import Being, Event, Network, Relation
from gutengraph_query.views.shelf import BookView, Shelved, book_view, examples, shelf

CHECKS_KEPT_S = 30.0
"""The checks ask model servers and the driver: whoever reloads the page shall not."""
_MOST = 2**31 - 1

router = APIRouter()

BookId = Annotated[int, Path(ge=0, le=_MOST, description="Its Gutenberg number.", examples=[0])]
UpTo = Annotated[
    int | None, Query(ge=0, le=_MOST, description="Use nothing of what later chapters tell.", examples=[3])
]
Limit = Annotated[int | None, Query(ge=1, le=100_000, description="Give the first so many only.")]


def _here(request: Request) -> Brains:
    here: Brains = request.app.state.brains
    return here


Here = Annotated[Brains, Depends(_here)]


def _published(here: Brains) -> Graph | None:
    try:
        return here.published()
    except NotBuilt:
        return None


def _network(here: Brains, book: int, up_to: int | None) -> Network:
    return people.network(graph_with(here, book), here.library, book, up_to=up_to)


# --- books ---
@router.get("/books", summary="Every book of the library", tags=["books"], responses=responses())
def books(here: Here) -> list[Shelved]:
    """With its state, and why it is so."""
    return shelf(here.library, _published(here))


@router.get("/books/{book}", summary="A book and its chapters", tags=["books"], responses=responses(404, 409))
def one_book(book: BookId, here: Here) -> BookView:
    """Programs get this; a browser that opens the address gets the book's screen."""
    return book_view(here.library.record(book), _published(here))


@router.get("/books/{book}/characters", summary="The cast", tags=["books"], responses=responses(404, 409))
def characters(book: BookId, here: Here, up_to: UpTo = None, limit: Limit = None) -> list[Being]:
    """Cast before mentioned, most mentioned first, each with its mentions by chapter."""
    return people.cast(_network(here, book, up_to))[:limit]


@router.get(
    "/books/{book}/relations",
    summary="Who is what to whom, each with its quote",
    tags=["books"],
    responses=responses(404, 409),
)
def relations(book: BookId, here: Here, up_to: UpTo = None, limit: Limit = None) -> list[Relation]:
    """Surest first."""
    return _network(here, book, up_to).edges[:limit]


@router.get("/books/{book}/graph", summary="The network", tags=["books"], responses=responses(404, 409))
def graph(book: BookId, here: Here, up_to: UpTo = None) -> Network:
    """People, places, things and events with the relations between them; nodes by how connected they are."""
    return _network(here, book, up_to)


@router.get("/books/{book}/places", summary="The places", tags=["books"], responses=responses(404, 409))
def places(book: BookId, here: Here, up_to: UpTo = None) -> list[Being]:
    """Most mentioned first."""
    return people.places(_network(here, book, up_to))


@router.get("/books/{book}/events", summary="What happens", tags=["books"], responses=responses(404, 409))
def events(book: BookId, here: Here, up_to: UpTo = None) -> list[Event]:
    """In the book's order, each with who took part, where, and the sentence that says so."""
    return people.events(_network(here, book, up_to))


@router.get(
    "/books/{book}/themes", summary="Themes and atmosphere", tags=["books"], responses=responses(404, 409)
)
def themes(book: BookId, here: Here, up_to: UpTo = None) -> list[Notion]:
    """Each with the passages it rests on."""
    return notions(graph_with(here, book), book, up_to=up_to)


@router.get(
    "/books/{book}/merges",
    summary="Which names were joined, and why",
    tags=["books"],
    responses=responses(404, 409),
)
def joined(book: BookId, here: Here, up_to: UpTo = None) -> list[Merge]:
    """Each with the words it rests on."""
    here.check_book(book)
    return merges(here.library, book, up_to=up_to)


@router.get("/books/{book}/arc", summary="The story arc", tags=["books"], responses=responses(404, 409))
def story_arc(book: BookId, here: Here, up_to: UpTo = None) -> Arc:
    """Passages in reading order: a place in two dimensions and two measures of sentiment, each."""
    here.check_book(book)
    return arc(here.library, book, up_to=up_to)


@router.get(
    "/books/{book}/ledger", summary="What each step counted", tags=["books"], responses=responses(404, 409)
)
def counted(book: BookId, here: Here) -> list[StepSummary]:
    """Attempted, kept, cut, dropped and failed, in numbers and in words."""
    here.library.record(book)
    return ledger(here.library, book)


# --- passages ---
@router.get(
    "/passages/{book}/{start}",
    summary="A place of a book in its chapter",
    tags=["passages"],
    responses=responses(404, 409),
)
def passage(
    book: BookId,
    start: Annotated[int, Path(ge=0, le=_MOST, description="Offset in the book's body, in characters.")],
    here: Here,
    end: Annotated[
        int | None, Query(ge=0, le=_MOST, description="One past the last marked character.")
    ] = None,
    around: Annotated[int, Query(ge=0, le=20, description="Paragraphs before and after.")] = 2,
    up_to: UpTo = None,
) -> Page:
    """Whole paragraphs with body[start:end] marked, who is there, and where to read on."""
    return page(here.library, _published(here), book, start, end, around=around, up_to=up_to)


@router.get(
    "/examples",
    summary="Questions that the books at hand can answer",
    tags=["asking"],
    responses=responses(404, 409),
)
def asked_for_example(
    here: Here, book: Annotated[int | None, Query(ge=0, le=_MOST)] = None, up_to: UpTo = None
) -> list[str]:
    """Up to three, made from what the graph holds."""
    found = graph_with(here, book) if book is not None else _published(here)
    return examples(found, here.library, book, up_to=up_to) if found else []


# --- health ---
class GraphState(BaseModel):
    """The published graph."""

    version: int
    built_at: str
    books: int
    embedder: str
    left_out: dict[int, str] = Field(description="Book -> why it is not in it.")


class Health(BaseModel):
    """How the server fares."""

    status: Literal["ok", "starting", "degraded", "empty"]
    reason: str
    version: str
    books: int
    graph: GraphState | None
    llm: str
    embedding: str


class Check(BaseModel):
    """One line of `gutengraph doctor`."""

    name: str
    status: Literal["ok", "note", "problem"]
    found: str
    remedy: str


@router.get("/health", summary="Is it well?", tags=["health"], responses=responses())
def health(here: Here, request: Request) -> Health:
    """Asks nobody else: for what the models' servers say, see /health/checks."""
    state: dict[str, Any] = request.app.state.warm
    reason = str(state["failure"] or "")
    status: Literal["ok", "starting", "degraded", "empty"] = "ok" if state["done"] else "starting"
    shown = None
    try:
        found = here.published()
        manifest = found.manifest
        shown = GraphState(
            version=found.version,
            built_at=manifest.built_at,
            books=len(manifest.books),
            embedder=manifest.embedder,
            left_out={left.book: left.reason for left in manifest.left_out},
        )
    except NotBuilt as error:
        status, reason = "empty", str(error)
    except GutenGraphError as error:
        status, reason = "degraded", str(error)
    if status == "ok" and reason:
        status = "degraded"
    return Health(
        status=status,
        reason=reason,
        version=version("gutengraph"),
        books=len(here.library.ids()),
        graph=shown,
        llm=here.settings.answering_llm,
        embedding=here.settings.embedding,
    )


@router.get(
    "/health/checks", summary="What `gutengraph doctor` finds", tags=["health"], responses=responses()
)
def checks(here: Here, request: Request) -> list[Check]:
    """Models, data folder, extras, and what to set; at most 30 s old."""
    from gutengraph_core.doctor import examine

    kept: dict[str, Any] = request.app.state.checks
    with kept["lock"]:
        if kept["found"] is None or time.monotonic() - kept["at"] > CHECKS_KEPT_S:
            kept["found"] = [Check(**asdict(finding)) for finding in examine(here.settings)]
            kept["at"] = time.monotonic()
        found: list[Check] = kept["found"]
    return found
