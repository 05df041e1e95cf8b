"""Rules that join two names of one person that share no word, by the scenes in which the book has them."""

from __future__ import annotations

from gutengraph_assets.extraction.aliases.cluster import Cluster, Clusters, by_weight

HOUSE_WINDOWS = 15
HOUSE_NEAR = 0.9
HOUSE_SECOND = 0.6
"""Tried on thirteen novels: with fewer windows or a looser share the father or the suitor is joined instead."""
CALLED_WINDOWS, CALLED_NEAR = 8, 0.95
"""Tried on twenty works: with fewer windows a guest of one chapter is taken for its host."""
_CALLED = "the "
_HAUNTS = frozenset("monster creature fiend daemon demon".split())
"""Words of abuse or dread for one being; a ghost, a giant and a witch may be three."""
_FORMAL = frozenset("miss mr dr captain colonel major lieutenant reverend".split())


def haunting(clusters: Clusters) -> None:
    """'the monster' and 'the fiend': a book is seldom haunted by two."""
    parsed = clusters.parsed
    haunts = [
        n
        for n in by_weight(clusters, parsed)
        if n.islower() and parsed[n].rest[-1:] and parsed[n].rest[-1] in _HAUNTS
    ]
    for other in haunts[1:]:
        clusters.join(haunts[0], other, "haunting", blocks=False)


def household(clusters: Clusters) -> None:
    """'Miss Hart' and 'Lucy', where the book never writes 'Lucy Hart': she is often named so, nearly always in Lucy's
    scenes, never beside her, and nobody else known by a given name alone is always there too."""
    parsed = clusters.parsed
    for name in by_weight(clusters, parsed):
        mine, group = parsed[name], clusters.of(name)
        if not (mine.single and mine.titles[-1:] and mine.titles[-1] in _FORMAL) or mine.given is not None:
            continue
        if any(parsed[n].given for n in group.names):
            continue
        windows = clusters.presence.scenes(group.names)
        if len(windows) < HOUSE_WINDOWS:
            continue
        near: list[tuple[float, str]] = []
        for other in clusters:
            if other is group or not _known_by_given_name(clusters, other):
                continue
            if clusters.gender(other) != clusters.gender(group) and clusters.gender(other):
                continue
            share = clusters.presence.share_near(windows, clusters.presence.scenes(other.names))
            near.append((share, other.names[0]))
        near.sort(reverse=True)
        if not near or near[0][0] < HOUSE_NEAR or (len(near) > 1 and near[1][0] > HOUSE_SECOND):
            continue
        theirs = clusters.of(near[0][1])
        together = clusters.presence.together(group.names, theirs.names)
        most = len(clusters.presence.scenes(theirs.names))
        if clusters.gender(theirs) == clusters.gender(group) and most >= len(windows) and together <= 1:
            clusters.join(name, near[0][1], "household", blocks=False)


def described(clusters: Clusters) -> None:
    """'the painter' and 'Basil Hart': in every scene of the one the other is named too, and never in one sentence with him,
    and of nobody else so much can be said. Whom a story calls by his calling it names beside everybody but himself."""
    for name in by_weight(clusters, clusters.parsed):
        group = clusters.of(name)
        if not all(n.startswith(_CALLED) for n in group.names):
            continue
        scenes = clusters.presence.scenes(group.names)
        if len(scenes) < CALLED_WINDOWS:
            continue
        able = [
            other
            for other in clusters
            if other is not group
            and not any(n.startswith(_CALLED) for n in other.names)
            and clusters.mentions(other) >= clusters.mentions(group)
            and not clusters.presence.together(group.names, other.names)
            and clusters.presence.share_near(scenes, clusters.presence.scenes(other.names)) >= CALLED_NEAR
        ]
        if len(able) == 1:
            clusters.join(name, able[0].names[0], "described", blocks=False)


def _known_by_given_name(clusters: Clusters, cluster: Cluster) -> bool:
    return all(clusters.parsed[n].surname is None and clusters.parsed[n].single for n in cluster.names)


def always_near(clusters: Clusters, name: str, other: str) -> bool:
    """Whether hardly a scene that has the name is far from one that has the other's; a few scenes say nothing."""
    own = clusters.presence.scenes([name])
    theirs = clusters.presence.scenes(clusters.of(other).names)
    return len(own) >= CALLED_WINDOWS and clusters.presence.share_near(own, theirs) >= HOUSE_NEAR
