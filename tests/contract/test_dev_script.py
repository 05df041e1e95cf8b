"""`make dev`: two servers that live and die together."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from waiting import until

ROOT = Path(__file__).resolve().parents[2]
LASTING = "import pathlib, signal, sys, time\np = pathlib.Path(sys.argv[1])\np.write_text('on')\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    p.write_text('ended well')\n"


def begin(tmp_path: Path, second: list[str]) -> subprocess.Popen[bytes]:
    first = [sys.executable, "-c", LASTING, str(tmp_path / "first")]
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'scripts')!r}); from dev import together; sys.exit(together([{first!r}, {second!r}], patience_s=10))"
    return subprocess.Popen(
        [sys.executable, "-c", code],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def wait_for(path: Path) -> None:
    until(lambda: path.exists() and path.read_text(), f"{path.name} is at work")


def test_ctrl_c_ends_both(tmp_path: Path) -> None:
    both = begin(tmp_path, [sys.executable, "-c", LASTING, str(tmp_path / "second")])
    wait_for(tmp_path / "first")
    wait_for(tmp_path / "second")
    both.send_signal(signal.SIGINT)
    assert both.wait(120) == 0
    assert (tmp_path / "first").read_text() == (tmp_path / "second").read_text() == "ended well"


def test_when_one_dies_the_other_does_not_stay_alone(tmp_path: Path) -> None:
    dies = f"import pathlib, sys, time\nwhile not pathlib.Path({str(tmp_path / 'first')!r}).exists(): time.sleep(0.05)\nsys.exit(3)"
    both = begin(tmp_path, [sys.executable, "-c", dies])
    assert both.wait(120) == 3
    assert (tmp_path / "first").read_text() == "ended well"
