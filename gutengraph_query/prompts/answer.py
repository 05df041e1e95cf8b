"""The prompt with which an instruct model writes an answer from numbered evidence."""

from __future__ import annotations

from collections.abc import Sequence

NOT_TOLD = "NOT IN EVIDENCE"
MAX_TOKENS = 220
"""Three sentences of a long-winded model; a reply that reaches it is cut back to its last whole sentence."""

SYSTEM = (
    "You answer questions about novels. Use ONLY the numbered evidence below the question; you know nothing "
    "else about these books.\n"
    f"1. If the evidence does not answer the question, reply exactly: {NOT_TOLD}\n"
    "2. Begin with the answer itself. Write at most three short sentences of plain prose, no lists, no headings.\n"
    "3. After each statement put the number of its evidence in square brackets, like [2].\n"
    "4. Name nobody and nothing that the evidence does not name.\n"
    "5. A line such as `A -[PARENT_OF]-> B` means: A is the parent of B."
)


def answer_prompt(question: str, evidence: Sequence[tuple[int, str]]) -> str:
    """`evidence`: (number, text) in the order of the numbers."""
    told = "\n".join(f"[{n}] {text}" for n, text in evidence)
    return f"Question: {question}\n\nEvidence:\n{told}\n\nAnswer from the evidence only:"
