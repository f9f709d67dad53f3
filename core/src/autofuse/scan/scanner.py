"""Finds the lines of a block that hold a marker: one pass for all markers, a native engine and its twin in Python.

Both engines give the same rows for the same bytes. Cutting a stream into blocks is left to `autofuse.scan.blocks`.
"""

from __future__ import annotations

import importlib
import os
import re
from array import array
from typing import Any, Iterable, Optional, Protocol, Tuple, Union

from autofuse.errors import AutofuseError

__all__ = ["ENGINES", "Buffer", "NativeScanner", "Scanner", "StdlibScanner", "compile_markers", "native_module"]

Buffer = Union[bytes, bytearray]
"""What a block is: bytes, or a bytearray that is filled again later."""

ENGINES = ("auto", "native", "stdlib")


class Scanner(Protocol):
    """Compiled markers. Objects are immutable: threads may share one."""

    engine: str
    """`native (avx512)` and such, or `stdlib`."""
    markers: Tuple[bytes, ...]

    def scan(self, block: Buffer, start: int, end: int, first_line: int) -> memoryview:
        """The lines of `block[start:end]` that hold a marker: int64 rows [start, end, marker, line], shape (n, 4).

        `start` must be the begin of a line, whose number is `first_line`; `end` ends the last line. A line is what
        stands before a newline, without one carriage return at its end. `marker` is the index of the marker that begins
        first in the line; of those that begin there the longest, and of equal ones the first.
        """


def compile_markers(markers: Iterable[bytes], engine: str = "auto") -> Scanner:
    """A scanner for the markers. `auto` takes the native engine where it was built.

    The environment variable AUTOFUSE_SCANNER (`native` or `stdlib`) decides where `engine` is `auto`. ValueError when a
    marker is empty or holds a line end; AutofuseError when the engine is unknown or not there.
    """
    literals = tuple(bytes(marker) for marker in markers)
    for literal in literals:
        if not literal or b"\n" in literal or b"\r" in literal:
            raise ValueError(f"a marker is at least one byte and holds no line end, not {literal!r}")
    wanted = os.environ.get("AUTOFUSE_SCANNER") or "auto" if engine == "auto" else engine
    if wanted not in ENGINES:
        raise AutofuseError(f"unknown scanner engine {wanted!r}", "AUTOFUSE_SCANNER", "use auto, native or stdlib")
    native = None if wanted == "stdlib" else native_module()
    if native is not None:
        return NativeScanner(native, literals)
    if wanted == "native":
        raise AutofuseError("the native line scanner was not built", hint="install a compiler and reinstall autofuse")
    return StdlibScanner(literals)


def native_module() -> Optional[Any]:
    """The extension module, or None where it could not be built."""
    try:
        return importlib.import_module("autofuse._scan")
    except ImportError:
        return None


class NativeScanner:
    """The engine in core/native; `kernel` is `auto` or one of `module.kernels()`."""

    def __init__(self, module: Any, markers: Tuple[bytes, ...], kernel: str = "auto") -> None:
        self.markers = markers
        self._scanner = module.Scanner(list(markers), kernel)
        self.engine = f"native ({self._scanner.kernel})"

    def scan(self, block: Buffer, start: int, end: int, first_line: int) -> memoryview:
        return _as_rows(self._scanner.scan(block, start, end, first_line))


class StdlibScanner:
    """The engine of the standard library: one alternation of all markers, searched from line to line."""

    engine = "stdlib"

    def __init__(self, markers: Tuple[bytes, ...]) -> None:
        self.markers = markers
        self._index = {marker: index for index, marker in reversed(list(enumerate(markers)))}
        # An alternation takes the first branch that matches, so longer markers stand before their own beginnings.
        branches = sorted(self._index, key=len, reverse=True)
        self._search = re.compile(b"|".join(re.escape(branch) for branch in branches)).search if branches else None

    def scan(self, block: Buffer, start: int, end: int, first_line: int) -> memoryview:
        rows = array("q")
        line, line_start = first_line, start
        found = self._search(block, start, end) if self._search else None
        while found and self._search:
            begins = block.rfind(b"\n", line_start, found.start()) + 1 or line_start
            line += block.count(b"\n", line_start, begins)
            newline = block.find(b"\n", found.end(), end)
            ends = end if newline < 0 else newline
            shown = ends - 1 if ends > begins and block[ends - 1] == 0x0D else ends
            rows.extend((begins, shown, self._index[found.group()], line))
            line_start = ends + 1
            line += 1
            found = self._search(block, line_start, end) if line_start < end else None
        return _as_rows(rows.tobytes())


_NO_ROWS = memoryview(bytes(32)).cast("q", (1, 4))[0:0]


def _as_rows(raw: bytes) -> memoryview:
    # A cast refuses a shape with a zero in it; a slice does not.
    return memoryview(raw).cast("q", (len(raw) // 32, 4)) if raw else _NO_ROWS
