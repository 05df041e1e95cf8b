"""What the judge is asked: does the passage bear the relation out?"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from experiments.judge.claims import Claim
from gutengraph_core import names

MAX_TOKENS = 200
"""A reason of two sentences and a word."""


class Ruling(BaseModel):
    """The reason comes first, so that the verdict follows from it."""

    model_config = ConfigDict(extra="forbid")

    reason: str
    verdict: Literal["right", "wrong"]


def judge_prompt(claim: Claim, *, instruct: bool) -> str:
    """The prompt for one claim."""
    passage = names.squeeze(claim.passage)
    quote = names.squeeze(claim.passage[claim.start : claim.end])
    said = f"{claim.a} is {claim.type.replace('_', ' ')} {claim.b}"
    if not instruct:
        return (
            f"Text:\n{passage}\n\nIs it right or wrong, by this text, that {said}? "
            "Answer as JSON with a short reason and the verdict:\n"
        )
    return (
        "You check one claim about a novel against a passage of it. 'right': the passage states it, or leaves no reasonable doubt of it "
        "(mind who 'he', 'she' and 'my' are, and which way round the claim is). 'wrong': the passage says otherwise, or says it of "
        "somebody else, or says nothing of the kind.\n\n"
        f"Passage: {passage}\n\nThe sentence that is said to bear it out: {quote}\n"
        f"Claim: {said}. (The relation is '{claim.type}', read from the first name to the second.)\n"
        "Give the reason in at most two sentences, then the verdict."
    )
