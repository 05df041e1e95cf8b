"""Which of the names in the evidence answers a question: a small model's one small decision at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gutengraph_core import names
from gutengraph_core.llm.protocol import LLM
from gutengraph_query.merging.spans import capitalised, content_words, opens_only, untitled
from gutengraph_query.prompts.choose import choose_prompt

TOP = 3000
"""Log-probabilities asked for: of a vocabulary of 256,000, what comes later is below any name that matters."""
OLLAMA_TOP = 20
"""The most that Ollama and OpenAI's servers give."""
WORDS = 5
"""Words kept. As a guide to the excerpts they raise the right answers of 75 questions from .49 to .53; ten: .52."""
GAIN = 0.5
"""Weight of what a passage adds over the same prompt without it. On 75 questions the right name is among the
first three for .44 of them with it, .40 without, .41 at a weight of 1; among the first for .20, .20, .19."""


@dataclass(frozen=True)
class Candidate:
    """A name of the evidence. `source`: index of the text in which it fits the question best."""

    name: str
    score: float
    source: int


@dataclass(frozen=True)
class Chosen:
    """The candidates and the words, best first, and what it took."""

    candidates: list[Candidate]
    words: list[str]
    """The likeliest words of the texts, names or not: they tell which excerpt holds the answer."""
    calls: int
    prompt_chars: int


def choose(
    llm: LLM, question: str, texts: Sequence[str], *, fits: Callable[[str], bool] = lambda name: True
) -> Chosen:
    """Rank the names, and the words, that stand in `texts` and not in the question.

    A name's score is the log-probability of its first token after 'Answer:', plus half of what the text adds to
    it over the same prompt without the text; a name in several texts has its best. A name that another contains
    ('Day', 'Mr. Day') is counted once, in the form that scores best. Names that do not fit (a place where a
    person is asked for) are left out. Raises as the model does.
    """
    asked = set(names.words(question))
    prompts = [choose_prompt(question, text) for text in texts]
    bare_prompt = choose_prompt(question, "")
    top = TOP if llm.identity.backend == "embedded" else OLLAMA_TOP
    bare = llm.next_token_logprobs(bare_prompt, top=top)
    best: dict[tuple[str, ...], Candidate] = {}
    words: dict[tuple[str, ...], Candidate] = {}
    for source, (text, prompt) in enumerate(zip(texts, prompts, strict=True)):
        told = llm.next_token_logprobs(prompt, top=top)
        for found, pieces in ((best, capitalised(text)), (words, content_words(text))):
            for name in pieces:
                key = tuple(names.words(name))
                if all(word in asked or word in names.TITLES for word in key):
                    continue
                score = max(_score(form, told, bare) for form in {name, untitled(name)})
                if key not in found or score > found[key].score:
                    found[key] = Candidate(name, score, source)
    named = [c for c in _ranked(best) if fits(c.name) and not opens_only(c.name, texts)]
    return Chosen(
        _distinct(named),
        [word.name for word in _ranked(words)[:WORDS]],
        len(prompts) + 1,
        sum(map(len, prompts)) + len(bare_prompt),
    )


def _ranked(found: Mapping[tuple[str, ...], Candidate]) -> list[Candidate]:
    return sorted(found.values(), key=lambda c: (-c.score, c.source, c.name))


def _score(name: str, told: Mapping[str, float], bare: Mapping[str, float]) -> float:
    likely = _first_token(name, told)
    if likely is None:
        return _below(told)
    before = _first_token(name, bare)
    return likely + GAIN * (likely - (_below(bare) if before is None else before))


def _below(logprobs: Mapping[str, float]) -> float:
    """At most this: what is not listed is less likely than all that is."""
    return min(logprobs.values()) - 1.0


def _first_token(name: str, logprobs: Mapping[str, float]) -> float | None:
    """Log-probability of the longest token that begins ' name' or 'name'; None if none of the listed does."""
    found = None
    longest = 0
    for form in (f" {name}", name):
        for size in range(len(form), 0, -1):
            token = form[:size]
            if token in logprobs and len(token.strip()) > longest:
                found, longest = logprobs[token], len(token.strip())
                break
    return found


def _distinct(ranked: Sequence[Candidate]) -> list[Candidate]:
    kept: list[tuple[set[str], Candidate]] = []
    for candidate in ranked:
        words = set(names.words(candidate.name))
        if not any(words <= other or other <= words for other, _ in kept):
            kept.append((words, candidate))
    return [candidate for _, candidate in kept]
