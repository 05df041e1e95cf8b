"""Rounds of `kill -9`: a build is killed at a random point, recovered and run again, and must come to the same.

`make soak` runs many; `make test` two, each killed as soon as a certain asset is whole.
"""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import psutil
from dagster_dev import PROGRAM, Dev
from small_mirror import STORY, put, rdf_of, text_of

from gutengraph_assets.automation import BOOK_ASSETS
from gutengraph_assets.instance import open_instance
from gutengraph_assets.recover import recover
from gutengraph_assets.registry import add_partitions, register, unregister
from gutengraph_core.files import sha256
from gutengraph_core.library import Library
from gutengraph_core.settings import Settings
from gutengraph_core.vectors import ChunkTable

BOOK = 7
GRAPH = ("nodes", "edges", "evidence", "merges")
TARGETS = ("run", "code server", "everything")


@dataclass(frozen=True)
class Round:
    """What one round did and saw. A round that goes wrong raises AssertionError instead."""

    seed: int
    target: str
    after_s: float
    """Seconds from the start of the build to the kill."""
    at: str
    """The last asset that was whole when it came."""
    recovered: tuple[str, ...]
    """What `recover` said that it did."""
    seconds: float


def lay_story(mirror: Path, *, times: int = 2) -> None:
    """A story long enough to be killed in: some thirty names."""
    names = ("Saltby", "Heron", "Rook", "Finch", "Ada")
    parts = []
    for part in range(times):
        story = STORY
        for name in names:
            story = story.replace(name, f"{name}{'abcdefgh'[part]}" if part else name)
        parts.append(story)
    title = "The Herons"
    put(mirror, BOOK, text_of(BOOK, title, "\n\n".join(parts)), rdf=rdf_of(BOOK, title))


def graph_of(library: Library) -> dict[str, str]:
    """File of the book's graph -> sha256."""
    return {name: sha256(library.path(BOOK, f"graph/{name}.parquet")) for name in GRAPH}


def check_whole(library: Library, reference: dict[str, str]) -> None:
    """The book is what an undisturbed build makes of it."""
    record = library.record(BOOK)
    assert record.status == "built", (record.status, record.reason)
    assert graph_of(library) == reference
    assert ChunkTable.open(library, None).books() == {BOOK: record.counts["chunks"]}


def last_whole(library: Library) -> str:
    """The last asset that the book's record has as made."""
    if not library.has(BOOK):
        return "nothing"
    steps = library.record(BOOK).steps
    return max(steps, key=lambda name: steps[name].at + name) if steps else "nothing"


def check_green(library: Library, materialized: dict[str, set[str]]) -> None:
    """Whatever Dagster shows as materialised is whole on disk."""
    steps = library.record(BOOK).steps
    for asset, partitions in materialized.items():
        if str(BOOK) not in partitions:
            continue
        assert asset in steps, f"{asset} is shown as made, and its record is not there"
        for name, digest in steps[asset].files.items():
            path = library.path(BOOK, name)
            assert path.exists(), f"{asset} is shown as made, and {name} is not there"
            assert sha256(path) == digest, f"{asset} is shown as made, and {name} is not what it made"


