"""Questions answered with the real small models over the real stores, at the default thresholds."""

from __future__ import annotations

import re

import harbour_story as story
import pytest

from gutengraph_core.embedding import open_embedder
from gutengraph_core.library import Library
from gutengraph_core.settings import Settings
from gutengraph_query.ask import ask, compare
from gutengraph_query.brains import Brains


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Brains:
    pytest.importorskip("xllamacpp", reason="pip install 'gutengraph[embedded]'")
    settings = Settings(home=tmp_path_factory.mktemp("built"))
    embedder = open_embedder(settings)
    story.build_library(Library(settings.home), 7, embedder=embedder)
    return Brains(settings, embedder=embedder)


def test_an_edge_answers_without_the_language_model(here: Brains) -> None:
    answer = ask(here, "Who is the boatswain of the Kittiwake?")
    assert (answer["routed_to"], answer["model"]) == ("graph", "")
    assert answer["answer"].startswith("Silas Crane is boatswain of Kittiwake [1].")


def test_a_passage_answers_with_the_words_of_the_book(here: Brains) -> None:
    answer = ask(here, "Which language did the parrot speak?", mode="vector")
    assert answer["known"]
    assert "Danish" in answer["answer"]
    assert answer["model"].startswith("embedded:")
    assert answer["tokens"]["calls"] == 4  # three passages, and the question alone
    assert answer["tokens"]["estimated"]
    quotes = re.findall(r"“([^”]+)”", answer["answer"])
    assert quotes
    assert all(quote in " ".join(story.body().split()) for quote in quotes)


def test_the_walk_keeps_what_fits_the_question(here: Brains) -> None:
    answer = ask(here, "Is Lucy close to somebody with the name of Marlow?", mode="graph")
    assert any("Lucy -[PATIENT_OF]-> Dr. Marlow" in path for path in answer["paths"])


@pytest.mark.parametrize("question", ["What is the boiling point of water?", "Who invented the telephone?"])
def test_what_the_book_does_not_say(here: Brains, question: str) -> None:
    found = compare(here, question)
    assert [answer["known"] for answer in found["answers"].values()] == [False, False, False]
    assert found["answers"]["graph"]["answer"] == "The books here do not say."
