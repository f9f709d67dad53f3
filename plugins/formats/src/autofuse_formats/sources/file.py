"""The log source for one file that the user names: plain, gz, bz2 or xz, a pipe, or `/dev/stdin`."""

from __future__ import annotations

import os
import stat
from typing import Iterator

from autofuse.errors import AutofuseError
from autofuse.scan.source import ByteStream, Notices

from autofuse_formats.sources.paths import file_streams, raw_opener
from autofuse_formats.sources.pipe import pipe_streams

__all__ = ["SOURCE", "FileSource"]


class FileSource:
    """Claims everything that exists and is no folder."""

    def claims(self, location: str) -> bool:
        """Whether the path is there; a broken link is too, and is an error then."""
        return os.path.lexists(location) and not os.path.isdir(location)

    def streams(self, location: str, notices: Notices) -> Iterator[ByteStream]:
        """The file's stream, or those of its members."""
        mode = _mode(location)
        if stat.S_ISFIFO(mode) or _is_terminal(location, mode):
            yield from pipe_streams(location, raw_opener(location)(), notices)
        elif os.path.realpath(location) == os.devnull:
            notices.skip(location, "empty file")
        elif mode and not stat.S_ISREG(mode):
            raise AutofuseError("is a device or socket, not a log", location, "name a file, a folder or `-`")
        else:
            yield from file_streams(location, notices, named=True)


SOURCE = FileSource()


def _mode(location: str) -> int:
    try:
        return os.stat(location).st_mode
    except OSError:
        return 0


def _is_terminal(location: str, mode: int) -> bool:
    if not stat.S_ISCHR(mode):
        return False
    try:
        with raw_opener(location)() as device:
            return device.isatty()
    except OSError:
        return False
