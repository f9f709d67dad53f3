"""Names of sheets: what Excel allows, and no two alike."""

from __future__ import annotations

import re
from typing import Set

__all__ = ["SheetNames"]

_LONGEST = 31
_FORBIDDEN = re.compile(r"[\[\]:*?/\\\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class SheetNames:
    """Gives sheet names that are unique without regard to case, as Excel compares them."""

    def __init__(self) -> None:
        # Excel keeps this name for itself.
        self._used: Set[str] = {"history"}

    def next(self, wanted: str, part: int = 1) -> str:
        """A name for the part `part` of the table `wanted`: `summary`, `summary (2)` …"""
        base = _FORBIDDEN.sub("_", wanted).strip(" '") or "Table"
        number = part
        name = _numbered(base, number)
        while name.lower() in self._used:
            number += 1
            name = _numbered(base, number)
        self._used.add(name.lower())
        return name


def _numbered(base: str, number: int) -> str:
    suffix = f" ({number})" if number > 1 else ""
    # Excel counts UTF-16 units.
    room = _LONGEST - len(suffix)
    while len(base.encode("utf-16-le")) // 2 > room:
        base = base[:-1]
    return base.rstrip(" '") + suffix
