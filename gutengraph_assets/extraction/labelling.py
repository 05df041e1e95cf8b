"""The labels: code proposes a window's names, the model says of each what it is, all in one JSON object."""

from __future__ import annotations

from bisect import bisect_left

from gutengraph_assets.extraction.candidates import Candidate, Occurrence, survey
from gutengraph_assets.extraction.evidence import Kind
from gutengraph_assets.extraction.grounding import NOT_IN_TEXT, verified
from gutengraph_assets.extraction.ledger import Entry, StepRun
from gutengraph_assets.extraction.named import Named
from gutengraph_assets.extraction.naming import BookText, Progress
from gutengraph_assets.extraction.prompts.name_labels import Labels, label_prompt, label_schema
from gutengraph_assets.extraction.windowed import Found, Part, Request, WindowedNaming
from gutengraph_core import names
from gutengraph_core.llm.protocol import LLM
from gutengraph_core.llm.structured import Parsed
from gutengraph_core.settings import Settings

_TOKENS_A_LABEL = 24
"""A name of six words with its label, in any vocabulary; the object's braces ride along."""
_KINDS: dict[str, Kind] = {"person": "person", "place": "place", "thing": "thing"}


class LabelNaming(WindowedNaming[Labels]):
    """Labels the candidates of each window. See `gutengraph_assets.extraction.naming.NamingStrategy`."""

    how = "label"

    def __init__(self, llm: LLM, settings: Settings) -> None:
        super().__init__(llm, settings)
        self._instruct = llm.identity.instruct
        self._candidates: dict[str, Candidate] = {}
        self._places: list[tuple[int, int, str]] = []

    @property
    def options(self) -> dict[str, object]:
        prompt = label_prompt("", [], instruct=self._instruct)
        return {"strategy": "label", "prompt": prompt, "repair": self._repair}

    def find(self, text: BookText, run: StepRun, progress: Progress) -> list[Named]:
        found = survey(text.body, text.windows)
        run.record(Entry(step=run.step, item="(survey)", outcome="not_asked", set_aside=found.dropped))
        self._candidates = {candidate.name: candidate for candidate in found.candidates}
        self._places = sorted((o.start, o.end, c.name) for c in found.candidates for o in c.occurrences)
        return super().find(text, run, progress)

    def _within(self, part: Part) -> dict[str, list[tuple[int, int]]]:
        """Candidates that stand in a part, in order of appearance, with their offsets in the body."""
        inside: dict[str, list[tuple[int, int]]] = {}
        at = bisect_left(self._places, (part.start, 0, ""))
        while at < len(self._places) and self._places[at][0] < part.end:
            start, end, name = self._places[at]
            inside.setdefault(name, []).append((start, end))
            at += 1
        return inside

    def request(self, part: Part, body: str) -> Request[Labels] | None:
        inside = list(self._within(part))
        if not inside:
            return None
        text = names.squeeze(body[part.start : part.end])
        prompt = label_prompt(text, inside, instruct=self._instruct)
        return Request(prompt, Labels, label_schema(inside), _TOKENS_A_LABEL * (len(inside) + 1))

    def judge(self, parsed: Parsed[Labels], part: Part, body: str) -> Found:
        found = Found()
        if parsed.value is None:
            return found
        inside = self._within(part)
        for name, label in parsed.value.root.items():
            found.proposed += 1
            spans = inside.get(name, [])
            claimed = [Occurrence(start, end, part.window, part.chapter) for start, end in spans]
            standing = verified(body, name, claimed)
            if not standing:
                found.dropped[NOT_IN_TEXT] += 1
                continue
            found.grounded += 1
            if label in _KINDS:
                found.kept.append((_KINDS[label], name, [(o.start, o.end) for o in standing]))
            else:
                found.dropped[f"labelled {label}"] += 1
        unlabelled = len(inside.keys() - parsed.value.root.keys())
        if unlabelled:
            found.proposed += unlabelled
            found.grounded += unlabelled
            found.dropped["not labelled"] += unlabelled
        return found
