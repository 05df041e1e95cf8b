"""A bare given name beside a full one that might be the same person's: what speaks against it."""

from __future__ import annotations

from gutengraph_assets.extraction.aliases.cluster import Clusters
from gutengraph_assets.extraction.aliases.given_names import are_variants

LEAST_ALONE = 2
"""A pet name without a surname that the text has once is as often somebody else's."""
OFTENER = 5
"""Times a pet name may be more frequent than its owner before another of that given name is asked for."""
FAR_OFTENER, BY_HIM = 4, 0.5
"""Set by reading the joins that they part in 41 books; not measured otherwise. `python -m experiments.cast precision` and the alias
pairs of `gutengraph evaluate` show what a change does."""
GRAND = frozenset("lady sir lord king queen saint emperor empress".split())


def in_passing(clusters: Clusters, a: str, b: str) -> bool:
    """Whether one is a bare name that the text has once: it then says little, unless it stands beside the other person,
    who is not called by a bare given name otherwise."""
    for bare, other in ((a, b), (b, a)):
        if clusters.parsed[bare].surname is not None or clusters.presence.count[bare] >= LEAST_ALONE:
            continue
        names = clusters.of(other).names
        familiar = sum(clusters.presence.count[n] for n in names if clusters.parsed[n].surname is None)
        if familiar > LEAST_ALONE or not any(clusters.presence.adjacent(bare, n) for n in names):
            return True
    return False


def beside_his_given_name(clusters: Clusters, surname: str, full: str) -> bool:
    """Whether the book has the full name's bearer by his given name beside the other: 'Hart' beside 'Torvel'."""
    given = clusters.parsed[full].given
    return any(
        clusters.presence.side_by_side(surname, other)
        for other, name in clusters.parsed.items()
        if given and name.rest == (given,) and not name.titles
    )


def elsewhere(clusters: Clusters, a: str, b: str) -> bool:
    """Whether one is a bare given name, far oftener in the book than the other, a full name, no scene of it touches one that has the
    full name, and most are far from its bearer by whatever name: the 'Mary' of every chapter is not the Mary Hart of whom two
    letters tell."""
    parsed, presence = clusters.parsed, clusters.presence
    for bare, full in ((a, b), (b, a)):
        if parsed[bare].surname or not parsed[full].surname or GRAND & {*parsed[bare].titles}:
            continue  # Sir John is called so, and in full hardly ever
        names = clusters.of(full).names
        in_full = [n for n in names if parsed[n].given and parsed[n].surname]
        if presence.count[bare] < FAR_OFTENER * sum(presence.count[n] for n in in_full):
            continue
        near = presence.share_near(presence.scenes([bare]), presence.scenes(names))
        if near < BY_HIM and not any(presence.adjacent(bare, n) for n in in_full):
            return True
    return False


def outshone(clusters: Clusters, a: str, b: str) -> bool:
    """Whether one is a pet name far oftener in the book than the other, a full name, and somebody else of that given name is far
    oftener there too: 'Ned' is not the Edmund Hart who is named once, where a Lord Edward is on every page."""
    parsed = clusters.parsed
    for pet, full in ((a, b), (b, a)):
        times, owner = clusters.presence.count[pet], clusters.of(full)
        if parsed[pet].surname or not parsed[full].surname or times < OFTENER * clusters.mentions(owner):
            continue
        for other in parsed:
            if clusters.of(other) in (owner, clusters.of(pet)) or parsed[other].gender != parsed[pet].gender:
                continue
            given = parsed[other].given
            if (
                given
                and are_variants(parsed[pet].given or "", given)
                and clusters.mentions(clusters.of(other)) >= OFTENER * clusters.mentions(owner)
            ):
                return True
    return False
