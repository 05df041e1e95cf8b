"""GutenGraph itself, in the environment of this repository: built by its own command in a data folder of its own."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from common import Output, load_job

job = load_job()
output = Output(job, "GutenGraph", "gutengraph")
CODE = "import sys; from gutengraph_core.cli import main; sys.argv[0] = 'gutengraph'; main()"
ENV = {
    **os.environ,
    "GUTENGRAPH_HOME": job["work"] + "/home",
    "GUTENGRAPH_MIRROR": job["work"] + "/mirror",
    "GUTENGRAPH_LLM": f"openai:{job['llm_model']}@{job['llm_url']}",
    "GUTENGRAPH_OPENAI_API_KEY": job["llm_key"],
}


def gutengraph(*arguments):
    done = subprocess.run([sys.executable, "-c", CODE, *arguments], env=ENV, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"gutengraph {' '.join(arguments)}: {done.stdout[-1000:]}{done.stderr[-2000:]}")
    return done.stdout


def mirror(book):
    """The text in a mirror's layout, with the marks that every edition has."""
    folder = Path(job["work"], "mirror", "cache", "epub", book)
    folder.mkdir(parents=True)
    text = Path(job["text"]).read_text(encoding="utf-8")
    (folder / f"pg{book}.txt").write_text(
        f"The Project Gutenberg eBook of {job['title']}\n\nTitle: {job['title']}\n\nLanguage: English\n\n"
        f"*** START OF THE PROJECT GUTENBERG EBOOK {job['title'].upper()} ***\n\n\n{text}\n\n\n"
        f"*** END OF THE PROJECT GUTENBERG EBOOK {job['title'].upper()} ***\n",
        encoding="utf-8",
    )

    if job["rdf"]:
        shutil.copy(job["rdf"], folder / f"pg{book}.rdf")


book = str(job["book"])
mirror(book)
began = time.perf_counter()
gutengraph("add", book)
gutengraph("build", book, "--force")
seconds = time.perf_counter() - began
exported = Path(job["work"], "graph.json")
gutengraph("export", book, "--format", "json", "--out", str(exported))
graph = json.loads(exported.read_text(encoding="utf-8"))
shown = {"Character": "person", "Location": "place"}
nodes = {n["id"]: n for n in graph["nodes"] if n["label"] in shown and n.get("standing") != "mentioned"}
names = {n["id"]: n["name"] for n in graph["nodes"]}
output.save(
    names=[(n["name"], shown[n["label"]]) for n in nodes.values()],
    aliases={
        n["name"]: [alias for alias in n.get("aliases", []) if alias != n["name"]] for n in nodes.values()
    },
    relations=[
        (names[e["source"]], names[e["target"]], e["type"])
        for e in graph["edges"]
        if e["rel"] in ("RELATED_TO", "INTERACTS_WITH")
    ],
    read_seconds=round(seconds, 1),
    stage="read",
)

from gutengraph_core.settings import Settings  # noqa: E402
from gutengraph_query.ask import ask  # noqa: E402
from gutengraph_query.brains import Brains  # noqa: E402

here = Brains(
    Settings(
        home=ENV["GUTENGRAPH_HOME"],
        llm=ENV["GUTENGRAPH_LLM"],
        openai_api_key=ENV["GUTENGRAPH_OPENAI_API_KEY"],
    )
)
for key, question in job["questions"].items():
    began = time.perf_counter()
    answer = ask(here, question, mode="auto", book=job["book"])
    output.answer(key, began, answer["answer"])
output.save(stage="done")
