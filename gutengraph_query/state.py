"""The state that flows through the query graph. Studio and SDK users call the fields by these names."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

Mode = Literal["auto", "vector", "graph", "hybrid", "tools"]
Route = Literal["vector", "graph", "hybrid", "tools"]
MODES: tuple[Mode, ...] = ("auto", "vector", "graph", "hybrid", "tools")


class PassageHit(TypedDict):
    """One passage that the vector agent found."""

    chunk_id: str
    book: int
    title: str
    chapter: int
    start: int
    end: int
    text: str
    """`body[start:end]`: the chunk that was found and its neighbours within the chapter."""
    core: str
    """The chunk alone."""
    score: float
    """By which it was ranked: cosine and full-text score, each scaled to 1, added; or the cosine alone."""


class EdgeQuote(TypedDict):
    """One edge with the place that says so."""

    line: str
    book: int
    chapter: int
    start: int
    end: int
    quote: str
    confidence: float
    sentence: str
    """The edge in words: 'Ahab is captain of Pequod.'"""


class GraphHit(TypedDict):
    """One answer from the graph: a path, or a node that a typed lookup led to."""

    by: Literal["lookup", "cypher", "walk"]
    line: str
    """`Ahab -[CAPTAIN_OF]-> Pequod`; the node's name where it was merely listed."""
    answer: str
    """The name that a lookup or a model's query led to; '' for a walk."""
    book: int
    score: float
    """Cosine of a walk's line and the question; confidence of a lookup's surest edge."""
    edges: list[EdgeQuote]


class EntryNode(TypedDict):
    """Where the walk began: a node's name, and its cosine with the question (1 if the question names it)."""

    node: str
    score: float


class Citation(TypedDict):
    """What a number in the answer points to. `text` is what stands there."""

    n: int
    kind: Literal["passage", "edge"]
    book: int
    chapter: int
    start: int
    end: int
    text: str


class Tokens(TypedDict):
    """What the model read and wrote. `estimated`: its backend does not count, so characters / 4 is given."""

    calls: int
    prompt: int
    completion: int
    estimated: bool


class QueryInput(TypedDict, total=False):
    """What a caller gives: a question, as `query` or as the last message; a mode; a book, or an author or kind of
    books; how far it was read."""

    query: str
    mode: Mode
    book: int | None
    up_to: int | None
    author: str | None
    kind: str | None
    messages: Annotated[list[AnyMessage], add_messages]


class QueryState(TypedDict, total=False):
    """Everything that is known of the question under way. Lists are set anew by each question's supervisor."""

    query: str
    mode: Mode
    book: int | None
    up_to: int | None
    """The last chapter that has been read: nothing later may be told. None: the whole book."""
    author: str | None
    """As it was asked for."""
    authors: list[str]
    """The catalogue's forms of that name."""
    kind: str | None
    books: list[int] | None
    """The books that author and kind let through; None: all."""
    routed_to: Route
    why: str
    """Why the supervisor chose that route."""
    notice: str
    """Which brain could not be asked yet, and why; '' if none was left out."""
    vector_results: list[PassageHit]
    graph_results: list[GraphHit]
    graph_passages: list[PassageHit]
    """The passages in which the paths' words stand."""
    graph_total: int
    """How many answers a lookup had before its list was cut."""
    entry: EntryNode | None
    asked: list[str]
    """The agents that have had the question."""
    cypher: str
    answer: str
    known: bool
    citations: list[Citation]
    model: str
    timings: dict[str, float]
    tokens: Tokens
    messages: Annotated[list[AnyMessage], add_messages]


def fresh() -> dict[str, Any]:
    """What each question starts from: with a checkpointer the state of the question before is still there."""
    return {
        "notice": "",
        "vector_results": [],
        "graph_results": [],
        "graph_passages": [],
        "graph_total": 0,
        "entry": None,
        "asked": [],
        "cypher": "",
        "answer": "",
        "known": False,
        "citations": [],
        "model": "",
        "timings": {},
        "tokens": {"calls": 0, "prompt": 0, "completion": 0, "estimated": False},
    }
