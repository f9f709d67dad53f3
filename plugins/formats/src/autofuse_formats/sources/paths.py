"""Files of the file system as contents: what all path sources share."""

from __future__ import annotations

import io
import os
import stat
from typing import BinaryIO, Callable, Iterator, cast

from autofuse.errors import AutofuseError
from autofuse.scan.source import ByteStream, Notices

from autofuse_formats.sources.content import Content, content_streams
from autofuse_formats.sources.limits import LIMITS
from autofuse_formats.sources.naming import place_of

__all__ = ["file_streams", "raw_opener"]


def raw_opener(path: str) -> Callable[[], BinaryIO]:
    """Opens the file without a buffer of its own; blocks are large."""
    return lambda: cast(BinaryIO, io.FileIO(path))


def file_streams(path: str, notices: Notices, named: bool) -> Iterator[ByteStream]:
    """The streams of one regular file. AutofuseError for a named one that cannot be read; else it is a notice."""
    try:
        yield from _file_streams(path, notices, named)
    except OSError as error:
        reason = f"cannot be read: {error.strerror or error}"
        if named:
            raise AutofuseError(reason, path, "check the path and its permissions") from error
        notices.skip(path, reason)
    except AutofuseError as error:
        if named:
            raise
        notices.skip(path, error.what)


def _file_streams(path: str, notices: Notices, named: bool) -> Iterator[ByteStream]:
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise AutofuseError("not a regular file", path)
    place = place_of(os.path.abspath(path))
    identity = (status.st_dev, status.st_ino)
    yield from content_streams(
        Content(path, raw_opener(path), status.st_size, place, identity, named, limits=LIMITS), notices
    )
