"""What a log source gives: named byte streams, grouped by the process that wrote them, and notices about the rest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import BinaryIO, Callable, Iterator, List, Optional, Protocol, Tuple

__all__ = ["ByteStream", "LogSource", "Notices"]


@dataclass(frozen=True)
class ByteStream:
    """One named stream of bytes.

    Streams with the same `process` are parts of one process in the order they are yielded (rotated files in time
    order); streams of different processes never mix. Content is read with `open()`, which may be called more than once
    unless `once` is set (stdin).
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


@dataclass
class Notices:
    """What was skipped and why, counted, so that a summary on standard error can say it."""

    skipped: List[Tuple[str, str]] = field(default_factory=list)
    """(location, reason) of each thing that was not read."""

    def skip(self, location: str, reason: str) -> None:
        """Counts `location` as not read."""
        self.skipped.append((location, reason))


class LogSource(Protocol):
    """What the factory of a `LogSourceSpec` gives."""

    def claims(self, location: str) -> bool:
        """Whether this source opens `location`; cheap, reads at most a header."""

    def streams(self, location: str, notices: Notices) -> Iterator[ByteStream]:
        """The streams of the location. AutofuseError when it cannot be read at all; the rest goes into `notices`."""
