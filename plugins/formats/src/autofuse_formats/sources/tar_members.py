"""The members of a tar archive, plain or compressed: listed in one pass, then read at their place.

A compressed archive is decoded twice when its members are wanted in the order they stand in; when time order is another
one, the second pass goes through an unnamed temporary file, as going back would decode everything before once more.
"""

from __future__ import annotations

import io
import os
import sys
import tarfile
import tempfile
import weakref
from typing import Any, BinaryIO, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, cast

from autofuse.errors import AutofuseError
from autofuse.scan.source import ByteStream, Notices

from autofuse_formats.sources.content import Content, decompressing, look
from autofuse_formats.sources.limits import LIMITS, Budget, BudgetExceeded
from autofuse_formats.sources.members import Member, accepted, streams_of_members
from autofuse_formats.sources.streams import Opener, Window

__all__ = ["member_streams"]

_Bodies = Callable[[int, int], BinaryIO]
"""Opens the member that begins at an offset of the expanded archive and has a size."""

_DAMAGE = (tarfile.TarError, OSError, EOFError, ValueError)
_COPY = 1 << 20


def member_streams(content: Content, codec: str, notices: Notices) -> List[ByteStream]:
    """The streams of the members; what is not read, and where the archive is damaged, is in the notices."""
    if not codec:
        return streams_of_members(content, _members(content, content.open, _windows(content.open), notices), notices)
    budget = Budget(content.size, content.limits)
    listed = decompressing(content.open, codec, budget, content.limits)
    bodies = _Forward(decompressing(content.open, codec, Budget(content.size, content.limits), content.limits))
    members = list(_members(content, listed, bodies, notices))
    streams = streams_of_members(content, members, notices)
    places = {(*content.identity, member.at): (member.at, member.size) for member in members}
    bodies.plan([places[stream.identity] for stream in streams if stream.identity])
    return streams


def _members(content: Content, opened: Opener, bodies: _Bodies, notices: Notices) -> Iterator[Member]:
    count = 0
    try:
        with opened() as source, _archive(source) as archive:
            for info in archive:
                if count == content.limits.members:
                    notices.skip(content.name, f"only the first {count} members were looked at")
                    return
                count += 1
                member = _member(content, archive, info, bodies, notices)
                if member is not None:
                    yield member
    except BudgetExceeded as error:
        notices.skip(content.name, f"only its first {count} members were looked at: {error}")
    except _DAMAGE as error:
        if not count and content.named:
            raise AutofuseError(f"not read: damaged tar archive: {error}", content.name) from error
        notices.skip(content.name, f"damaged tar archive, the rest after {count} members is lost: {error}")


def _archive(source: BinaryIO) -> tarfile.TarFile:
    # A stream archive only ever goes forward, which compressed bytes need and others can seek over.
    if source.seekable():
        return tarfile.open(fileobj=source, mode="r:", tarinfo=_Info)
    return tarfile.open(fileobj=source, mode="r|", tarinfo=_Info, bufsize=_COPY)


