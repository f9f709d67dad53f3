"""What is read from a stream does not depend on the size of the blocks it is read in."""

from __future__ import annotations

import hashlib
import io
from typing import BinaryIO, Iterator, List, Optional, Tuple, Union, cast

import pytest
from autofuse.scan.blocks import Block, BlockReader, BufferPool, buffer_size
from autofuse.scan.meter import StdlibMeter
from autofuse.scan.source import StreamStats
from hypothesis import example, given, settings
from hypothesis import strategies as st

Piece = Tuple[bytes, int, bool]
"""Bytes, number of the first line, whether it continues a line."""


class Trickle(io.RawIOBase):
    """Gives a few bytes per read and can fail at the end."""

    def __init__(self, data: bytes, sizes: List[int], error: Optional[Exception] = None) -> None:
        super().__init__()
        self._data = io.BytesIO(data)
        self._sizes = sizes
        self._error = error

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        size = self._sizes.pop() if self._sizes else len(buffer)
        got = self._data.read(min(size, len(buffer)))
        if not got and self._error is not None:
            raise self._error
        buffer[: len(got)] = got
        return len(got)


def read(source: Union[BinaryIO, io.RawIOBase], block_size: int, limit: int) -> Tuple[List[Piece], StreamStats]:
    stats = StreamStats("x.log", ("x.log",))
    reader = BlockReader(cast(BinaryIO, source), stats, StdlibMeter(), None, block_size, limit, hashlib.sha256())
    pieces = [(bytes(b.buffer[b.start : b.end]), b.first_line, b.continues) for b in reader]
    return pieces, stats


def joined(pieces: List[Piece]) -> Iterator[Tuple[int, bytes, bool]]:
    """One entry per line and per run of continuing pieces, so that block borders between lines do not show."""
    waiting: Optional[Tuple[int, bytes]] = None
    for text, first, continues in pieces:
        if continues:
            waiting = (first, (waiting[1] if waiting else b"") + text)
            continue
        if waiting:
            yield (*waiting, True)
            waiting = None
        for offset, line in enumerate(_lines(text)):
            yield first + offset, line, False
    if waiting:
        yield (*waiting, True)


def _lines(text: bytes) -> List[bytes]:
    lines = [line + b"\n" for line in text.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def expected(data: bytes, limit: int) -> List[Tuple[int, bytes, bool]]:
    result = []
    for number, line in enumerate(_lines(data[3:] if data.startswith(b"\xef\xbb\xbf") else data), 1):
        bare = line[:-1] if line.endswith(b"\n") else line
        if len(bare) <= limit:
            result.append((number, line, False))
        else:
            result += [(number, line[:limit], False), (number, line[limit:], True)]
    return result


contents = st.lists(
    st.one_of(
        st.sampled_from([b"\n", b"\r\n", b"\xef\xbb\xbf", b"\0", b"0123456789", b"x" * 64, b"y" * 700]),
        st.binary(max_size=9),
    ),
    max_size=40,
).map(b"".join)


@settings(max_examples=300, deadline=None)
@given(contents, st.integers(1, 300), st.integers(1, 100), st.lists(st.integers(1, 50), max_size=20))
@example(b"\xef\xbb\xbfa\n", 1, 10, [1, 1, 1, 1])
@example(b"x" * 10 + b"\n" + b"x" * 11 + b"\n" + b"x" * 11, 4, 10, [])
@example(b"\xef\xbb\xbf", 5, 5, [])
def test_any_block_size_gives_the_same_lines(data: bytes, block_size: int, limit: int, sizes: List[int]) -> None:
    pieces, stats = read(Trickle(data, sizes), block_size, limit)
    assert list(joined(pieces)) == expected(data, limit)
    text = data[3:] if data.startswith(b"\xef\xbb\xbf") else data
    assert stats.lines == len(_lines(text))
    assert stats.bytes == len(data)
    assert stats.undecodable == len(data) - len(data.decode("utf-8", "ignore").encode())
    assert stats.long_lines == sum(len(line.rstrip(b"\n")) > limit for line in _lines(text))
    assert stats.sha256 == hashlib.sha256(data).hexdigest()
    assert stats.damage is None


def test_what_came_before_an_error_is_kept() -> None:
    pieces, stats = read(Trickle(b"one\ntwo\nthr", [], OSError(5, "Input/output error")), 1000, 100)
    assert [piece[0] for piece in pieces] == [b"one\ntwo\n", b"thr"]
    assert stats.damage == "[Errno 5] Input/output error"
    assert (stats.bytes, stats.lines) == (11, 3)


def test_a_line_of_100_mb_takes_one_buffer_and_is_counted() -> None:
    class Line(io.RawIOBase):
        left = 100 << 20

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
            size = min(len(buffer), self.left)
            self.left -= size
            buffer[:size] = b"x" * size
            return size

    stats = StreamStats("x.log", ("x.log",))
    pool = BufferPool(buffer_size(1 << 20, 1 << 16))
    blocks: List[Block] = []
    addresses = set()
    for block in BlockReader(cast(BinaryIO, Line()), stats, StdlibMeter(), pool, 1 << 20, 1 << 16):
        addresses.add(id(block.buffer))
        if not block.continues:
            blocks.append(Block(bytearray(), block.start, block.end, block.first_line))
    assert [(block.end - block.start, block.first_line) for block in blocks] == [(1 << 16, 1)]
    assert (stats.bytes, stats.lines, stats.long_lines) == (100 << 20, 1, 1)
    assert len(addresses) <= 3


def test_a_buffer_that_is_kept_is_not_used_again() -> None:
    data = b"".join(b"line %d\n" % number for number in range(1000))
    stats = StreamStats("x.log", ("x.log",))
    kept = list(BlockReader(io.BytesIO(data), stats, StdlibMeter(), None, 64, 64))
    assert b"".join(bytes(block.buffer[block.start : block.end]) for block in kept) == data


@pytest.mark.parametrize("data", [b"", b"\n", b"a", b"a\n", b"\xef\xbb", b"\xef\xbb\xbf\n"])
def test_the_smallest_streams(data: bytes) -> None:
    for block_size in (1, 2, 3, 100):
        pieces, stats = read(io.BytesIO(data), block_size, 5)
        assert list(joined(pieces)) == expected(data, 5)
        assert stats.bytes == len(data)
