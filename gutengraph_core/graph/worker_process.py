"""The process in which untrusted statements run: one published graph, read-only, and nothing else in reach.

Once the graph is open the process takes from itself what a query has no use for: opening any file or socket
(`RLIMIT_NOFILE` 0), writing to one (`RLIMIT_FSIZE` 0), more memory than its share (`RLIMIT_AS`), core files. It
reads requests, one JSON document a line, from stdin, answers on stdout, and ends when stdin does.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import resource
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from gutengraph_core.graph import versions
from gutengraph_core.graph.engine import kuzu

BUFFER_POOL = 64 << 20
"""Bytes of pages kept. A graph of a hundred novels has 0.2 GB, a query touches a few hundred pages."""
MEMORY = 1 << 30
"""Bytes of address space beyond what the open graph takes: threads and intermediate results."""
MAX_REPLY = 1 << 20
"""Bytes of one answer: fifty rows of names have a few thousand."""
_LEAST_DB = 1 << 26
_THREADS = 2


def main() -> None:
    """`python -m gutengraph_core.graph.worker_process FOLDER`: serve the version in that folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--number", type=int, required=True)
    given = parser.parse_args()
    version = versions.Version(given.number, given.folder)
    try:
        hold = version.hold()  # until this process ends the version is not pruned
        size = _LEAST_DB
        while size < 2 * version.database.stat().st_size:
            size *= 2
        database = kuzu.Database(
            str(version.database),
            read_only=True,
            buffer_pool_size=BUFFER_POOL,
            max_db_size=size,
            max_num_threads=_THREADS,
        )
        connection = kuzu.Connection(database)
        # starts Kuzu's threads and loads what it loads at first use, while that is still allowed
        connection.execute("MATCH (n) RETURN count(*) LIMIT 1")
    except FileNotFoundError as error:
        _say({"gone": str(error)})
        return
    except RuntimeError as error:
        _say({"failed": str(error)})
        return
    requests = _requests()
    _give_up_rights()
    _say({"ready": version.number})
    while (request := requests.get()) is not None:
        _say({"begun": True})  # so that the parent knows an idle death from one of the statement's making
        _say(_answer(connection, **request))
    hold.close()


def _give_up_rights() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write is refused, and does not end the process
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    for limit, value in (
        (resource.RLIMIT_AS, used + MEMORY),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 0),
    ):
        resource.setrlimit(limit, (value, value))


def _requests() -> queue.Queue[dict[str, Any] | None]:
    """What stdin brings. At its end the parent is gone: this process goes too, whatever it is doing."""
    found: queue.Queue[dict[str, Any] | None] = queue.Queue()

    def read() -> None:
        for line in sys.stdin.buffer:
            found.put(json.loads(line))
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    return found


def _answer(
    connection: kuzu.Connection, *, statement: str, parameters: dict[str, Any], rows: int, timeout_ms: int
) -> dict[str, Any]:
    connection.set_query_timeout(timeout_ms)
    try:
        result = connection.execute(statement, parameters)
        if isinstance(result, list):
            return {"error": "several statements in one"}
        columns = result.get_column_names()
        found: list[list[Any]] = []
        size = 0
        while result.has_next() and len(found) < rows:
            row = [_plain(value) for value in result.get_next()]
            size += len(json.dumps(row, default=str))
            if size > MAX_REPLY:
                return {"error": f"the answer has more than {MAX_REPLY >> 20} MB"}
            found.append(row)
        return {"columns": columns, "rows": found}
    except MemoryError:
        return {"error": "it took more memory than it may"}
    except RuntimeError as error:
        return {"error": str(error)}


def _plain(value: Any) -> Any:
    """A node or edge without Kuzu's inner ids and without its vector."""
    if isinstance(value, dict):
        hidden = {"_id", "_src", "_dst", "embedding"}
        return {key: _plain(item) for key, item in value.items() if key not in hidden}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _say(document: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(document, default=str, ensure_ascii=False).encode("utf-8") + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
