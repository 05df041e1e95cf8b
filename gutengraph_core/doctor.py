"""`gutengraph doctor`: what this machine has, whether the settings in force run on it, and what to set."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import click

if TYPE_CHECKING:
    from gutengraph_core.embedding.protocol import EmbeddingIdentity
    from gutengraph_core.llm.profile import Task
    from gutengraph_core.llm.protocol import ModelIdentity
    from gutengraph_core.settings import Settings

Status = Literal["ok", "note", "problem"]

PATIENCE_S = 10.0
"""Longest wait for a server while diagnosing; a build waits `llm_timeout_s`."""
LEAST_FREE = 500_000_000
"""Bytes: twice the embedded model's file, which a first build puts together."""


@dataclass(frozen=True)
class Finding:
    """One line of the report. A 'problem' keeps the settings in force from running; a 'note' does not."""

    name: str
    status: Status
    found: str
    remedy: str = ""


def examine(settings: Settings) -> list[Finding]:
    """Everything that is looked at, in the order of the report. Raises nothing: what fails is a finding."""
    return [finding for look in _LOOKS for finding in look(settings)]


# --- the machine ---
def _python(settings: Settings) -> Iterator[Finding]:
    import platform
    from importlib.metadata import version

    import psutil

    from gutengraph_core.llm.llamacpp import cores

    memory = psutil.virtual_memory().total / 1e9
    found = f"{platform.python_version()}, {platform.system()}, {cores()} cores, {memory:.0f} GB of memory"
    yield Finding("Python", "ok", f"{found}; gutengraph {version('gutengraph')}")


def _extras(settings: Settings) -> Iterator[Finding]:
    """Which optional parts are installed, by the package's own metadata."""
    for extra, packages in extras().items():
        missing = [name for name in packages if not _installed(name)]
        needed = extra == "embedded" and "embedded" in (
            settings.llm,
            settings.answering_llm,
            settings.embedding,
        )
        needed = needed or (extra == "s3" and settings.store == "s3")
        if not missing:
            yield Finding(f"Extra '{extra}'", "ok", "installed")
        else:
            yield Finding(
                f"Extra '{extra}'",
                "problem" if needed else "note",
                f"not installed: {', '.join(missing)}",
                f"Run `pip install 'gutengraph[{extra}]'`" + ("." if needed else f" for {_PURPOSE[extra]}."),
            )


_PURPOSE = {
    "embedded": "models that need no server",
    "assets": "building books",
    "query": "asking questions",
    "s3": "stores in a bucket",
}


def extras() -> dict[str, list[str]]:
    """Packages of each optional part that a user may want, as the distribution declares them."""
    import re
    from importlib.metadata import requires

    found: dict[str, list[str]] = {name: [] for name in _PURPOSE}
    for requirement in requires("gutengraph") or []:
        name = re.match(r"[\w.-]+", requirement)
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", requirement)
        if name and extra and extra[1] in found:
            found[extra[1]].append(name[0])
    return found


def _installed(package: str) -> bool:
    from importlib.metadata import PackageNotFoundError, version

    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def _gpu(settings: Settings) -> Iterator[Finding]:
    """What `nvidia-smi` lists: importing torch to ask it would take seconds."""
    import shutil
    import subprocess

    if shutil.which("nvidia-smi") is None:
        yield Finding("GPU", "note", "no NVIDIA driver found; everything runs on the processor")
        return
    query = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        yield Finding(
            "GPU", "note", f"nvidia-smi fails ({error})", "Repair the NVIDIA driver to use the GPU."
        )
        return
    cards = "; ".join(line.strip() for line in answer.stdout.splitlines() if line.strip())
    yield Finding("GPU", "ok", cards or "nvidia-smi lists none")


# --- the data folder ---
def _data_folder(settings: Settings) -> Iterator[Finding]:
    import shutil

    from gutengraph_core.errors import DataFolderError
    from gutengraph_core.filesystem import check_data_folder

    name, home = "Data folder", settings.home
    try:
        settings.library.check_writable()
        mount = check_data_folder(home)
    except DataFolderError as error:
        yield Finding(name, "problem", error.what, error.remedy)
        return
    kind = f" ({mount.kind})" if mount else ""
    yield Finding(name, "ok", f"{home}{kind}, {len(settings.library.ids())} books")
    free = shutil.disk_usage(home).free
    found = f"{free / 1e9:.1f} GB free"
    if free < LEAST_FREE:
        yield Finding("Disk", "problem", found, "Free some space, or set GUTENGRAPH_HOME to another disk.")
    else:
        yield Finding("Disk", "ok", found)


