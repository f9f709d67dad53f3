"""Streams that can be read only once: standard input, named pipes. Archives in them go through a temporary file."""

from __future__ import annotations

import io
import os
import tempfile
import weakref
from typing import Any, BinaryIO, Iterator, cast

from autofuse.errors import AutofuseError
from autofuse.scan.source import ByteStream, Notices

from autofuse_formats.sources.content import Content, content_streams
from autofuse_formats.sources.limits import LIMITS
from autofuse_formats.sources.naming import Place
from autofuse_formats.sources.sniff import ARCHIVES, COMPRESSIONS, HEAD, kind_of
from autofuse_formats.sources.streams import Decompressed, Prefixed, read_head

__all__ = ["pipe_streams"]

_COPY = 1 << 20


def pipe_streams(name: str, source: BinaryIO, notices: Notices) -> Iterator[ByteStream]:
    """The stream of the pipe `name`, which the returned stream closes; the members where it brings an archive."""
    head = read_head(source, HEAD)
    kind = kind_of(head, name)
    codec = kind.name if kind.name in COMPRESSIONS else ""
    beginning = b""
    if codec:
        beginning = _expanded(head, codec)
        kind = kind_of(beginning, name)
    if kind.name in ARCHIVES:
        yield from content_streams(_Spool(source, head).content(name), notices)
        return
    if kind.name == "binary":
        source.close()
        raise AutofuseError(f"not read: {kind.reason}", name, "give it a text log")
    if kind.name == "empty" and not codec:
        notices.skip(name, "empty")
    joined: Any = _Owned(head, source)
    opened = Decompressed(joined, codec) if codec else joined
    yield ByteStream(name, lambda: cast(BinaryIO, opened), (name,), once=True)


def _expanded(head: bytes, codec: str) -> bytes:
    return read_head(Decompressed(io.BytesIO(head), codec), HEAD)


class _Owned(Prefixed):
    """Closes the pipe with itself."""

    def close(self) -> None:
        self._rest.close()
        super().close()


class _Spool:
    """A copy of the pipe in a temporary file that has no name."""

    def __init__(self, source: BinaryIO, head: bytes) -> None:
        self._file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 (closed when the streams are gone)
        weakref.finalize(self, self._file.close)
        self._file.write(head)
        self.size = len(head)
        piece = memoryview(bytearray(_COPY))
        with source:
            while True:
                got = source.readinto(piece) or 0  # type: ignore[attr-defined]
                if not got:
                    break
                self._file.write(piece[:got])
                self.size += got
        self.size = self._file.tell()
        self._file.flush()

    def content(self, name: str) -> Content:
        """The copy, to be opened as often as wanted."""
        opened = lambda: cast(BinaryIO, _View(self))  # noqa: E731
        return Content(name, opened, self.size, Place((name,), (0, "", 0)), ("pipe", name), named=True, limits=LIMITS)

    def read(self, size: int, at: int) -> bytes:
        return os.pread(self._file.fileno(), size, at)


class _View(io.RawIOBase):
    """An own position in the copy."""

    def __init__(self, spool: _Spool) -> None:
        super().__init__()
        self._spool = spool
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = (0, self._at, self._spool.size)[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        data = self._spool.read(len(buffer), self._at)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
