"""Choosing among the names of the passages by the first token's log-probability."""

from __future__ import annotations

import pytest
from fakes import FakeLLM

from gutengraph_query.merging.candidates import choose
from gutengraph_query.prompts.choose import choose_prompt

TEXTS = ["Silas fed the parrot. Dr. Marlow looked on.", "Agnes Pell and Silas laughed at Lucy."]


def model(told: dict[str, float], bare: dict[str, float] | None = None) -> FakeLLM:
    def logprobs(prompt: str) -> dict[str, float]:
        return bare or {"x": -9.0} if prompt.startswith("Question:") else told

    return FakeLLM(logprobs=logprobs)


def test_names_are_ranked_by_their_first_token() -> None:
    chosen = choose(model({" Mar": -1.0, " Silas": -2.0, " Agn": -3.0, " the": -0.1}), "Who laughed?", TEXTS)
    assert [c.name for c in chosen.candidates][:3] == ["Dr. Marlow", "Silas", "Agnes Pell"]
    assert chosen.calls == 3


def test_what_a_passage_adds_counts_half() -> None:
    told = {" Silas": -2.0, " Agnes": -2.2}
    bare = {" Silas": -2.0, " Agnes": -6.0}
    assert [c.name for c in choose(model(told, bare), "Who laughed?", TEXTS).candidates][:2] == [
        "Agnes Pell",
        "Silas",
    ]


def test_names_of_the_question_are_no_candidates_and_one_person_comes_once() -> None:
    texts = ["Lucy met Agnes Pell.", "Then Agnes sang."]
    chosen = choose(model({" Lucy": -0.1, " Agnes": -1.0}), "Whom did Lucy meet?", texts)
    assert [c.name for c in chosen.candidates] == ["Agnes"] or [c.name for c in chosen.candidates] == [
        "Agnes Pell"
    ]


def test_words_tell_where_the_answer_stands() -> None:
    chosen = choose(model({" parrot": -0.5, " fed": -1.0}), "What did he have?", TEXTS)
    assert chosen.words[:2] == ["parrot", "fed"]
    assert len(chosen.words) == 5


def test_source_is_the_passage_that_fits_best() -> None:
    def logprobs(prompt: str) -> dict[str, float]:
        return {" Silas": -1.0 if "laughed at" in prompt else -3.0, " z": -9.0}

    (silas, *_) = choose(FakeLLM(logprobs=logprobs), "Who?", TEXTS).candidates
    assert (silas.name, silas.source) == ("Silas", 1)


def test_the_prompt_has_no_blank_line_inside_the_passage() -> None:
    prompt = choose_prompt("Who is\nit?", "One.\n\n_Two._")
    assert prompt == "One. Two.\nQuestion: Who is it?\nAnswer:"


@pytest.mark.parametrize("texts", [[], ["nothing here has a name"]])
def test_no_names_no_candidates(texts: list[str]) -> None:
    assert choose(model({" x": -1.0}), "Who?", texts).candidates == []
