"""A gold standard from a review's marks, in the form that `gutengraph evaluate` reads.

What was marked right is in it, and whom the reviewer added. A merge that was marked wrong gives its two names to
two people. `mentions` are the exact occurrences of name and aliases added up, where one stands in another counted
for both, as in every gold standard that `gutengraph evaluate` reads. What nobody judged is not in it: of a sample the recall is over what the sample holds, and
`precision_in_gold` means nothing; the review's own precision stands in its report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gutengraph_core import names
from gutengraph_core.files import write_json
from gutengraph_query.evaluate.gold import Importance
from gutengraph_query.review.marks import Mark, Marks
from gutengraph_query.review.sample import Item


class BookWords:
    """A book's text as the gold's rules see it: folded words."""

    def __init__(self, body: str) -> None:
        self._text = f" {names.key(body)} "

    def count(self, name: str) -> int:
        """How often a name stands in it as whole words; 'Wren, Wren!' is twice."""
        key = names.key(name)
        # the blank after the name is also the one before the next: str.count would take it with the first
        return len(re.findall(f"(?<= ){re.escape(key)}(?= )", self._text)) if key else 0


def gold_path(home: Path, book: int) -> Path:
    """`review/gold/novels/<id>.json` of the data folder: `review/gold` is what `gutengraph evaluate` takes."""
    return home / "review" / "gold" / "novels" / f"{book}.json"


def write_gold(home: Path, marks: Marks, *, title: str, text: BookWords) -> Path:
    """Write a book's gold. Raises DataFolderError."""
    path = gold_path(home, marks.book)
    write_json(path, gold(marks, title=title, text=text), book=marks.book)
    return path


def gold(marks: Marks, *, title: str, text: BookWords) -> dict[str, Any]:
    """The gold document of a book's marks."""
    given = list(marks.marks.values())
    people = _people(given, marks, text)
    places = _places(given)
    known = {entry["name"] for entry in (*people, *places)}
    owner = {names.key(n): e["name"] for e in (*places, *people) for n in (e["name"], *e.get("aliases", ()))}
    relations = []
    for item in _items(given, "relation", "right"):
        a, b = owner.get(names.key(item.a)), owner.get(names.key(item.b))
        if a in known and b in known:  # an end that was marked as nobody contradicts the relation
            relations.append({"a": a, "type": item.type, "b": b})
    judged = sum(mark.verdict != "unsure" for mark in given)
    return {
        "gutenberg_id": marks.book,
        "title": title,
        "genre": "",
        "characters": people,
        "places": places,
        "relations": relations,
        "source": f"Reviewed by hand (`gutengraph review {marks.book}`): {judged} claims of the build judged, "
        f"{len(marks.missed)} people added. Not complete: use it for recall.",
        "licence": "",
    }


def _items(given: Iterable[Mark], kind: str, verdict: str) -> list[Item]:
    return [mark.item for mark in given if mark.item.kind == kind and mark.verdict == verdict]


def _people(given: Sequence[Mark], marks: Marks, text: BookWords) -> list[dict[str, Any]]:
    cast = {m.item.a: m.importance for m in given if m.item.kind == "person" and m.verdict == "right"}
    refused = {names.key(item.a) for item in _items(given, "person", "wrong")}
    groups = _Groups()
    importance: dict[str, Importance] = {}
    for name, of in cast.items():
        groups.add(name)
        importance[name] = of
    for item in _items(given, "merge", "right"):
        groups.join(item.a, item.b)
    for item in _items(given, "merge", "wrong"):
        groups.add(item.a)
        groups.add(item.b)
    for item in _items(given, "relation", "right"):
        for name, label in zip((item.a, item.b), item.ends, strict=False):
            if label == "Character":
                groups.add(name)
    for missed in marks.missed:
        groups.add(missed.name)
        importance[missed.name] = missed.importance
        for alias in missed.aliases:
            groups.join(missed.name, alias)
    found = []
    for group in groups.all():
        if any(names.key(name) in refused for name in group):
            continue
        said = [name for name in group if name in importance]
        name = said[0] if said else max(group, key=len)
        found.append(
            {
                "name": name,
                "aliases": [other for other in group if other != name],
                "gender": "U",
                "importance": importance.get(name, "minor"),
                "also_accept": [],
                "made": "review",
                "mentions": sum(text.count(one) for one in group),
            }
        )
    return sorted(found, key=lambda entry: (-entry["mentions"], entry["name"]))


def _places(given: Sequence[Mark]) -> list[dict[str, Any]]:
    refused = {item.a for item in _items(given, "place", "wrong")}
    found = [item.a for item in _items(given, "place", "right")]
    for item in _items(given, "relation", "right"):
        found += [
            name for name, label in zip((item.a, item.b), item.ends, strict=False) if label == "Location"
        ]
    return [{"name": n, "kind": "", "also_accept": []} for n in dict.fromkeys(found) if n not in refused]


class _Groups:
    """Names that are one person's; two spellings of one key are one name."""

    def __init__(self) -> None:
        self._group: dict[str, list[str]] = {}

    def add(self, name: str) -> list[str]:
        return self._group.setdefault(names.key(name), [name])

    def join(self, a: str, b: str) -> None:
        one, other = self.add(a), self.add(b)
        if one is not other:
            one += other
            for name in other:
                self._group[names.key(name)] = one

    def all(self) -> list[list[str]]:
        return list({id(group): group for group in self._group.values()}.values())