class Bench:
    """A folder with a mirror of one story, and what both kinds of round do with it."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.dev = Dev(folder, **settings)
        lay_story(self.dev.mirror)
        self.settings = Settings(home=self.dev.home, mirror=str(self.dev.mirror))

    def fresh(self) -> None:
        """The book registered, and nothing else of it: no files, no replies in the cache, no history."""
        with open_instance(self.dev.library) as instance:
            if self.dev.library.has(BOOK):
                unregister(BOOK, self.settings, instance)
            shutil.rmtree(self.dev.library.cache_dir, ignore_errors=True)
            register([BOOK], self.settings)
            add_partitions([BOOK], instance)
            instance.wipe_assets([dg.AssetKey(asset) for asset in BOOK_ASSETS])

    def put_right(self) -> list[str]:
        """`recover`, and what Dagster then shows must be true."""
        with open_instance(self.dev.library) as instance:
            done = [str(found) for found in recover(instance, self.dev.library)]
            shown = {n: set(instance.get_materialized_partitions(dg.AssetKey(n))) for n in BOOK_ASSETS}
            check_green(self.dev.library, shown)
        return done

    def nothing_left(self) -> None:
        """A second `recover` finds nothing, and no slot is held."""
        with open_instance(self.dev.library) as instance:
            assert recover(instance, self.dev.library) == []
            storage = instance.event_log_storage
            for pool in storage.get_concurrency_keys():
                assert storage.get_concurrency_info(pool).claimed_slots == [], pool


class CommandLine(Bench):
    """`gutengraph build` killed at random points, each time from nothing."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.fresh()
        began = time.monotonic()
        self.dev.gutengraph("build", BOOK)
        self.whole_s = time.monotonic() - began
        self.reference = graph_of(self.dev.library)

    def round(self, seed: int) -> Round:
        """Wipe the book, build, kill, recover, build again, compare."""
        began = time.monotonic()
        self.fresh()
        after = random.Random(seed).uniform(0.1, 1.0) * self.whole_s
        build = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "build", str(BOOK)],
            cwd=self.dev.folder,
            env=self.dev.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(after)
        build.send_signal(signal.SIGKILL)
        build.wait()
        at = last_whole(self.dev.library)
        recovered = self.put_right()
        self.nothing_left()
        self.dev.gutengraph("build", BOOK)
        check_whole(self.dev.library, self.reference)
        return Round(seed, "build", after, at, tuple(recovered), time.monotonic() - began)


class Daemon(Bench):
    """Runs launched from the UI; a run, the code server or everything is killed at random points."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, book_wait_s=120)
        self.fresh()
        self.dev.start()
        began = time.monotonic()
        self._build()
        self.whole_s = time.monotonic() - began
        self.reference = graph_of(self.dev.library)

    def close(self) -> None:
        self.dev.close()

    def _build(self) -> None:
        run = self.dev.launch("build_book", book=BOOK)
        assert self.dev.until(lambda: self.dev.ended(run), 400, "the run did not end") == "SUCCESS", (
            self.dev.library.record(BOOK).reason
        )

    def round(self, seed: int, target: str = "", *, once: str = "") -> Round:
        """Wipe the book, launch its run, kill, recover, launch again, compare.

        Killed at a moment that the seed chooses, or as soon as the asset `once` is whole.
        """
        began = time.monotonic()
        dice = random.Random(seed)
        target = target or dice.choice(TARGETS)
        self.fresh()
        run = self.dev.launch("build_book", book=BOOK)
        if once:
            launched = time.monotonic()
            made = self.dev.library.record
            self.dev.until(lambda: once in made(BOOK).steps, 400, f"{once} was not made")
            after = time.monotonic() - launched
        else:
            after = dice.uniform(0.02, 1.0) * self.whole_s
            time.sleep(after)
        self._kill(target, run)
        at = last_whole(self.dev.library)
        if target == "everything":
            self.dev.start()
        recovered = self.put_right()
        if target == "code server":
            # The run itself lives on, or was never taken up; either way it ends.
            self.dev.until(
                lambda: self._over(run, recovered), 400, "the run of a dead code server did not end"
            )
        self.nothing_left()
        if target == "code server":
            # Another is started by what watches over it, and the UI loads the definitions anew.
            self.dev.until(self.dev.reload, 180, "the code server did not come back")
        self._build()
        check_whole(self.dev.library, self.reference)
        return Round(seed, target, after, at, tuple(recovered), time.monotonic() - began)

    def _over(self, run: str, recovered: list[str]) -> bool:
        if self.dev.ended(run):
            return True
        recovered += self.put_right()
        return bool(self.dev.ended(run))

    def _kill(self, target: str, run: str) -> None:
        if target == "everything":
            self.dev.kill_everything()
            return
        if target == "run":
            self.dev.until(lambda: _workers(self.dev) or self.dev.ended(run), 120, "the run had no process")
        self.dev.orphans += _workers(self.dev)
        victims = _workers(self.dev) if target == "run" else _servers(self.dev)
        for victim in victims:
            try:
                victim.kill()
            except psutil.NoSuchProcess:
                continue


def _servers(dev: Dev) -> Sequence[psutil.Process]:
    """The code server that has started the runs; what watches over it starts another."""
    return dev.children("dagster api grpc")


def _workers(dev: Dev) -> Sequence[psutil.Process]:
    """Processes of runs: started by the code server by spawning."""
    return [
        child
        for child in dev.children("multiprocessing")
        if "resource_tracker" not in " ".join(child.cmdline())
    ]
