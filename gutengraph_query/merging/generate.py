"""An answer written by an instruct model from numbered evidence, and checked against it before it is shown."""

from __future__ import annotations

import re

from gutengraph_core import names
from gutengraph_core.llm.prompting import estimate_tokens
from gutengraph_core.llm.protocol import LLM
from gutengraph_query.merging.evidence import Draft, Evidence, key_of
from gutengraph_query.merging.extract import UNKNOWN
from gutengraph_query.merging.spans import capitalised, holds
from gutengraph_query.prompts.answer import MAX_TOKENS, NOT_TOLD, SYSTEM, answer_prompt
from gutengraph_query.state import Citation, EdgeQuote

_SENTENCE = re.compile(r"(?<=[.!?…])[\"”’]?(?:\s*\[\d+\])*\s+(?=[A-Z“\"‘])")
_CITED = re.compile(r"\s*\[(\d+(?:\s*,\s*\d+)*)\]")
_TITLE_STOP = re.compile(r"\b(Mr|Mrs|Ms|Dr|St|M|Mme|Capt)\.\s")
_GAP = "\u0000"


def generate(question: str, evidence: Evidence, *, llm: LLM) -> Draft | None:
    """The model's answer, or None where nothing of it stood up to the check.

    A sentence that names somebody who is neither in the evidence nor in the question is dropped; a number that
    points to no evidence is taken out; a sentence without any gets that of the evidence it is nearest to.
    Raises as the model does.
    """
    if evidence.empty:
        return Draft(UNKNOWN, known=False)
    citations = evidence.citations()
    lines = {edge_key(edge): f["line"] for f in evidence.facts for edge in f["edges"]}
    shown = [(c["n"], _shown(c, lines)) for c in citations]
    prompt = answer_prompt(question, shown)
    if estimate_tokens(f"{SYSTEM}{prompt}") + MAX_TOKENS > llm.context_tokens:
        # Too much for this model: the chunks that were found, without what stands around them.
        cores = evidence.cores()
        shown = [(c["n"], cores.get(key_of(c)) or _shown(c, lines)) for c in citations]
        prompt = answer_prompt(question, shown)
    reply = llm.complete(prompt, max_tokens=MAX_TOKENS, system=SYSTEM)
    spent = (1, reply.prompt_tokens, reply.completion_tokens)
    if NOT_TOLD.casefold() in reply.text.casefold():
        return Draft(UNKNOWN, False, str(llm.identity), *spent)
    told = f"{evidence.text()}\n{question}\n{' '.join(text for _, text in shown)}"
    text, notes = checked(reply.text, told, citations, cut=reply.finish_reason == "length")
    return Draft(text, True, str(llm.identity), *spent, notes=tuple(notes)) if text else None


def checked(text: str, told: str, citations: list[Citation], *, cut: bool) -> tuple[str, list[str]]:
    """An answer without the sentences that name strangers to `told`, each of the others with its citation; and what
    was dropped. `cut`: the reply broke off, and its last sentence is dropped unless it is whole.
    """
    kept, notes = [], []
    for sentence in _sentences(text, cut=cut):
        strangers = [name for name in capitalised(_inner(sentence)) if not _stands(name, told)]
        if strangers:
            notes.append(f"dropped a sentence that names {', '.join(strangers)}, who is not in the evidence")
        else:
            kept.append(_cited(sentence, citations))
    return " ".join(kept), notes


def edge_key(edge: EdgeQuote) -> tuple[int, int, int]:
    """An edge's place."""
    return edge["book"], edge["start"], edge["end"]


def _shown(citation: Citation, lines: dict[tuple[int, int, int], str]) -> str:
    if citation["kind"] == "edge":
        line = lines[citation["book"], citation["start"], citation["end"]]
        return f"{line}: “{citation['text']}”"
    return citation["text"]


def _sentences(text: str, *, cut: bool) -> list[str]:
    shielded = _TITLE_STOP.sub(rf"\1.{_GAP}", names.squeeze(text))
    found: list[str] = []
    last = 0
    for match in _SENTENCE.finditer(shielded):
        found.append(shielded[last : match.end()].strip())
        last = match.end()
    found.append(shielded[last:].strip())
    sentences = [s.replace(_GAP, " ") for s in found if s]
    whole = re.compile(r"[.!?”\"\]]$")
    return sentences[:-1] if cut and len(sentences) > 1 and not whole.search(sentences[-1]) else sentences


def _inner(sentence: str) -> str:
    """The sentence without its citations."""
    return _CITED.sub("", sentence)


def _stands(name: str, told: str) -> bool:
    """In the evidence as it is, or every word of it: 'Peter Day' where the text has 'Peter' and 'Mr. Day'."""
    if holds(told, name):
        return True
    words = [word for word in names.words(name) if word not in names.TITLES]
    return all(holds(told, word) for word in words)


def _cited(sentence: str, citations: list[Citation]) -> str:
    known = {c["n"] for c in citations}

    def valid(match: re.Match[str]) -> str:
        numbers = [n for n in re.findall(r"\d+", match[1]) if int(n) in known]
        return "".join(f" [{n}]" for n in numbers)

    sentence = _CITED.sub(valid, sentence)
    if _CITED.search(sentence):
        return sentence
    if not citations:
        return sentence
    words = set(names.words(sentence))
    nearest = max(citations, key=lambda c: (len(words & set(names.words(c["text"]))), -c["n"]))
    return f"{sentence} [{nearest['n']}]"
