"""Every verdict with its reason: on disk, so that a study goes on where it was, and on a page to be read."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from experiments.judge.claims import Claim, Verdict
from experiments.judge.prompt import MAX_TOKENS, Ruling, judge_prompt
from gutengraph_core.files import write_text
from gutengraph_core.llm.ask import ask
from gutengraph_core.llm.protocol import LLM


@dataclass(frozen=True)
class Judged:
    """A claim with the judge's ruling; no verdict where the reply held none."""

    claim: Claim
    verdict: Verdict | None
    reason: str


def judge(llm: LLM, claim: Claim) -> Judged:
    """Ask the judge about one claim. Raises what the model raises."""
    asked = ask(llm, judge_prompt(claim, instruct=llm.identity.instruct), Ruling, max_tokens=MAX_TOKENS)
    ruling = asked.parsed.value
    if ruling is None:
        return Judged(claim, None, f"No verdict ({asked.parsed.problem}): {asked.reply.text[:200]}")
    return Judged(claim, ruling.verdict, ruling.reason)


def write_verdicts(judged: Sequence[Judged], folder: Path, *, judge: str, note: str) -> Path:
    """`verdicts.jsonl`, one a line, and `verdicts.html`; returns the page's path."""
    lines = [json.dumps(asdict(one), ensure_ascii=False) for one in judged]
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "verdicts.jsonl", "".join(f"{line}\n" for line in lines))
    page = folder / "verdicts.html"
    write_text(page, _page(judged, judge=judge, note=note))
    return page


_STYLE = """
body { font: 16px/1.5 Georgia, serif; max-width: 48rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fdfdfb; }
details { border-top: 1px solid #ccc; padding: .4rem 0; } summary { cursor: pointer; }
.right { color: #1b6b3a; } .wrong { color: #a12a1c; } .none { color: #555; } .differs { background: #fff3d6; }
mark { background: #ffe58a; } blockquote { margin: .5rem 1rem; } .where { color: #555; font-size: .85em; }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1b1b; } .differs { background: #453a1c; }
  .right { color: #7fd1a0; } .wrong { color: #f29a8e; } .none, .where { color: #aaa; } mark { background: #7a6512; color: #fff; } }
"""


def _page(judged: Sequence[Judged], *, judge: str, note: str) -> str:
    """Those that differ from the reading by hand first: there is something to learn there."""
    ordered = sorted(judged, key=lambda one: (not _differs(one), one.claim.book, one.claim.chapter))
    items = "\n".join(_item(one) for one in ordered)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Verdicts of {html.escape(judge)}</title><style>{_STYLE}</style></head><body>\n"
        f"<h1>Verdicts of {html.escape(judge)}</h1>\n<p>{html.escape(note)}</p>\n"
        f"<p>{len(judged)} relations; open one for the reason and the passage. "
        f"Coloured: the judge differs from whoever read it by hand.</p>\n{items}\n</body></html>\n"
    )


def _differs(one: Judged) -> bool:
    return one.claim.by_hand is not None and one.claim.by_hand != one.verdict


def _item(one: Judged) -> str:
    claim = one.claim
    verdict = one.verdict or "none"
    hand = f", by hand <b class={claim.by_hand}>{claim.by_hand}</b>" if claim.by_hand else ""
    before, quote, after = (
        html.escape(part)
        for part in (
            claim.passage[: claim.start],
            claim.passage[claim.start : claim.end],
            claim.passage[claim.end :],
        )
    )
    said = f"{html.escape(claim.a)} <i>{html.escape(claim.type)}</i> {html.escape(claim.b)}"
    return (
        f"<details{' class=differs' if _differs(one) else ''}><summary>{said}: "
        f"<b class={verdict}>{verdict if one.verdict else 'no verdict'}</b>{hand}</summary>"
        f"<p>{html.escape(one.reason)}</p><blockquote>{before}<mark>{quote}</mark>{after}</blockquote>"
        f'<p class="where">Book {claim.book}, chapter {claim.chapter}, confidence of the rules {claim.confidence:.2f}</p></details>'
    )
