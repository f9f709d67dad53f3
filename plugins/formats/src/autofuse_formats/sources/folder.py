"""The log source for folders: every file below that has text, at any depth; links are followed, never in circles."""

from __future__ import annotations

import collections
import os
from typing import Iterator, Set, Tuple

from autofuse.errors import AutofuseError
from autofuse.scan.source import ByteStream, Notices

from autofuse_formats.sources.paths import file_streams

__all__ = ["SOURCE", "FolderSource", "folder_streams"]


class FolderSource:
    """Claims folders."""

    def claims(self, location: str) -> bool:
        """Whether it is a folder."""
        return os.path.isdir(location)

    def streams(self, location: str, notices: Notices) -> Iterator[ByteStream]:
        """The streams of all logs below. AutofuseError when there is none."""
        before = len(notices.skipped)
        found = False
        for stream in folder_streams(location, notices):
            found = True
            yield stream
        if not found:
            raise AutofuseError("no log in this folder", location, _reasons(notices, before))


SOURCE = FolderSource()


def folder_streams(folder: str, notices: Notices) -> Iterator[ByteStream]:
    """The streams of all files below the folder, by name; what is not read goes into the notices."""
    for path in _files(folder, notices, set()):
        yield from file_streams(path, notices, named=False)


def _files(folder: str, notices: Notices, visited: Set[Tuple[int, int]]) -> Iterator[str]:
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            status = os.stat(here)
            if (status.st_dev, status.st_ino) in visited:
                continue
            visited.add((status.st_dev, status.st_ino))
            names = sorted(os.listdir(here), reverse=True)
        except OSError as error:
            notices.skip(here, f"cannot be read: {error.strerror or error}")
            continue
        paths = [os.path.join(here, name) for name in names]
        waiting.extend(path for path in paths if os.path.isdir(path))
        yield from (path for path in reversed(paths) if not os.path.isdir(path))


def _reasons(notices: Notices, before: int) -> str:
    skipped = notices.skipped[before:]
    if not skipped:
        return "it holds no file"
    counts = collections.Counter(reason for _, reason in skipped)
    shown = ", ".join(f"{count} x {reason}" for reason, count in counts.most_common(3))
    return f"{len(skipped)} not read: {shown}"
