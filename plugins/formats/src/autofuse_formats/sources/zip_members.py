"""The members of a zip archive, read one at a time at their place in the file, so that damage costs one member.

The directory is read by the standard library; where a cut or damaged archive has none, the headers between the members
serve instead.
"""

from __future__ import annotations

import io
import itertools
import stat
import struct
import zipfile
import zlib
from dataclasses import dataclass
from typing import Any, BinaryIO, Callable, Iterator, List, cast

from autofuse.errors import AutofuseError
from autofuse.scan.source import ByteStream, Notices

from autofuse_formats.sources.content import Content, look
from autofuse_formats.sources.limits import BudgetExceeded, check_expansion
from autofuse_formats.sources.members import Member, accepted, streams_of_members
from autofuse_formats.sources.streams import Decompressed, Window

__all__ = ["member_streams"]

_CODECS = {zipfile.ZIP_DEFLATED: "deflate", zipfile.ZIP_BZIP2: "bz2"}
_ENCRYPTED, _SIZES_FOLLOW = 1, 8
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")


@dataclass(frozen=True)
class _Entry:
    name: str
    flags: int
    method: int
    compressed: int
    size: int
    crc: int
    header: int
    """Offset of the local header, which stands before the data."""
    mode: int = 0


def member_streams(content: Content, codec: str, notices: Notices) -> List[ByteStream]:
    """The streams of the members; what is not read is in the notices. AutofuseError for a bomb that was named."""
    entries = _entries(content, notices)
    try:
        check_expansion(sum(entry.size for entry in entries), content.size, content.limits)
    except BudgetExceeded as error:
        if content.named:
            raise AutofuseError(f"not read: {error}", content.name, "unpack it and name the logs") from error
        notices.skip(content.name, str(error))
        return []
    return streams_of_members(content, _members(content, entries, notices), notices)


def _members(content: Content, entries: List[_Entry], notices: Notices) -> Iterator[Member]:
    for entry in entries:
        if not accepted(content, entry.name, notices):
            continue
        reason = _unreadable(entry)
        if reason:
            notices.skip(f"{content.name}!{entry.name}", reason)
            continue
        opened = _opener(content, entry)
        try:
            seen = look(entry.name, opened)
        except (OSError, EOFError) as error:
            notices.skip(f"{content.name}!{entry.name}", f"damaged: {error}")
            continue
        yield Member(entry.name, entry.size, entry.header, opened, seen)


def _unreadable(entry: _Entry) -> str:
    if stat.S_IFMT(entry.mode) not in (0, stat.S_IFREG):
        return "a link or special file"
    if entry.flags & _ENCRYPTED:
        return "encrypted (unpack it first)"
    if entry.method != zipfile.ZIP_STORED and entry.method not in _CODECS:
        return f"compressed by method {entry.method} (unpack it first)"
    return ""


def _opener(content: Content, entry: _Entry) -> Callable[[], BinaryIO]:
    def compressed() -> BinaryIO:
        source = content.open()
        source.seek(entry.header)
        header = source.read(_LOCAL_HEADER.size)
        if len(header) < _LOCAL_HEADER.size or not header.startswith(b"PK\x03\x04"):
            source.close()
            raise OSError("its header is damaged")
        *_, name, extra = _LOCAL_HEADER.unpack(header)
        return cast(BinaryIO, Window(source, entry.header + len(header) + name + extra, entry.compressed))

    def opened() -> BinaryIO:
        codec = _CODECS.get(entry.method)
        source = cast(BinaryIO, Decompressed(compressed(), codec, compressed)) if codec else compressed()
        return cast(BinaryIO, _Checked(source, entry.size, entry.crc))

    return opened


class _Checked(io.RawIOBase):
    """A member's bytes: never more than the archive declares, OSError at the end when they are not those it holds."""

    def __init__(self, source: BinaryIO, size: int, crc: int) -> None:
        super().__init__()
        self._source = source
        self._left = size
        self._wanted = crc
        self._crc = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with memoryview(buffer) as view:
            wanted = min(len(view), self._left)
            got: int = self._source.readinto(view[:wanted]) if wanted else 0  # type: ignore[attr-defined]
            self._crc = zlib.crc32(view[:got], self._crc)
        self._left -= got
        if not got and (self._left or self._crc != self._wanted):
            raise OSError("the member is not what the archive says it holds")
        return got

    def close(self) -> None:
        self._source.close()
        super().close()


# --- the directory ----------------------------------------------------------------------------------------------------


def _entries(content: Content, notices: Notices) -> List[_Entry]:
    with content.open() as source:
        if _directory_size(source, content.size) > content.limits.directory:
            raise AutofuseError("not read: its zip directory is too large", content.name, "unpack it and name the logs")
        try:
            with zipfile.ZipFile(source) as archive:
                found = [_entry(info) for info in archive.infolist() if not info.is_dir()]
        except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, struct.error) as error:
            notices.skip(content.name, f"damaged zip archive, only what is before the damage was read: {error}")
            found = list(itertools.islice(_recovered(source), content.limits.members + 1))
    if len(found) > content.limits.members:
        notices.skip(content.name, f"only the first {content.limits.members} members were looked at")
    return found[: content.limits.members]


def _entry(info: zipfile.ZipInfo) -> _Entry:
    return _Entry(
        info.filename,
        info.flag_bits,
        info.compress_type,
        info.compress_size,
        info.file_size,
        info.CRC,
        info.header_offset,
        info.external_attr >> 16,
    )


def _directory_size(source: BinaryIO, size: int) -> int:
    """Bytes of the directory, from the end record (or the one of zip64); 0 where there is none."""
    source.seek(max(0, size - 66_000))
    tail = source.read(66_000)
    at = tail.rfind(b"PK\x05\x06")
    at64 = tail.rfind(b"PK\x06\x06")
    if at >= 0 and tail[at + 12 : at + 16] != b"\xff\xff\xff\xff":
        return int.from_bytes(tail[at + 12 : at + 16], "little")
    return int.from_bytes(tail[at64 + 40 : at64 + 48], "little") if at64 >= 0 else 0


def _recovered(source: BinaryIO) -> Iterator[_Entry]:
    """The entries that stand one after the other from the begin, as long as their headers tell their sizes."""
    at = 0
    while True:
        source.seek(at)
        header = source.read(_LOCAL_HEADER.size)
        if len(header) < _LOCAL_HEADER.size or not header.startswith(b"PK\x03\x04"):
            return
        _, _, flags, method, _, _, crc, compressed, size, name_size, extra_size = _LOCAL_HEADER.unpack(header)
        if flags & _SIZES_FOLLOW or 0xFFFFFFFF in (compressed, size):
            return
        name = source.read(name_size).decode("utf-8", "replace")
        if not name.endswith("/"):
            yield _Entry(name, flags, method, compressed, size, crc, at)
        at += len(header) + name_size + extra_size + compressed
