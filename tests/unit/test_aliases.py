"""Which names are one person's, and which are not however alike."""

from __future__ import annotations

import pytest
from stories import text_of

from gutengraph_assets.extraction.aliases.conflicts import conflict
from gutengraph_assets.extraction.aliases.given_names import are_variants, gender_of
from gutengraph_assets.extraction.aliases.ladder import merge_names
from gutengraph_assets.extraction.aliases.person_name import parse
from gutengraph_assets.extraction.occurrences import NameFinder


def persons(body: str, *names: str, **by_hand: list[tuple[str, str]]) -> list[set[str]]:
    """The names of each person that the rules make of `names` in a body."""
    text = text_of(body)
    return [set(person.names) for person in merge_names(text, NameFinder(names).find(text), **by_hand)]


@pytest.mark.parametrize(
    ("surface", "titles", "given", "surname"),
    [
        ("Captain Amos Thorne", ("captain",), "amos", "thorne"),
        ("Mrs. Thorne", ("mrs",), None, "thorne"),
        ("Sir Hugh", ("sir",), "hugh", None),
        ("Long John Thorne", (), "john", "thorne"),
        ("Count de la Motte", ("count",), None, "de la motte"),
        ("Doctor Pell", ("dr",), None, "pell"),
        ("Miss Anne", ("miss",), "anne", None),
        ("Long John", (), "john", None),
        ("Black Dog", (), "black", "dog"),
    ],
)
def test_a_name_is_taken_apart(surface: str, titles: tuple[str, ...], given: str, surname: str) -> None:
    name = parse(surface)
    assert (name.titles, name.given, name.surname) == (titles, given, surname)


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ("Mr. Thorne", "Mrs. Thorne", "gender"),
        ("Mrs. Thorne", "Miss Thorne", "title"),
        ("Anne Thorne", "Jane Thorne", "given_name"),
        ("Captain Thorne", "Dr. Thorne", "title"),
        ("Sir Hugh Thorne", "Mr. Thorne", "title"),
        ("Young Thorne", "Old Thorne", "age"),
        ("Mrs. Thorne", "Anne Thorne", "married"),
        ("Captain Thorne", "Thorne", None),
        ("Lizzy Thorne", "Elizabeth Thorne", None),
        ("Anderson", "Job Anderson", None),
    ],
)
def test_names_that_cannot_be_one_person(a: str, b: str, reason: str | None) -> None:
    one, other = parse(a), parse(b)
    assert conflict(one, other, gender_a=one.gender, gender_b=other.gender) == reason
    assert conflict(other, one, gender_a=other.gender, gender_b=one.gender) == reason


def test_given_names_know_their_short_forms_and_genders() -> None:
    assert are_variants("lizzy", "elizabeth")
    assert are_variants("kit", "christopher")
    assert are_variants("r.", "robert")
    assert not are_variants("jane", "anne")
    assert not are_variants("mary", "harry")
    assert (gender_of("lettice"), gender_of("nathaniel"), gender_of("thorne")) == ("F", "M", None)


def test_title_and_surname_are_one_man() -> None:
    body = "Captain Thorne went aboard. Thorne was late. Amos Thorne never hurried."
    assert persons(body, "Captain Thorne", "Thorne", "Amos Thorne") == [
        {"Captain Thorne", "Thorne", "Amos Thorne"}
    ]


def test_husband_wife_and_daughter_stay_three() -> None:
    body = "Mr. Hale came in. Mrs. Hale sat down. Miss Hale was singing.\n\nMr. Hale spoke to Mrs. Hale."
    assert len(persons(body, "Mr. Hale", "Mrs. Hale", "Miss Hale")) == 3


def test_a_bare_surname_goes_to_the_man() -> None:
    body = "Mr. Hale rose early. Mrs. Hale did not. Hale was a farmer, and his horse was lame."
    assert {"Hale", "Mr. Hale"} in persons(body, "Mr. Hale", "Mrs. Hale", "Hale")


def test_miss_surname_is_the_sister_who_is_never_called_miss_first() -> None:
    body = (
        "Miss Hale was the elder. Miss Lucy was the younger. Ann Hale kept the keys.\n\n"
        "Lucy Hale lost them. Miss Hale found them, and Miss Lucy laughed."
    )
    found = persons(body, "Miss Hale", "Miss Lucy", "Ann Hale", "Lucy Hale")
    assert {"Miss Hale", "Ann Hale"} in found
    assert {"Miss Lucy", "Lucy Hale"} in found


