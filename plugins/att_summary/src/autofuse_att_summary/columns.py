"""The event columns of one batch of lines: the native parser, or its Python twin with the same result.

Consecutive value lines of one template and stream are one event, so that the model folds a template at a time.
"""

from __future__ import annotations

import os
from array import array
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union, cast

from autofuse.scan.lines import Wrapping
from autofuse.scan.lines import rows as rows_of

from autofuse_att_summary.lines import Kind, ParsedLine, parse_line, parse_wrapped, parse_writer, strip_ansi

__all__ = ["Event", "EventBatch", "native_available", "parse_matches", "thread_spans"]

WIDTH = 14

Block = Union[bytes, bytearray, memoryview]


class Event(NamedTuple):
    """One row of the event columns; indices point into the batch's strings, streams and value lines."""

    kind: int
    stream: int
    line: int
    start: int
    end: int
    graph: int
    result: int
    group: int
    case: int
    tag: int
    x: int
    """VALUE: the names joined by newlines. START: graph of the emitter's file or -1. Else the message's text or -1."""
    y: int
    """VALUE: the values joined by newlines."""
    z: int
    """VALUE: index of the first line number in `value_lines`."""
    cut: int
    """1 when the line may have been cut by the log's line limit or the end of the file."""


class EventBatch(NamedTuple):
    """What one batch of matched lines says."""

    events: List[List[int]]
    """Rows of `WIDTH` integers, as `Event`."""
    strings: List[bytes]
    streams: List[Tuple[int, int, int]]
    """(pid, tid, operator's string); -1 where the lines do not tell."""
    value_lines: memoryview
    unknown: int
    """Lines that hold a marker and no message of ours."""
    malformed: int
    """Lines whose message has ids or numbers that do not parse."""
    first_malformed: int
    value_spans: memoryview
    """Start and end of each value line in the block, two numbers per line; only with `mentions`."""


def native_available() -> bool:
    """Whether the compiled parser is there and not switched off by `AUTOFUSE_ATT=stdlib`."""
    if os.environ.get("AUTOFUSE_ATT") == "stdlib":
        return False
    try:
        import autofuse_att_summary._att  # noqa: F401
    except ImportError:
        return False
    return True


