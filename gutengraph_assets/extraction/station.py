"""What a person's names say of their station and of what they are: 'Lady Sturt', 'the Otter', 'the monster'."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gutengraph_assets.extraction.aliases.person_name import parse
from gutengraph_assets.extraction.canon import Normaliser
from gutengraph_assets.extraction.entities import Person
from gutengraph_core.names import words

_TELLING = frozenset(
    "king queen prince princess emperor empress lord lady sir duke duchess earl count countess baron baroness viscount "
    "marquis dame squire reverend bishop parson captain colonel major general lieutenant admiral commodore sergeant "
    "dr prof judge inspector farmer nurse".split()
)
"""Titles that say something of a station. 'Mr.' does not; 'Father' and 'Master' may be a relation or a boy."""
USUAL, COMMON = 0.5, 0.1
"""Shares of a person's titled mentions, and of all mentions, that one title must have: who is once called 'Cap'n' in jest is
none."""
_ANIMALS = frozenset(
    "rabbit hare cat dog mouse dormouse rat lion tiger bear wolf fox horse mare pony donkey ass cow bull ox sheep lamb goat pig "
    "bird eagle lory dodo duck goose pigeon raven crow owl swan frog toad snake serpent turtle tortoise lizard whale fish "
    "caterpillar spider bee ant monkey ape elephant camel stag deer puppy kitten crab lobster".split()
)
_CREATURES = frozenset(
    "monster creature fiend daemon giant dragon gryphon vampire ogre goblin dwarf troll".split()
)
_SPIRITS = frozenset("ghost spirit phantom spectre apparition angel demon devil fairy witch".split())


def station(people: Sequence[Person], normaliser: Normaliser) -> dict[str, str]:
    """Social class of those whose usual title tells it; nobody else's."""
    found: dict[str, str] = {}
    for person in people:
        titles: Counter[str] = Counter()
        for mention in person.mentions:
            name = parse(mention.surface)
            titles.update(name.titles[-1:] or _royal(name.rest))
        if not titles:
            continue
        title, times = titles.most_common(1)[0]
        if title in _TELLING and times >= max(USUAL * titles.total(), COMMON * len(person.mentions)):
            value = normaliser.take(person.id, "social_class", title)
            if value is not None:
                found[person.id] = value
    return found


def _royal(rest: Sequence[str]) -> list[str]:
    """'queen' of 'Queen of Hearts', which is taken for one word."""
    first = rest[0].split(" ")[0] if rest else ""
    return [first] if " of " in " ".join(rest) and first in _TELLING else []


def nature(people: Sequence[Person]) -> dict[str, str]:
    """Whether somebody is human, an animal, a creature or a spirit, where a name or a title says so.

    'Grey Fox' is a man's name; 'the Otter' is an animal.
    """
    found: dict[str, str] = {}
    for person in people:
        heads = Counter(
            said[-1]
            for mention in person.mentions
            if (said := words(mention.surface)) and said[0] == "the" and len(said) > 1
        )
        head = heads.most_common(1)[0][0] if heads else ""
        if heads.total() * 2 >= len(person.mentions):
            for kind, group in (("animal", _ANIMALS), ("creature", _CREATURES), ("spirit", _SPIRITS)):
                if head in group:
                    found[person.id] = kind
        if person.id not in found and any(name.titles and name.rest for name in person.parsed):
            found[person.id] = "human"
    return found