def test_miss_surname_is_nobody_who_is_called_miss_first() -> None:
    body = "Miss Hale was the elder. Miss Lucy was the younger. Lucy Hale laughed."
    assert {"Miss Hale"} in persons(body, "Miss Hale", "Miss Lucy", "Lucy Hale")


def test_names_side_by_side_again_and_again_are_two_people() -> None:
    body = "Will walked with William Hale. William Hale shook hands with Will. Will left."
    assert len(persons(body, "Will", "William Hale")) == 2


def test_nobody_calls_her_ladyship_by_a_pet_name() -> None:
    body = "Lady Catherine spoke. Kitty listened, a mile away, to another tale."
    assert len(persons(body, "Lady Catherine", "Kitty")) == 2


def test_one_passing_mention_makes_no_short_name_ambiguous() -> None:
    body = (
        "Lucy Hale sang. Lucy Hale danced. Lucy Hale slept. Lucy woke. Lucy Dane was her name a year later."
    )
    assert {"Lucy Hale", "Lucy"} in persons(body, "Lucy Hale", "Lucy", "Lucy Dane")


def test_a_block_against_one_is_no_evidence_for_another() -> None:
    body = (
        "Charles met Charles Hale. Charles bowed to Charles Hale. Charles Hale left.\n\n"
        "Charles Dane came. Charles Dane was late."
    )
    assert {"Charles"} in persons(body, "Charles", "Charles Hale", "Charles Dane")


def test_a_surname_is_one_wherever_it_stands() -> None:
    """'Lucas' is a given name by the lists, but not in a book with a Sir William Lucas."""
    body = "Sir William Lucas came. Lucas bowed. Miss Lucas, who was Charlotte Lucas, came too. Lady Lucas did not."
    found = persons(body, "Sir William Lucas", "Lucas", "Miss Lucas", "Charlotte Lucas", "Lady Lucas")
    assert {"Sir William Lucas", "Lucas"} in found
    assert {"Miss Lucas", "Charlotte Lucas"} in found
    assert {"Lady Lucas"} in found


def test_a_second_mrs_of_the_name_is_the_sons_wife() -> None:
    body = "Mr. Hale sat. Mrs. Hale sang. " * 5 + "Charles Hale came in with Mrs. Charles Hale."
    found = persons(body, "Mr. Hale", "Mrs. Hale", "Charles Hale", "Mrs. Charles Hale")
    assert sorted(map(len, found)) == [1, 1, 1, 1]


def test_a_byname_is_of_one_john_and_not_of_another() -> None:
    body = "Long John Rudd came. Long John laughed. John Pell did not laugh. John Pell left."
    assert {"Long John Rudd", "Long John"} in persons(body, "Long John Rudd", "Long John", "John Pell")


def test_the_king_is_not_the_cabin_boy() -> None:
    body = "George drank to King George. George Merrow drank too. George laughed."
    assert {"King George"} in persons(body, "George", "King George", "George Merrow")


def test_a_given_name_is_one_even_after_mr() -> None:
    body = "Jonathan Hale came. Jonathan Hale sat. Jonathan Hale ate. Mr. Jonathan is in. Mr. Hale is in."
    assert persons(body, "Jonathan Hale", "Mr. Jonathan", "Mr. Hale") == [
        {"Jonathan Hale", "Mr. Jonathan", "Mr. Hale"}
    ]


def test_a_pet_name_said_once_is_somebody_elses_unless_it_stands_by() -> None:
    apart = "John Hale came. John sat. John sang. John ate. " + "It rained. " * 80 + "Johnny cried."
    assert {"Johnny"} in persons(apart, "John Hale", "John", "Johnny")
    beside = "Nathaniel Hale came in. “Sit down, Nat,” said the cook."
    assert persons(beside, "Nathaniel Hale", "Nat") == [{"Nathaniel Hale", "Nat"}]


def test_his_lordships_bare_name_is_his_if_nobody_elses() -> None:
    body = "Sir Lambert Averill bowed. “Lambert,” she said. Sir Lambert rose."
    assert {"Sir Lambert Averill", "Sir Lambert", "Lambert"} in persons(
        body, "Sir Lambert Averill", "Sir Lambert", "Lambert"
    )


def test_what_somebody_decided_by_hand_wins() -> None:
    body = "The Owl came. Mr. Hale came. Hale went home."
    names = ("The Owl", "Mr. Hale", "Hale")
    assert {"The Owl", "Mr. Hale", "Hale"} in persons(body, *names, joined=[("The Owl", "Mr. Hale")])
    assert {"Hale"} in persons(body, *names, apart=[("Hale", "Mr. Hale")])


