"""Cuts a byte stream into blocks of whole lines with bounded memory, and counts its bytes, lines and undecodable bytes.

Blocks are read into buffers that are used again; nothing is mapped, so files, pipes and archives behave the same. What
the lines hold is left to the scanner.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, BinaryIO, Generator, Iterator, List, Optional, Tuple

from autofuse.scan.meter import Meter
from autofuse.scan.source import StreamStats

__all__ = ["BLOCK_SIZE", "LINE_LIMIT", "Block", "BlockReader", "BufferPool", "buffer_size"]

BLOCK_SIZE = 4 << 20
"""Bytes read at a time."""
LINE_LIMIT = 1 << 20
"""Bytes of a line that are kept and scanned; the rest of a longer line is counted and skipped. A plog line is at most
1023 bytes, and producers frame longer records, so only text that is no log comes near it."""

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Block:
    """`buffer[start:end]`: whole lines, the first of them numbered `first_line`.

    The last line may be cut: at the end of the stream, or the head of a line over the limit. The rest of that line
    comes in blocks with `continues`, the last of which ends with its newline.
    """

    buffer: bytearray
    start: int
    end: int
    first_line: int
    continues: bool = False


class BufferPool:
    """Buffers of one size. A buffer is given out again when nobody else refers to it any more."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._buffers: List[bytearray] = []
        # What getrefcount says about an object that only a list holds differs between versions of Python.
        self._unused = _references([bytearray()], 0)

    def acquire(self) -> bytearray:
        """A buffer with any content; a new one when all others are still in use."""
        for index in range(len(self._buffers)):
            if _references(self._buffers, index) <= self._unused:
                return self._buffers[index]
        self._buffers = [*(self._buffers if len(self._buffers) < _POOLED else ()), bytearray(self.size)]
        return self._buffers[-1]


_POOLED = 16
"""Buffers that a pool remembers; when a consumer keeps more, they are left to the consumer."""


def _references(buffers: List[bytearray], index: int) -> int:
    return sys.getrefcount(buffers[index])


class BlockReader:
    """The blocks of one stream, in order. `stats` counts along and is final after the last block."""

    def __init__(
        self,
        source: BinaryIO,
        stats: StreamStats,
        meter: Meter,
        pool: Optional[BufferPool] = None,
        block_size: int = BLOCK_SIZE,
        line_limit: int = LINE_LIMIT,
        digest: Optional[Any] = None,
    ) -> None:
        self._source = source
        self._stats = stats
        self._meter = meter
        self._block_size = max(block_size, len(_BOM))
        self._limit = line_limit
        # An unfinished line of at most `line_limit` bytes stands before what is read.
        self._pool = pool or BufferPool(buffer_size(block_size, line_limit))
        self._digest = digest
        self._line = 1
        self._skipping = False
        self._open = 0
        """Where the unfinished line begins in the buffer at hand."""

    def __iter__(self) -> Iterator[Block]:
        buffer, held, more = self._pool.acquire(), 0, True
        while more:
            filled, more = self._fill(buffer, held)
            begin = len(_BOM) if self._stats.bytes == 0 and buffer.startswith(_BOM, held, filled) else 0
            newlines = self._count(buffer, held, filled)
            yield from self._split(buffer, begin, filled, newlines)
            self._stats.lines = self._line - 1
            if not more:
                yield from self._last(buffer, filled)
                break
            carried = self._pool.acquire()
            held = filled - self._open
            carried[:held] = memoryview(buffer)[self._open : filled]
            buffer = carried

    def _fill(self, buffer: bytearray, start: int) -> Tuple[int, bool]:
        """Reads up to a block behind `start`; gives the end of what was read and whether there may be more."""
        end = start + self._block_size
        with memoryview(buffer) as view:
            while start < end:
                try:
                    got = self._source.readinto(view[start:end])  # type: ignore[attr-defined]
                except (OSError, EOFError) as error:
                    self._stats.damage = " ".join(str(error).split()) or type(error).__name__
                    return start, False
                if not got:
                    return start, False
                start += got
        return start, True

    def _count(self, buffer: bytearray, start: int, end: int) -> int:
        self._stats.bytes += end - start
        if self._digest is not None:
            with memoryview(buffer) as view:
                self._digest.update(view[start:end])
        return self._meter.feed(buffer, start, end)

    def _split(self, buffer: bytearray, start: int, end: int, newlines: int) -> Iterator[Block]:
        """Blocks of the finished lines in `buffer[start:end]`, which holds `newlines`; sets where the open line begins.

        A line is long when no newline is among its first `limit + 1` bytes. Looking back from there skips all shorter
        lines, so the check touches a few lines per block.
        """
        if self._skipping:
            first = yield from self._rest_of_line(buffer, start, end)
            newlines -= not self._skipping
        else:
            first = start
        line = first
        while end - line > self._limit:
            newline = buffer.rfind(b"\n", line, line + self._limit + 1)
            if newline >= 0:
                line = newline + 1
                continue
            head = line + self._limit
            yield Block(buffer, first, head, self._line)
            before = buffer.count(b"\n", first, line)
            self._line += before
            self._stats.long_lines += 1
            line = first = yield from self._rest_of_line(buffer, head, end)
            newlines -= before + (not self._skipping)
        self._open = buffer.rfind(b"\n", line, end) + 1 or line
        if self._open > first:
            yield Block(buffer, first, self._open, self._line)
        self._line += newlines

    def _rest_of_line(self, buffer: bytearray, start: int, end: int) -> Generator[Block, None, int]:
        """The rest of a long line, as far as the buffer holds it; returns where the next line begins."""
        newline = buffer.find(b"\n", start, end)
        stop = end if newline < 0 else newline + 1
        if stop > start:
            yield Block(buffer, start, stop, self._line, continues=True)
        self._skipping = newline < 0
        self._line += not self._skipping
        return stop

    def _last(self, buffer: bytearray, end: int) -> Iterator[Block]:
        """The line without a newline at the end of the stream."""
        self._meter.finish()
        self._stats.undecodable = self._meter.undecodable
        self._stats.sha256 = self._digest.hexdigest() if self._digest is not None else None
        unfinished = self._open < end
        self._stats.lines += unfinished or self._skipping
        if unfinished:
            yield Block(buffer, self._open, end, self._line)


def buffer_size(block_size: int, line_limit: int) -> int:
    """Bytes a buffer needs: the unfinished line before, and a block."""
    return max(block_size, len(_BOM)) + line_limit
