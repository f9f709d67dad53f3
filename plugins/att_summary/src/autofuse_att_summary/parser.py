"""The record parser of the built-in ATT format: event columns for the run model, typed records for everybody else."""

from __future__ import annotations

from typing import Callable, Iterator, List, Optional, Sequence

from autofuse import types
from autofuse.scan.lines import LineBatch, Wrapping, rows

from autofuse_att_summary.additions import assignments, hardware_values
from autofuse_att_summary.columns import EventBatch, native_available, parse_matches
from autofuse_att_summary.cut import lost_digits
from autofuse_att_summary.lines import Kind

__all__ = ["AttParser", "parser"]


class AttParser:
    """`columns` gives a batch as event columns (native where there is a compiler); calling it gives typed records."""

    def __init__(self, wrappings: Sequence[Callable[[bytes], Optional[Wrapping]]] = ()) -> None:
        self.native = native_available()
        self.wrappings = tuple(wrappings)

    def with_wrappings(self, wrappings: Sequence[Callable[[bytes], Optional[Wrapping]]]) -> AttParser:
        """A parser that asks these wrappings first what stands before a message."""
        return AttParser(wrappings) if wrappings else self

    def columns(self, batch: LineBatch, merge: bool = True, mentions: bool = False) -> EventBatch:
        """The events of the batch; safe to call from several threads. See `parse_matches`."""
        cut = _unterminated(batch)
        return parse_matches(batch.block, batch.matches, merge, cut, mentions, self.native, self.wrappings)

    def __call__(self, batch: LineBatch) -> Iterator[types.Record]:
        """The records of the batch, one per line (FINAL_TILING lines are decoded by the model).

        A line that was cut in the middle of a number gives none.
        """
        found = self.columns(batch, merge=False)
        for event in found.events:
            if event[13] and lost_digits(event, found.strings, batch.block):
                continue
            record = _record(event, found, batch)
            if record is not None:
                yield record


parser = AttParser()


def _unterminated(batch: LineBatch) -> int:
    """The number of the last matched line when no line end follows it, else -1."""
    if not len(batch):
        return -1
    last = rows(batch.matches[-1:])[0]
    return last[3] if last[1] >= batch.end > 0 else -1


def _record(event: List[int], found: EventBatch, batch: LineBatch) -> Optional[types.Record]:
    kind, stream, line = event[:3]
    pid, tid, name = found.streams[stream]
    operator = found.strings[name].decode("utf-8", "replace")
    position = types.Position(batch.path, line, None if pid < 0 else pid, None if tid < 0 else tid)
    graph, result, group, case = event[5:9]
    text = found.strings[event[10]].decode("utf-8", "replace") if event[10] >= 0 and kind != Kind.START else ""
    if event[9] >= 0:
        template = types.TemplateId(graph, result, group, case, found.strings[event[9]].decode())
        return _of_template(kind, operator, position, template, text, found, event)
    if kind == Kind.RESULT_CHOICE:
        return types.ScheduleChoice(operator, position, graph, result)
    if kind == Kind.RESULT_PERF:
        return types.ResultPerformance(operator, position, graph, result, text)
    if kind == Kind.START:
        return types.InvocationBegin(operator, position, event[10] if event[10] >= 0 else None)
    if kind == Kind.END:
        return types.InvocationEnd(operator, position)
    if kind == Kind.GROUP_BEGIN:
        return types.GroupBegin(operator, position, graph, result, group)
    if kind == Kind.GROUP_END:
        return types.GroupEnd(operator, position)
    if kind == Kind.HARDWARE:
        return types.HardwareParams(operator, position, tuple(hardware_values(text.encode()).items()))
    if kind in (Kind.FAILED, Kind.EMPTY_ERROR):
        return types.TilingFailure(operator, position)
    return None


def _of_template(
    kind: int,
    operator: str,
    position: types.Position,
    template: types.TemplateId,
    text: str,
    found: EventBatch,
    event: List[int],
) -> Optional[types.Record]:
    if kind == Kind.VALUE:
        value = found.strings[event[11]].decode("utf-8", "replace")
        if not text:
            return types.Objective(operator, position, template, value)
        return types.TilingValue(operator, position, template, text, value)
    if kind == Kind.SCORE:
        return types.CandidateScore(operator, position, template, int(text))
    if kind == Kind.TEMPLATE_CHOICE:
        return types.TemplateChoice(operator, position, template)
    if kind == Kind.INPUT:
        symbols = tuple((n.decode(), v.decode()) for n, v in assignments(text.encode()))
        return types.InputShape(operator, position, template, symbols)
    return None
