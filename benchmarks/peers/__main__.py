"""Peers on the same text, judged by the same gold; those that take a model get the same one.

    python -m benchmarks.peers setup            an environment for each, under build/peers
    python -m benchmarks.peers run              all of them on the first words of a gold book
    python -m benchmarks.peers report           benchmarks/peers.md from the results

Every peer that takes a model gets the embedded one through llama.cpp's OpenAI-shaped server and the embedded
embedder through `gutengraph-embed`'s routes. A peer that takes longer than `--seconds` is stopped and counted as
far as it came; one that cannot be installed or fails gets a line with its own last words.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import psutil

from benchmarks.machine import machine, table
from benchmarks.peers.adapter import Counted, counted
from benchmarks.peers.environments import PEERS, RUNNERS, Peer, python_of, set_up
from benchmarks.peers.excerpt import Excerpt, excerpt
from benchmarks.peers.job import Job, Output
from benchmarks.peers.servers import CONTEXT, NO_MODEL, Served, serving
from gutengraph_core.files import write_json, write_text

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE.parent
RESULTS = HERE / "peers.json"
_PLAIN = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ")
_FOLDER = click.option(
    "--into",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=ROOT / "build" / "peers",
    help="Where the environments lie; default: build/peers.",
)


@click.group()
def peers() -> None:
    """Measure neighbours of GutenGraph."""


def _say(line: str) -> None:
    click.echo(line, err=True)


@peers.command()
@click.argument("names", nargs=-1, type=click.Choice(list(PEERS)))
@_FOLDER
def setup(names: tuple[str, ...], folder: Path) -> None:
    """Make the environments."""
    failed = {name: set_up(PEERS[name], folder.absolute(), say=_say) for name in names or PEERS}
    for name, why in failed.items():
        click.echo(f"{name}: {why or 'ready'}")


@peers.command()
@click.argument("names", nargs=-1, type=click.Choice(list(PEERS)))
@click.option("--book", type=int, default=0, show_default=True)
@click.option("--words", type=int, default=2000, show_default=True, help="How much of it.")
@click.option("--seconds", type=int, default=360, show_default=True, help="Longest time of one peer.")
@click.option("--reply-tokens", type=int, default=512, show_default=True, help="Cap of every reply.")
@click.option(
    "--mirror",
    type=click.Path(path_type=Path, exists=True),
    default=ROOT / "data" / "sample",
    help="Default: the sample.",
)
@click.option(
    "--gold",
    type=click.Path(path_type=Path, exists=True),
    default=ROOT / "data" / "sample" / "gold",
    help="Default: the sample's.",
)
@click.option(
    "--record",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep what each peer found in this folder: test data for the adapter.",
)
@_FOLDER
def run(
    names: tuple[str, ...],
    book: int,
    words: int,
    seconds: int,
    reply_tokens: int,
    mirror: Path,
    gold: Path,
    record: Path | None,
    folder: Path,
) -> None:
    """Run peers one after the other and add their lines to the results."""
    given = excerpt(book, words, mirror=mirror, gold=gold)
    _say(
        f"{given.gold.title}: {given.words:,} words, {len(given.gold.characters)} people, "
        f"{len(given.gold.relations)} relations, {len(given.gold.questions)} questions"
    )
    sample = {"book": book, "title": given.gold.title, "asked": words, "words": given.words}
    limits = {"seconds": seconds, "reply_tokens": reply_tokens, "context": CONTEXT}
    for name in names or PEERS:
        peer = PEERS[name]
        why = set_up(peer, folder.absolute(), say=_say)
        if why:
            line = counted(
                Output(peer=peer.name, version="–"), given.gold, note=f"cannot be installed: {why}"
            )
        else:
            line = _measured(
                peer, folder.absolute(), given, seconds=seconds, reply_tokens=reply_tokens, record=record
            )
        _say(f"{peer.name}: {line.stage}, {line.note}")
        load = round(psutil.getloadavg()[0], 1)
        _keep({**line.document(), "sample": sample, "limits": limits, "machine": machine(), "load": load})
    _report()


def _measured(
    peer: Peer, folder: Path, given: Excerpt, *, seconds: int, reply_tokens: int, record: Path | None
) -> Counted:
    models = serving() if peer.reads_with_model else nullcontext(NO_MODEL)
    with tempfile.TemporaryDirectory(prefix="gutengraph-peer-") as name, models as served:
        place = Path(name)
        (place / "work").mkdir()
        (place / "text.txt").write_text(given.text, encoding="utf-8")
        job = Job(
            text=str(place / "text.txt"),
            questions={q.id: q.question for q in given.gold.questions},
            work=str(place / "work"),
            out=str(place / "out.json"),
            llm_url=served.llm_url,
            llm_key=served.llm_key,
            llm_model=served.llm_model,
            reply_tokens=reply_tokens,
            embed_url=served.embed_url,
            dimension=served.dimension,
            book=given.gold.gutenberg_id,
            title=given.gold.title,
            rdf=str(given.rdf) if given.rdf else "",
        )
        line = _run(peer, folder, job, served, given, seconds=seconds)
        if record is not None and Path(job.out).exists():
            record.mkdir(parents=True, exist_ok=True)
            shutil.copy(job.out, record / Path(peer.runner).with_suffix(".json").name)
        return line


def _run(peer: Peer, folder: Path, job: Job, served: Served, given: Excerpt, *, seconds: int) -> Counted:
    place = Path(job.out).parent
    (place / "job.json").write_text(job.model_dump_json(), encoding="utf-8")
    before = served.tokens()
    began = time.monotonic()
    log = place / "log.txt"
    note = ""
    with log.open("w", encoding="utf-8") as words:
        process = subprocess.Popen(
            [str(python_of(peer, folder)), str(RUNNERS / peer.runner), str(place / "job.json")],
            cwd=place,
            env=environment(peer, place),
            stdout=words,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # it may have children
        )
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            note = f"stopped after {seconds} s"
        else:
            note = f"failed after {time.monotonic() - began:.0f} s: {_last_words(log)}" if code else ""
        finally:  # also when this is broken off: Ctrl-C does not reach another session
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    after = served.tokens()
    out = Path(job.out)
    output = (
        Output.model_validate_json(out.read_text(encoding="utf-8"))
        if out.exists()
        else Output(peer=peer.name, version="–")
    )
    if note and output.stage == "started":
        note += ", before the text was read"
    line = counted(output, given.gold, tokens=(after[0] - before[0], after[1] - before[1]), note=note)
    return line if output.read_seconds is not None else replace(line, read_seconds=None)


def environment(peer: Peer, place: Path) -> dict[str, str]:
    """What a runner sees of the environment: other people's code gets no token or key of whoever runs it, and `place`
    as its home."""
    if not peer.packages:  # our own, in our own environment
        return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    plain = {name: os.environ[name] for name in _PLAIN if name in os.environ}
    return {**plain, "HOME": str(place), "PYTHONDONTWRITEBYTECODE": "1"}


def _last_words(log: Path) -> str:
    lines = [
        line.strip()
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines()
        if line.strip()
    ]
    return lines[-1][:200] if lines else "no word"


def _kept() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    return found


def _keep(line: dict[str, Any]) -> None:
    """The newest of a peer on a sample counts."""
    same = (line["peer"], line["sample"])
    others = [one for one in _kept() if (one["peer"], one["sample"]) != same]
    write_json(RESULTS, [*others, line])


@peers.command()
def report() -> None:
    """Write benchmarks/peers.md anew from the results."""
    _report()


def _report() -> None:
    lines = _kept()
    parts = ["# Peers\n", (__doc__ or "").split("\n\n", 2)[2].strip(), ""]
    for sample in {json.dumps(line["sample"]): line["sample"] for line in lines}.values():
        here = [line for line in lines if line["sample"] == sample]
        shape, limits = here[-1]["machine"], here[-1]["limits"]
        parts += [
            f"## {sample['title']}, first {sample['words']:,} words\n",
            f"`python -m benchmarks.peers run --book {sample['book']} --words {sample['asked']}`: {here[0]['people']} people, "
            f"{here[0]['pairs']} relations and {here[0]['questions']} questions of the gold stand in it. "
            f"{shape['cores']} cores, {shape['memory_gb']} GB, {shape['date']}; at most {limits['seconds']} s a peer, "
            f"{limits['reply_tokens']} tokens a reply, context {limits['context']:,}.\n",
            table(_HEAD, [*(_cells(line) for line in here), *_not_run({line["peer"] for line in here})]),
            "",
        ]
    parts.append(_LEGEND)
    write_text(HERE / "peers.md", "\n".join(parts).rstrip() + "\n")


def _not_run(run: set[str]) -> list[list[str]]:
    """A line for each peer that has none."""
    left = [peer.name for peer in PEERS.values() if peer.name not in run]
    return [[name, *["–"] * (len(_HEAD) - 2), "not run on this text yet"] for name in left]


_HEAD = (
    "peer",
    "names",
    "right",
    "people found",
    "relations",
    "pairs found",
    "answers right",
    "s to read",
    "s an answer",
    "tokens read / written",
    "peak MB",
    "load",
    "how it went",
)
_LEGEND = (
    "Names: of people and places, by the peer's own kinds; a peer that does not join names counts each spelling. Right: in the gold, whose lists lack most places and some minor people. Pairs found: "
    "gold relations whose two ends the peer joins, whatever it calls that. Tokens are the model server's own count, without what "
    "it had in its cache. Load: the machine's load average at the end; above the number of cores the seconds say little. Memory is the peer's process (GutenGraph's: the largest of its processes); the model's "
    "server is not in it. GutenGraph's model is asked through the same server. The model is a base model of 270M parameters without a chat "
    "template: peers made for large instruct models are shown at their worst, and no line says what they do with one."
)


def _cells(line: dict[str, Any]) -> list[str]:
    def of(value: object, whole: object) -> str:
        return "–" if value is None else f"{value} of {whole}"

    def number(value: float | None) -> str:
        return "–" if value is None else f"{value:.1f}"

    read = line["stage"] != "started"
    return [
        f"{line['peer']} {line['version']}",
        str(line["names"]) if read else "–",
        str(line["right"]) if read else "–",
        of(line["people_found"] if read else None, line["people"]),
        "–" if line["relations"] is None else str(line["relations"]),
        of(line["pairs_found"], line["pairs"]),
        of(
            line["answers_right"],
            line["questions"] if line["stage"] == "done" else f"{line['answers']} asked",
        ),
        number(line["read_seconds"]),
        number(line["answer_seconds"]),
        f"{line['tokens_read']:,} / {line['tokens_written']:,}",
        f"{line['peak_mb']:.0f}",
        f"{line['load']:.1f}",
        line["note"] or "to the end",
    ]


if __name__ == "__main__":
    sys.exit(peers())
