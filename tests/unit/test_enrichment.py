"""Gender, narrator and role: what the text says, and nothing else."""

from __future__ import annotations

from typing import Any

from stories import text_of

from gutengraph_assets.extraction.enrichment import enrich, roles
from gutengraph_assets.extraction.entities import Person, locate
from gutengraph_assets.extraction.narrator import find_narrator, first_person_rate


def people(body: str, *persons: tuple[str, ...]) -> dict[str, Person]:
    text = text_of(body)
    rows: list[dict[str, Any]] = [
        {
            "id": names[0],
            "label": "Character",
            "name": names[0],
            "aliases": list(names),
            "standing": "cast",
            "kind": "",
        }
        for names in persons
    ]
    found, _ = enrich(text, rows, locate(text, rows))
    return {person.id: person for person in found}


def test_gender_by_title_by_given_name_and_by_pronoun() -> None:
    body = (
        "Mrs. Quill came with Anne. Dar lifted his hat.\n\nDar forgot himself.\n\nDar said that he was cold.\n\n"
        "Zef sang. Zef danced. Zef slept."
    )
    found = people(body, ("Mrs. Quill",), ("Anne",), ("Dar",), ("Zef",))
    assert {name: person.gender for name, person in found.items()} == {
        "Mrs. Quill": "F",
        "Anne": "F",
        "Dar": "M",
        "Zef": None,
    }


TOLD = """I came to Saltby when I was ten. I knew nobody, and I was afraid.

“Come in, Tam,” said Mrs. Quill. I came in, and I sat down.

“Eat, Tam!” said she. I ate. Mrs. Quill watched me, and I watched the door.

“Well, Tam, what is it?” I said that I was sorry. Mrs. Quill laughed at me, I thought."""


def test_the_narrator_is_who_is_addressed_and_never_told_of() -> None:
    found = people(TOLD, ("Tam",), ("Mrs. Quill",))
    assert [person.id for person in found.values() if person.narrator] == ["Tam"]


def test_who_is_addressed_in_one_scene_only_tells_no_book() -> None:
    scene = "“Tam, come. Tam, sit. Oh, Tam, eat,” I said.\n\n"
    body = scene + "I went home, and I slept, and I rose, and I ate, and I went out again, I think.\n\n" * 30
    assert not [person for person in people(body, ("Tam",)).values() if person.narrator]


def test_a_book_told_in_the_third_person_has_no_narrator() -> None:
    body = TOLD.replace("I ", "he ").replace(" me", " him")
    text = text_of(body)
    assert first_person_rate(text) < 1
    mentions = locate(text, [{"id": "Tam", "aliases": ["Tam"]}])
    assert find_narrator(text, mentions) is None


def test_roles_follow_the_share_of_windows_and_nobody_is_made_a_villain() -> None:
    body = "\n\n".join(
        f"Anne was there on day {day}, and it rained upon the whole of the long grey quay all day."
        + (" Ben came with her." if day % 3 == 0 else "")
        + (" Cole passed." if day == 7 else "")
        for day in range(30)
    )
    text = text_of(body, words=18)
    rows: list[dict[str, Any]] = [
        {"id": n, "label": "Character", "name": n, "aliases": [n], "standing": "cast", "kind": ""}
        for n in ("Anne", "Ben", "Cole")
    ]
    found, _ = enrich(text, rows, locate(text, rows))
    assert roles(text, found) == {"Anne": "protagonist", "Ben": "supporting", "Cole": "minor"}
