"""The cloze: how log-probabilities, the text's own leaning and the rules make a kind."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import pytest

from gutengraph_assets.extraction.candidates import Candidate, Occurrence
from gutengraph_assets.extraction.cloze import MAX_WORDS, best, chosen, class_scores, context
from gutengraph_assets.extraction.ledger import Ledger
from gutengraph_assets.extraction.naming import STEP, name_book
from gutengraph_assets.extraction.prompts.cloze import CLASSES, CONSTANTS, cloze_prompt
from gutengraph_core import names
from gutengraph_core.errors import ModelRefused, ModelUnreachable
from gutengraph_core.settings import Settings
from gutengraph_core.tables import MENTIONS
from tests.fakes import FakeLLM
from tests.naming_texts import FILLER, windows_of, wrapped

REST = {f" w{i}": -9.0 - i / 100 for i in range(18)}
"""Next words that are no class words, as a real model's twenty are mostly."""
PERSON = {" man": -0.2, " town": -4.0, **REST}
PLACE = {" town": -0.2, " man": -5.0, **REST}
DOUBT = {" town": -1.0, " man": -1.4, **REST}


def by_name(**known: dict[str, float]) -> FakeLLM:
    """A model that knows what is asked about by the name in the prompt's last line."""

    def answer(prompt: str) -> dict[str, float]:
        name = prompt.rpartition('In this text, "')[2].partition('"')[0]
        return known.get(name.replace(" ", "_"), DOUBT)

    return FakeLLM(logprobs=answer)


def run(body: str, llm: FakeLLM, home: Path, **options: object) -> tuple[pa.Table, Ledger]:
    ledger = Ledger(home / "ledger.jsonl", book=7)
    table = name_book(body, windows_of(body), llm, Settings(home=home, **options), ledger, book=7)  # type: ignore[arg-type]
    return table, ledger


def kinds(table: pa.Table) -> dict[str, str]:
    return {row["name"]: row["kind"] for row in table.to_pylist()}


# --- the prompt ---
def test_the_examples_end_with_the_last_blank_line_and_name_every_kind() -> None:
    prompt = cloze_prompt("They saw Esther.", "Esther")
    examples, _, question = prompt.rpartition("\n\n")
    assert question == 'Text: They saw Esther.\nIn this text, "Esther" is the name of a'
    assert examples.count("In this text") == 8
    words = {
        line.rsplit(" ", 1)[1].rstrip(".") for line in examples.splitlines() if line.startswith("In this")
    }
    for kind in CLASSES:
        assert words & set(CLASSES[kind]), f"no example of a {kind}"


def test_the_context_is_the_sentence_on_one_line() -> None:
    body = "It rained. Old Mr. Croft and\nEsther _Dunn_ went out. Nobody came.\n"
    start = body.index("Esther")
    assert context(body, start, start + 6) == "Old Mr. Croft and Esther Dunn went out."


def test_a_long_sentence_is_cut_around_the_name() -> None:
    body = " ".join(f"a{i}" for i in range(60)) + " Esther " + " ".join(f"b{i}" for i in range(60)) + ".\n"
    start = body.index("Esther")
    words = context(body, start, start + 6).split(" ")
    assert len(words) == MAX_WORDS
    assert words.index("Esther") == 17


def test_sentences_are_spread_over_the_book_and_headings_come_last() -> None:
    sentence = "Then they all went out with Esther to see the water. "
    body = "ESTHER\n\n" + sentence * 40
    starts = [0] + [i for i in range(len(body)) if body.startswith("Esther", i)]
    candidate = Candidate("Esther", "esther", tuple(Occurrence(s, s + 6, 0, 0) for s in starts))
    got = [o.start for o in chosen(body, candidate)]
    assert len(got) == 3
    assert 0 not in got
    assert len(set(got)) == 3
    assert max(got) - min(got) > len(body) // 2


# --- scores ---
def test_class_words_beyond_the_alternatives_get_the_last_value_less_one() -> None:
    floor = min(REST.values()) - 1
    raw = {
        kind: sum(math.exp({"man": -0.2, "town": -4.0}.get(word, floor)) for word in words)
        for kind, words in CLASSES.items()
    }
    got = class_scores(PERSON)
    for kind, share in raw.items():
        assert got[kind] == pytest.approx(math.log(share / sum(raw.values())) - CONSTANTS[kind])
    beyond = class_scores({**PERSON, " lady": min(REST.values()) - 0.5})
    assert beyond == pytest.approx(got), "a word after the twentieth must not be read"


