"""Clusters of names, one a person: joined a rung of rules at a time, from the surest, never over a conflict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gutengraph_assets.extraction.aliases.conflicts import conflict
from gutengraph_assets.extraction.aliases.person_name import PersonName
from gutengraph_assets.extraction.aliases.presence import FAR_LEAST, Presence

PASSING = 2
OFTEN = 2
"""A fuller name that stands twice at most makes nobody's short name ambiguous, if another owner is twice as
frequent: 'Lucy Pell' once beside 'Lucy Hart'."""


@dataclass(frozen=True)
class Merge:
    """Two names joined, and by which rule."""

    a: str
    b: str
    rule: str


@dataclass
class Cluster:
    """Names of one person. Ordered by when they joined."""

    names: list[str] = field(default_factory=list)


class Clusters:
    """All persons of a book while their names are being joined."""

    def __init__(
        self,
        parsed: Mapping[str, PersonName],
        presence: Presence,
        genders: Mapping[str, str | None],
        *,
        apart: Iterable[tuple[str, str]] = (),
    ) -> None:
        """`genders`: what is known of each name; `apart`: pairs that somebody has split by hand."""
        self.parsed = parsed
        self.presence = presence
        self.genders = genders
        self.merges: list[Merge] = []
        self._apart = {frozenset(pair) for pair in apart}
        self._cluster_of = {name: Cluster([name]) for name in sorted(parsed)}

    def __iter__(self) -> Iterator[Cluster]:
        seen: set[int] = set()
        for name in sorted(self._cluster_of):
            cluster = self._cluster_of[name]
            if id(cluster) not in seen:
                seen.add(id(cluster))
                yield cluster

    def of(self, name: str) -> Cluster:
        return self._cluster_of[name]

    def _not_in_passing(self, able: list[Cluster]) -> list[Cluster]:
        """Without those whom the book names hardly ever beside one whom it names often."""
        most = max(self.mentions(c) for c in able)
        return [c for c in able if self.mentions(c) > PASSING or self.mentions(c) * OFTEN > most]

    def mentions(self, cluster: Cluster) -> int:
        return sum(self.presence.count[name] for name in cluster.names)

    def gender(self, cluster: Cluster) -> str | None:
        """M or F if no name of the cluster says the other."""
        known = {g for name in cluster.names if (g := self.genders[name])}
        return known.pop() if len(known) == 1 else None

    def why_not(
        self, a: Cluster, b: Cluster, *, blocks: bool = True, far_least: int = FAR_LEAST
    ) -> str | None:
        """Why two clusters cannot be one person; `blocks` asks for co-occurrence as well, `far_least` for how many
        mentions make standing far apart count."""
        for x in a.names:
            for y in b.names:
                if frozenset((x, y)) in self._apart:
                    return "override"
                reason = conflict(
                    self.parsed[x], self.parsed[y], gender_a=self.genders[x], gender_b=self.genders[y]
                )
                if reason and not (reason == "married" and self._a_wife(a) and self._a_wife(b)):
                    return reason
                if blocks and self.presence.side_by_side(x, y):
                    return "side_by_side"
        if blocks and self.presence.far_apart(a.names, b.names, least=far_least):
            return "far_apart"
        return None

    def _a_wife(self, cluster: Cluster) -> bool:
        """Whether one of her names says that she is married: 'Rachel Hart', who is 'Mrs. Rachel Hart' too."""
        return any({"mrs", "madame", "lady"} & set(self.parsed[name].titles) for name in cluster.names)

    def join(self, a: str, b: str, rule: str, *, blocks: bool = True, force: bool = False) -> bool:
        """Join the clusters of two names unless they conflict. Whether they are one afterwards by this."""
        one, other = self._cluster_of[a], self._cluster_of[b]
        if one is other or (not force and self.why_not(one, other, blocks=blocks)):
            return False
        one.names.extend(other.names)
        for name in other.names:
            self._cluster_of[name] = one
        self.merges.append(Merge(a, b, rule))
        return True

    def attach(
        self,
        name: str,
        owners: Sequence[str],
        rule: str,
        *,
        prefer: Callable[[list[Cluster]], list[Cluster]] | None = None,
        far_least: int = FAR_LEAST,
    ) -> bool:
        """Join `name` to the one cluster among those of `owners` that can own it; to none if several can."""
        mine = self.of(name)
        if any(self.of(owner) is mine for owner in owners):
            return False
        able: list[Cluster] = []
        rivals: list[Cluster] = []
        for cluster in {id(c): c for c in map(self.of, owners)}.values():
            reason = self.why_not(mine, cluster, far_least=far_least)
            if reason is None:
                able.append(cluster)
            elif reason == "side_by_side":
                rivals.append(cluster)
        if len(able) > 1 and prefer:
            able = prefer(able)
        if len(able) > 1:
            able = self._not_in_passing(able)
        # A block is no evidence for the others: 'Charles' beside 'Charles Musgrove' is not therefore Charles Hayter.
        if len(able) != 1 or any(self.mentions(rival) > PASSING for rival in rivals):
            return False
        best = next(owner for owner in owners if self.of(owner) is able[0])
        return self.join(name, best, rule)


def by_weight(clusters: Clusters, names: Iterable[str]) -> list[str]:
    """Names, the most frequent first."""
    return sorted(names, key=lambda n: (-clusters.presence.count[n], n))
