"""Opening a model, the reply cache, the machine-wide lock."""

from __future__ import annotations

import logging
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import FakeLLM
from waiting import until

from gutengraph_core.errors import DataFolderError, ModelRefused, ModelUnreachable, SettingsError
from gutengraph_core.llm import LLM, ModelIdentity, open_llm
from gutengraph_core.llm.cache import CachedLLM, ReplyCache, accept
from gutengraph_core.llm.lock import lock_dir, model_lock
from gutengraph_core.llm.prompting import check_whole, estimate_tokens, with_schema
from gutengraph_core.settings import Settings


# --- opening ---
@pytest.mark.parametrize(
    "spec", ["", "gemma4", "ollama:", "openai:m", "openai:m@host:80", "embedded:x", "ollama:a b"]
)
def test_what_names_no_model_says_what_would(spec: str, settings: Settings) -> None:
    with pytest.raises(SettingsError, match="`embedded`, `ollama:<model>` or `openai:<model>@<base_url>`"):
        open_llm(spec, settings)


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("embedded", "EmbeddedLLM"),
        ("ollama:gemma4:4b", "OllamaLLM"),
        ("openai:org/model@v2@http://127.0.0.1:1/v1", "OpenAILLM"),
    ],
)
def test_opening_takes_no_server_and_no_disk(spec: str, kind: str, settings: Settings) -> None:
    llm = open_llm(spec, settings)
    assert isinstance(llm, CachedLLM)
    assert type(llm.llm).__name__ == kind
    assert type(open_llm(spec, settings, cache=False)).__name__ == kind
    assert not settings.home.exists()


