"""Compiled prompts: loaded for the model they were compiled for, refused by any other, asked as they were tried."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import FakeLLM

from experiments.dspy.tasks import CypherTask
from gutengraph_assets.extraction.listing import ListNaming
from gutengraph_assets.extraction.naming import choose_strategy
from gutengraph_core.errors import SettingsError, WrongModel
from gutengraph_core.graph.worker import Rows
from gutengraph_core.llm.compiled import CompiledPrompt, Demo, load_compiled, save_compiled
from gutengraph_core.settings import Settings
from gutengraph_query.retrieval.cypher import write_and_run

BETTER = "List every last soul that the text names."


def test_another_models_prompt_is_refused_and_so_is_a_missing_folder(
    settings: Settings, tmp_path: Path
) -> None:
    prompt = CompiledPrompt(
        task="names",
        model="embedded:one",
        digest="a1",
        instructions=BETTER,
        optimiser="MIPROv2",
        trained_on=[1],
    )
    save_compiled(prompt, tmp_path)
    use = settings.model_copy(update={"compiled_prompts": tmp_path})
    assert isinstance(choose_strategy(FakeLLM(digest="a1", logprobs={}), use), ListNaming)
    with pytest.raises(
        WrongModel, match=r"compiled for names by embedded:one, not for names by embedded:fake@b2"
    ):
        choose_strategy(FakeLLM(digest="b2"), use)
    with pytest.raises(SettingsError, match="GUTENGRAPH_COMPILED_PROMPTS"):
        load_compiled(tmp_path / "none", "names", FakeLLM().identity)
    (tmp_path / "names.json").write_text("{}")
    with pytest.raises(SettingsError, match="Compile it again"):
        load_compiled(tmp_path, "names", FakeLLM().identity)
    assert load_compiled(tmp_path, "cypher", FakeLLM().identity) is None


def test_a_worked_example_that_is_no_reply_is_refused_when_it_is_loaded(
    settings: Settings, tmp_path: Path
) -> None:
    by_hand = CompiledPrompt(
        task="names",
        model="m",
        digest="a1",
        instructions=BETTER,
        demos=[Demo(given="Ada came.", reply={"people": 3, "places": [], "objects": []})],
        optimiser="x",
        trained_on=[],
    )
    save_compiled(by_hand, tmp_path)
    use = settings.model_copy(update={"compiled_prompts": tmp_path})
    with pytest.raises(SettingsError, match=r"names\.json.*worked example 1, people: .*Compile it again"):
        choose_strategy(FakeLLM(digest="a1", logprobs={}), use)


def test_a_compiled_prompt_for_cypher_is_what_the_graph_agent_asks() -> None:
    demo = Demo(given="Who is the mate?", reply={"template": "none", "arguments": [], "cypher": "MATCH (x)"})
    prompt = CompiledPrompt(
        task="cypher",
        model="m",
        digest="",
        instructions="Write a query.",
        demos=[demo],
        optimiser="x",
        trained_on=[],
    )
    reply = json.dumps(
        {"template": "none", "arguments": [], "cypher": "MATCH (c:Character) RETURN c.name LIMIT 5"}
    )
    llm = FakeLLM([reply], instruct=True)
    rows = Rows(statement="MATCH", columns=["c.name"], rows=[["Kit"]], version=1)
    written = write_and_run(
        "Who sails?", title="The Dinner", llm=llm, run=lambda statement: rows, compiled=prompt
    )
    assert written.rows == rows
    (call,) = llm.calls
    assert call["system"].startswith("Write a query.\n\nSCHEMA")
    assert call["prompt"].startswith('Question: Who is the mate?\n{"template": "none"')
    assert "Question: Who sails? It is about the book 'The Dinner'." in call["prompt"]
    task = CypherTask(here=None)  # type: ignore[arg-type]
    assert task.render("Write a query.", [demo], "Who sails? It is about the book 'The Dinner'.") == (
        call["system"],
        call["prompt"],
    )
