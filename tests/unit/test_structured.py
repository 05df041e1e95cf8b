"""Structured replies: what conforms comes back as it is, what is mended loses and invents nothing."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Literal

import pytest
from fakes import FakeLLM
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, RootModel

from gutengraph_core.llm.ask import ask
from gutengraph_core.llm.cache import CachedLLM, ReplyCache
from gutengraph_core.llm.cut_json import close_cut
from gutengraph_core.llm.structured import ENVELOPE, FENCE, STRING, parse, reply_schema


class Names(BaseModel):
    people: list[str]
    places: list[str]


class Tool(BaseModel):
    name: str
    use: str
    kind: Literal["blade", "vessel"] = "blade"


class Tools(BaseModel):
    tools: list[Tool]


class Labels(RootModel[dict[str, Literal["person", "place"]]]):
    pass


GOOD = '{"people": ["Ann", "Ben"], "places": []}'


def test_a_conforming_reply_is_unchanged() -> None:
    parsed = parse(GOOD, Names)
    assert parsed.outcome == "valid"
    assert parsed.value == Names(people=["Ann", "Ben"], places=[])
    assert (parsed.repairs, parsed.counts, parsed.cut) == ((), {}, False)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))), st.lists(st.text(max_size=5)))
def test_any_conforming_reply_is_unchanged_with_repair_on_and_off(
    people: list[str], places: list[str]
) -> None:
    names = Names(people=people, places=[p for p in places if p.isprintable()])
    for repair in (True, False):
        parsed = parse(names.model_dump_json(), Names, repair=repair)
        assert parsed.value == names
        assert not parsed.repairs
        assert not parsed.counts


@pytest.mark.parametrize(
    ("text", "repairs"),
    [
        (f"```json\n{GOOD}\n```", (FENCE,)),
        (f"Here you are:\n```\n{GOOD}\n```\nAnything else?", (FENCE,)),
        (json.dumps(GOOD), (STRING,)),
        (json.dumps(json.dumps(GOOD)), (STRING, STRING)),
        (f"```json\n{json.dumps(GOOD)}\n```", (FENCE, STRING)),
    ],
)
def test_wrappings_come_off(text: str, repairs: tuple[str, ...]) -> None:
    parsed = parse(text, Names)
    assert parsed.value == Names(people=["Ann", "Ben"], places=[])
    assert parsed.repairs == repairs
    assert parse(text, Names, repair=False).value is None


@pytest.mark.parametrize(
    "text",
    ['[{"name": "adze", "use": "to hew"}]', '{"name": "adze", "use": "to hew"}'],
)
def test_a_missing_envelope_is_added(text: str) -> None:
    parsed = parse(text, Tools)
    assert parsed.value == Tools(tools=[Tool(name="adze", use="to hew")])
    assert parsed.repairs == (ENVELOPE,)


def test_no_envelope_is_guessed_where_two_fields_could_be_meant() -> None:
    parsed = parse('["Ann"]', Names)
    assert (parsed.value, parsed.outcome, parsed.repairs) == (None, "other shape", ())


@pytest.mark.parametrize(
    ("text", "people", "places"),
    [
        ('{"people": ["Ann", "Be', ["Ann"], []),
        ('{"people": ["Ann", "Ben"', ["Ann", "Ben"], []),
        ('{"people": ["Ann"], "places": ["York", ', ["Ann"], ["York"]),
        ('{"people": ["Ann"], "pla', ["Ann"], []),
        ('```json\n{"people": ["Ann", "B', ["Ann"], []),
    ],
)
def test_a_cut_list_keeps_its_complete_items(text: str, people: list[str], places: list[str]) -> None:
    parsed = parse(text, Names)
    assert parsed.value == Names(people=people, places=places)
    assert parsed.cut
    off = parse(text, Names, repair=False)
    assert (off.value, off.outcome) == (None, "no JSON")


def test_a_cut_item_is_left_out_and_not_completed_from_defaults() -> None:
    whole = '{"tools": [{"name": "adze", "use": "to hew", "kind": "blade"}, {"name": "jug", "use": "to pour"'
    assert parse(whole, Tools).value == Tools(tools=[Tool(name="adze", use="to hew")])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "I know nobody here.",
        '{"people": ["An',
        '{"people": ["Ann"} ]',
        '{"people": [NaN',
        "[" * 9000,
    ],
)
def test_what_is_no_json_is_called_so(text: str) -> None:
    parsed = parse(text, Names)
    assert parsed.value is None
    assert parsed.outcome == ("other shape" if text.endswith('"An') else "no JSON")
    assert parsed.problem


@settings(max_examples=150, deadline=None)
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
        max_leaves=12,
    ).filter(lambda d: isinstance(d, list | dict)),
    st.floats(0, 1),
    st.booleans(),
)
def test_a_json_text_cut_anywhere_gives_a_part_of_itself(
    document: object, where: float, ascii_only: bool
) -> None:
    text = json.dumps(document, ensure_ascii=ascii_only)
    at = 1 + int(where * (len(text) - 2))
    part = json.loads(close_cut(text[:at]))
    assert _is_part(part, document)


def _is_part(part: object, whole: object) -> bool:
    """Each kept item stands in its place; only at the end of the last container is something missing."""
    if isinstance(part, list) and isinstance(whole, list):
        return part == whole[: len(part)]
    if isinstance(part, dict) and isinstance(whole, dict):
        keys = list(part)
        if keys != list(whole)[: len(keys)]:
            return False
        return all(part[k] == whole[k] for k in keys[:-1]) and (
            not keys or part[keys[-1]] == whole[keys[-1]] or _is_part(part[keys[-1]], whole[keys[-1]])
        )
    return False


@pytest.mark.parametrize(
    "text", ['{"a": [1] rubbish', '{"a": "x" "b"', '{"a": [1}', '{"a" "b', '{"a": 1}', "3"]
)
def test_what_breaks_elsewhere_is_not_salvaged(text: str) -> None:
    with pytest.raises(ValueError, match=r"broken|match|not cut"):
        close_cut(text)


def test_items_that_do_not_fit_are_dropped_and_counted() -> None:
    text = '{"tools": [{"name": "adze"}, {"name": "jug", "use": "to pour", "kind": "vessel"}, "saw", null]}'
    parsed = parse(text, Tools)
    assert parsed.value == Tools(tools=[Tool(name="jug", use="to pour", kind="vessel")])
    assert parsed.counts == {"dropped": 3}
    assert parse(text, Tools, repair=False).outcome == "other shape"


def test_entries_of_a_mapping_count_as_items() -> None:
    parsed = parse('{"Ann": "person", "York": "town", "Ben": "person"}', Labels)
    assert parsed.value == Labels({"Ann": "person", "Ben": "person"})
    assert parsed.counts == {"dropped": 1}


def test_half_a_surrogate_pair_cannot_get_through() -> None:
    parsed = parse('{"people": ["\\ud800", "Ann"], "places": []}', Names)
    assert (parsed.value, parsed.outcome) == (None, "no JSON")


def test_a_key_given_twice_is_counted() -> None:
    parsed = parse('{"people": ["Ann"], "people": ["Ben"], "places": []}', Names)
    assert parsed.value == Names(people=["Ben"], places=[])
    assert parsed.counts == {"duplicate keys": 1}


ECHOES = [
    json.dumps(reply_schema(Names)),
    json.dumps(Names.model_json_schema()),
    '{"people": {"type": "array", "items": {"type": "string"}}, "places": {"type": "array"}}',
]


@pytest.mark.parametrize("text", ECHOES)
def test_a_reply_of_nothing_but_the_schema_is_a_failure(text: str) -> None:
    parsed = parse(text, Names)
    assert (parsed.value, parsed.outcome) == (None, "other shape")
    assert parsed.counts["echoed"] >= 1


def test_echoes_among_the_items_are_dropped() -> None:
    text = '{"tools": [{"type": "object", "properties": {}}, {"name": "adze", "use": "to hew"}]}'
    parsed = parse(text, Tools)
    assert parsed.value == Tools(tools=[Tool(name="adze", use="to hew")])
    assert parsed.counts == {"echoed": 1}


def test_a_list_of_which_nothing_is_left_is_a_failure_and_not_an_empty_answer() -> None:
    parsed = parse('{"tools": [{"name": "adze"}, {}]}', Tools)
    assert (parsed.value, parsed.outcome, parsed.counts) == (None, "other shape", {"dropped": 2})
    assert parse('{"tools": []}', Tools).value == Tools(tools=[])


def test_an_echo_does_not_pass_where_every_field_is_optional() -> None:
    class Loose(BaseModel):
        people: list[str] = []

    assert parse(json.dumps(reply_schema(Loose)), Loose).value is None


def test_an_item_that_speaks_of_types_is_no_echo() -> None:
    class Thing(BaseModel):
        name: str
        type: str
        title: str = ""

    class Things(BaseModel):
        things: list[Thing]

    text = '{"things": [{"name": "whetstone", "type": "object", "title": "Old"}]}'
    assert parse(text, Things).value == Things(things=[Thing(name="whetstone", type="object", title="Old")])


def test_a_wrong_field_is_another_shape_and_named() -> None:
    parsed = parse('{"people": "Ann", "places": []}', Names)
    assert (parsed.value, parsed.outcome) == (None, "other shape")
    assert parsed.problem.startswith("people: ")
    assert parse('"Ann"', Names).outcome == "other shape"


def test_the_schema_sent_allows_nothing_else_and_has_no_references() -> None:
    class Strict(BaseModel):
        model_config = ConfigDict(title="Strict")
        tools: list[Tool]
        title: str

    schema = reply_schema(Strict)
    assert "$ref" not in json.dumps(schema)
    assert schema["additionalProperties"] is False
    item = schema["properties"]["tools"]["items"]
    assert item["additionalProperties"] is False
    assert item["properties"]["kind"] == {"enum": ["blade", "vessel"], "type": "string"}
    assert item["required"] == ["name", "use"]
    assert schema["required"] == ["tools", "title"]
    assert reply_schema(Labels)["additionalProperties"] == {"enum": ["person", "place"], "type": "string"}


def test_ask_sends_the_schema_and_the_cap() -> None:
    llm = FakeLLM([GOOD])
    asked = ask(llm, "Who?", Names, max_tokens=77, system="Be brief.")
    assert asked.parsed.value == Names(people=["Ann", "Ben"], places=[])
    assert asked.reply.text == GOOD
    (call,) = llm.calls
    assert call["max_tokens"] == 77
    assert call["system"] == "Be brief."
    assert call["schema"] == reply_schema(Names)


def test_ask_keeps_good_replies_only(tmp_path: Path) -> None:
    fake = FakeLLM(["nonsense", ('{"people": ["Ann", "B', "length"), GOOD])
    llm = CachedLLM(fake, ReplyCache(tmp_path / "r.sqlite"))
    outcomes = [ask(llm, "Who?", Names, max_tokens=9).parsed for _ in range(4)]
    assert [p.outcome for p in outcomes] == ["no JSON", "valid", "valid", "valid"]
    assert [p.cut for p in outcomes] == [False, True, False, False]
    assert len(fake.calls) == 3, "the fourth came from the cache"


def test_ask_says_what_to_do_about_echoes(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        ask(FakeLLM([ECHOES[0]]), "Who?", Names, max_tokens=9)
    assert "enforces reply schemas, or another model" in caplog.text


def test_the_switch_turns_repair_off() -> None:
    fenced = f"```\n{GOOD}\n```"
    assert ask(FakeLLM([fenced]), "Who?", Names, max_tokens=9).parsed.value is not None
    assert ask(FakeLLM([fenced]), "Who?", Names, max_tokens=9, repair=False).parsed.value is None
