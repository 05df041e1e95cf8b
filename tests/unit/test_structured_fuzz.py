"""The reply parser is fed anything: it never raises, never invents, and its counts add up."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from gutengraph_assets.extraction.prompts.name_list import NameList
from gutengraph_core.llm.structured import CUT, DROPPED, ECHOED, FENCE, STRING, Parsed, parse


class Person(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    age: int | None = None


class People(BaseModel):
    model_config = ConfigDict(extra="forbid")

    people: list[Person]


NAMES = st.text(alphabet="abcdefgh XYZ.'", min_size=1, max_size=8)
LEAVES = st.none() | st.booleans() | st.integers(-99, 99) | NAMES
ANY_JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["people", "places", "objects", "name", "age", "type", "properties"]), inner
        )
    ),
    max_leaves=12,
)
ITEMS = (
    st.fixed_dictionaries({"name": NAMES})
    | st.fixed_dictionaries({"name": NAMES, "age": st.integers(0, 99)})
    | st.fixed_dictionaries({"age": st.integers(0, 99)})  # lacks its name
    | st.just({"type": "object", "properties": {"name": {"type": "string"}}})  # an echo
    | st.just({"name": 3})
    | NAMES
)


@st.composite
def mangled(draw: st.DrawFn) -> str:
    """JSON of names that was cut, wrapped, doubled or had something dropped into it."""
    text = json.dumps(draw(ANY_JSON | st.fixed_dictionaries({"people": st.lists(ITEMS, max_size=5)})))
    if draw(st.booleans()):
        text = text[: draw(st.integers(0, len(text)))]
    if draw(st.booleans()):
        at = draw(st.integers(0, len(text)))
        text = (
            text[:at]
            + draw(
                st.sampled_from(['"', "}", "]", "{", ",", "\\", "\ud800", "```", "NaN", "\x00", " " * 400])
            )
            + text[at:]
        )
    wrap = draw(
        st.sampled_from(
            ["{}", "```json\n{}\n```", "Sure!\n```\n{}", "<think>well</think>{}", "{}{}", "\n\n{}\n"]
        )
    )
    text = wrap.replace("{}", text)
    return json.dumps(text) if draw(st.booleans()) else text


def strings_of(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [s for inner in value.values() for s in strings_of(inner)]
    if isinstance(value, list):
        return [s for inner in value for s in strings_of(inner)]
    return [value] if isinstance(value, str) else []


def check(found: Parsed[Any], text: str) -> None:
    assert (found.value is None) == (found.outcome != "valid")
    assert bool(found.problem) == (found.value is None)
    assert all(count > 0 for count in found.counts.values())
    assert found.cut == (CUT in found.repairs)
    if found.value is not None:
        for said in strings_of(found.value.model_dump()):
            assert said in text.replace("\\\\", "\\") or json.dumps(said)[1:-1] in text, said


@given(st.text(max_size=200) | st.binary(max_size=60).map(lambda b: b.decode("latin-1")))
@settings(max_examples=300, deadline=None)
def test_no_text_breaks_it(text: str) -> None:
    for model in (NameList, People):
        for repair in (True, False):
            check(parse(text, model, repair=repair), text)


@given(mangled())
@settings(max_examples=500, deadline=None)
def test_what_was_json_once_gives_nothing_that_it_did_not_say(text: str) -> None:
    for model in (NameList, People):
        check(parse(text, model), text)
        plain = parse(text, model, repair=False)
        assert plain.repairs == ()
        if plain.value is not None:
            assert parse(text, model).value == plain.value or plain.counts or _schema_like(text)


def _schema_like(text: str) -> bool:
    """An object that is a schema and a reply at once is an echo where repair is on."""
    return bool(re.search(r'"(type|properties)"', text))


@given(st.lists(ITEMS, max_size=8))
@settings(max_examples=300, deadline=None)
def test_every_item_is_kept_or_counted(items: list[Any]) -> None:
    text = json.dumps({"people": items})
    found = parse(text, People)
    if found.value is None:
        assert found.problem == "no complete item is left"
        assert (
            found.counts[DROPPED] + found.counts.get(ECHOED, 0) == len(items)
            if DROPPED in found.counts
            else True
        )
        kept = 0
    else:
        kept = len(found.value.people)
    assert kept + found.counts.get(DROPPED, 0) + found.counts.get(ECHOED, 0) == len(items)
    right = [i for i in items if isinstance(i, dict) and isinstance(i.get("name"), str) and "type" not in i]
    assert kept == len(right)


@given(st.lists(st.fixed_dictionaries({"name": NAMES}), min_size=1, max_size=6), st.data())
@settings(max_examples=200, deadline=None)
def test_a_list_cut_anywhere_keeps_a_beginning_of_itself(
    items: list[dict[str, str]], data: st.DataObject
) -> None:
    text = json.dumps({"people": items})
    found = parse(text[: data.draw(st.integers(0, len(text) - 1))], People)
    if found.value is not None:
        kept = [person.name for person in found.value.people]
        assert kept == [item["name"] for item in items][: len(kept)]
        assert found.cut


@given(st.integers(1, 4), NAMES)
def test_wrappings_come_off_however_deep(depth: int, name: str) -> None:
    text = json.dumps({"people": [{"name": name}]})
    for _ in range(depth):
        text = json.dumps(text)
    found = parse(f"```json\n{text}\n```", People)
    assert found.value is not None
    assert found.value.people[0].name == name
    assert set(found.repairs) == {FENCE, STRING}