def parse_matches(
    block: Block,
    matches: memoryview,
    merge: bool = True,
    unterminated: int = -1,
    mentions: bool = False,
    native: bool = True,
    wrappings: Sequence[Callable[[bytes], Optional[Wrapping]]] = (),
) -> EventBatch:
    """Events of the matched lines of a block.

    `matches` has the rows [start, end, marker, line] of a `LineBatch`. With `merge` off every value line is an event of
    its own; with `mentions` lines that only name a template are events too. `unterminated` is the number of the line
    that has no line end. `wrappings` are asked first what stands before a message; with any, the lines are read in
    Python.
    """
    if native and not wrappings:
        from autofuse_att_summary import _att

        raw = _att.parse(block, matches, merge, mentions, unterminated)
    else:
        raw = _Builder(merge, mentions, unterminated, wrappings).parse(block, matches)
    events, strings, streams, value_lines, unknown, malformed, first, spans = raw
    view = memoryview(events)
    rows = cast(List[List[int]], view.cast("q", (len(events) // (8 * WIDTH), WIDTH)).tolist()) if events else []
    lines, value_spans = memoryview(value_lines).cast("q"), memoryview(spans).cast("q")
    return EventBatch(rows, strings, streams, lines, unknown, malformed, first, value_spans)


def thread_spans(
    block: Block, start: int, end: int, first_line: int, alone: bytes, native: bool = True
) -> List[List[int]]:
    """Ranges of whole lines that one thread wrote in a row: [start, end, first line, lines, pid, tid].

    A line without a header goes on with the thread before it; a line that holds `alone` is a range of its own.
    """
    if native:
        from autofuse_att_summary import _att

        raw = _att.spans(block, start, end, first_line, alone)
        return cast(List[List[int]], memoryview(raw).cast("q", (len(raw) // 48, 6)).tolist()) if raw else []
    return _spans(bytes(memoryview(block)[start:end]), start, first_line, alone)


def _spans(text: bytes, base: int, first_line: int, alone: bytes) -> List[List[int]]:
    rows: List[List[int]] = []
    at = base
    previous_alone = False
    for number, line in enumerate(text.split(b"\n"), first_line):
        size = min(len(line) + 1, base + len(text) - at)
        if size == 0:
            break
        writer = parse_writer(line)
        own = alone in line
        if rows and (writer is None or list(writer) == rows[-1][4:]) and not (own or previous_alone):
            rows[-1][1] += size
            rows[-1][3] += 1
        else:
            who = list(writer) if writer else (rows[-1][4:] if rows else [-1, -1])
            rows.append([at, at + size, number, 1, *who])
        previous_alone = own
        at += size
    return rows


RawBatch = Tuple[bytes, List[bytes], List[Tuple[int, int, int]], bytes, int, int, int, bytes]


class _Builder:
    """The twin of the native batch parser, column for column."""

    def __init__(
        self, merge: bool, mentions: bool, unterminated: int, wrappings: Sequence[Callable[[bytes], Optional[Wrapping]]]
    ) -> None:
        self.wrappings = wrappings
        self.merge = merge
        self.mentions = mentions
        self.value_spans = array("q")
        self.unterminated = unterminated
        self.events: List[List[int]] = []
        self.strings: Dict[bytes, int] = {}
        self.streams: Dict[Tuple[int, int, int], int] = {}
        self.value_lines = array("q")
        self.unknown = self.malformed = self.first_malformed = 0
        self.run_key: Tuple[int, ...] = ()
        self.run_event: List[int] = []
        self.run_names: List[bytes] = []
        self.run_values: List[bytes] = []

    def parse(self, block: Block, matches: memoryview) -> RawBatch:
        view = memoryview(block)
        for start, end, _, number in rows_of(matches):
            line = strip_ansi(bytes(view[start:end]))
            parsed = parse_wrapped(line, self.wrappings) if self.wrappings else parse_line(line)
            self._line(parsed, start, end, number)
        self._close()
        flat = array("q", [value for event in self.events for value in event])
        return (
            flat.tobytes(),
            list(self.strings),
            list(self.streams),
            self.value_lines.tobytes(),
            self.unknown,
            self.malformed,
            self.first_malformed,
            self.value_spans.tobytes(),
        )

    def _line(self, parsed: ParsedLine, start: int, end: int, number: int) -> None:
        message = parsed.message
        if message.kind == Kind.NONE:
            self.unknown += 1
        elif message.kind == Kind.MALFORMED:
            self.malformed += 1
            self.first_malformed = self.first_malformed or number
        elif message.kind != Kind.IGNORED and (message.kind != Kind.MENTION or self.mentions):
            self._event(parsed, start, end, number)

    def _event(self, parsed: ParsedLine, start: int, end: int, number: int) -> None:
        message = parsed.message
        stream = self._stream(parsed)
        cut = parsed.cut or number == self.unterminated
        if message.kind == Kind.VALUE and self.merge and not cut:
            self._value(stream, parsed, start, end, number)
            return
        if self.run_key and self.run_key[0] == stream:
            self._close()
        x = y = z = -1
        if message.kind == Kind.VALUE:
            x, y, z = self._string(message.name), self._string(message.text), len(self.value_lines)
            self._value_line(number, start, end)
        elif message.kind == Kind.START:
            x = parsed.start_graph
        elif message.text:
            x = self._string(message.text)
        tag = -1 if message.case < 0 else self._string(message.tag)
        ids = (message.graph, message.result, message.group, message.case)
        self.events.append([message.kind, stream, number, start, end, *ids, tag, x, y, z, int(cut)])

    def _value(self, stream: int, parsed: ParsedLine, start: int, end: int, number: int) -> None:
        message = parsed.message
        tag = self._string(message.tag)
        key = (stream, message.graph, message.result, message.group, message.case, tag)
        if key != self.run_key:
            self._close()
            self.run_key = key
            where = [Kind.VALUE, stream, number, start, end, *key[1:5], tag, -1, -1, len(self.value_lines), 0]
            self.run_event = where
            self.events.append(where)
        self.run_names.append(message.name)
        self.run_values.append(message.text)
        self._value_line(number, start, end)

    def _value_line(self, number: int, start: int, end: int) -> None:
        self.value_lines.append(number)
        if self.mentions:
            self.value_spans.extend((start, end))

    def _close(self) -> None:
        if self.run_key:
            self.run_event[10] = self._string(b"\n".join(self.run_names))
            self.run_event[11] = self._string(b"\n".join(self.run_values))
            self.run_key = ()
            self.run_names, self.run_values = [], []

    def _stream(self, parsed: ParsedLine) -> int:
        key = (parsed.pid, parsed.tid, self._string(parsed.operator))
        return self.streams.setdefault(key, len(self.streams))

    def _string(self, text: bytes) -> int:
        return self.strings.setdefault(text, len(self.strings))
