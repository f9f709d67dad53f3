"""The one way from a name in hostile input to a name in the file system."""

from __future__ import annotations

import hashlib
import re

__all__ = ["safe_name"]

_UNSAFE = re.compile(r"[^0-9A-Za-z]+")


def safe_name(name: str, max_bytes: int = 100) -> str:
    """A file name for `name`: ASCII letters, digits and `_` only, never empty, `.` or `..`, at most `max_bytes` + hash.

    Each run of other characters becomes one `_`, as CANN does for file names derived from operators. A name that was
    changed gets the first 8 hex digits of its SHA-256 appended, so two names never share a result.
    """
    plain = _UNSAFE.sub("_", name)[:max_bytes]
    if plain == name and name.strip("_"):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain}-{digest}" if plain.strip("_") else f"name-{digest}"
