"""Turns what the agents found into an answer with citations, or says that the books do not tell."""

from __future__ import annotations

from collections.abc import Callable

from gutengraph_core.errors import ModelRefused
from gutengraph_query.brains import Brains, GraphView, brains
from gutengraph_query.merging.evidence import Draft, Evidence
from gutengraph_query.merging.extract import UNKNOWN, extract
from gutengraph_query.merging.generate import generate
from gutengraph_query.nodes.common import Update, message, spent, timed
from gutengraph_query.retrieval.passages import absent
from gutengraph_query.scope import Scope
from gutengraph_query.state import PassageHit, QueryState
from gutengraph_query.understanding.question import Question, read_question, wanted_label


@timed("merge")
def merge(state: QueryState) -> Update:
    """Fill `answer`, `known` and `citations`. Raises as the models and stores do."""
    here = brains()
    question = _read(here, state)
    table = here.passages(Scope.of(state))
    missing = [name for name in question.unknown if absent(table, name, book=state.get("book"))]
    evidence = Evidence(state.get("graph_results", []), _passages(state))
    if missing:
        draft = Draft(f"{UNKNOWN} They do not mention {' or '.join(missing)}.", known=False)
        evidence = Evidence([], [])
    else:
        draft = _draft(here, state, question, evidence)
    notes = [message("merge", note) for note in draft.notes]
    return {
        "answer": draft.text,
        "known": draft.known,
        "citations": evidence.citations() if draft.known else [],
        "model": draft.model,
        "tokens": spent(
            state,
            calls=draft.calls,
            prompt=draft.prompt_tokens,
            completion=draft.completion_tokens,
            estimated=draft.estimated,
        ),
        "messages": [*notes, message("merge", draft.text)],
    }


def _passages(state: QueryState) -> list[PassageHit]:
    """What the vector agent found; where it was not asked, the passages tied to the paths of a walk.

    An answer that was looked up carries its quote with it: the passage around it would only lengthen it.
    """
    if "vector_agent" in state.get("asked", []):
        return state.get("vector_results", [])
    if any(hit["by"] == "lookup" and hit["edges"] for hit in state.get("graph_results", [])):
        return []
    return state.get("graph_passages", [])


def _view(here: Brains, state: QueryState) -> GraphView:
    return here.graph(Scope.of(state))


def _read(here: Brains, state: QueryState) -> Question:
    index = _view(here, state).index if "graph_agent" in state.get("asked", []) else None
    return read_question(
        state["query"],
        lambda words: index is not None and index.knows(words, state.get("book")),
    )


def _draft(here: Brains, state: QueryState, question: Question, evidence: Evidence) -> Draft:
    notes: tuple[str, ...] = ()
    llm = here.instructed()
    if llm is not None:
        try:
            written = generate(question.text, evidence, llm=llm)
        except ModelRefused as refusal:
            written, notes = None, (f"the model refused ({refusal}); quoting instead",)
        if written is not None:
            return written
        notes = notes or ("nothing the model wrote stood in the evidence; quoting instead",)
    drafted = extract(
        question.text,
        evidence,
        query=here.query_vector,
        llm=here.llm,
        embedder=here.embedder,
        total=state.get("graph_total", 0),
        counts=question.counts,
        fits=_fitting(here, state),
    )
    return Draft(**{**drafted.__dict__, "notes": notes})


def _fitting(here: Brains, state: QueryState) -> Callable[[str], bool]:
    """Whether a name can be what is asked for, where the graph brain was asked and knows whose it is."""
    label = wanted_label(state["query"])
    if not label or "graph_agent" not in state.get("asked", []):
        return lambda name: True
    index, book = _view(here, state).index, state.get("book")

    def fits(name: str) -> bool:
        bearers = index.find(name, book)
        return not bearers or any(node.label == label for node in bearers)

    return fits
