"""From locations to invocations: one pass over the logs with the markers of all parsers that feed the model."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import os
from array import array
from dataclasses import dataclass, field
from typing import Any, Callable, Collection, Dict, Iterator, List, Optional, Sequence, Tuple

from autofuse import types
from autofuse.cli.app import App
from autofuse.scan.lines import LineBatch, Wrapping, rows
from autofuse.scan.locations import open_streams
from autofuse.scan.reader import ReadOptions, read_streams
from autofuse.scan.source import ByteStream, Notices, StreamStats

from autofuse_att_summary.columns import EventBatch
from autofuse_att_summary.fold import Fold
from autofuse_att_summary.model import Invocation, OperatorRun
from autofuse_att_summary.parser import AttParser

__all__ = ["LogRun", "foreign_wrappings", "leave_out", "place_of", "rare_collections", "read_log_streams", "read_logs"]

MODEL_RECORDS = (
    types.TilingValue,
    types.Objective,
    types.CandidateScore,
    types.TemplateChoice,
    types.ScheduleChoice,
    types.ResultPerformance,
    types.InvocationBegin,
    types.InvocationEnd,
    types.GroupBegin,
    types.GroupEnd,
    types.TilingFailure,
    types.InputShape,
    types.HardwareParams,
    types.FinalTiling,
    types.FinalTilingSummary,
)
"""The record types that the run model is folded from."""


@dataclass
class LogRun:
    """What reading came to."""

    notices: Notices
    runs: List[OperatorRun] = field(default_factory=list)
    """Every operator of every process, in the order of first appearance."""
    streams: List[StreamStats] = field(default_factory=list)
    malformed: int = 0
    first_malformed: Optional[Tuple[str, int]] = None
    dropped_cut: int = 0

    @property
    def lines(self) -> int:
        """Lines read."""
        return sum(stream.lines for stream in self.streams)

    @property
    def undecodable(self) -> int:
        """Bytes that are no UTF-8 and were replaced."""
        return sum(stream.undecodable for stream in self.streams)

    def count(self, batch: LineBatch, found: EventBatch) -> None:
        """Counts the messages of a batch that did not parse."""
        self.malformed += found.malformed
        if found.malformed and self.first_malformed is None:
            self.first_malformed = (batch.path, found.first_malformed)


def read_logs(
    app: App,
    locations: Sequence[str],
    sink: Callable[[Invocation], None],
    *,
    digest: bool = False,
    other: Optional[Callable[[types.Record], None]] = None,
) -> LogRun:
    """Reads every location once and gives each invocation to `sink` as soon as it is complete.

    `other` gets the records that are no part of the run model (`PipeFormula`, compiler messages); without it their
    parsers are not run. AutofuseError when nothing can be read.
    """
    notices = Notices()
    streams = open_streams(app.host, locations, notices)
    return read_log_streams(app, streams, notices, sink, digest=digest, other=other)


def read_log_streams(
    app: App,
    streams: Sequence[ByteStream],
    notices: Notices,
    sink: Callable[[Invocation], None],
    *,
    digest: bool = False,
    other: Optional[Callable[[types.Record], None]] = None,
) -> LogRun:
    """As `read_logs`, for streams that were opened already."""
    parsers = _parsers(app, everything=other is not None)
    markers = list(dict.fromkeys(marker for spec, _ in parsers for marker in spec.markers))
    run = LogRun(notices)
    fold = Fold(sink)
    reader = read_streams(streams, markers, notices, _stage(parsers), ReadOptions(digest=digest))
    with rare_collections():
        for batch in reader:
            for (_, parser), found in zip(parsers, batch.staged):
                if isinstance(parser, AttParser):
                    fold.columns(batch, found)
                    run.count(batch, found)
                else:
                    fold.records(batch, _model_records(found, other))
        fold.finish()
    run.runs = list(fold.runs.values())
    run.streams = reader.streams
    run.dropped_cut = fold.dropped_cut
    return run


@contextlib.contextmanager
def rare_collections() -> Iterator[None]:
    """The model has no cycles; looking for some costs a tenth of the time, and more the more operators are kept."""
    before = gc.get_threshold()
    gc.set_threshold(500_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def place_of(path: str) -> str:
    """A file's own place, however its folder is reached; a link is not followed."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def leave_out(streams: Sequence[ByteStream], places: Collection[str], notices: Notices) -> List[ByteStream]:
    """The streams without those at `places`, which this command wrote itself and is about to replace."""
    kept: List[ByteStream] = []
    for stream in streams:
        if place_of(stream.name) in places:
            notices.skip(stream.name, "written by an earlier run into the folder of the output")
        else:
            kept.append(stream)
    return kept


def _parsers(app: App, everything: bool) -> List[Tuple[types.ParserSpec, Any]]:
    specs: Dict[str, Any] = app.host.specs("autofuse_record_parsers")
    chosen = [s for s in specs.values() if everything or not s.records or set(s.records) & set(MODEL_RECORDS)]
    wrappings = foreign_wrappings(app)
    loaded = [(spec, app.host.load(spec)) for spec in chosen]
    return [(spec, p.with_wrappings(wrappings) if isinstance(p, AttParser) else p) for spec, p in loaded]


def foreign_wrappings(app: App) -> List[Callable[[bytes], Optional[Wrapping]]]:
    """The line wrappings of other plugins; the parsers know the built-in ones themselves."""
    host = app.host
    specs = host.specs("autofuse_line_wrappings").values()
    return [host.load(spec) for spec in specs if not host.owner(spec).built_in]


def _stage(parsers: Sequence[Tuple[types.ParserSpec, Any]]) -> Callable[[LineBatch], List[Any]]:
    """What the reading threads do with a batch: every parser sees the lines that hold one of its markers."""
    alone = len(parsers) == 1

    def stage(batch: LineBatch) -> List[Any]:
        found: List[Any] = []
        for spec, parser in parsers:
            if isinstance(parser, AttParser):
                found.append(parser.columns(batch))
            else:
                found.append(list(parser(batch if alone else _only(batch, spec.markers))))
        return found

    return stage


def _only(batch: LineBatch, markers: Sequence[bytes]) -> LineBatch:
    view = memoryview(batch.block)
    kept: List[Sequence[int]] = []
    for row in rows(batch.matches):
        line = bytes(view[row[0] : row[1]])
        if any(marker in line for marker in markers):
            kept.append(row)
    return dataclasses.replace(batch, matches=_rows(kept))


def _rows(kept: Sequence[Sequence[int]]) -> memoryview:
    raw = memoryview(array("q", [value for row in kept for value in row]).tobytes())
    return raw.cast("q", (len(kept), 4)) if kept else memoryview(b"").cast("q")


def _model_records(
    found: Sequence[types.Record], other: Optional[Callable[[types.Record], None]]
) -> Iterator[types.Record]:
    for record in found:
        if isinstance(record, MODEL_RECORDS):
            yield record
        elif other is not None:
            other(record)
