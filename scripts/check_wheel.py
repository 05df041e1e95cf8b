"""Build the wheel, install it with its extras into an empty environment outside the clone, and use it.

Fails if the wheel lacks a file that it needs, if an extra lacks a package, or if the installed `gutengraph`
cannot build the sample book and answer a question about it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = "assets,query,embedded,s3"
QUESTION = "Who was the second mate of the Fair Penitent?"


def run(*command: str | Path, cwd: Path, env: dict[str, str]) -> str:
    """Run a command, its stderr shown; return its stdout. Raises CalledProcessError."""
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=env, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


def main() -> None:
    """Exit code 0 if the installed wheel builds and asks."""
    with tempfile.TemporaryDirectory(prefix="gutengraph-wheel-") as folder:
        work = Path(folder)
        run(
            sys.executable,
            "-m",
            "build",
            "--wheel",
            "--outdir",
            work / "dist",
            ROOT,
            cwd=work,
            env=dict(os.environ),
        )
        (wheel,) = (work / "dist").glob("*.whl")
        venv.create(work / "env", with_pip=True)
        bin_dir = work / "env" / "bin"
        clean = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("GUTENGRAPH_", "DAGSTER_", "PYTHONPATH"))
        }
        env = clean | {
            "PATH": f"{bin_dir}{os.pathsep}{os.environ['PATH']}",
            "GUTENGRAPH_HOME": str(work / "home"),
        }
        env["GUTENGRAPH_MIRROR"] = str(ROOT / "data" / "sample")
        pip = [bin_dir / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        run(*pip, "-c", ROOT / "constraints.txt", f"{wheel}[{EXTRAS}]", cwd=work, env=env)
        page = "from gutengraph_query.api.pages import WEB; (WEB / 'vendor/cytoscape/LICENSE').read_bytes()"
        run(bin_dir / "python", "-c", page, cwd=work, env=env)
        run(bin_dir / "gutengraph", "add", "0", cwd=work, env=env)
        run(bin_dir / "gutengraph", "build", "0", cwd=work, env=env)
        answer = json.loads(
            run(bin_dir / "gutengraph", "ask", QUESTION, "--mode", "hybrid", "--json", cwd=work, env=env)
        )
        if not answer["known"] or not answer["citations"]:
            sys.exit(f"The installed wheel built the sample but could not answer {QUESTION!r}: {answer}")
        print(
            f"{wheel.name}: installed, built the sample, answered with {len(answer['citations'])} citations"
        )


if __name__ == "__main__":
    main()
