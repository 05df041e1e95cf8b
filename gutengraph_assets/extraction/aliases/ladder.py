"""From the names of a book's persons to its persons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gutengraph_assets.extraction.aliases import rungs, scene_rungs
from gutengraph_assets.extraction.aliases.cluster import Clusters, Merge
from gutengraph_assets.extraction.aliases.person_name import PersonName, parse_all
from gutengraph_assets.extraction.aliases.presence import Presence
from gutengraph_assets.extraction.book_text import BookText, Span
from gutengraph_assets.extraction.gender import by_votes, pronoun_votes

LADDER: tuple[Callable[[Clusters], None], ...] = (
    rungs.spelling,
    rungs.same_surname,
    rungs.titled,
    rungs.title,
    rungs.containment,
    rungs.nickname,
    rungs.eldest,
    rungs.courtesy,
    rungs.royal,
    scene_rungs.haunting,
    rungs.initial,
    rungs.clipped,
    scene_rungs.household,
    scene_rungs.described,
)
"""The rules that join names, the surest first."""
OFTEN_MRS = 5
"""A Mrs. S named less often may be the Mrs. Charles S for short."""
HER_HUSBAND = 0.5
"""Share of the scenes of a Mr. S that must have the elder Mrs. S for him to be hers."""
HERSELF, HERSELF_SCENES = 0.9, 2
"""Share of the scenes of a Mrs. Charles S, and how many at least, that must have a Mrs. S for the two to be one: two wives of a
family meet less."""


@dataclass(frozen=True)
class Person:
    """One person: his or her names, the most frequent first."""

    names: tuple[str, ...]
    merges: tuple[Merge, ...]


def merge_names(
    text: BookText,
    spans: Mapping[str, Sequence[Span]],
    *,
    joined: Iterable[tuple[str, str]] = (),
    apart: Iterable[tuple[str, str]] = (),
) -> list[Person]:
    """Persons, by their first mention. `spans` has every mention of every person's name.

    `joined` and `apart` are pairs of names that somebody has joined or split by hand; they win over every rule.
    """
    parsed = parse_all({name: len(found) for name, found in spans.items() if found})
    spans = {name: spans[name] for name in parsed}
    presence = Presence(text, spans)
    apart = [*apart, *two_couples(parsed, presence)]
    clusters = Clusters(parsed, presence, name_genders(text, spans, parsed), apart=apart)
    for a, b in joined:
        if a in parsed and b in parsed:
            clusters.join(a, b, "override", force=True)
    # What one rung joins may bring two names near each other that stood too far apart for a rung before it.
    for rung in (*LADDER, *LADDER):
        rung(clusters)
    persons = []
    for cluster in clusters:
        names = tuple(sorted(cluster.names, key=lambda n: (-presence.count[n], n)))
        merges = tuple(m for m in clusters.merges if m.a in cluster.names)
        persons.append(Person(names, merges))
    return sorted(persons, key=lambda p: min(spans[n][0][0] for n in p.names))


def two_couples(parsed: Mapping[str, PersonName], presence: Presence) -> Iterator[tuple[str, str]]:
    """Names that 'Mrs. Charles S' keeps apart where the book often has a 'Mrs. S': she is another, and so is her
    husband, the 'Charles S', from the 'Mr. S'.
    """
    for wife in parsed.values():
        if not (wife.husbands and wife.surname):
            continue
        scenes = presence.scenes([wife.surface])
        for name in parsed.values():
            if not (name.single and name.surname == wife.surname and name.titles[-1:] in (("mrs",), ("mr",))):
                continue
            if presence.count[name.surface] < OFTEN_MRS:
                continue
            # Who is brought in as 'Mrs. Charles Hart' and called 'Mrs. Hart' from then on stands beside herself.
            other = f"mrs {wife.surname}"
            elder = [
                n
                for n in parsed
                if parsed[n].single and " ".join((*parsed[n].titles, *parsed[n].rest)) == other
            ]
            if not elder or (
                len(scenes) >= HERSELF_SCENES
                and presence.share_near(scenes, presence.scenes(elder)) >= HERSELF
            ):
                continue
            if name.titles == ("mrs",):
                yield name.surface, wife.surface
            elif presence.share_near(presence.scenes([name.surface]), presence.scenes(elder)) >= HER_HUSBAND:
                husband = [n for n in parsed.values() if n.rest == wife.rest and n.title_gender != "F"]
                yield from ((name.surface, other.surface) for other in husband)


def name_genders(
    text: BookText, spans: Mapping[str, Sequence[Span]], parsed: Mapping[str, PersonName]
) -> dict[str, str | None]:
    """What is known of each name by itself: its title, its given name, else the pronouns after its mentions."""
    votes = pronoun_votes(text, spans)
    return {name: parsed[name].gender or by_votes(*votes[name]) for name in spans}
