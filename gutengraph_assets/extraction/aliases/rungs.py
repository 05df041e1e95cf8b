"""Rules that join two names of one person by the words they share: the same, a part, or another form of one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from gutengraph_assets.extraction.aliases.bare_names import (
    GRAND,
    beside_his_given_name,
    elsewhere,
    in_passing,
    outshone,
)
from gutengraph_assets.extraction.aliases.cluster import PASSING, Cluster, Clusters, by_weight
from gutengraph_assets.extraction.aliases.conflicts import RANKS
from gutengraph_assets.extraction.aliases.given_names import are_variants, directly_tied, is_given
from gutengraph_assets.extraction.aliases.person_name import PersonName
from gutengraph_assets.extraction.aliases.presence import FAR_LEAST
from gutengraph_assets.extraction.aliases.scene_rungs import always_near
from gutengraph_assets.extraction.lexicon import GENERIC
from gutengraph_core.names import key

IN_PASSING = 100
"""'Miss Lucy' once in that many mentions is a servant's or an old friend's way of speaking."""
BOY_SHARE = 0.1
HARDLY = 8
"""A sister named that many times less than another is not the 'Miss S' of the book."""
CLIPPED_LEAST = 4
CLIPPED_MOST_LEFT = 3
"""Letters: a shorter stump, or one that is nearly the whole name, is as often another name."""
_COURTESY = frozenset("mr miss master".split())
_FAMILIAR = frozenset("mr master miss old".split())
_REIGNING = frozenset("king queen emperor empress duke duchess".split())


def spelling(clusters: Clusters) -> None:
    """The same words in another case or spelling of accents."""
    by_key: dict[str, list[str]] = defaultdict(list)
    for name in sorted(clusters.parsed):
        by_key[key(name)].append(name)
    for same in by_key.values():
        for other in same[1:]:
            clusters.join(same[0], other, "spelling", blocks=False)


def titled(clusters: Clusters) -> None:
    """'Captain Hart' is the 'Captain John Hart' and no other of his family, if one bears that title."""
    parsed = clusters.parsed
    for name in by_weight(clusters, parsed):
        mine = parsed[name]
        if not (mine.single and mine.titles and mine.titles[-1] not in ("miss", "mrs", "mr")):
            continue
        owners = [
            o
            for o in parsed
            if len(parsed[o].rest) > 1
            and parsed[o].titles == mine.titles
            and _is_last(mine.rest[0], parsed[o].surname or "")
        ]
        clusters.attach(name, owners, "title")


def title(clusters: Clusters) -> None:
    """'Captain Hart' and 'Hart'; a bare surname goes to the man of that name."""
    by_rest: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in by_weight(clusters, clusters.parsed):
        by_rest[clusters.parsed[name].core].append(name)
    for rest, names in by_rest.items():
        if not rest:
            continue
        titled = [n for n in names if clusters.parsed[n].titles]
        plain = [n for n in names if not clusters.parsed[n].titles]
        for i, a in enumerate(titled):
            for b in titled[i + 1 :]:
                if clusters.parsed[a].titles == clusters.parsed[b].titles:
                    clusters.join(a, b, "title", blocks=False)
        _join_across_titles(clusters, titled)
        if len(rest) > 1:
            for a in plain:
                for b in titled:
                    if set(clusters.parsed[b].titles) <= _COURTESY and not clusters.parsed[b].husbands:
                        clusters.join(a, b, "title", blocks=False)
        for a in plain:
            for b in plain:
                if a < b:
                    clusters.join(a, b, "title")
            owners = [
                o
                for o in titled
                if not _too_grand(clusters.parsed[a], clusters.parsed[o]) and not clusters.parsed[o].husbands
            ]
            clusters.attach(a, owners, "title", prefer=_the_man(clusters, courtesy=True))


def _join_across_titles(clusters: Clusters, titled: list[str]) -> None:
    """'Captain Hart' and 'Mr. Hart', if neither can be a third: of a general, a captain and a Mr. Hart no two are one."""
    groups = list({id(c): c for c in map(clusters.of, titled)}.values())
    could = {
        id(a): [b for b in groups if b is not a and clusters.why_not(a, b) in (None, "far_apart")]
        for a in groups
    }
    for a in groups:
        others = could[id(a)]
        if len(others) == 1 and len(could[id(others[0])]) == 1:
            one, other = (next(n for n in titled if n in c.names) for c in (a, others[0]))
            clusters.join(one, other, "title")


def containment(clusters: Clusters) -> None:
    """A shorter form of a fuller name, if only one person owns it: 'Lucy', 'John Hart', 'Lord St. Oswin'."""
    parsed = clusters.parsed
    longest_first = sorted(parsed, key=lambda n: (-len(parsed[n].rest), n))
    for name in longest_first:
        mine = parsed[name]
        if not mine.rest or len(mine.rest) < 2:
            continue
        owners = [
            o for o in longest_first if len(parsed[o].rest) > len(mine.rest) and _shortens(mine, parsed[o])
        ]
        clusters.attach(name, owners, "containment")
    for name in by_weight(clusters, parsed):
        mine = parsed[name]
        if not mine.single or _awaits_eldest(mine) or mine.rest[0] in GENERIC:
            continue  # 'Young Man' is not the 'Learned Man'
        owners = [
            o
            for o in longest_first
            if len(parsed[o].rest) > 1 and _is_part(mine, parsed[o]) and not _too_grand(mine, parsed[o])
        ]
        owners = [o for o in owners if parsed[o].given != mine.rest[0] or not elsewhere(clusters, name, o)]
        christened = [o for o in owners if parsed[o].given == mine.rest[0]]
        rule = "given_name" if christened else "surname"
        if is_given(mine.rest[0]) and any(clusters.mentions(clusters.of(o)) > PASSING for o in christened):
            owners = christened  # 'Jane' is Jane Hart, not Flora Jane
        if rule == "surname":
            owners = [o for o in owners if not beside_his_given_name(clusters, name, o)]
        # A bare given name is the least telling of all: it has to stand near the fuller one, however rare both are.
        far_least = 1 if rule == "given_name" and not mine.titles else FAR_LEAST
        prefer = _the_man(clusters, courtesy=mine.titles == ("mr",)) if rule == "surname" else None
        clusters.attach(name, owners, rule, prefer=prefer, far_least=far_least)


def same_surname(clusters: Clusters) -> None:
    """Forms of one given name before one surname: 'Miss Eliza Hart' and 'Elizabeth Hart', 'R. Hart'."""
    parsed = clusters.parsed
    for name in by_weight(clusters, parsed):
        mine = parsed[name]
        if mine.given is None or mine.surname is None:
            continue
        owners = [
            o
            for o in parsed
            if parsed[o].surname == mine.surname
            and (theirs := parsed[o].given) is not None
            and theirs != mine.given
            and are_variants(mine.given, theirs)
        ]
        clusters.attach(name, owners, "nickname")


def nickname(clusters: Clusters) -> None:
    """Forms of one given name where a surname is missing: 'Lizzy' and 'Elizabeth Hart'.

    A form that the lists tie directly wins over one that only shares a full name with it.
    """
    parsed = clusters.parsed
    for name in by_weight(clusters, parsed):
        mine = parsed[name]
        if mine.given is None:
            continue
        owners = [
            o
            for o in parsed
            if o != name and _may_be_short_for(mine, parsed[o]) and not in_passing(clusters, name, o)
        ]
        owners = [o for o in owners if not outshone(clusters, name, o) and not elsewhere(clusters, name, o)]
        tied = [o for o in owners if directly_tied(mine.given, parsed[o].given or "")]
        clusters.attach(name, tied, "nickname") or clusters.attach(name, owners, "nickname")


def _may_be_short_for(mine: PersonName, other: PersonName) -> bool:
    given = other.given
    if given is None or mine.given is None or given == mine.given or not are_variants(mine.given, given):
        return False
    if mine.surname and other.surname:
        return mine.surname == other.surname
    if 1 in (len(given), len(mine.given)):
        return False  # an initial alone fits too many
    return not (GRAND & {*mine.titles, *other.titles})


def eldest(clusters: Clusters) -> None:
    """'Miss Hart' is the eldest of the sisters: the one never called 'Miss First', then the most mentioned."""
    parsed = clusters.parsed
    for name in by_weight(clusters, parsed):
        mine = parsed[name]
        if not _awaits_eldest(mine):
            continue
        owners = [
            o
            for o in parsed
            if len(parsed[o].rest) > 1
            and _is_last(mine.rest[0], parsed[o].surname or "")
            and not _younger(clusters, clusters.of(o), alone=True)
        ]
        clusters.attach(name, owners, "eldest", prefer=lambda able: _likeliest_eldest(clusters, able))


def courtesy(clusters: Clusters) -> None:
    """A bare given name or a pet name that no other rung could place is his lordship's, if only one has it."""
    parsed = clusters.parsed
    for name in by_weight(clusters, parsed):
        if parsed[name].single and len(clusters.of(name).names) == 1:
            word = parsed[name].rest[0]
            grand = [o for o in parsed if parsed[o].given and _too_grand(parsed[name], parsed[o])]
            owners = [
                o
                for o in grand
                if parsed[o].given == word
                or (are_variants(word, parsed[o].given or "") and always_near(clusters, name, o))
            ]
            clusters.attach(name, owners, "given_name", far_least=1)