def _source(settings: Settings) -> Iterator[Finding]:
    from pathlib import Path

    place = settings.mirror.removeprefix("file://")
    if place.startswith(("http://", "https://")):
        yield Finding("Source", "ok", f"{place} (not asked)")
    elif Path(place).expanduser().is_dir():
        yield Finding("Source", "ok", place)
    else:
        yield Finding("Source", "problem", f"no folder {place}", "Correct or unset GUTENGRAPH_MIRROR.")


# --- the models ---
def _language_models(settings: Settings) -> Iterator[Finding]:
    if settings.answering_llm == settings.llm:
        yield from _language_model("Language model", settings.llm, settings, ("names", "cypher"))
    else:
        yield from _language_model("Language model", settings.llm, settings, ("names",))
        answers = "Language model that answers"
        yield from _language_model(answers, settings.answering_llm, settings, ("cypher",))


def _language_model(name: str, spec: str, settings: Settings, tasks: tuple[Task, ...]) -> Iterator[Finding]:
    """The model, what the studies found to serve it where it builds, and the compiled prompts of its tasks."""
    from gutengraph_core.errors import GutenGraphError
    from gutengraph_core.llm import open_llm

    patient = settings.model_copy(update={"llm_timeout_s": min(settings.llm_timeout_s, PATIENCE_S)})
    try:
        llm = open_llm(spec, patient, cache=False)
        if spec == "embedded":
            from gutengraph_core.llm.llamacpp import import_xllamacpp

            import_xllamacpp()
        identity = llm.identity
        kind = "an instruct model" if identity.instruct else "a base model"
        yield Finding(name, "ok", f"{identity}, {kind}, {llm.context_tokens} tokens of context")
    except GutenGraphError as error:
        yield Finding(name, "problem", error.what, error.remedy)
        return
    if "names" in tasks:
        yield _profile(settings, identity)
    if settings.compiled_prompts is not None:
        yield _compiled(settings, identity, tasks)


def _profile(settings: Settings, identity: ModelIdentity) -> Finding:
    from gutengraph_core.errors import SettingsError
    from gutengraph_core.llm.profile import load_profile, told

    name = "Model profile"
    try:
        profile = load_profile(settings.home, identity)
    except SettingsError as error:
        return Finding(name, "problem", error.what, error.remedy)
    if profile is None:
        return Finding(
            name,
            "note",
            "no study was run on this model here; the defaults serve it",
            "To find its window, prompt and caps: `make lab` in a checkout lists the studies.",
        )
    return Finding(name, "ok", told(profile, settings))


def _compiled(settings: Settings, identity: ModelIdentity, tasks: tuple[Task, ...]) -> Finding:
    from gutengraph_core.errors import GutenGraphError
    from gutengraph_core.llm.compiled import load_compiled

    name, folder = "Compiled prompts", settings.compiled_prompts
    try:
        found = [one for task in tasks if (one := load_compiled(folder, task, identity)) is not None]
    except GutenGraphError as error:
        return Finding(name, "problem", error.what, error.remedy)
    listed = [
        f"{one.task} by {one.optimiser} on books {', '.join(map(str, one.trained_on))}" for one in found
    ]
    if not listed:
        return Finding(name, "note", f"{folder} has none for {' or '.join(tasks)}")
    return Finding(name, "ok", f"{'; '.join(listed)}, in {folder}")


def _embedder(settings: Settings) -> Iterator[Finding]:
    from gutengraph_core.embedding import open_embedder
    from gutengraph_core.embedding.folders import find_folder
    from gutengraph_core.embedding.thresholds import path_threshold
    from gutengraph_core.errors import GutenGraphError

    name, spec = "Embedding model", settings.embedding
    try:
        if spec.startswith(("tei:", "ollama:")):
            identity: EmbeddingIdentity | None = open_embedder(settings).identity
            found = str(identity)
        else:  # without the weights of a hub's model: they may be half a gigabyte to fetch
            folder = find_folder(spec, tokenizer_only=True)
            identity = folder.identity if spec == "embedded" else None
            found = str(identity) if identity else folder.name
        threshold = path_threshold(settings, identity) if identity else None
    except GutenGraphError as error:
        yield Finding(name, "problem", error.what, error.remedy)
        return
    yield Finding(name, "ok", found)
    if threshold is not None:
        known = "never measured" not in threshold.source
        yield Finding(
            "Path threshold", "ok" if known else "note", f"{threshold.value:.2f} ({threshold.source})"
        )


