"""An answer by quoting: the edge first where there is one, then the likeliest names and the best excerpts.

For models that cannot write an answer of their own: on 75 questions answered from five passages, one generated
answer of the 270M model is right for .24 of them, three chosen names with two excerpts for .53.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gutengraph_core.embedding.protocol import Embedder, Matrix
from gutengraph_core.graph.schema import STATED
from gutengraph_core.llm.protocol import LLM
from gutengraph_core.names import squeeze
from gutengraph_query.merging.candidates import Candidate, Chosen, choose
from gutengraph_query.merging.evidence import Draft, Evidence
from gutengraph_query.merging.spans import excerpts, holds, quoted, shortened
from gutengraph_query.state import GraphHit, PassageHit

NAMES = 3
"""Names offered. Of 75 questions .20 are answered by the first, .44 by three, .47 by five: after the third a
name costs the reader more than it brings."""
EXCERPTS = 2
LISTED = 8
"""Longest list of names that is read rather than skimmed; the rest is counted."""
_TOLD = 3
"""Edges told in sentences; one where passages have gone before, which know more."""
_NAME_BONUS = 0.5
"""What a chosen name adds to the cosine of an excerpt, scaled to 1. On 75 questions 0 to 1 made no difference;
but an excerpt that shows the name lets the reader judge it."""
_CHARS_PER_TOKEN = 4
UNKNOWN = "The books here do not say."


@dataclass(frozen=True)
class Excerpt:
    """A piece of a passage."""

    text: str
    passage: PassageHit


def extract(
    question: str,
    evidence: Evidence,
    *,
    query: Callable[[str], Matrix],
    llm: LLM,
    embedder: Embedder,
    total: int,
    counts: bool,
    fits: Callable[[str], bool] = lambda name: True,
) -> Draft:
    """Answer `question` in the evidence's own words.

    `query` gives the question's vector: an edge alone needs none, and no model is loaded for it. `total`:
    answers of the lookup before its list was cut; `counts`: it asks how many; `fits`: whether a name can be
    what is asked for.

    Raises as the model and the embedder do.
    """
    if evidence.empty:
        return Draft(UNKNOWN, known=False)
    looked_up = [fact for fact in evidence.facts if fact["by"] == "lookup"]
    walks = [fact for fact in evidence.facts if fact["by"] == "walk"]
    parts: list[str] = []
    if looked_up:
        parts.append(_told(looked_up, evidence, total=total, counts=counts))
    elif walks and not evidence.passages:
        parts.append(_sentences(walks, evidence, most=_TOLD))
    chosen = Chosen([], [], 0, 0)
    offered: list[Candidate] = []
    if evidence.passages:
        if not looked_up and llm.gives_logprobs:
            chosen = choose(llm, question, [p["core"] for p in evidence.passages], fits=fits)
            offered = chosen.candidates[:NAMES]
            parts += [_perhaps(offered, evidence)] if offered else []
        wanted = [c.name for c in offered] or [fact["answer"] for fact in looked_up]
        best = best_excerpts(
            evidence.passages,
            query(question),
            embedder,
            names=wanted,
            words=chosen.words,
            told=[looked_up[0]["edges"][0]["quote"]] if _quoted(looked_up, counts=counts) else [],
        )
        parts += [f"{quoted(e.text)} {evidence.cite_passage(e.passage)}" for e in best]
        if walks and not looked_up:  # near the question, but not asked for: it follows what is
            parts.append(_sentences(walks, evidence, most=1))
    return Draft(
        " ".join(parts),
        known=True,
        model=str(llm.identity) if chosen.calls else "",
        calls=chosen.calls,
        prompt_tokens=chosen.prompt_chars // _CHARS_PER_TOKEN,
        completion_tokens=chosen.calls,
        estimated=chosen.calls > 0,
    )


def best_excerpts(
    passages: Sequence[PassageHit],
    query: Matrix,
    embedder: Embedder,
    *,
    names: Sequence[str],
    words: Sequence[str],
    told: Sequence[str] = (),
) -> list[Excerpt]:
    """The excerpts nearest to the question, those with one of `names` or `words` (best first) preferred.

    What stands in `told`, or holds it, has been said and is not said again.
    """
    said = [squeeze(text) for text in told]
    pieces = [Excerpt(text, passage) for passage in passages for text in excerpts(passage["text"])]
    pieces = [p for p in pieces if not any(s in squeeze(p.text) or squeeze(p.text) in s for s in said)]
    pieces = list({piece.text: piece for piece in pieces}.values())  # neighbours overlap
    if not pieces:
        return []
    cosines = embedder.embed_documents([piece.text for piece in pieces]) @ query
    scores = cosines / max(float(cosines.max()), 1e-9)
    scores += np.array([_NAME_BONUS * any(holds(p.text, n) for n in names if n) for p in pieces])
    scores += np.array([_word_bonus(p.text, words) for p in pieces])
    return [pieces[i] for i in np.argsort(-scores, kind="stable")[:EXCERPTS]]


def _word_bonus(text: str, words: Sequence[str]) -> float:
    """1 for the first word down to 1/n for the last; of several the best."""
    return max((1 - i / len(words) for i, word in enumerate(words) if holds(text, word)), default=0.0)


def name_list(shown: Sequence[str], *, total: int) -> str:
    """'A, B and C'; of more than eight the first eight and '+44 more'."""
    more = max(total, len(shown)) - len(shown[:LISTED])
    if more > 0:
        return f"{', '.join(shown[:LISTED])} +{more} more"
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def _perhaps(offered: Sequence[Candidate], evidence: Evidence) -> str:
    told = [f"{c.name} {evidence.cite_passage(evidence.passages[c.source])}" for c in offered]
    if len(told) == 1:
        return f"Perhaps {told[0]}."
    return f"Perhaps {', '.join(told[:-1])} or {told[-1]}."


def _told(facts: Sequence[GraphHit], evidence: Evidence, *, total: int, counts: bool) -> str:
    """What a lookup found: one answer in a sentence and its quote, several as a list."""
    if _quoted(facts, counts=counts):  # with its certainty in the sentence
        first = facts[0]["edges"][0]
        return f"{_sentences(facts, evidence, most=_TOLD)} {quoted(shortened(first['quote']))}"
    stated = [fact for fact in facts if not fact["edges"] or fact["score"] >= STATED]
    likely = [fact for fact in facts if fact not in stated]
    if counts or not stated:
        listed = name_list([_cited(fact, evidence) for fact in facts], total=total)
        return f"{total}: {listed}." if counts else f"Probably {listed}."
    listed = f"{name_list([_cited(f, evidence) for f in stated], total=total - len(likely))}."
    if likely:
        rest = [_cited(fact, evidence) for fact in likely[:NAMES]]
        listed += f" Less surely {name_list(rest, total=len(rest))}."
    return listed


def _quoted(facts: Sequence[GraphHit], *, counts: bool) -> bool:
    """Whether a lookup's answer is told with the words that say so."""
    return len(facts) == 1 and bool(facts[0]["edges"]) and not counts


def _cited(fact: GraphHit, evidence: Evidence) -> str:
    return f"{fact['answer']} {evidence.cite_edge(fact['edges'][0])}" if fact["edges"] else fact["answer"]


def _sentences(facts: Sequence[GraphHit], evidence: Evidence, *, most: int) -> str:
    """The distinct edges of some facts, a sentence and a citation each, at most `most`."""
    told: dict[str, str] = {}
    for edge in (edge for fact in facts for edge in fact["edges"]):
        if len(told) < most and edge["sentence"] not in told:
            told[edge["sentence"]] = f"{edge['sentence'].removesuffix('.')} {evidence.cite_edge(edge)}."
    return " ".join(told.values())