def royal(clusters: Clusters) -> None:
    """'the King' is the King of Saltby, if the book has one 'King of' anywhere."""
    parsed = clusters.parsed
    for name in by_weight(clusters, parsed):
        mine = parsed[name]
        word = mine.rest[0] if mine.single else "".join(mine.titles[-1:]) if mine.bare_title else ""
        if word not in _REIGNING:
            continue
        owners = [o for o in parsed if parsed[o].single and parsed[o].rest[0].startswith(f"{word} of ")]
        if len(owners) == 1:
            clusters.attach(name, owners, "title", far_least=IN_PASSING)


def initial(clusters: Clusters) -> None:
    """'Colonel H' is Colonel Hart, if one colonel's surname begins so."""
    parsed = clusters.parsed
    for name in by_weight(clusters, parsed):
        mine = parsed[name]
        if not (mine.single and mine.titles and len(mine.rest[0]) == 1):
            continue
        owners = [
            o
            for o in parsed
            if parsed[o].titles == mine.titles
            and len(surname := parsed[o].surname or "") > 1
            and surname.startswith(mine.rest[0])
        ]
        clusters.attach(name, owners, "initial", far_least=IN_PASSING)


def clipped(clusters: Clusters) -> None:
    """Forms that no list has: 'Tolly' of 'Toll', 'Zebed' of 'Zebedoram'."""
    parsed = clusters.parsed
    for name in by_weight(clusters, parsed):
        mine = parsed[name]
        if not mine.single or (mine.titles and mine.titles[-1] not in _FAMILIAR):
            continue
        word = mine.rest[0]
        if is_given(word):
            continue
        owners = [
            o
            for o in parsed
            if o != name
            and (parsed[o].single or parsed[o].given)
            and _is_clipped(word, parsed[o].given or parsed[o].rest[0])
            and clusters.presence.count[o] > clusters.presence.count[name]
        ]
        clusters.attach(name, owners, "clipped", far_least=1)