class _Info(tarfile.TarInfo):
    """Makes damaged headers errors, and headers of absurd size, which tarfile would read into memory as a whole."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> tarfile.TarInfo:  # type: ignore[override]
        try:
            return super().fromtarfile(archive)
        except tarfile.HeaderError as error:
            # tarfile takes a bad header that is not the first one for the end of the archive.
            if type(error).__name__ in ("EOFHeaderError", "EmptyHeaderError"):
                raise
            raise tarfile.ReadError(str(error)) from error

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in _READ_WHOLE and self.size > LIMITS.header:
            raise tarfile.ReadError(f"a header of {self.size} bytes")
        return cast(tarfile.TarInfo, super()._proc_member(archive))  # type: ignore[misc]


_READ_WHOLE = (
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
)


def _member(
    content: Content, archive: tarfile.TarFile, info: tarfile.TarInfo, bodies: _Bodies, notices: Notices
) -> Optional[Member]:
    if info.isdir() or not accepted(content, info.name, notices):
        return None
    if not info.isfile() or info.issparse():
        notices.skip(f"{content.name}!{info.name}", "a link, sparse or special file")
        return None
    at, size = info.offset_data, info.size
    seen = look(info.name, lambda: archive.extractfile(info), content.limits, once=True)
    return Member(info.name, size, at, lambda: bodies(at, size), seen)


# --- what members hold ------------------------------------------------------------------------------------------------


def _windows(opened: Opener) -> _Bodies:
    return lambda at, size: cast(BinaryIO, Window(opened(), at, size))


class _Forward:
    """Members of a compressed archive: in one pass when they are opened as they stand, else from a temporary file."""

    def __init__(self, opened: Opener) -> None:
        self._opened = opened
        self._wanted: List[Tuple[int, int]] = []
        self._forward = True
        self._pass: Optional[_Pass] = None
        self._spool: Optional[_Spool] = None

    def plan(self, order: List[Tuple[int, int]]) -> None:
        """Tells (offset, size) of each member in the order of reading, before the first is opened."""
        self._wanted = sorted(order)
        self._forward = order == self._wanted

    def __call__(self, at: int, size: int) -> BinaryIO:
        if not self._forward:
            self._spool = self._spool or _Spool(self._opened(), self._wanted)
            return self._spool.open(at, size)
        if self._pass is None or self._pass.busy or self._pass.at > at:
            self._pass = _Pass(self._opened())
        return cast(BinaryIO, _Part(self._pass, at, size, last=at == self._wanted[-1][0]))


class _Pass:
    """One pass over the expanded archive."""

    def __init__(self, source: BinaryIO) -> None:
        self.source = source
        self.at = 0
        self.busy = False

    def read_to(self, at: int) -> None:
        """Skips what stands before the member."""
        piece = bytearray(_COPY)
        while self.at < at:
            with memoryview(piece) as view:
                self.readinto(view[: min(_COPY, at - self.at)])

    def readinto(self, buffer: Any) -> int:
        got: int = self.source.readinto(buffer)  # type: ignore[attr-defined]
        if not got:
            raise EOFError("the archive ends in the middle")
        self.at += got
        return got


class _Part(io.RawIOBase):
    """One member, read in a pass that others go on with."""

    def __init__(self, running: _Pass, at: int, size: int, last: bool) -> None:
        super().__init__()
        self._pass = running
        self._left = size
        self._last = last
        running.busy = True
        running.read_to(at)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with memoryview(buffer) as view:
            wanted = min(len(view), self._left)
            got = self._pass.readinto(view[:wanted]) if wanted else 0
        self._left -= got
        return got

    def close(self) -> None:
        self._pass.busy = False
        if self._last:
            self._pass.source.close()
            self._pass.at = sys.maxsize
        super().close()


class _Spool:
    """The wanted members in a temporary file that has no name and ends with the program."""

    def __init__(self, source: BinaryIO, order: Sequence[Tuple[int, int]]) -> None:
        self._file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 (closed when the streams are gone)
        weakref.finalize(self, self._file.close)
        self._places: Dict[int, Tuple[int, int]] = {}
        self.error: Optional[BaseException] = None
        """What ended the copy early; members it did not reach are short."""
        with source:
            running = _Pass(source)
            for at, size in order:
                self._copy(running, at, size)

    def open(self, at: int, whole: int) -> BinaryIO:
        start, size = self._places[at]
        return cast(BinaryIO, _Spooled(self, start, size, whole))

    def read(self, size: int, at: int) -> bytes:
        """Up to `size` bytes of the file; several members may be read at once."""
        return os.pread(self._file.fileno(), size, at)

    def _copy(self, running: _Pass, at: int, size: int) -> None:
        start, left = self._file.tell(), size
        piece = memoryview(bytearray(_COPY))
        while left and self.error is None:
            try:
                running.read_to(at)
                got = running.readinto(piece[: min(_COPY, left)])
                self._file.write(piece[:got])
            except _DAMAGE as error:
                self.error = error
            else:
                left -= got
        self._file.flush()
        self._places[at] = (start, size - left)


class _Spooled(io.RawIOBase):
    """A member in the temporary file."""

    def __init__(self, spool: _Spool, start: int, size: int, whole: int) -> None:
        super().__init__()
        self._spool = spool
        self._at = start
        self._left = size
        self._lost = whole - size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._left and self._lost:
            raise OSError(f"it could not be unpacked: {self._spool.error}")
        data = self._spool.read(min(len(buffer), self._left), self._at)
        buffer[: len(data)] = data
        self._at += len(data)
        self._left -= len(data)
        return len(data)
