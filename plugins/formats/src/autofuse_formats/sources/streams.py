"""Byte streams over parts of files and over compressed bytes, which give all that came before damage, then OSError.

The standard library's own readers drop what they had of a read that meets damage, and know no limits.
"""

from __future__ import annotations

import bz2
import contextlib
import io
import lzma
import zlib
from typing import Any, BinaryIO, Callable, Optional, Protocol

from autofuse_formats.sources.limits import LIMITS, Budget, BudgetExceeded, Limits

__all__ = ["Decompressed", "Opener", "Prefixed", "Window", "read_head"]

Opener = Callable[[], BinaryIO]
"""Opens the same bytes anew each time."""

_CHUNK = 64 << 10
_STEP = 64 << 10
"""Bytes asked of a decoder at a time; damage costs at most as many where the bytes cannot be opened again."""


def read_head(source: Any, size: int) -> bytes:
    """The first bytes of a stream, fewer only at its end; what comes before damage counts."""
    head = bytearray()
    while len(head) < size:
        piece = bytearray(size - len(head))
        try:
            got = source.readinto(piece)
        except (OSError, EOFError):
            break
        if not got:
            break
        head += piece[:got]
    return bytes(head)


class Window(io.RawIOBase):
    """`size` bytes of a file from `start` on; EOFError when the file ends before."""

    def __init__(self, source: BinaryIO, start: int, size: int) -> None:
        super().__init__()
        self._source = source
        self._left = size
        source.seek(start)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with memoryview(buffer) as view:
            wanted = min(len(view), self._left)
            got: int = self._source.readinto(view[:wanted]) if wanted else 0  # type: ignore[attr-defined]
        if wanted and not got:
            raise EOFError("the archive ends in the middle")
        self._left -= got
        return got

    def close(self) -> None:
        self._source.close()
        super().close()


class Prefixed(io.RawIOBase):
    """Bytes already taken from a stream, then the rest of it; the stream is closed by who opened it."""

    def __init__(self, head: bytes, rest: Any) -> None:
        super().__init__()
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._head:
            return int(self._rest.readinto(buffer) or 0)
        size = min(len(buffer), len(self._head))
        buffer[:size] = self._head[:size]
        self._head = self._head[size:]
        return size


class _Decoder(Protocol):
    """What the three libraries have in common, once zlib is adapted."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    @property
    def needs_input(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Inflater:
    """zlib's decompressor with the interface of the other two."""

    def __init__(self, window_bits: int) -> None:
        self._decoder = zlib.decompressobj(window_bits)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._decoder.eof

    @property
    def unused_data(self) -> bytes:
        return self._decoder.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        shown = self._decoder.decompress(self._decoder.unconsumed_tail + data, max_length)
        self.needs_input = len(shown) < max_length and not self._decoder.unconsumed_tail
        return shown


def _decoder(codec: str, limits: Limits) -> _Decoder:
    if codec == "gz":
        return _Inflater(16 + zlib.MAX_WBITS)
    if codec == "deflate":
        return _Inflater(-zlib.MAX_WBITS)
    if codec == "bz2":
        return bz2.BZ2Decompressor()
    return lzma.LZMADecompressor(memlimit=limits.memory)


class Decompressed(io.RawIOBase):
    """The bytes that `source` compresses, of all its parts one after the other; codecs gz, bz2, xz and bare deflate.

    With `again`, which opens the source anew, a damaged stream gives every byte that decodes before the damage.
    """

    def __init__(
        self,
        source: Any,
        codec: str,
        again: Optional[Opener] = None,
        budget: Optional[Budget] = None,
        limits: Limits = LIMITS,
    ) -> None:
        super().__init__()
        self._source = source
        self._codec = codec
        self._again = again
        self._budget = budget or Budget(None, limits)
        self._limits = limits
        self._pieces = _Pieces(source, codec, limits)
        self._ready = memoryview(b"")
        self._given = 0
        self._error: Optional[BaseException] = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._ready:
            self._ready = memoryview(self._next())
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        self._given += size
        return size

    @property
    def damage(self) -> str:
        """Why it cannot be read on; "" while it can."""
        return str(self._error or "")

    def close(self) -> None:
        self._source.close()
        super().close()

    def _next(self) -> bytes:
        if self._error is not None:
            raise self._error
        consumed = self._pieces.consumed
        try:
            piece = self._pieces.next(_STEP)
            self._budget.spend(len(piece), self._pieces.consumed - consumed)
            return piece
        except (BudgetExceeded, EOFError) as error:
            self._error = error
            raise
        except _DAMAGE as error:
            self._error = OSError(f"damaged {self._codec} data: {error}")
        rescued = self._rescued()
        if not rescued:
            raise self._error
        return rescued

    def _rescued(self) -> bytes:
        """Decodes once more up to what was given, then byte by byte up to the damage; zlib may lose the last byte."""
        if self._again is None:
            return b""
        rescued = bytearray()
        with self._again() as source, contextlib.suppress(*_DAMAGE):
            # The rest of a chunk is copied with each byte, so the chunks are small here.
            pieces = _Pieces(source, self._codec, self._limits, chunk=1 << 10)
            left = self._given
            while left > 0:
                left -= len(pieces.next(min(left, _STEP))) or left
            while len(rescued) < _STEP:
                byte = pieces.next(1)
                if not byte:
                    break
                rescued += byte
        return bytes(rescued)


_DAMAGE = (zlib.error, lzma.LZMAError, EOFError, OSError, ValueError)


class _Pieces:
    """Decodes piece by piece, from one compressed part to the next."""

    def __init__(self, source: Any, codec: str, limits: Limits, chunk: int = _CHUNK) -> None:
        self._source = source
        self._codec = codec
        self._limits = limits
        self._chunk = chunk
        self._decoder: Optional[_Decoder] = _decoder(codec, limits)
        self._input = b""
        self.consumed = 0

    def next(self, size: int) -> bytes:
        """Up to `size` bytes, none only at the end; EOFError when the source ends before the compressed data does."""
        while self._decoder is not None:
            if self._decoder.needs_input and not self._input:
                self._input = self._read()
                if not self._input:
                    return self._drained(size)
            data, self._input = self._input, b""
            shown = self._decoder.decompress(data, size)
            if self._decoder.eof:
                self._input = self._decoder.unused_data
                self._decoder = self._following()
            if shown:
                return shown
        return b""

    def _drained(self, size: int) -> bytes:
        shown = self._decoder.decompress(b"", size) if self._decoder else b""
        if not shown:
            raise EOFError("the compressed data ends in the middle")
        return shown

    def _read(self) -> bytes:
        data = _read_some(self._source, self._chunk)
        self.consumed += len(data)
        return data

    def _following(self) -> Optional[_Decoder]:
        """A decoder for the next part; None at the end. Zeros that fill up the last block of a medium are no part."""
        if self._codec == "deflate":
            return None
        while not self._input.strip(b"\0"):
            self._input = self._read()
            if not self._input:
                return None
        self._input = self._input.lstrip(b"\0")
        if self._codec == "gz" and not b"\x1f\x8b".startswith(self._input[:2]):
            raise OSError("other bytes follow the compressed ones")
        return _decoder(self._codec, self._limits)


def _read_some(source: Any, size: int) -> bytes:
    """Up to `size` bytes of an unbuffered or buffered stream."""
    buffer = bytearray(size)
    got = source.readinto(buffer) or 0
    return bytes(buffer[:got])
