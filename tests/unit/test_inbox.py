"""The inbox: what is taken in, what is refused and why."""

from __future__ import annotations

import time

import pytest
from small_mirror import STORY, rdf_of, text_of

from gutengraph_assets import inbox
from gutengraph_assets.gutenberg.acquire import acquire
from gutengraph_core.errors import BadText
from gutengraph_core.library import Library
from gutengraph_core.settings import Settings


def lay(library: Library, name: str, data: str | bytes) -> None:
    path = library.home / "inbox" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)


def look(library: Library) -> list[inbox.Delivery | inbox.Refused]:
    return list(inbox.look(library, settle_s=0, at=time.time() + 1))


def test_a_list_in_any_usual_form() -> None:
    text = "2701\n84, 1342;98 # the last of them\n\n# nothing here\n84\n"
    assert inbox.parse_ids(text, "list.txt") == (2701, 84, 1342, 98)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("84\nMoby Dick\n", "list.txt, line 2: 'Moby' is no Gutenberg id"),
        ("-84", "line 1: '-84'"),
        ("8 4.5", "line 1: '4.5'"),
        ("99999999999", "line 1: '99999999999'"),
        ("٨٤", "line 1"),
        ("# only words\n", "list.txt: it has no Gutenberg id"),
        ("", "no Gutenberg id"),
    ],
)
def test_what_is_no_list_names_file_line_and_word(text: str, says: str) -> None:
    with pytest.raises(BadText) as caught:
        inbox.parse_ids(text, "list.txt")
    assert says in str(caught.value)


def test_no_inbox_and_an_empty_one(library: Library) -> None:
    assert look(library) == []
    (library.home / "inbox" / "accepted").mkdir(parents=True)
    assert look(library) == []


def test_a_file_still_being_copied_is_left(library: Library) -> None:
    lay(library, "list.txt", "84\n")
    assert list(inbox.look(library, settle_s=60, at=time.time())) == []
    (found,) = look(library)
    assert isinstance(found, inbox.Delivery)
    assert (found.name, found.ids) == ("list.txt", (84,))


def test_one_bad_file_does_not_keep_the_others_and_is_moved_aside_with_its_reason(library: Library) -> None:
    lay(library, "a.txt", b"\xff\xfe\x00binary")
    lay(library, "b.list", "84\n")
    lay(library, "c.pdf", b"%PDF-1.4")
    lay(library, "d.rdf", rdf_of(9, "Alone"))
    lay(library, "e.txt", text_of(9, "A Tale", STORY))
    lay(library, "f.txt", text_of(9, "A Tale", STORY))
    lay(library, "f.rdf", "<not-an-rdf/>")
    found = look(library)
    assert [type(f).__name__ for f in found] == [
        "Refused",
        "Delivery",
        "Refused",
        "Refused",
        "Refused",
        "Refused",
    ]
    for one in found:
        if isinstance(one, inbox.Refused):
            inbox.reject(library, one)
            reason = (library.home / "inbox/rejected" / f"{one.name}.reason.txt").read_text()
            assert one.name.split(".")[0] in reason.split(":")[0]
        else:
            inbox.accept(library, one.files)
    left = [p.name for p in (library.home / "inbox").iterdir() if p.is_file()]
    assert left == []
    assert (library.home / "inbox/rejected/f.rdf").exists()
    assert (library.home / "inbox/accepted/b.list").exists()


def test_a_text_with_its_rdf_is_read_before_any_mirror(library: Library, settings: Settings) -> None:
    lay(library, "my own tale.txt", text_of(70_001, "The Heron", STORY))
    lay(library, "my own tale.rdf", rdf_of(70_001, "The Heron at Home"))
    (found,) = look(library)
    assert isinstance(found, inbox.Delivery)
    assert found.ids == (70_001,)
    inbox.shelve(library, found)
    record = acquire(70_001, settings)
    assert record.title == "The Heron at Home"
    assert "Captain Rook" in library.body(70_001)


def test_the_same_bytes_put_there_again_are_another_delivery(library: Library) -> None:
    lay(library, "list.txt", "84\n")
    (first,) = look(library)
    time.sleep(0.01)
    lay(library, "list.txt", "84\n")
    (second,) = look(library)
    assert isinstance(first, inbox.Delivery)
    assert isinstance(second, inbox.Delivery)
    assert first.key != second.key
