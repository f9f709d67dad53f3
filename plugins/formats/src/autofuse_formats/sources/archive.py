"""The log source for archives that the user names: zip, tar, tar.gz, tar.bz2, tar.xz."""

from __future__ import annotations

import os
from typing import Iterator

from autofuse.scan.source import ByteStream, Notices

from autofuse_formats.sources.content import look
from autofuse_formats.sources.paths import file_streams, raw_opener
from autofuse_formats.sources.sniff import ARCHIVES

__all__ = ["SOURCE", "ArchiveSource"]


class ArchiveSource:
    """Claims archives by their first bytes, whatever their name is."""

    def claims(self, location: str) -> bool:
        """Whether the file is a zip or tar archive; reads its beginning."""
        if not os.path.isfile(location):
            return False
        try:
            return look(location, raw_opener(location)).kind.name in ARCHIVES
        except OSError:
            return False

    def streams(self, location: str, notices: Notices) -> Iterator[ByteStream]:
        """The streams of its members, in time order for each process."""
        yield from file_streams(location, notices, named=True)


SOURCE = ArchiveSource()