def _is_clipped(short: str, full: str) -> bool:
    if short in (f"{full}y", f"{full}ie", f"{full}{full[-1:]}y", f"{full}{full[-1:]}ie"):
        return True
    return (
        len(short) >= CLIPPED_LEAST and len(full) - len(short) >= CLIPPED_MOST_LEFT and full.startswith(short)
    )


def _too_grand(mine: PersonName, other: PersonName) -> bool:
    """Her ladyship is hardly called by her bare given name, which is as often another woman's."""
    return not mine.titles and mine.given is not None and bool(GRAND & set(other.titles))


def _awaits_eldest(name: PersonName) -> bool:
    return name.single and name.titles[-1:] == ("miss",) and name.given is None


def _shortens(short: PersonName, full: PersonName) -> bool:
    """Whether the words of `short` stand in `full` in order, sharing its last or its first word."""
    words = iter(full.rest)
    if not all(w in words for w in short.rest):
        return False
    return short.rest[-1] == full.rest[-1] or short.rest == full.rest[: len(short.rest)]


def _is_part(single: PersonName, full: PersonName) -> bool:
    """Whether a one-word name is the given name or the surname of a fuller one, as its titles let it be."""
    word = single.rest[0]
    if single.husbands:
        return full.husbands and full.rest[0] == word
    if word == full.given and single.surname is None:
        return True
    return full.surname is not None and _is_last(word, full.surname) and single.given in (None, word)


def _is_last(word: str, surname: str) -> bool:
    return word == surname or surname.endswith(f" {word}")


def _the_man(clusters: Clusters, *, courtesy: bool = False) -> Callable[[list[Cluster]], list[Cluster]]:
    """Who a surname means: a man and no boy; with `courtesy` ('Mr. Hart') rather not the family's captain."""

    def choose(able: list[Cluster]) -> list[Cluster]:
        men = [c for c in able if clusters.gender(c) == "M"]
        men = [c for c in men if not _is_boy(clusters, c)] or men
        if courtesy:
            men = [c for c in men if not any(RANKS & set(clusters.parsed[n].titles) for n in c.names)] or men
        return men or [c for c in able if clusters.gender(c) is None]

    return choose


def _is_boy(clusters: Clusters, cluster: Cluster) -> bool:
    """Whether he is called 'Master First' more than in passing."""
    called = sum(clusters.presence.count[n] for n in cluster.names if "master" in clusters.parsed[n].titles)
    return called >= BOY_SHARE * clusters.mentions(cluster)


def _younger(clusters: Clusters, cluster: Cluster, *, alone: bool) -> bool:
    """Whether she is called 'Miss First' more than in passing, which tells a younger sister from the eldest; `alone`:
    without the surname."""
    marked = [
        name
        for name in cluster.names
        if (p := clusters.parsed[name]).titles == ("miss",) and p.given and (p.single or not alone)
    ]
    return sum(clusters.presence.count[name] for name in marked) * IN_PASSING > clusters.mentions(cluster)


def _likeliest_eldest(clusters: Clusters, able: list[Cluster]) -> list[Cluster]:
    """The most mentioned who is never called 'Miss First S', unless hardly mentioned beside one who is."""

    def weight(cluster: Cluster) -> tuple[int, str]:
        return clusters.mentions(cluster), cluster.names[0]

    most = max(able, key=weight)
    unmarked = [c for c in able if not _younger(clusters, c, alone=False)]
    eldest = max(unmarked, key=weight, default=most)
    return [eldest if clusters.mentions(eldest) * HARDLY >= clusters.mentions(most) else most]
