"""The list: the model lists a window's names, and only what stands in the window is kept."""

from __future__ import annotations

from gutengraph_assets.extraction.evidence import Kind
from gutengraph_assets.extraction.grounding import NOT_IN_TEXT, places_of
from gutengraph_assets.extraction.lexicon import FUNCTION_WORDS
from gutengraph_assets.extraction.prompts.name_list import (
    EXAMPLE_KEYS,
    NameList,
    compiled_list_prompt,
    list_prompt,
    names_of,
)
from gutengraph_assets.extraction.windowed import Found, Part, Request, WindowedNaming
from gutengraph_assets.text.layout import laid_out
from gutengraph_core import names
from gutengraph_core.llm.compiled import load_compiled
from gutengraph_core.llm.protocol import LLM
from gutengraph_core.llm.structured import Parsed
from gutengraph_core.settings import Settings

_FIELDS: tuple[tuple[str, Kind], ...] = (("people", "person"), ("places", "place"), ("objects", "thing"))


class ListNaming(WindowedNaming[NameList]):
    """Asks for the names of each window. See `gutengraph_assets.extraction.naming.NamingStrategy`."""

    how = "list"

    def __init__(self, llm: LLM, settings: Settings) -> None:
        super().__init__(llm, settings)
        self._cap = settings.list_reply_tokens
        self._layout = settings.list_layout
        self._style = settings.list_prompt
        self._instruct = llm.identity.instruct
        self._compiled = load_compiled(settings.compiled_prompts, "names", llm.identity, reply=NameList)
        self._examples = EXAMPLE_KEYS if self._instruct else frozenset[str]()
        if self._compiled is not None:
            self._examples = names_of(self._compiled.demos)

    @property
    def options(self) -> dict[str, object]:
        return {
            "strategy": "list",
            "prompt": self._prompt(""),
            "layout": self._layout,
            "cap": self._cap,
            "repair": self._repair,
        }

    def request(self, part: Part, body: str) -> Request[NameList]:
        text = laid_out(body[part.start : part.end], self._layout)
        return Request(self._prompt(text), NameList, None, self._cap)

    def _prompt(self, text: str) -> str:
        if self._compiled is not None:
            return compiled_list_prompt(
                text, instructions=self._compiled.instructions, demos=self._compiled.demos
            )
        return list_prompt(text, instruct=self._instruct, style=self._style)

    def judge(self, parsed: Parsed[NameList], part: Part, body: str) -> Found:
        found = Found()
        if parsed.value is None:
            return found
        seen: set[str] = set()
        text = body[part.start : part.end]
        for field_name, kind in _FIELDS:
            for name in getattr(parsed.value, field_name):
                found.proposed += 1
                spans = places_of(name, text)
                key = names.key(name)
                if not spans:
                    leaked = key in self._examples
                    found.leaks += leaked
                    found.dropped["leak" if leaked else NOT_IN_TEXT] += 1
                    continue
                found.grounded += 1
                if reason := _no_name(name, key):
                    found.dropped[reason] += 1
                elif key in seen:
                    found.dropped["said twice"] += 1
                else:
                    seen.add(key)
                    found.kept.append((kind, name, [(part.start + s, part.start + e) for s, e in spans]))
        return found


def _no_name(name: str, key: str) -> str:
    if not any(c.isupper() for c in name):
        return "no capital"
    if all(word in FUNCTION_WORDS or word in names.TITLES for word in key.split()):
        return "no name"
    return ""
