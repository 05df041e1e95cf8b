"""Run as a program: one question to the story under GUTENGRAPH_HOME, then the time just before the end."""

from __future__ import annotations

import json
import sys
import time

import harbour_story as story
from fakes import FakeLLM

from gutengraph_core.settings import load_settings
from gutengraph_query.ask import ask
from gutengraph_query.brains import Brains


def main() -> None:
    here = Brains(
        load_settings(), embedder=story.ToyEmbedder(), llm=FakeLLM(["Captain Wren [1]."], instruct=True)
    )
    answer = ask(here, "Who is the captain of the Kittiwake?", mode=sys.argv[1], book=7)  # type: ignore[arg-type]
    print(json.dumps({"answer": answer["answer"], "end": time.time()}), flush=True)


if __name__ == "__main__":
    main()
