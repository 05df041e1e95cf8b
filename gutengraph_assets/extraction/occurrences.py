"""Where the text has a name: whole words, across line wraps, the longest name first."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable

from gutengraph_assets.extraction.book_text import BookText, Span, Token
from gutengraph_core.names import TITLES, fold

_TOKEN = re.compile(r"[^\W_]+")
_GAP_NOISE = re.compile(r"[\s_.]+")
_SENTENCE_END = re.compile(r"[.!?:;]|\n[ \t]*\n|[“”\"(]|--|—")


def _tokens(name: str) -> tuple[list[str], list[str]]:
    """The name's words as written, and the gaps between them, compared by their punctuation only."""
    matches = list(_TOKEN.finditer(name))
    gaps = [_gap(name[a.end() : b.start()]) for a, b in itertools.pairwise(matches)]
    return [m.group() for m in matches], gaps


def _gap(text: str) -> str:
    return _GAP_NOISE.sub(" ", fold(f"x{text}x")[1:-1]).strip()


class NameFinder:
    """Finds a set of names in a body. Overlapping matches go to the longest name."""

    def __init__(self, names: Iterable[str]) -> None:
        self._by_first: dict[str, list[tuple[list[str], list[str], str]]] = defaultdict(list)
        for name in sorted(set(names)):
            words, gaps = _tokens(name)
            if words:
                self._by_first[fold(words[0])].append((words, gaps, name))
        for entries in self._by_first.values():
            entries.sort(key=lambda entry: -len(entry[0]))

    def find(self, text: BookText) -> dict[str, list[Span]]:
        """name -> spans in reading order; names that the text lacks are absent."""
        found: dict[str, list[Span]] = defaultdict(list)
        folded = [fold(t.text) if not t.text.isascii() else t.text.casefold() for t in text.tokens]
        position, total = 0, len(text.tokens)
        while position < total:
            entries = self._by_first.get(folded[position])
            name = self._match(text, folded, position, entries) if entries else None
            if name is None:
                position += 1
                continue
            length, surface = name
            span = (text.tokens[position].start, text.tokens[position + length - 1].end)
            if not self._part_of_longer(text, position, length):
                found[surface].append(span)
            position += length
        return dict(found)

    def _match(
        self,
        text: BookText,
        folded: list[str],
        position: int,
        entries: list[tuple[list[str], list[str], str]],
    ) -> tuple[int, str] | None:
        best: tuple[int, str] | None = None
        for words, gaps, name in entries:
            if best is not None and len(words) < best[0]:
                break
            tokens = text.tokens[position : position + len(words)]
            if (
                len(tokens) < len(words)
                or [fold(w) for w in words[1:]] != folded[position + 1 : position + len(words)]
            ):
                continue
            if not _gaps_fit(text.body, tokens, gaps):
                continue
            exact = all(w == t.text for w, t in zip(words, tokens, strict=True))
            if exact:
                return len(words), name
            if best is None and _case_fits(words, tokens):
                best = (len(words), name)
        return best

    def _part_of_longer(self, text: BookText, position: int, length: int) -> bool:
        """A known name inside an unknown longer one ('Mary' of 'Mary Jane') is not a mention of it."""
        tokens, body = text.tokens, text.body
        last = position + length - 1
        if last + 1 < len(tokens):
            after = tokens[last + 1]
            gap = body[tokens[last].end : after.start]
            if (
                gap.strip("_") in (" ", "\n")
                and after.text[0].isupper()
                and not tokens[last].text.isupper()
                and after.text not in ("I",)
                and len(after.text) > 1
                and not self._by_first.get(fold(after.text))
            ):
                return True
        if position > 0 and length == 1:
            before = tokens[position - 1]
            gap = body[before.end : tokens[position].start]
            title = fold(before.text)
            if title in TITLES and before.text[0].isupper() and _gap(gap) == "" and len(gap) < 4:
                return True
        return False


def _gaps_fit(body: str, tokens: list[Token], gaps: list[str]) -> bool:
    for (a, b), wanted in zip(itertools.pairwise(tokens), gaps, strict=True):
        gap = body[a.end : b.start]
        if gap == " " and wanted == "":
            continue
        if len(gap) > 12 or gap.count("\n") > 1 or _gap(gap) != wanted:
            return False
        if ". " in gap + " " and len(a.text) > 5:
            return False  # two sentences that happen to meet
    return True


def _case_fits(words: list[str], tokens: list[Token]) -> bool:
    """'HISPANIOLA' for 'Hispaniola' and the other way round, but never 'hands' for 'Hands'."""
    written = [t.text for t in tokens]
    if all(w.isupper() for w in written) and sum(map(len, written)) > 2:
        return True
    if all(w.isupper() for w in words):
        return all(t[0].isupper() for t in written)
    # 'the White Whale' opening a sentence, accents spelt out
    head_folds = fold(written[0]) == fold(words[0]) and written[0][0].isupper() and words[0].islower()
    rest = list(zip(words[1:] if head_folds else words, written[1:] if head_folds else written, strict=True))
    return all(fold(w) == fold(t) and w[0].isupper() == t[0].isupper() for w, t in rest)
