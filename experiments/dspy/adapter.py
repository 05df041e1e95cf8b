"""DSPy's prompts of a task, rendered and read as the pipeline does it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel

import dspy
from dspy.utils.exceptions import AdapterParseError
from experiments.dspy.tasks import CompiledTask
from gutengraph_core.llm.compiled import Demo
from gutengraph_core.llm.structured import parse

GIVEN, REPLY = "given", "reply"


def signature_of(task: CompiledTask) -> type[dspy.Signature]:
    """`given -> reply`, with the task's instructions."""
    fields = {GIVEN: (str, dspy.InputField()), REPLY: (task.model, dspy.OutputField())}
    return dspy.Signature(fields, task.instructions)


def demos_of(demos: Iterable[Mapping[str, Any]]) -> list[Demo]:
    """DSPy's worked examples as ours."""
    return [Demo(given=demo[GIVEN], reply=_document(demo[REPLY])) for demo in demos]


def _document(reply: Any) -> dict[str, Any]:
    document = reply.model_dump(mode="json") if isinstance(reply, BaseModel) else json.loads(reply)
    return dict(document)


class PromptAdapter(dspy.ChatAdapter):
    """Renders the task's own signature with the task's prompt; DSPy's other signatures (those by which it asks for
    better instructions) as DSPy does."""

    def __init__(self, task: CompiledTask) -> None:
        super().__init__(use_json_adapter_fallback=False)
        self._task = task

    def format(
        self, signature: type[dspy.Signature], demos: list[dict[str, Any]], inputs: dict[str, Any]
    ) -> list[dict[str, Any]]:
        if not _is_task(signature):
            return list(super().format(signature, demos, inputs))
        system, prompt = self._task.render(signature.instructions, demos_of(demos), inputs[GIVEN])
        messages = [{"role": "system", "content": system}] if system else []
        return [*messages, {"role": "user", "content": prompt}]

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        if not _is_task(signature):
            return dict(super().parse(signature, completion))
        parsed = parse(completion, self._task.model)
        if parsed.value is None:
            raise AdapterParseError(
                adapter_name=type(self).__name__,
                signature=signature,
                lm_response=completion,
                message=parsed.problem,
            )
        return {REPLY: parsed.value}


def _is_task(signature: type[dspy.Signature]) -> bool:
    return set(signature.input_fields) == {GIVEN} and set(signature.output_fields) == {REPLY}
