"""The lines a parser gets: batches of the lines of one block that hold one of its markers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, List, Optional, Tuple, Union, cast

from autofuse.scan.source import StreamStats

__all__ = ["Line", "LineBatch", "Wrapping", "rows"]


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

    A batch that is kept stays valid; its block is then not used again, so keeping many costs memory.
    """

    path: str
    process: Tuple[str, ...]
    pid: Optional[int]
    block: Union[bytes, bytearray]
    matches: memoryview
    markers: Tuple[bytes, ...]
    start: int = 0
    """The batch covers `block[start:end]`: whole lines, but for `continues` and the head of a line over the limit."""
    end: int = 0
    first_line: int = 1
    """1-based number of the line at `start`."""
    continues: bool = False
    """True when `block[start:end]` goes on with a line whose head was given before; such a piece is never scanned."""
    stream: Optional[StreamStats] = None
    """The stream it comes from; final counts only after the stream's last batch."""
    staged: Any = None
    """What the stage gave for this batch (see `autofuse.scan.reader`)."""

    def __len__(self) -> int:
        return len(self.matches)

    def __iter__(self) -> Iterator[Line]:
        view = memoryview(self.block)
        for start, end, marker, number in rows(self.matches):
            text = bytes(view[start:end]).decode("utf-8", "replace")
            yield Line(self.path, number, text, self.markers[marker], self.pid)


def rows(matches: memoryview) -> List[List[int]]:
    """The rows [start, end, marker, line] of a scanner's result as integers."""
    return cast(List[List[int]], matches.tolist())
