"""Which code made an asset: what was made by other code is out of date."""

from __future__ import annotations

import hashlib
from importlib.util import find_spec
from pathlib import Path


def code_version(*names: str) -> str:
    """A digest of the source of modules and packages, given by their dotted names.

    Taken from the files themselves: a number kept by hand is forgotten at the very change that matters. Making an
    asset anew is cheap where only a comment changed, for the models' replies come from the cache.
    """
    digest = hashlib.sha256()
    for name in names:
        for path in _files(name):
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _files(name: str) -> list[Path]:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no module {name}")
    origin = Path(spec.origin)
    return sorted(origin.parent.rglob("*.py")) if origin.name == "__init__.py" else [origin]
