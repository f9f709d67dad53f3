"""Lines of a log that are kept as they stand there, byte for byte, for split-slog."""

from __future__ import annotations

from typing import List, Tuple

from autofuse.scan.lines import LineBatch

from autofuse_att_summary.columns import EventBatch
from autofuse_att_summary.lines import Kind

__all__ = ["KeptLines", "Place", "lines_of"]

Place = Tuple[str, int]
"""File and line."""


class KeptLines:
    """Lines joined in their order, how many, and where the first and the last of them stand."""

    __slots__ = ("count", "first", "last", "raw")

    def __init__(self, raw: bytearray, count: int, first: Place, last: Place) -> None:
        self.raw = raw
        self.count = count
        self.first = first
        self.last = last

    def add(self, further: KeptLines) -> None:
        """Appends lines that stand behind these."""
        self.raw += further.raw
        self.count += further.count
        self.last = further.last


def lines_of(batch: LineBatch, event: List[int], found: EventBatch) -> KeptLines:
    """The lines of an event; several when it is a run of values."""
    first = (batch.path, event[2])
    if event[0] != Kind.VALUE:
        return KeptLines(_raw(batch, event[3], event[4]), 1, first, first)
    at, spans = event[12], found.value_spans
    count = found.strings[event[10]].count(b"\n") + 1
    last = found.value_lines[at + count - 1]
    if last - event[2] == count - 1:
        raw = _raw(batch, event[3], spans[2 * (at + count) - 1])
    else:
        raw = bytearray()
        for place in range(2 * at, 2 * (at + count), 2):
            raw += _raw(batch, spans[place], spans[place + 1])
    return KeptLines(raw, count, first, (batch.path, last))


def _raw(batch: LineBatch, start: int, end: int) -> bytearray:
    """The bytes of whole lines with their line ends; one that has none gets one."""
    newline = batch.block.find(b"\n", end, batch.end)
    raw = bytearray(batch.block[start : newline + 1 if newline >= 0 else end])
    return raw if newline >= 0 else raw + b"\n"
