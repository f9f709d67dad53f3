"""What a log source gives: named byte streams, grouped by the process that wrote them, and notices about the rest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, BinaryIO, Callable, Iterator, List, Optional, Protocol, Tuple

from autofuse.errors import AutofuseError

__all__ = ["ByteStream", "LogSource", "Notices", "StreamStats"]


@dataclass(frozen=True)
class ByteStream:
    """One named stream of bytes.

    Streams with the same `process` are parts of one process, read in the order of `order` and, where that is equal, in
    the order they are yielded; streams of different processes never mix. Content is read with `open()`, which may be
    called more than once unless `once` is set (stdin). Content that cannot be read to its end raises OSError or
    EOFError: what came before is kept.
    """

    name: str
    """What is shown as the source: the path, or `archive.zip!member`."""
    open: Callable[[], BinaryIO]
    """Opens the (decompressed) bytes; the caller closes it."""
    process: Tuple[str, ...]
    """Identity of the set of files that one process wrote, e.g. ("/log/plog", "4242")."""
    pid: Optional[int] = None
    """From the file name (`plog-4242_….log`), where it tells."""
    size: Optional[int] = None
    """Bytes on disk, when known (for progress)."""
    once: bool = False
    order: Tuple[Any, ...] = ()
    """Place within the process: sortable, of one form for all streams of a process."""
    identity: Optional[Tuple[Any, ...]] = None
    """Two streams with one identity have the same bytes (one file given twice); only the first is read."""


@dataclass
class StreamStats:
    """What reading one stream came to; the counts are final when its last block was given out."""

    name: str
    process: Tuple[str, ...]
    pid: Optional[int] = None
    bytes: int = 0
    lines: int = 0
    undecodable: int = 0
    """Bytes that are not UTF-8 and are shown replaced."""
    long_lines: int = 0
    """Lines of which only the head was scanned."""
    sha256: Optional[str] = None
    """Of all bytes, in hexadecimal; only when asked for."""
    damage: Optional[str] = None
    """Why the stream could not be read to its end; None when it was."""


@dataclass
class Notices:
    """What was skipped and why, counted, so that a summary on standard error can say it."""

    skipped: List[Tuple[str, str]] = field(default_factory=list)
    """(location, reason) of each thing that was not read."""

    failures: List[AutofuseError] = field(default_factory=list)
    """What was asked for by name and could not be read, while something else could."""

    def skip(self, location: str, reason: str) -> None:
        """Counts `location` as not read."""
        self.skipped.append((location, reason))

    def fail(self, error: AutofuseError) -> None:
        """Counts a location that the user named as not read."""
        self.failures.append(error)
        self.skipped.append((error.where or "", error.what))


class LogSource(Protocol):
    """What the factory of a `LogSourceSpec` gives."""

    def claims(self, location: str) -> bool:
        """Whether this source opens `location`; cheap, reads at most a header."""

    def streams(self, location: str, notices: Notices) -> Iterator[ByteStream]:
        """The streams of the location. AutofuseError when it cannot be read at all; the rest goes into `notices`."""