def test_a_surname_cut_to_its_letter_is_the_one_colonel_of_that_letter() -> None:
    body = "Colonel Forster came. Mrs. Dane wrote to Colonel F and to Mrs. D herself."
    assert {"Colonel Forster", "Colonel F"} in persons(
        body, "Colonel Forster", "Colonel F", "Mrs. Dane", "Mrs. D"
    )
    two = body + " Colonel Foley came too."
    assert {"Colonel F"} in persons(two, "Colonel Forster", "Colonel Foley", "Colonel F")


def test_forms_that_no_list_has() -> None:
    body = "Huck ran. Huck fell. Hucky! Fedallah sat. Fedallah rose. Now, Fedal, my boy! Marse Tom came. Tom Dane slept. Tom woke."
    found = persons(body, "Huck", "Hucky", "Fedallah", "Fedal", "Tom Dane", "Tom", "Marse Tom")
    assert {"Huck", "Hucky"} in found
    assert {"Fedallah", "Fedal"} in found
    assert {"Tom", "Tom Dane", "Marse Tom"} in found


def test_a_major_general_is_not_his_daughter() -> None:
    assert parse("Major-General Hale").titles == ("general",)
    assert conflict(parse("Major-General Hale"), parse("Miss Hale"), gender_a=None, gender_b="F") == "title"


def test_one_being_has_several_names_for_its_horror() -> None:
    body = "I saw the monster. I fled from the fiend. The monster followed. There stood the giant."
    assert {"the monster", "the fiend"} in persons(body, "the monster", "the fiend", "the giant")


def _scenes(*, also: str = "") -> str:
    scene = f"Lucy ran up the hill and sang to herself. {also} It rained. It was late. “Miss Hart is out,” he said to them. "
    return "\n\n".join(
        [scene + "They waited for the coach at the inn until the moon rose over the sea." for _ in range(20)]
    )


def test_miss_hart_is_lucy_if_she_is_named_in_lucys_scenes_and_in_no_other_girls() -> None:
    assert {"Lucy", "Miss Hart"} in persons(_scenes(), "Lucy", "Miss Hart")
    assert {"Miss Hart"} in persons(_scenes(also="Emily laughed and laughed."), "Lucy", "Emily", "Miss Hart")
    beside = _scenes(also="Lucy waved to Miss Hart.")
    assert {"Miss Hart"} in persons(beside, "Lucy", "Miss Hart")


def test_a_captain_and_a_general_of_one_name_are_two_and_mr_is_neither() -> None:
    lines = [
        "Mr. Hart bowed. Henry Hart smiled.",
        "Captain Hart rode away.",
        "General Hart came home.",
        "Captain Frederick Hart wrote.",
    ]
    body = "\n\n".join(f"{line} It rained, and nobody else was at home." for line in lines * 4)
    names = ("Mr. Hart", "Henry Hart", "Captain Hart", "General Hart", "Captain Frederick Hart")
    found = persons(body, *names)
    assert {"Captain Hart", "Captain Frederick Hart"} in found
    assert {"Mr. Hart", "Henry Hart"} in found
    assert {"General Hart"} in found


def test_mrs_with_her_husbands_name_is_his_wife_and_not_he() -> None:
    body = "Newland Hart came with Mrs. Newland Hart. Mrs. Hart sat.\n\nNewland laughed. Newland Hart left Mrs. Newland.\n\n"
    found = persons(
        body + "Mrs. Hart wept. " * 3,
        "Newland Hart",
        "Mrs. Newland Hart",
        "Mrs. Newland",
        "Newland",
        "Mrs. Hart",
    )
    assert {"Newland Hart", "Newland"} in found
    assert {"Mrs. Newland Hart", "Mrs. Newland", "Mrs. Hart"} in found


def test_two_wives_of_a_family_who_seldom_meet_stay_two() -> None:
    elder = "Mrs. Hart poured the tea and spoke of the weather and the roads.\n\n" * 8
    younger = "Mrs. Charles Hart had a headache and would see nobody at all that day.\n\n" * 8
    assert {"Mrs. Hart"} in persons(elder + younger, "Mrs. Hart", "Mrs. Charles Hart")


def test_mr_hart_is_the_father_and_no_boy() -> None:
    body = "Bob Hart worked. Mr. Hart slept. Master Peter Hart sang. Peter ate. Bob Hart went home."
    found = persons(body, "Bob Hart", "Mr. Hart", "Master Peter Hart", "Peter")
    assert {"Bob Hart", "Mr. Hart"} in found


