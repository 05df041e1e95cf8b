"""Kuzu, loaded so that it can live in one process with llama.cpp.

Kuzu 0.11.3 opens its library with RTLD_GLOBAL, for extensions that are loaded at run time. Every library that is
loaded later then finds Kuzu's copies of the C++ symbols they share, and importing xllamacpp ends the process
with std::bad_alloc. The extensions used here are linked in, so the library is opened with its symbols kept local.
"""

from __future__ import annotations

import sys

_set_flags = getattr(sys, "setdlopenflags", None)
try:
    if _set_flags is not None:
        sys.setdlopenflags = lambda flags: None
    import kuzu as kuzu
finally:
    if _set_flags is not None:
        sys.setdlopenflags = _set_flags

__all__ = ["kuzu"]