def test_only_the_chosen_backend_is_imported() -> None:
    code = (
        "import sys; from pathlib import Path; from gutengraph_core.settings import Settings\n"
        "from gutengraph_core.llm import open_llm; open_llm('embedded', Settings(home=Path('x')))\n"
        "print([m for m in ('ollama', 'httpx', 'xllamacpp', 'torch', 'pyarrow') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert out.stdout.strip() == "[]"


def test_an_identity_reads_as_one_word() -> None:
    assert (
        str(ModelIdentity("ollama", "m:latest", "0123456789abcdef", "http://h", True))
        == "ollama:m:latest@0123456789ab"
    )
    assert str(ModelIdentity("openai", "m", "", "http://h", True)) == "openai:m"


# --- the cache ---
@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "replies.sqlite"


def cached(fake: LLM, path: Path) -> CachedLLM:
    return CachedLLM(fake, ReplyCache(path))


def test_only_accepted_replies_are_kept(path: Path) -> None:
    fake = FakeLLM(["bad", ("good é\n", "length")])
    llm = cached(fake, path)
    llm.complete("Q", max_tokens=5)
    reply = llm.complete("Q", max_tokens=5)
    assert len(fake.calls) == 2
    accept(llm, reply)
    again = llm.complete("Q", max_tokens=5)
    assert len(fake.calls) == 2
    assert again.cached
    assert replace(again, cached=False, seconds=reply.seconds) == reply
    accept(llm, again)
    assert len(llm.cache) == 1


def test_kept_replies_outlive_the_process(path: Path) -> None:
    llm = cached(FakeLLM(["good"]), path)
    llm.accept(llm.complete("Q", max_tokens=5))
    llm.close()
    assert cached(FakeLLM(), path).complete("Q", max_tokens=5).text == "good"


def test_a_reply_without_a_cache_is_accepted_by_doing_nothing(path: Path) -> None:
    fake = FakeLLM(["good"])
    reply = fake.complete("Q", max_tokens=5)
    accept(fake, reply)
    with pytest.raises(ValueError, match="CachedLLM"):
        cached(fake, path).accept(reply)


def test_everything_that_was_served_is_in_the_key(path: Path) -> None:
    """Another prompt, system, schema, order of keys, stop, cap, route, digest or address: another reply."""
    schema = {"type": "object", "properties": {"a": {}, "b": {}}}
    turned = {"type": "object", "properties": {"b": {}, "a": {}}}
    variants: list[dict[str, object]] = [
        {},
        {"prompt": "R"},
        {"system": "S"},
        {"schema": schema},
        {"schema": turned},
        {"stop": ("\n",)},
        {"max_tokens": 6},
        {"raw": True},
    ]
    llm = cached(FakeLLM([str(i) for i in range(20)]), path)
    for variant in variants:
        llm.accept(llm.complete(**{"prompt": "Q", "max_tokens": 5, **variant}))  # type: ignore[arg-type]
    for digest, url in (("other", ""), ("0123456789abcdef", "http://other")):
        fake = FakeLLM([f"{digest}{url}"])
        fake.identity = replace(fake.identity, digest=digest, base_url=url)
        assert not cached(fake, path).complete("Q", max_tokens=5).cached
    texts = [llm.complete(**{"prompt": "Q", "max_tokens": 5, **v}).text for v in variants]  # type: ignore[arg-type]
    assert texts == [str(i) for i in range(len(variants))]


def test_log_probabilities_are_kept_exactly_and_in_order(path: Path) -> None:
    table = {" b": -0.13509991765022278, " a": -2.5, "é": -3.0000000001}
    fake = FakeLLM(logprobs=table)
    llm = cached(fake, path)
    first = llm.next_token_logprobs("P", top=3)
    assert list(llm.next_token_logprobs("P", top=3).items()) == list(first.items()) == list(table.items())
    assert fake.logprob_calls == ["P"]
    llm.next_token_logprobs("P", top=2)
    assert len(fake.logprob_calls) == 2


def test_what_the_model_refuses_is_not_kept(path: Path) -> None:
    llm = cached(FakeLLM([ModelRefused("no")]), path)
    with pytest.raises(ModelRefused):
        llm.complete("Q", max_tokens=5)
    assert len(llm.cache) == 0


def test_the_rest_is_the_model_s_own(path: Path) -> None:
    fake = FakeLLM(logprobs={" a": -1.0})
    llm = cached(fake, path)
    assert (llm.identity, llm.gives_logprobs, llm.context_tokens) == (fake.identity, True, 4096)
    llm.close()
    assert fake.closed


@pytest.mark.parametrize("damage", ["rubbish", "middle", "pages"])
def test_a_damaged_file_is_replaced_with_one_warning(
    path: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    cache = ReplyCache(path)
    for i in range(300):
        cache.put(f"{i:064x}", os.urandom(200).hex())
    cache.close()
    data = bytearray(path.read_bytes())
    if damage == "rubbish":
        data[:] = b"this is no database " * 100
    elif damage == "middle":
        data[8192:] = b"\x07" * (len(data) - 8192)
    else:
        for at in range(8192 + 3000, len(data), 4096):
            data[at : at + 200] = os.urandom(200)
    path.write_bytes(data)
    with caplog.at_level(logging.WARNING):
        for i in range(300):
            cache.get(f"{i:064x}")
        cache.put("k", "value")
        assert cache.get("k") == "value"
    assert len(caplog.records) == 1
    assert "starting an empty one" in caplog.text


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataFolderError, match="GUTENGRAPH_HOME"):
        ReplyCache(tmp_path / "file" / "r.sqlite").get("k")


def test_a_refusing_database_is_a_data_folder_error(path: Path) -> None:
    cache = ReplyCache(path)
    cache.put("k", "v")

    def full(connection: sqlite3.Connection) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with pytest.raises(DataFolderError, match=r"disk is full.*free space"):
        cache._do(full)
    assert cache.get("k") == "v"


def _write(path: Path, start: int) -> None:
    cache = ReplyCache(path)
    for i in range(start, start + 200):
        cache.put(f"{i}", f"value {i}")


def test_processes_and_threads_write_side_by_side(path: Path) -> None:
    ReplyCache(path).put("first", "x")
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_write, args=(path, start)) for start in (0, 200)]
    shared = ReplyCache(path)
    threads = [
        threading.Thread(target=lambda s=s: [shared.put(f"{i}", "t") for i in range(s, s + 100)])
        for s in (400, 500)
    ]
    for worker in (*processes, *threads):
        worker.start()
    for worker in (*processes, *threads):
        worker.join(60)
    assert [p.exitcode for p in processes] == [0, 0]
    assert len(shared) == 601
    assert shared.get("399") == "value 399"