def test_a_pet_name_on_every_page_is_not_of_whom_the_book_names_once() -> None:
    rain = "It rained on the garden and the laburnum, and the bees were gone, and there was an end of the summer of that year. "
    page = "Lord Henry lay on the divan. " + rain + '"Oh, Harry!" said Basil. He smiled.\n\n'
    body = page * 12 + "Henry Ashton was ruined.\n\n" + page * 3
    found = persons(body, "Lord Henry", "Harry", "Henry Ashton", "Basil")
    assert any({"Lord Henry", "Harry"} <= person for person in found)


def test_given_names_as_period_hands_shorten_them() -> None:
    assert persons("Wm. Hart wrote. William Hart came.", "Wm. Hart", "William Hart") == [
        {"Wm. Hart", "William Hart"}
    ]


def test_the_king_is_the_one_king_of_a_land_in_the_book() -> None:
    names = ("King", "King of Denmark")
    assert persons("Claudius, King of Denmark. Enter King. King speaks.", *names) == [set(names)]


def test_the_painter_is_who_is_always_there_and_never_named_beside_him() -> None:
    page = "Basil Hart looked up, and Dora watched. He mixed his blue.\n\nThe light fell. Then the painter bowed to Dora.\n\n"
    body = (page + "A long grey empty evening came down upon the town and all its roofs.\n\n") * 9
    found = persons(body, "Basil Hart", "the painter", "Dora")
    assert {"Basil Hart", "the painter"} in found
    assert {"Dora"} in found


def test_a_servants_mr_with_the_given_name_is_no_other_family() -> None:
    body = "Mr. Edgar rang. Edgar Hart came. Mr. Hareton swore. Mr. Hareton Dale ate, and Hareton Dale slept."
    found = persons(body, "Mr. Edgar", "Edgar Hart", "Mr. Hareton", "Mr. Hareton Dale", "Hareton Dale")
    assert {"Mr. Edgar", "Edgar Hart"} in found
    assert {"Mr. Hareton", "Mr. Hareton Dale", "Hareton Dale"} in found


def test_particles_and_saints_are_part_of_one_word() -> None:
    assert (parse("Mrs. van der Hart").single, parse("Henry van der Hart").surname) == (True, "van der hart")
    assert (parse("St. John Dale").given, parse("Lord Robert St. Simon").surname) == ("st john", "st simon")
    body = "St. John read. St. John Dale rose. John swore. John Reed ate. Madame de Hart sang. Hart left with Madame de Hart."
    found = persons(body, "St. John", "St. John Dale", "John", "John Reed")
    assert {"St. John", "St. John Dale"} in found
    assert {"John", "John Reed"} in found
    wives = "Mrs. Henry van der Hart came. Mrs. van der Hart sat. Mr. van der Hart stood. "
    names = ("Mrs. Henry van der Hart", "Mrs. van der Hart", "Mr. van der Hart")
    assert {"Mrs. Henry van der Hart", "Mrs. van der Hart"} in persons(wives, *names)


def _chapters(*scenes: str) -> str:
    """Each scene with a page between it and the next, so that no two touch."""
    pause = "\n\n".join(
        "The rain fell on the roofs of the town and nobody went out of doors. " * 12 for _ in range(4)
    )
    return f"\n\n{pause}\n\n".join(scenes)


def test_the_given_name_of_every_chapter_is_not_that_of_somebody_of_whom_a_letter_tells() -> None:
    home = "Mary sat at the window with her sewing. Mary sang."
    letter = "They say he will marry Mary Hart before the spring."
    assert persons(_chapters(home, home, letter, home), "Mary", "Mary Hart") == [{"Mary"}, {"Mary Hart"}]
    beside = f"{letter} Mary laughed."
    assert persons(_chapters(home, home, beside, home), "Mary", "Mary Hart") == [{"Mary", "Mary Hart"}]
    # Named as seldom as that she may be brought in by her full name long before.
    assert persons(_chapters(letter, home), "Mary", "Mary Hart") == [{"Mary", "Mary Hart"}]


def test_a_given_name_among_the_scenes_of_the_surname_is_its_bearers() -> None:
    scene = "“Frederick!” cried his sister. Captain Hart turned. Frederick was pale."
    full = "In the navy list stood Captain Frederick Hart."
    joined = {"Frederick", "Captain Hart", "Captain Frederick Hart"}
    assert joined in persons(_chapters(full, scene, scene, scene), *joined)
