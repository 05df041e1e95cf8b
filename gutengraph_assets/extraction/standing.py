"""Who of a book's persons is its cast, who is only mentioned, and whose name is dropped, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gutengraph_assets.extraction.aliases.person_name import PersonName
from gutengraph_core.library import Kind

SHORT_WINDOWS = 60
TINY_WINDOWS = 20
"""Under these a book is a novella or a tale: a person has fewer windows to stand in, so fewer are asked for."""
FULL_NAME_MENTIONS = 2
"""A titled or two-part name said this often is a minor character below the threshold; said once, it is as
often somebody the book only refers to."""
OFTEN = 4
"""Times the threshold from which somebody is of the cast without being seen to speak or act."""
SHORTEST = 3
"""A name of fewer letters is mostly an initial or an exclamation."""


_NEEDED = " needed"


@dataclass(frozen=True)
class Decision:
    """`standing` is cast, mentioned or dropped; `reason` says why it is not cast."""

    standing: str
    reason: str


def threshold(kind: Kind, windows: int, *, min_windows: int) -> int:
    """Windows of the text that must have a person. Fewer in short books, more in non-fiction, whose many
    names are mostly references."""
    needed = min_windows
    if windows < TINY_WINDOWS:
        needed = 1
    elif windows < SHORT_WINDOWS:
        needed = min(2, min_windows)
    return needed + 2 if kind == "non-fiction" else needed


def judge_person(
    names: Sequence[PersonName],
    *,
    windows: int,
    mentions: int,
    needed: int,
    kind: Kind,
    being: bool,
    takes_part: bool,
) -> Decision:
    """What becomes of one person, all of whose names are `names`. `takes_part`: is seen in the story, not only
    referred to."""
    if all(name.bare_title for name in names) and not being:
        return Decision("dropped", "a bare role or title")
    surfaces = [name.surface for name in names]
    if all(len(surface.strip(".")) < SHORTEST for surface in surfaces):
        return Decision("dropped", f"fewer than {SHORTEST} letters")
    if not being and all(surface[:1].islower() for surface in surfaces):
        return Decision("dropped", "starts in lower case")
    if kind == "non-fiction":
        if windows >= needed:
            return Decision("mentioned", "a person mentioned in non-fiction is no cast")
        return Decision("dropped", _too_few(windows, needed))
    rare = windows < OFTEN * needed
    known = windows >= needed or any(_full_name(name) for name in names)
    if known and rare and not takes_part:
        return Decision("mentioned", "referred to, and never seen to speak or act")
    if windows >= needed:
        return Decision("cast", "")
    if any(_full_name(name) for name in names):
        if mentions >= FULL_NAME_MENTIONS:
            return Decision("cast", "")
        return Decision("mentioned", "a full name that the text has once")
    return Decision("dropped", _too_few(windows, needed))


def _full_name(name: PersonName) -> bool:
    return len(name.rest) > 1 or (bool(name.titles) and bool(name.rest))


def is_too_rare(reason: str) -> bool:
    """Whether a person was dropped for being named in too few windows, and for nothing else."""
    return reason.endswith(_NEEDED)


def _too_few(windows: int, needed: int) -> str:
    return f"in {windows} window{'s' if windows != 1 else ''} of the text; {needed}{_NEEDED}"
