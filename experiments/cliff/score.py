"""What a window's reply is worth against the gold novel's people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from gutengraph_core import names


@dataclass
class Tally:
    """Counts over windows of one length and one way of asking. Each person of a window counts once."""

    windows: int = 0
    refused: int = 0
    """Windows that do not fit the model's context."""
    failed: int = 0
    """Replies without a valid answer."""
    truncated: int = 0
    right: int = 0
    missed: int = 0
    wrong: int = 0
    invented: int = 0
    """Of the wrong ones: those that do not even stand in the window."""
    seconds: float = 0.0
    each: list[float | None] = field(default_factory=list)
    """F1 of every window in the order of the sample; None for one that does not fit."""
    thirds: list[list[int]] = field(default_factory=lambda: [[0, 0], [0, 0], [0, 0]])
    """Found and all, by the third of the window in which a person is first named."""

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.missed)

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def f1(self) -> float:
        return 2 * self.right / max(1, 2 * self.right + self.wrong + self.missed)

    def add(self, text: str, present: dict[str, frozenset[str]], answered: Iterable[str]) -> None:
        """One window: `present` are its gold people with the keys of their names, `answered` the names given.

        A name counts as right if it is one of a present person's names, with or without its title. A person
        who is found under two names counts once.
        """
        words = f" {names.key(text)} "
        found: set[str] = set()
        wrong: set[str] = set()
        for key in {names.key(name) for name in answered} - {""}:
            bare = names.key(names.split_title(key)[1])
            owners = {one for one, keys in present.items() if key in keys or bare in keys}
            found |= owners
            if not owners:
                wrong.add(key)
        here = 2 * len(found) + len(wrong) + len(present) - len(found)
        self.each.append(2 * len(found) / max(1, here))
        self.right += len(found)
        self.missed += len(present) - len(found)
        self.wrong += len(wrong)
        self.invented += sum(f" {key} " not in words for key in wrong)
        for one, keys in present.items():
            at = min(place for key in keys if (place := words.find(f" {key} ")) >= 0)
            third = self.thirds[min(2, 3 * at // len(words))]
            third[0] += one in found
            third[1] += 1


def cliff_of(f1_by_words: dict[int, float]) -> int | None:
    """The first length from which F1 stays under half of its best; None where it never falls so far.

    Lengths that were not measured (they do not fit) are not in `f1_by_words`.
    """
    best = max(f1_by_words.values(), default=0.0)
    cliff = None
    for length in sorted(f1_by_words, reverse=True):
        if f1_by_words[length] >= best / 2:
            break
        cliff = length
    return cliff
