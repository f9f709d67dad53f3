"""The lines a parser gets: batches of the lines of one block that hold one of its markers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator, Optional, Tuple

__all__ = ["Line", "LineBatch", "Wrapping"]


@dataclass(frozen=True)
class Wrapping:
    """What the text before a message says. None is "does not say"."""

    level: Optional[str] = None
    module: Optional[str] = None
    pid: Optional[int] = None
    tid: Optional[int] = None
    time: Optional[str] = None
    location: Optional[str] = None
    """`file:line` of the emitter."""
    operator: Optional[str] = None


@dataclass(frozen=True)
class Line:
    """One line that holds a marker: its text (invalid UTF-8 replaced, no line end), 1-based number and the marker."""

    path: str
    number: int
    text: str
    marker: bytes
    pid: Optional[int] = None


@dataclass(frozen=True)
class LineBatch:
    """The matched lines of one block, in order.

    `matches` has one row [start, end, marker, line] per matched line: byte offsets of the line in `block` without its
    line end, index of the first marker found in it, and the 1-based line number in the stream. It is a two-dimensional
    memoryview of int64 (`numpy.asarray` takes it as it is); no numpy is needed to read it.
    """

    path: str
    process: Tuple[str, ...]
    pid: Optional[int]
    block: bytes
    matches: memoryview
    markers: Tuple[bytes, ...]

    def __len__(self) -> int:
        return len(self.matches)

    def __iter__(self) -> Iterator[Line]:
        view = memoryview(self.block)
        for start, end, marker, number in self.matches.tolist():
            text = bytes(view[start:end]).decode("utf-8", "replace")
            yield Line(self.path, number, text, self.markers[marker], self.pid)
