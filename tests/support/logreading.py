"""Reads log files made by the log writer with the real parsers and gives what they say in the writer's own terms."""

from __future__ import annotations

import io
from typing import List, Sequence, Tuple

from autofuse.scan.lines import LineBatch
from autofuse.scan.reader import ReadOptions, read_streams
from autofuse.scan.source import ByteStream, Notices, StreamStats
from autofuse_att_summary.fold import Fold
from autofuse_att_summary.model import FinalLine, Invocation, Template
from autofuse_att_summary.parser import AttParser
from autofuse_att_summary.plugin import autofuse_record_parsers
from logwriter.expected import CallView, TemplateView
from logwriter.files import LogFile

__all__ = ["invocations", "read_calls", "view_of"]

MARKERS = next(iter(autofuse_record_parsers())).markers


def read_calls(
    files: Sequence[LogFile],
    *,
    block_size: int = 1 << 16,
    native: bool = True,
    records: bool = False,
) -> List[CallView]:
    """The calls in the files, ordered by process, then first line; `records` folds typed records instead of columns."""
    found, _ = invocations(files, block_size=block_size, native=native, records=records)
    found.sort(key=lambda invocation: invocation.key)
    return [view_of(invocation) for invocation in found]


def invocations(
    files: Sequence[LogFile],
    *,
    block_size: int = 1 << 16,
    native: bool = True,
    records: bool = False,
) -> Tuple[List[Invocation], List[StreamStats]]:
    """The invocations as the fold gives them out, and what reading the streams came to."""
    found: List[Invocation] = []
    fold = Fold(found.append)
    parser = AttParser()
    parser.native = parser.native and native
    options = ReadOptions(block_size=block_size, workers=0, engine="auto" if native else "stdlib")
    reader = read_streams([_stream(file) for file in files], MARKERS, Notices(), None, options)
    for batch in reader:
        _fold(fold, parser, batch, records)
    fold.finish()
    return found, reader.streams


def _fold(fold: Fold, parser: AttParser, batch: LineBatch, records: bool) -> None:
    if records:
        fold.records(batch, parser(batch))
    else:
        fold.columns(batch, parser.columns(batch))


def view_of(invocation: Invocation) -> CallView:
    """The invocation in the writer's terms."""
    view = CallView(
        invocation.operator,
        invocation.run.process.pid,
        invocation.tid,
        invocation.path,
        invocation.line,
        invocation.ordinal,
    )
    view.total = invocation.run.count
    view.shape = invocation.shape
    view.group_shapes = dict(invocation.group_shapes)
    view.hardware = invocation.hardware
    view.groups = set(invocation.groups)
    view.failed_groups = set(invocation.failed_groups)
    view.templates = {key: _template(template) for key, template in invocation.templates.items()}
    view.choices = dict(invocation.choices)
    view.results = dict(invocation.results)
    view.performances = {key: str(value) for key, value in invocation.performances.items()}
    view.incomplete = invocation.incomplete
    view.failed = invocation.tiling_failed
    view.finals = tuple(final.text.decode() for final in invocation.finals if isinstance(final, FinalLine))
    return view


def _template(template: Template) -> TemplateView:
    values = {name: str(value) for name, value in template.values.items()}
    objective = template.objective
    return TemplateView(values, None if objective is None else str(objective), template.score, template.lines)


def _stream(file: LogFile) -> ByteStream:
    data = file.data

    def opened() -> io.BytesIO:
        return io.BytesIO(data)

    return ByteStream(file.name, opened, (file.process,), file.pid, len(data))
