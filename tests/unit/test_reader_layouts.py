"""Whole layouts as printers and volunteers mix them, in miniature: each has another first page and other headings."""

from __future__ import annotations

import pytest
from gutenberg_texts import LAST, MORE, PROSE, TALK, gutenberg

from gutengraph_assets.gutenberg.reader import read_book

TEXT = f"{PROSE}\n{TALK}\n{MORE}"

BOOKS_AND_A_PRELUDE = f"""Harbour Lamps


By

Ada Fenwick




New York and Boston

H. M. Harbour Company Publishers




To my dear brother, the keeper, in this nineteenth year of our
blessed lamp.




CONTENTS

BOOK I

CHAPTER I CHAPTER II


BOOK II

CHAPTER III CHAPTER IV




PRELUDE


{PROSE}
{MORE}




BOOK I.

MISS FENWICK.



CHAPTER I.

    "Since I can do no good because a lamp,
     I reach for something that is near a lamp.
          --The Keeper's Tragedy.


{TEXT}



CHAPTER II.

{TEXT}




BOOK II.

OLD AND NEW.



CHAPTER III.

{TEXT}



CHAPTER IV.

{LAST}
"""

EPOCHS = f"""Produced by the Harbour Proofreading Team at http://www.pgdp.net





Transcribers Note: Obvious typesetter errors from the original
corrected in this etext. If they are not obvious, they are left.

Throughout this text you will see words with _ (underscore)
on either side, such as _this_.

---------------------------------

HARBOUR LAMPS A Romance

BY Ada Fenwick

Printed In the Harbour

CONTENTS.

EPOCH THE FIRST, 1703.
THE KEEPER.

CHAPTER I. The Lamp and her Child             1
       II. The Old Mole                      13


EPOCH THE SECOND, 1715.
THE TIDE.

CHAPTER I. The Idle Lamp                     75




EPOCH THE FIRST.

1703.

THE KEEPER.




HARBOUR LAMPS.




CHAPTER I.

The Lamp and her Child.


{TEXT}



CHAPTER II.

The Old Mole.


{TEXT}




EPOCH THE SECOND.

1715.

THE TIDE.



CHAPTER I.

The Idle Lamp.


{LAST}
"""

STORIES = f"""Prepared by A. Volunteer volunteer@harbour.com
Updates by another.

Harbour Lamps

by Ada Fenwick




CONTENTS


The Lamp
A Small Tide
The Day on the Mole




HARBOUR LAMPS



THE LAMP

{TEXT}



A SMALL TIDE

{TEXT}



THE DAY ON THE MOLE

{LAST}
"""

DEDICATION_IN_VERSE = f"""[Illustration: "I HAVE WAITED ALL THESE YEARS"]




HARBOUR LAMPS

A Novel

BY

ADA FENWICK

AUTHOR OF "THE MOLE" AND "TIDES OF GOD"




NEW YORK AND LONDON HARBOUR & BROTHERS PUBLISHERS

MCMIX




    _To_ =Grant B. Mole=

    _Dear and great Friend! In_ =Harbour's= _fancied_ land
      _You long have held your own much-honored place--
    Have met great lamps; held kind old Pettigrew's hand;
      And talked with keepers face to face._

    _A.F._




CONTENTS

CHAP.                                                           PAGE
         PREFACE                                                  vii
      I. UNDER THE HARBOUR LAMPS                                   1
     II. THE MEETING ON THE MOLE                                  15




PREFACE


{MORE}
A.F.




HARBOUR LAMPS

I

UNDER THE HARBOUR LAMPS


{TEXT}



II

THE MEETING ON THE MOLE


{LAST}
"""

NARRATORS = f"""HARBOUR LAMPS

by Ada Fenwick



INTRODUCTION BY G. K. HARBOURTON

{MORE}
{MORE}



THE STORY BEGUN BY THE KEEPER



I

{TEXT}



II

{TEXT}



THE STORY CONTINUED BY THE CAT



I

{TEXT}



II

{LAST}
"""

BEFORE_THE_FIRST = f"""HARBOUR LAMPS

by Ada Fenwick



“It was not I,” he had said at last.

{PROSE}
{TALK}
{MORE}



I

{TEXT}



II

{LAST}
"""

LONG_TITLES = f"""Harbour Lamps

by Ada Fenwick


Contents

 Chapter 1 THE LAMP IS LIT
 Chapter 2 THE TIDE COMES IN, AND THE TOWN, WHICH HAD SLEPT
           UNTIL THEN, WAKES



Chapter 1 THE LAMP IS LIT

{TEXT}


Chapter 2

IN WHICH THE TIDE COMES IN, AND THE TOWN, WHICH HAD SLEPT UNTIL THEN,
WAKES AND ASKS WHO LIT IT


{LAST}
"""

NUMBERED_LIKE_A_LIST = f"""Harbour Lamps


by Ada Fenwick


Contents

       Introduction
  1.  The Lamp
  2.  The Council with the Cats
  3.  How Pettigrew Saved the Cat




Introduction


{MORE}
Ada Fenwick

The Mole, April, 1900.



1.  The Lamp


{TEXT}


2.  The Council with the Cats


{TEXT}


3.  How Pettigrew Saved the Cat


{LAST}
"""

