"""Who of a book's persons is its cast, who is only mentioned, and whose name is dropped, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gutengraph_assets.extraction.aliases.given_names import are_variants
from gutengraph_assets.extraction.aliases.person_name import PersonName
from gutengraph_assets.extraction.renown import is_renowned
from gutengraph_assets.extraction.scene import Part
from gutengraph_core import names as spelling
from gutengraph_core.library import Kind

SHORT_WINDOWS = 60
TINY_WINDOWS = 20
"""Under these a book is a novella or a tale: a person has fewer windows to stand in, so fewer are asked for."""
FULL_NAME_MENTIONS = 2
"""A titled or two-part name said this often is a minor character below the threshold; said once, it is as
often somebody the book only refers to."""
OFTEN = 4
"""Times the threshold from which somebody is of the cast without being seen to speak or act."""
BRIEF_MENTIONS, BRIEF_SIGNS = 4, 2
"""Somebody who stands one window short of the threshold is of the cast if the text names him or her so often there, and
sees them speak or act: in seven novels five were persons, none was not."""
RENOWNED_SIGNS, RENOWNED_SHARE = 3, 0.05
"""Somebody known from elsewhere is of the cast of a book that sees them act so often, and in so many of their mentions."""
KIN = frozenset("aunt uncle cousin".split())
"""Whom the book's people call so belongs to them, however seldom he or she is seen."""
SHORTEST = 3
"""A name of fewer letters is mostly an initial or an exclamation."""


ONCE = "a full name that the text has once"
REFERRED = "referred to, and never seen to speak or act"
HARDLY_SEEN = "referred to, and hardly seen to speak or act"
_NEEDED = " needed"
_STEM = 3
"""Letters: 'Gracie' and 'Grace', 'Benjamin' and 'Ben'."""


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
    part: Part,
    silent: bool = False,
) -> Decision:
    """What becomes of one person, all of whose names are `names`. `part`: how he or she is seen in the story; `silent`:
    has no speech in a play."""
    if all(name.bare_title for name in names) and not being:
        return Decision("dropped", "a bare role or title")
    surfaces = [name.surface for name in names]
    if all(len(surface.strip(".")) < SHORTEST for surface in surfaces):
        return Decision("dropped", f"fewer than {SHORTEST} letters")
    if all(name.single and len(name.rest[0]) == 1 for name in names):
        return Decision("dropped", "a title and an initial")
    if not being and all(surface[:1].islower() for surface in surfaces):
        return Decision("dropped", "starts in lower case")
    if kind == "non-fiction":
        if windows >= needed:
            return Decision("mentioned", "a person mentioned in non-fiction is no cast")
        return Decision("dropped", _too_few(windows, needed))
    known = windows >= needed or any(_full_name(name) for name in names)
    if kind == "fiction" and not being and _only_renowned(names, part):
        if known:
            return Decision("mentioned", "known from elsewhere, and only referred to")
        return Decision("dropped", "known from elsewhere, and hardly mentioned")
    if silent and known:
        return Decision("mentioned", "has no speech in the play")
    if being and kind == "drama":
        return Decision("cast", "")
    rare = windows < OFTEN * needed
    kin = any(KIN & set(name.titles) for name in names)
    if known and rare and not (part.takes_part or kin):
        return Decision("mentioned", HARDLY_SEEN if part.signs or part.told else REFERRED)
    if windows >= needed:
        return Decision("cast", "")
    if any(_full_name(name) for name in names):
        if mentions >= FULL_NAME_MENTIONS:
            return Decision("cast", "")
        return Decision("mentioned", ONCE)
    brief = mentions >= BRIEF_MENTIONS and part.signs >= BRIEF_SIGNS and part.acts > 0
    if brief and windows == needed - 1:
        return Decision("cast", "")
    return Decision("dropped", _too_few(windows, needed))


def _only_renowned(names: Sequence[PersonName], part: Part) -> bool:
    if not all(is_renowned(name, spelling.key(name.surface)) for name in names):
        return False
    return part.signs < RENOWNED_SIGNS or part.signs < RENOWNED_SHARE * part.mentions


def is_of_family(names: Sequence[PersonName], reason: str, cast: Iterable[Sequence[PersonName]]) -> bool:
    """Whether somebody who is only mentioned, for `reason`, bears the surname of one of the `cast`: the wife, the father.

    Not who bears the given name of one of them ('Irene Hale', once 'Irene Hart'), who may be the same person.
    """
    if reason not in (ONCE, HARDLY_SEEN):
        return False
    mine = {name.surname for name in names if name.surname}
    related = False
    for other in cast:
        if any(_may_be_same(a, b) for a in names for b in other):
            return False
        related = related or bool(mine & {name.surname for name in other if name.surname})
    return related


def _may_be_same(a: PersonName, b: PersonName) -> bool:
    if a.title_gender and b.gender and a.title_gender != b.gender:
        return False
    if a.given is None or b.given is None:
        return not (a.given or a.titles) and a.surname == b.surname
    if 1 in (len(a.given), len(b.given)):
        return a.surname == b.surname
    return are_variants(a.given, b.given) or a.given[:_STEM] == b.given[:_STEM]


def _full_name(name: PersonName) -> bool:
    return len(name.rest) > 1 or name.noble or (bool(name.titles) and bool(name.rest))


def is_too_rare(reason: str) -> bool:
    """Whether a person was dropped for being named in too few windows, and for nothing else."""
    return reason.endswith(_NEEDED)


def _too_few(windows: int, needed: int) -> str:
    return f"in {windows} window{'s' if windows != 1 else ''} of the text; {needed}{_NEEDED}"