def test_a_kind_that_is_excluded_cannot_win() -> None:
    assert best([class_scores(PERSON)], ["place", "thing"])[0] != "person"


def test_scores_are_averaged() -> None:
    first, second = class_scores(PERSON), class_scores(PLACE)
    kinds = ["person", "place", "thing"]
    kind, margin = best([first, second, second], kinds)
    assert kind == "place"
    assert margin < best([second, second, second], kinds)[1]


# --- a book ---
BODY = wrapped(
    *[f"{FILLER} They saw Esther at Thornbury, and they thought of Esther and of poor Quill."] * 4,
    "Mr. Croft came up Baxter Street with Esther Croft.",
)


def test_mentions_stand_in_the_text_at_their_offsets(home: Path) -> None:
    table, _ = run(BODY, by_name(Esther=PERSON, Thornbury=PLACE), home)
    assert table.schema == MENTIONS
    starts = table["start"].to_pylist()
    assert starts == sorted(starts)
    for row in table.to_pylist():
        assert names.key(BODY[row["start"] : row["end"]]) == names.key(row["name"])
    found = kinds(table)
    assert found["Esther"] == "person"
    assert found["Thornbury"] == "place"
    assert found["Mr. Croft"] == "person"
    assert found["Baxter Street"] == "place"


def test_no_model_is_asked_where_the_text_decides(home: Path) -> None:
    llm = by_name(Esther=PERSON, Thornbury=PLACE)
    table, ledger = run(BODY, llm, home)
    asked = {call.rpartition('In this text, "')[2].partition('"')[0] for call in llm.logprob_calls}
    assert asked == {"Esther", "Thornbury", "Quill"}
    how = {row["name"]: row["how"] for row in table.to_pylist()}
    assert how["Esther"] == "cloze"
    assert how["Mr. Croft"] == how["Esther Croft"] == "rule"
    summary = ledger.summary(STEP)
    assert summary.asked == 3
    assert summary.calls == len(llm.logprob_calls)


def test_further_sentences_are_asked_only_in_doubt(home: Path) -> None:
    llm = by_name(Esther=PERSON, Thornbury=PLACE, Quill=DOUBT)
    run(BODY, llm, home)
    asked = [call.rpartition('In this text, "')[2].partition('"')[0] for call in llm.logprob_calls]
    assert asked.count("Esther") == 1
    assert asked.count("Quill") == 3


def test_what_is_written_has_no_wobbling_digits(home: Path) -> None:
    table, _ = run(BODY, by_name(Esther=PERSON, Thornbury=PLACE), home)
    shifted = {word: value + 0.004 for word, value in PERSON.items()}
    again, _ = run(BODY, by_name(Esther=shifted, Thornbury=PLACE), home / "other")
    assert table.equals(again)
    assert {round(m, 1) == pytest.approx(m) for m in table["margin"].to_pylist() if m is not None} == {True}


def test_calls_are_bounded_frequent_names_first(home: Path) -> None:
    llm = by_name(Esther=PERSON, Thornbury=PLACE, Quill=PERSON)
    table, ledger = run(BODY, llm, home, naming_max_calls=1)
    assert len(llm.logprob_calls) == 1
    assert "Esther" in kinds(table)
    assert ledger.summary(STEP).dropped["calls spent"] == 2


def test_every_candidate_is_accounted_for(home: Path) -> None:
    table, ledger = run(BODY, by_name(Esther=PERSON, Thornbury=PLACE), home)
    summary = ledger.summary(STEP)
    assert summary.proposed == summary.kept + sum(summary.dropped.values())
    assert summary.kept == len(kinds(table))
    assert summary.grounding_rate == 1.0
    assert summary.set_aside["function word"] > 0
    assert summary.parse_fail_rate == 0.0


def test_two_names_run_together_are_no_third(home: Path) -> None:
    body = wrapped(
        *[f"{FILLER} They met Esther in Thornbury, and in Thornbury they loved Esther."] * 4,
        "In Thornbury Esther was known.",
    )
    table, ledger = run(body, by_name(Esther=PERSON, Thornbury=PLACE), home)
    assert "Thornbury Esther" not in kinds(table)
    assert ledger.summary(STEP).dropped["two names in one"] == 1