PLAY = f"""HARBOUR LAMPS

A Play in Two Acts



PERSONS IN THE PLAY

PETTIGREW, a keeper of tides.
THE MASTER, his enemy.



ACT I

SCENE: _The mole at night._

PETTIGREW. I never touched it.

THE MASTER. {PROSE}

PETTIGREW. Nor she.



ACT II

SCENE: _The mole at noon._

THE MASTER. {MORE}

PETTIGREW. Put it out, then.

[_Curtain._]
"""

LAYOUTS: dict[str, tuple[str, str, list[tuple[str, str]], str]] = {
    "books-and-a-prelude": (
        BOOKS_AND_A_PRELUDE,
        "To my dear brother, the keeper, in this nineteenth year of our",
        [
            ("CHAPTER I.", "BOOK I. MISS FENWICK."),
            ("CHAPTER II.", "BOOK I. MISS FENWICK."),
            ("CHAPTER III.", "BOOK II. OLD AND NEW."),
            ("CHAPTER IV.", "BOOK II. OLD AND NEW."),
        ],
        "PRELUDE",
    ),
    "epochs": (
        EPOCHS,
        "EPOCH THE FIRST.",
        [
            ("CHAPTER I. The Lamp and her Child.", "EPOCH THE FIRST. THE KEEPER."),
            ("CHAPTER II. The Old Mole.", "EPOCH THE FIRST. THE KEEPER."),
            ("CHAPTER I. The Idle Lamp.", "EPOCH THE SECOND. THE TIDE."),
        ],
        "",
    ),
    "stories": (
        STORIES,
        "THE LAMP",
        [("THE LAMP", ""), ("A SMALL TIDE", ""), ("THE DAY ON THE MOLE", "")],
        "",
    ),
    "dedication-in-verse": (
        DEDICATION_IN_VERSE,
        "    _To_ =Grant B. Mole=",
        [("I. UNDER THE HARBOUR LAMPS", ""), ("II. THE MEETING ON THE MOLE", "")],
        "PREFACE",
    ),
    "narrators": (
        NARRATORS,
        "THE STORY BEGUN BY THE KEEPER",
        [
            ("I", "THE STORY BEGUN BY THE KEEPER"),
            ("II", "THE STORY BEGUN BY THE KEEPER"),
            ("I", "THE STORY CONTINUED BY THE CAT"),
            ("II", "THE STORY CONTINUED BY THE CAT"),
        ],
        "",
    ),
    "before-the-first": (
        BEFORE_THE_FIRST,
        "“It was not I,” he had said at last.",
        [("I", ""), ("II", "")],
        "",
    ),
    "long-titles": (
        LONG_TITLES,
        "Chapter 1 THE LAMP IS LIT",
        [
            ("Chapter 1 THE LAMP IS LIT", ""),
            (
                "Chapter 2. IN WHICH THE TIDE COMES IN, AND THE TOWN, WHICH HAD SLEPT UNTIL THEN,"
                " WAKES AND ASKS WHO LIT IT",
                "",
            ),
        ],
        "",
    ),
    "numbered-like-a-list": (
        NUMBERED_LIKE_A_LIST,
        "Introduction",
        [
            ("1. The Lamp", ""),
            ("2. The Council with the Cats", ""),
            ("3. How Pettigrew Saved the Cat", ""),
        ],
        "Introduction",
    ),
    "play": (PLAY, "PERSONS IN THE PLAY", [("ACT I", ""), ("ACT II", "")], "PERSONS IN THE PLAY"),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout(name: str) -> None:
    text, first, chapters, before = LAYOUTS[name]
    got = read_book(gutenberg(text, title="Harbour Lamps").encode(), book=7)
    assert next(line for line in got.body.split("\n") if line) == first
    assert [(c.title, c.part) for c in got.chapters if c.index] == chapters
    assert (got.chapters[0].title if got.chapters[0].index == 0 else "") == before
    last = [line for line in got.body.split("\n") if line][-1]
    assert last in (LAST.splitlines()[-1], "[_Curtain._]")


def test_the_header_of_today() -> None:
    """As the site has served it since 2021: credits in the header, a release date that goes on, no 'Produced by'."""
    text = f"""The Project Gutenberg eBook of Harbour Lamps

This ebook is for the use of anyone anywhere in the United States and
most other parts of the world at no cost.

Title: Harbour Lamps

Author: Ada Fenwick

Release date: July 1, 2001 [eBook #7]
                Most recently updated: August 18, 2021

Language: English

Credits: A. Volunteer and the Harbour Team


*** START OF THE PROJECT GUTENBERG EBOOK HARBOUR LAMPS ***


[Illustration]


Harbour Lamps

by Ada Fenwick



Contents

 CHAPTER I.
 CHAPTER II.



CHAPTER I.

{TEXT}


CHAPTER II.

{LAST}



*** END OF THE PROJECT GUTENBERG EBOOK HARBOUR LAMPS ***




Updated editions will replace the previous one—the old editions will
be renamed.

Section 1. General Terms of Use and Redistributing Project Gutenberg™
electronic works
"""
    got = read_book(text.encode(), book=7)
    assert (got.title, got.author, got.language) == ("Harbour Lamps", "Ada Fenwick", "en")
    assert [c.title for c in got.chapters] == ["CHAPTER I.", "CHAPTER II."]
    assert got.body.startswith("CHAPTER I.\n\nThe lamp at the end")
    assert got.body.endswith(LAST.rstrip("\n") + "\n")
