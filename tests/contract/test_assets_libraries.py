"""The native libraries of a build live in one process, whichever is loaded first."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import importlib, sys
for name in sys.argv[1].split(","):
    if name == "xllamacpp":
        from gutengraph_core.llm.llamacpp import import_xllamacpp
        import_xllamacpp()
    else:
        importlib.import_module(name)
import kuzu
connection = kuzu.Connection(kuzu.Database(":memory:"))
print(connection.execute("RETURN 'Ahab' =~ 'A.*'").get_all())
"""


@pytest.mark.parametrize(
    "order",
    ["kuzu,xllamacpp", "xllamacpp,kuzu", "lancedb,kuzu,torch,xllamacpp", "kuzu,lancedb,xllamacpp,torch"],
)
def test_libraries_load_in_any_order(order: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, order], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.strip() == "[[True]]"