def _ollama(settings: Settings) -> Iterator[Finding]:
    """What Ollama serves, and for each model the line that would use it."""
    import httpx

    url = settings.ollama_host.rstrip("/")
    url = url if "://" in url else f"http://{url}"
    try:
        models = httpx.get(f"{url}/api/tags", timeout=PATIENCE_S).raise_for_status().json()["models"]
        names = [(str(m["name"]), list(m.get("capabilities") or ["completion"])) for m in models]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
        yield Finding(
            "Ollama",
            "note",
            f"does not answer at {url} ({type(error).__name__})",
            "To use it: install it from https://ollama.com, run `ollama serve`, `ollama pull gemma3`.",
        )
        return
    if not names:
        yield Finding("Ollama", "note", f"at {url}, without a model", "Run `ollama pull gemma3`.")
        return
    lines = []
    for model, abilities in names:
        short = model.removesuffix(":latest")
        if "completion" in abilities:
            lines.append(f"GUTENGRAPH_LLM=ollama:{short}")
        if "embedding" in abilities:
            lines.append(f"GUTENGRAPH_EMBEDDING=ollama:{short}")
    listed = ", ".join(name for name, _ in names)
    yield Finding("Ollama", "ok", f"at {url}: {listed}", f"To use: {' or '.join(lines)}" if lines else "")


def _better_embeddings(settings: Settings) -> Iterator[Finding]:
    if settings.embedding == "embedded":
        yield Finding(
            "Better embeddings",
            "note",
            "the embedded model is small; nothing switches by itself",
            "With a network: GUTENGRAPH_EMBEDDING=nomic-ai/nomic-embed-text-v1.5 (550 MB), then build again.",
        )


def _bucket(settings: Settings) -> Iterator[Finding]:
    """The copy in S3; it is asked only if questions go there."""
    if settings.store == "s3":
        yield _copy(settings)
    elif settings.s3_uri:
        yield Finding("Bucket", "ok", f"{settings.s3_uri} at {settings.s3_endpoint or 'Amazon'} (not asked)")


def _copy(settings: Settings) -> Finding:
    from gutengraph_core.errors import GutenGraphError
    from gutengraph_core.s3.client import make_client, parse_uri, s3_errors
    from gutengraph_core.s3.manifest import require_manifest

    try:
        bucket, prefix = parse_uri(settings.s3_uri)
        client = make_client(settings.s3_endpoint, read_s=PATIENCE_S, tries=1)
        with s3_errors(f"s3://{bucket}/{prefix}"):
            copy = require_manifest(client, bucket, prefix)
    except GutenGraphError as error:
        return Finding("Bucket", "problem", error.what, error.remedy)
    found = f"{len(copy.books)} books, {copy.table_rows:,} passages, graph version {copy.graph_version}"
    return Finding("Bucket", "ok", f"{settings.s3_uri} at {settings.s3_endpoint or 'Amazon'}: {found}")


_LOOKS: list[Callable[[Any], Iterator[Finding]]] = [
    _python,
    _extras,
    _data_folder,
    _source,
    _language_models,
    _embedder,
    _better_embeddings,
    _ollama,
    _gpu,
    _bucket,
]


def settings_in_force(settings: Settings) -> dict[str, Any]:
    """Every setting with its value; secrets are only said to be set."""
    values = settings.model_dump(mode="json")
    for name, field in type(settings).model_fields.items():
        if not field.repr:  # how the settings mark a secret
            values[name] = "(set)" if values[name] else ""
    return values


def changed_settings(settings: Settings) -> dict[str, Any]:
    """Those of `settings_in_force` that the environment or `.env` sets, by the name of their variable."""
    values = settings_in_force(settings)
    return {
        f"GUTENGRAPH_{name.upper()}": values[name] for name in values if name in settings.model_fields_set
    }


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
def doctor(as_json: bool) -> None:
    """Say what this machine has, what to set, and whether the settings in force can run (else exit 1)."""
    import json

    from gutengraph_core.settings import load_settings

    settings = load_settings()
    findings = examine(settings)
    healthy = all(finding.status != "problem" for finding in findings)
    if as_json:
        document = {
            "ok": healthy,
            "findings": [asdict(finding) for finding in findings],
            "settings": settings_in_force(settings),
        }
        click.echo(json.dumps(document, ensure_ascii=False, indent=1))
    else:
        _print(findings, changed_settings(settings), healthy)
    if not healthy:
        sys.exit(1)


def _print(findings: list[Finding], changed: dict[str, Any], healthy: bool) -> None:
    colours: dict[Status, str] = {"ok": "green", "note": "yellow", "problem": "red"}
    for finding in findings:
        mark = click.style(f"{finding.status:<8}", fg=colours[finding.status])
        click.echo(f"{mark} {finding.name}: {finding.found}")
        if finding.remedy:
            click.echo(f"{'':8}   {finding.remedy}")
    click.echo()
    if changed:
        click.echo("Settings from the environment or .env:")
        for name, value in changed.items():
            click.echo(f"  {name}={value}")
    else:
        click.echo("All settings are at their defaults.")
    click.echo("All is well." if healthy else "Some settings cannot run here: see the problems above.")