def test_a_connection_is_not_taken_across_a_fork(path: Path) -> None:
    cache = ReplyCache(path)
    cache.put("k", "v")
    child = os.fork()
    if child == 0:
        ok = cache.get("k") == "v"
        cache.put("child", "c")
        os._exit(0 if ok else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert cache.get("child") == "c"


def test_thousands_of_entries_are_quick(path: Path) -> None:
    cache = ReplyCache(path)

    def filled(start: int, stop: int) -> float:
        for i in range(start, stop):
            cache.put(f"{i:064x}", '{" man": -0.5}' * 20)
        return min(hundred(stop) for _ in range(5))

    def hundred(stop: int) -> float:
        began = time.perf_counter()
        assert all(cache.get(f"{i:064x}") for i in range(0, stop, stop // 100))
        return time.perf_counter() - began

    few = filled(0, 200)
    # Fifteen times as many: whoever looked through them all would take fifteen times as long.
    assert filled(200, 3000) < 5 * few


# --- the lock ---
def test_the_lock_is_the_user_s_and_not_the_data_folder_s() -> None:
    assert lock_dir() == lock_dir()
    assert str(os.getuid()) in lock_dir().name
    assert lock_dir().stat().st_mode & 0o077 == 0


def test_one_at_a_time(tmp_path: Path) -> None:
    inside = 0
    most = 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(20):
            with model_lock(timeout_s=30, folder=tmp_path):
                inside += 1
                most = max(most, inside)
                time.sleep(0.001)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


_LOOP = """
import sys, time
from pathlib import Path
from gutengraph_core.llm.lock import model_lock
print("started", flush=True)
while True:
    with model_lock(timeout_s=60, folder=Path(sys.argv[1])):
        with open(sys.argv[2], "a") as turns:
            turns.write(".")
        time.sleep(0.1)
"""


def test_a_caller_in_a_loop_lets_others_in(tmp_path: Path) -> None:
    """As a question asked while a book is built."""
    turns = tmp_path / "turns"
    waits = []
    with subprocess.Popen(
        [sys.executable, "-c", _LOOP, str(tmp_path), str(turns)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        until(lambda: turns.exists() and turns.stat().st_size > 1, "it is in its loop")
        for _ in range(8):
            time.sleep(0.05)
            before = turns.stat().st_size
            with model_lock(timeout_s=60, folder=tmp_path):
                waits.append(turns.stat().st_size - before)
        other.kill()
    assert max(waits) < 10, "turns that the other had meanwhile"
    with model_lock(timeout_s=5, folder=tmp_path):
        pass  # a killed process holds nothing


def test_a_long_wait_is_said_and_ends(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gutengraph_core.llm.lock.SAY_AFTER_S", 0.05)
    entered = threading.Event()
    leave = threading.Event()

    def hold() -> None:
        with model_lock(timeout_s=5, folder=tmp_path):
            entered.set()
            leave.wait(120)

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait(120)
    with (
        caplog.at_level(logging.WARNING),
        pytest.raises(ModelUnreachable, match="GUTENGRAPH_LLM_TIMEOUT_S") as caught,
        model_lock(timeout_s=0.3, folder=tmp_path),
    ):
        pass
    assert caught.value.retry
    assert [r.message for r in caplog.records] == [
        "Waiting for the embedded model: another thread of this process is using it."
    ]
    (tmp_path / "model.holder").unlink()
    with pytest.raises(ModelUnreachable, match="another process"), model_lock(timeout_s=0.1, folder=tmp_path):
        pass
    leave.set()
    thread.join()


# --- prompts ---
def test_prose_has_fewer_tokens_than_estimated_and_more_than_words() -> None:
    text = "The keeper wound the clock, trimmed the lamp, and wrote down the wind in his book. " * 30
    check_whole(text, estimate_tokens(text), server="x")
    check_whole(text, None, server="x")
    with pytest.raises(ModelRefused, match="cut a prompt of 480 words to 479 tokens"):
        check_whole(text, 479, server="x")


def test_the_schema_stands_behind_the_prompt() -> None:
    assert with_schema("Q", None) == "Q"
    assert with_schema("Q", {"type": "object"}).startswith("Q\n\n")
    assert with_schema("Q", {"enum": ["é"]}).endswith('{"enum": ["é"]}')
