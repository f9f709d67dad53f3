"""The log source for shell patterns, for where no shell expands them; `**` goes through folders of any depth."""

from __future__ import annotations

import glob
import os
from typing import Iterator

from autofuse.errors import AutofuseError
from autofuse.scan.source import ByteStream, Notices

from autofuse_formats.sources.folder import folder_streams
from autofuse_formats.sources.paths import file_streams

__all__ = ["SOURCE", "GlobSource"]


class GlobSource:
    """Claims patterns, unless there is a file or folder of that very name."""

    def claims(self, location: str) -> bool:
        """Whether it holds `*`, `?` or `[` and is no path that exists."""
        return glob.has_magic(location) and not os.path.lexists(location)

    def streams(self, location: str, notices: Notices) -> Iterator[ByteStream]:
        """The streams of all files and folders that match. AutofuseError when nothing does or nothing is a log."""
        paths = sorted(glob.glob(location, recursive=True))
        if not paths:
            raise AutofuseError("no file or folder matches this pattern", location, "check the path")
        found = False
        for path in paths:
            opened = folder_streams(path, notices) if os.path.isdir(path) else file_streams(path, notices, named=False)
            for stream in opened:
                found = True
                yield stream
        if not found:
            raise AutofuseError(f"no log among {len(paths)} matches of this pattern", location)


SOURCE = GlobSource()
