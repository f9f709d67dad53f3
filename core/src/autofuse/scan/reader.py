"""Reads logs: from locations to batches of the lines that hold a marker, in one pass, ahead of the consumer.

The consumer folds a batch while threads read and scan the next ones. What the lines mean is left to the parsers.
"""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from typing import Any, Callable, Generator, Iterable, Iterator, List, Optional, Sequence, Tuple

from autofuse.host import Host
from autofuse.scan.blocks import BLOCK_SIZE, LINE_LIMIT, Block, BlockReader, BufferPool, buffer_size
from autofuse.scan.lines import LineBatch
from autofuse.scan.locations import open_streams
from autofuse.scan.meter import new_meter
from autofuse.scan.pipeline import in_order
from autofuse.scan.scanner import Scanner, compile_markers
from autofuse.scan.source import ByteStream, Notices, StreamStats

__all__ = ["LineReader", "ReadOptions", "Stage", "read_lines", "read_streams"]

Stage = Callable[[LineBatch], Any]
"""Runs in the reading threads, once per batch; its result is `LineBatch.staged`. It pays for code that releases the
interpreter lock. It may run for two batches at once and keeps no state between them."""


@dataclass(frozen=True)
class ReadOptions:
    """How to read; the defaults suit every input."""

    block_size: int = BLOCK_SIZE
    line_limit: int = LINE_LIMIT
    workers: int = 2
    """Reading threads; 0 reads in the consumer's thread."""
    engine: str = "auto"
    """See `autofuse.scan.scanner.compile_markers`."""
    digest: bool = False
    """Whether to take the SHA-256 of each stream."""
    everything: bool = False
    """Whether to give batches without a match too, so that all bytes of the stream are seen."""


class LineReader:
    """Iterating reads the streams, once; `streams` has what each came to, complete when the iteration has ended."""

    def __init__(
        self,
        streams: Iterable[ByteStream],
        markers: Sequence[bytes],
        notices: Notices,
        stage: Optional[Stage] = None,
        options: ReadOptions = ReadOptions(),
    ) -> None:
        self.streams: List[StreamStats] = []
        self.scanner: Scanner = compile_markers(markers, options.engine)
        self._sources = streams
        self._notices = notices
        self._stage = stage
        self._options = options

    @property
    def bytes(self) -> int:
        """Bytes read so far, after decompression."""
        return sum(stream.bytes for stream in self.streams)

    @property
    def lines(self) -> int:
        """Lines read so far."""
        return sum(stream.lines for stream in self.streams)

    @property
    def undecodable(self) -> int:
        """Bytes that are not UTF-8, in the streams that were read to their end."""
        return sum(stream.undecodable for stream in self.streams)

    def __iter__(self) -> Iterator[LineBatch]:
        for batch in in_order(self._blocks(), self._batch, self._options.workers):
            if batch is not None:
                yield batch
            del batch

    def _blocks(self) -> Generator[Tuple[StreamStats, Block], None, None]:
        options = self._options
        pool = BufferPool(buffer_size(options.block_size, options.line_limit))
        for source in self._sources:
            stats = StreamStats(source.name, source.process, source.pid)
            self.streams.append(stats)
            try:
                opened = source.open()
            except OSError as error:
                stats.damage = error.strerror or str(error)
                self._notices.skip(source.name, f"cannot be read: {stats.damage}")
                continue
            with opened:
                digest = hashlib.sha256() if options.digest else None
                meter = new_meter(self.scanner.engine)
                reader = BlockReader(opened, stats, meter, pool, options.block_size, options.line_limit, digest)
                for block in reader:
                    yield stats, block
            self._report(stats)

    def _report(self, stats: StreamStats) -> None:
        if stats.damage:
            reason = f"only the first {stats.bytes} bytes were read, the rest is lost: {stats.damage}"
            self._notices.skip(stats.name, reason)

    def _batch(self, item: Tuple[StreamStats, Block]) -> Optional[LineBatch]:
        stats, block = item
        # A piece of a long line is scanned over no bytes: a marker there would have no begin of a line.
        until = block.start if block.continues else block.end
        matches = self.scanner.scan(block.buffer, block.start, until, block.first_line)
        if not len(matches) and not self._options.everything:
            return None
        batch = LineBatch(
            stats.name,
            stats.process,
            stats.pid,
            block.buffer,
            matches,
            self.scanner.markers,
            block.start,
            block.end,
            block.first_line,
            block.continues,
            stats,
        )
        return batch if self._stage is None else dataclasses.replace(batch, staged=self._stage(batch))


def read_lines(
    host: Host,
    locations: Sequence[str],
    markers: Sequence[bytes],
    notices: Notices,
    stage: Optional[Stage] = None,
    options: ReadOptions = ReadOptions(),
) -> LineReader:
    """A reader of all lines of the locations that hold one of the markers (those of all parsers together).

    AutofuseError when no location can be read; see `open_streams` for what becomes of the others. Batches of one stream
    come in order, streams of one process one after the other in time order.
    """
    return LineReader(open_streams(host, locations, notices), markers, notices, stage, options)


def read_streams(
    streams: Iterable[ByteStream],
    markers: Sequence[bytes],
    notices: Notices,
    stage: Optional[Stage] = None,
    options: ReadOptions = ReadOptions(),
) -> LineReader:
    """The same for streams that the caller has."""
    return LineReader(streams, markers, notices, stage, options)