@pytest.mark.parametrize("most_calls", [500, 3])
def test_progress_counts_the_names_that_the_model_is_asked_about(home: Path, most_calls: int) -> None:
    """Of a book with more names than calls those alone, or the time left would be that of names never asked about."""
    people = "Ada Bea Cleo Dora Eva".split()
    body = wrapped(*(f"{FILLER} They met {name} there, and they loved {name}." for name in people))
    seen: list[tuple[int, int]] = []
    name_book(
        body,
        windows_of(body),
        by_name(**dict.fromkeys(people, PERSON)),
        Settings(home=home, naming_max_calls=most_calls),
        Ledger(home / "l.jsonl"),
        progress=lambda done, total: seen.append((done, total)),
    )
    dones = [done for done, _ in seen]
    assert dones == sorted(dones)
    assert seen[-1][0] == seen[-1][1]
    assert seen[0][1] == min(5, most_calls)


def test_a_backend_without_logprobs_refuses_the_cloze_with_the_remedy(home: Path) -> None:
    with pytest.raises(ModelRefused, match=r"^Book 7: The cloze needs .* Set GUTENGRAPH_NAMING=list"):
        run(BODY, FakeLLM(), home, naming="cloze")
    assert not (home / "ledger.jsonl").exists()


def test_a_dead_server_names_the_book_and_leaves_the_run_open(home: Path) -> None:
    calls = 0

    def dies(prompt: str) -> dict[str, float]:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise ModelUnreachable("The server is gone.", remedy="Start it.")
        return PERSON

    with pytest.raises(ModelUnreachable, match=r"^Book 7: The server is gone\. Start it\.$"):
        run(BODY, FakeLLM(logprobs=dies), home)
    ledger = Ledger(home / "ledger.jsonl")
    assert ledger.summary(STEP).runs == 0
    table, ledger = run(BODY, by_name(Esther=PERSON, Thornbury=PLACE), home)
    fresh, _ = run(BODY, by_name(Esther=PERSON, Thornbury=PLACE), home / "fresh")
    assert table.equals(fresh)
    assert ledger.summary(STEP).runs == 1


def test_a_rerun_adds_nothing_but_its_end(home: Path) -> None:
    first, ledger = run(BODY, by_name(Esther=PERSON, Thornbury=PLACE), home)
    lines = len(ledger.path.read_text().splitlines())
    second, ledger = run(BODY, by_name(Esther=PERSON, Thornbury=PLACE), home)
    assert second.equals(first)
    assert len(ledger.path.read_text().splitlines()) == lines + 1
    assert ledger.summary(STEP).runs == 2


def test_a_hesitant_plural_is_no_person(home: Path) -> None:
    body = wrapped(*[f"{FILLER} It was Careys and it was Carey who saw it."] * 3)
    table, _ = run(body, by_name(Carey=PERSON, Careys={" man": -1.4, " town": -1.0, **REST}), home)
    sure, _ = run(body, by_name(Carey=PERSON, Careys=PERSON), home / "sure")
    assert "Careys" not in kinds(table)
    assert kinds(sure)["Careys"] == "person"


def test_a_common_noun_with_a_capital_is_no_thing_to_keep(home: Path) -> None:
    body = wrapped(*[f"{FILLER} Such was Hope to them, and Hope was gone with their hope."] * 3)
    _, ledger = run(body, by_name(Hope={" thing": -0.2, " man": -5.0, **REST}), home)
    assert ledger.summary(STEP).dropped["a common noun with a capital"] == 1


WHALE = "At last they saw Grey Tom again, and he struck the boat. "


@pytest.mark.parametrize(("pronoun", "kind"), [("he", "person"), ("it", "thing")])
def test_what_the_model_hesitates_over_and_the_text_calls_he_is_somebody(
    tmp_path: Path, pronoun: str, kind: str
) -> None:
    body = wrapped(*([FILLER] * 7 + [WHALE.replace("he struck", f"{pronoun} struck")]) * 5)
    thing = {" ship": -0.8, " man": -1.1, **REST}
    table, _ = run(body, by_name(Grey_Tom=thing, Tom=thing), tmp_path)
    assert set(table["kind"].to_pylist()) == {kind}


def test_a_longer_name_is_asked_about_before_single_words_of_one_window(tmp_path: Path) -> None:
    body = wrapped(
        FILLER,
        "Here came Father Mapple, and Father Mapple spoke. Of Ugolm and Ugolm we say nothing, of Brast and Brast.",
    )
    table, _ = run(body, by_name(Father_Mapple=PERSON), tmp_path, naming_max_calls=1)
    assert set(table["name"].to_pylist()) == {"Father Mapple"}
