"""The log source for standard input, named `-`."""

from __future__ import annotations

import io
import sys
from typing import Any, BinaryIO, Iterator, cast

from autofuse.errors import AutofuseError
from autofuse.scan.source import ByteStream, Notices

from autofuse_formats.sources.pipe import pipe_streams

__all__ = ["SOURCE", "StdinSource"]


class StdinSource:
    """Claims `-`."""

    def claims(self, location: str) -> bool:
        """Whether it is `-`."""
        return location == "-"

    def streams(self, location: str, notices: Notices) -> Iterator[ByteStream]:
        """Standard input, read once."""
        if sys.stdin is None:
            raise AutofuseError("standard input is closed", "-", "name a file or a folder")
        yield from pipe_streams("-", cast(BinaryIO, _Unclosed(sys.stdin.buffer)), notices)


SOURCE = StdinSource()


class _Unclosed(io.RawIOBase):
    """Standard input stays open when its stream is closed: it belongs to the program."""

    def __init__(self, source: Any) -> None:
        super().__init__()
        # The buffer has a lock that a thread in a blocked read would hold when an interrupted program ends.
        self._source = getattr(source, "raw", source)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return int(self._source.readinto(buffer) or 0)
