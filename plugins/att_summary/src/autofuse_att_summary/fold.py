"""Folds records, in the order of the log, into invocations of the run model; each is given out when it is complete.

Whoever reads the log drives it: event columns of the built-in parser, or typed records of any parser. Memory is that of
the open invocations plus eight bytes for each one seen.
"""

from __future__ import annotations

import bisect
from typing import Callable, Dict, Iterable, List, Optional, Sequence, Tuple

from autofuse import types
from autofuse.report.model import Number
from autofuse.scan.lines import LineBatch

from autofuse_att_summary.additions import (
    add_hardware,
    add_symbols,
    add_values,
    assignments,
    changes_inputs,
    decoded,
    hardware_values,
    line_numbers,
    name_group,
    one_print,
    store_lines,
    template_key,
    template_of,
)
from autofuse_att_summary.columns import EventBatch
from autofuse_att_summary.cut import lost_digits
from autofuse_att_summary.final_tiling import final_key
from autofuse_att_summary.kept_lines import lines_of
from autofuse_att_summary.lines import Kind
from autofuse_att_summary.model import (
    Final,
    FinalLine,
    GroupKey,
    Invocation,
    OperatorRun,
    ProcessKey,
    TemplateKey,
)
from autofuse_att_summary.stream_state import Late, StreamState

__all__ = ["Fold"]

_FILE_STEP = 1 << 40
"""Positions are file number * step + line."""
_MANY_BYTES = 1 << 20
"""Of the lines that an invocation keeps; more are given away before it is complete."""


class Fold:
    """The builder. `sink` gets every invocation once, in the order they are complete, with its ordinal."""

    def __init__(
        self, sink: Callable[[Invocation], None], keep_lines: Optional[Callable[[Invocation], None]] = None
    ) -> None:
        """With `keep_lines` invocations keep the lines that name a template; it empties one that keeps many."""
        self._keep_lines = keep_lines
        self.runs: Dict[Tuple[str, ProcessKey], OperatorRun] = {}
        self.dropped_cut = 0
        """Cut lines that could not be told from a shorter id or number and were left out."""
        self._sink = sink
        self._streams: Dict[Tuple[ProcessKey, Optional[int], bytes], StreamState] = {}
        self._threads: Dict[Tuple[ProcessKey, Optional[int]], StreamState] = {}
        self._held: List[Invocation] = []
        self._names: Dict[bytes, bytes] = {}
        """Each list of value names once: templates of one operator share it."""
        self._base = 0
        self._path = ""
        self._files = 0

    # --- input ---------------------------------------------------------------------------------------------------

    def columns(self, batch: LineBatch, found: EventBatch) -> None:
        """Folds the events of one batch of the built-in parser."""
        self._enter_file(batch)
        strings = found.strings
        states = [
            self._stream(batch, None if pid < 0 else pid, None if tid < 0 else tid, strings[op])
            for pid, tid, op in found.streams
        ]
        lines = found.value_lines
        intern = self._names.setdefault
        for event in found.events:
            kind = event[0]
            state = states[event[1]]
            if event[13] and lost_digits(event, strings, batch.block):
                self.dropped_cut += 1
            elif kind == 0:
                names = intern(strings[event[10]], strings[event[10]])
                first = event[12]
                count = names.count(b"\n") + 1
                chunk = (names, strings[event[11]], line_numbers(event[2], lines, first, count))
                key = (event[5], event[6], event[7], event[8], strings[event[9]].decode())
                self._values(state, event[2], key, chunk)
            else:
                self._event(kind, state, event, strings)
            if self._keep_lines is not None and (event[9] >= 0 or kind == Kind.FINAL):
                self._keep(state, batch, event, found)
                invocation = state.invocation or state.left
                if invocation is not None and invocation.kept_bytes >= _MANY_BYTES:
                    invocation.ordinal = self._ordinal(invocation)
                    self._keep_lines(invocation)

    def records(self, batch: LineBatch, records: Iterable[types.Record]) -> None:
        """Folds typed records of any parser, in their order."""
        self._enter_file(batch)
        for record in records:
            at = record.at
            state = self._stream(batch, at.pid, at.tid, record.operator.encode("utf-8", "surrogateescape"))
            self._record(state, record)

    def finish(self) -> None:
        """Ends the run: what is still open is incomplete."""
        for state in self._streams.values():
            self._end_of_log(state)
        for invocation in sorted(self._held, key=lambda held: held.key):
            self._number_and_give(invocation)
        self._held = []

    # --- streams and invocations ---------------------------------------------------------------------------------

    def _enter_file(self, batch: LineBatch) -> None:
        if batch.path != self._path or self._files == 0:
            self._path = batch.path
            self._files += 1
            self._base = self._files * _FILE_STEP

    def _stream(self, batch: LineBatch, pid: Optional[int], tid: Optional[int], operator: bytes) -> StreamState:
        process = ProcessKey(batch.process, batch.pid if pid is None else pid)
        key = (process, tid, operator)
        state = self._streams.get(key)
        if state is None:
            name = operator.decode("utf-8", "replace")
            run = self.runs.get((name, process))
            if run is None:
                run = OperatorRun(name, process, len(self.runs))
                if operator:
                    self.runs[(name, process)] = run
            state = self._streams[key] = StreamState(run, tid)
        return state

    def _begin(self, state: StreamState, path: str, line: int, key: int, implicit: bool) -> Invocation:
        self._let_go(state)
        run = state.run
        invocation = Invocation(run, state.tid, path, line, key, implicit)
        if run.keys and key < run.keys[-1]:
            bisect.insort(run.keys, key)
        else:
            run.keys.append(key)
        state.invocation = invocation
        state.group = None
        self._threads[(run.process, state.tid)] = state
        return invocation

    def _close(self, state: StreamState) -> None:
        invocation = state.invocation
        if invocation is not None:
            self._flush_late(state)
            invocation.incomplete = not invocation.ended and not (invocation.implicit and not state.explicit)
            state.invocation = None
            state.left = invocation

    def _let_go(self, state: StreamState) -> None:
        """Gives out the call before this one: nothing can follow for it any more."""
        left = state.left
        if left is not None:
            state.left = None
            waiting = left.run.waiting
            if waiting and min(waiting) < left.key:
                self._held.append(left)
            else:
                self._number_and_give(left)

    def _number_and_give(self, invocation: Invocation) -> None:
        invocation.ordinal = self._ordinal(invocation)
        self._sink(invocation)

    def _ordinal(self, invocation: Invocation) -> int:
        return bisect.bisect_left(invocation.run.keys, invocation.key) + 1

    def _release_held(self, run: OperatorRun) -> None:
        if self._held:
            limit = min(run.waiting) if run.waiting else None
            ready = [held for held in self._held if held.run is run and (limit is None or limit > held.key)]
            for invocation in sorted(ready, key=lambda held: held.key):
                self._held.remove(invocation)
                self._number_and_give(invocation)

    def _current(self, state: StreamState, graph: int, line: int) -> Invocation:
        """The open call that a line of this graph belongs to; decides about a `Start` that waits for its graph."""
        invocation = state.invocation
        if invocation is None:
            invocation = self._begin(state, self._path, line, self._base + line, implicit=True)
        elif state.pending is not None:
            invocation = self._decide(state, graph in invocation.graphs)
        invocation.graphs.add(graph)
        return invocation

    def _decide(self, state: StreamState, new_call: bool) -> Invocation:
        path, line, key, graph = state.pending or ("", 0, 0, -1)
        state.pending = None
        run = state.run
        run.waiting.remove(key)
        invocation = state.invocation
        if invocation is None or new_call:
            if invocation is not None:
                invocation.closed_by_start = True
                self._close(state)
            invocation = self._begin(state, path, line, key, implicit=False)
        if graph >= 0:
            invocation.graphs.add(graph)
        self._release_held(run)
        return invocation

    def _end_of_log(self, state: StreamState) -> None:
        if state.pending is not None:
            self._decide(state, new_call=True)
        if state.late and (state.invocation is None or self._next_call(state)):
            self._late_call(state)
        self._close(state)
        self._let_go(state)

    # --- events --------------------------------------------------------------------------------------------------

    def _event(self, kind: int, state: StreamState, event: List[int], strings: List[bytes]) -> None:
        line = event[2]
        text = strings[event[10]] if event[10] >= 0 and kind != Kind.START else b""
        group = (event[5], event[6], event[7])
        if kind == Kind.INPUT:
            symbols = {decoded(name): decoded(value) for name, value in assignments(text)}
            self._input(state, line, group, symbols)
        elif kind == Kind.TEMPLATE_CHOICE:
            self._choice(state, line, (*group, event[8], strings[event[9]].decode()))
        elif kind == Kind.SCORE:
            self._score(state, line, (*group, event[8], strings[event[9]].decode()), int(text))
        elif kind == Kind.RESULT_CHOICE:
            self._result(state, line, event[5], event[6])
        elif kind == Kind.RESULT_PERF:
            self._performance(state, line, event[5], event[6], Number(text.decode()))
        elif kind == Kind.HARDWARE:
            self._hardware(state, line, hardware_values(text))
        elif kind == Kind.START:
            self._start(state, line, event[10])
        elif kind == Kind.FINAL:
            self._final(state, FinalLine(self._path, line, text, bool(event[13])), line)
        else:
            self._bracket(kind, state, line, group)

    def _bracket(self, kind: int, state: StreamState, line: int, group: GroupKey) -> None:
        if kind == Kind.GROUP_BEGIN:
            invocation = self._current(state, group[0], line)
            self._apply(state, invocation, group, line, lambda into: name_group(into, group, line))
            state.group = group
        elif kind == Kind.GROUP_END:
            state.group = None
        elif kind == Kind.END:
            self._end(state)
        elif kind == Kind.FAILED:
            self._failed(state, line)
        elif kind == Kind.EMPTY_ERROR:
            owner = self._threads.get((state.run.process, state.tid))
            if owner is not None and owner.invocation is not None and owner.group is None:
                self._failed(owner, line)

    def _record(self, state: StreamState, record: types.Record) -> None:
        line = record.at.line
        if isinstance(record, types.TilingValue):
            self._values(state, line, template_key(record.template), one_print(record.name, record.value, line))
        elif isinstance(record, types.Objective):
            self._values(state, line, template_key(record.template), one_print("", record.value, line))
        elif isinstance(record, types.CandidateScore):
            self._score(state, line, template_key(record.template), record.score)
        elif isinstance(record, types.TemplateChoice):
            self._choice(state, line, template_key(record.template))
        elif isinstance(record, types.ScheduleChoice):
            self._result(state, line, record.graph, record.result)
        elif isinstance(record, types.ResultPerformance):
            self._performance(state, line, record.graph, record.result, Number(record.value))
        elif isinstance(record, types.InputShape):
            self._input(state, line, template_key(record.template)[:3], dict(record.symbols))
        elif isinstance(record, types.HardwareParams):
            self._hardware(state, line, dict(record.values))
        elif isinstance(record, types.InvocationBegin):
            self._start(state, line, -1 if record.graph is None else record.graph)
        elif isinstance(record, types.GroupBegin):
            self._bracket(Kind.GROUP_BEGIN, state, line, (record.graph, record.result, record.group))
        elif isinstance(record, (types.FinalTiling, types.FinalTilingSummary)):
            self._final(state, record, line)
        elif isinstance(record, types.TilingFailure) and not record.operator:
            self._bracket(Kind.EMPTY_ERROR, state, line, (-1, -1, -1))
        else:
            self._bracket(_BRACKETS.get(type(record), Kind.NONE), state, line, (-1, -1, -1))

    # --- what each event does ------------------------------------------------------------------------------------

    def _start(self, state: StreamState, line: int, graph: int) -> None:
        state.explicit = True
        key = self._base + line
        if state.pending is not None:
            # Two Starts with no line of a graph between: the first one began a call that printed nothing more.
            self._decide(state, new_call=True)
        invocation = state.invocation
        if invocation is None:
            self._begin(state, self._path, line, key, implicit=False)
            if graph >= 0 and state.invocation is not None:
                state.invocation.graphs.add(graph)
            return
        self._flush_late(state)
        state.pending = (self._path, line, key, graph)
        state.run.waiting.append(key)
        self._threads[(state.run.process, state.tid)] = state
        if graph >= 0 or not invocation.graphs or invocation.implicit:
            self._decide(state, new_call=graph in invocation.graphs or not invocation.graphs or invocation.implicit)

    def _end(self, state: StreamState) -> None:
        state.explicit = True
        if state.pending is not None:
            self._decide(state, new_call=True)
        if state.invocation is not None:
            state.invocation.ended = True
            self._close(state)

    def _failed(self, state: StreamState, line: int) -> None:
        invocation = state.invocation
        if invocation is None:
            invocation = self._begin(state, self._path, line, self._base + line, implicit=True)
        elif state.pending is not None:
            invocation = self._decide(state, new_call=True)
        if state.group is not None:
            invocation.failed_groups.add(state.group)
        else:
            invocation.failed = True

    def _values(
        self, state: StreamState, line: int, key: TemplateKey, chunk: Tuple[bytes, bytes, Sequence[int]]
    ) -> None:
        invocation = state.invocation
        if invocation is None or state.pending is not None:
            invocation = self._current(state, key[0], line)
        if invocation.implicit and self._is_late(state, invocation, key[:3]):
            path = self._path
            self._put_off(state, line, key[0], lambda into: add_values(into, key, chunk, path, line))
            return
        add_values(invocation, key, chunk, self._path, line)

    def _score(self, state: StreamState, line: int, key: TemplateKey, score: int) -> None:
        invocation = self._current(state, key[0], line)
        path = self._path

        def apply(into: Invocation) -> None:
            template_of(into, key, path, line).score = score

        self._apply(state, invocation, key[:3], line, apply)

    def _input(self, state: StreamState, line: int, group: GroupKey, symbols: Dict[str, str]) -> None:
        invocation = self._current(state, group[0], line)
        unchosen = invocation.implicit and not self._is_late(state, invocation, group)
        if unchosen and changes_inputs(invocation, group, symbols):
            # Without Start lines other inputs are another call; this one ended before the group chose.
            invocation = self._late_call(state, line)

        def apply(into: Invocation) -> None:
            into.graphs.add(group[0])
            into.groups.setdefault(group, line)
            add_symbols(into, group, symbols)

        self._apply(state, invocation, group, line, apply)

    def _choice(self, state: StreamState, line: int, key: TemplateKey) -> None:
        invocation = self._current(state, key[0], line)
        group = key[:3]
        if invocation.implicit and group in invocation.choices and self._next_call(state, group):
            invocation = self._late_call(state, line)
            invocation.graphs.add(key[0])
        else:
            self._flush_late(state)
        if group not in invocation.foreign:
            template_of(invocation, key, self._path, line)
            invocation.choices[group] = key
        invocation.choice_lines[group] = self._base + line

    def _result(self, state: StreamState, line: int, graph: int, result: int) -> None:
        invocation = self._current(state, graph, line)
        self._flush_late(state)
        state.results_seen = True
        invocation.results[graph] = result
        invocation.result_lines[graph] = self._base + line

    def _performance(self, state: StreamState, line: int, graph: int, result: int, value: Number) -> None:
        invocation = self._current(state, graph, line)
        self._flush_late(state)
        state.results_seen = True
        invocation.performances[(graph, result)] = value
        invocation.result_lines[graph] = self._base + line

    def _hardware(self, state: StreamState, line: int, values: Dict[str, str]) -> None:
        invocation = state.invocation
        if invocation is not None and state.pending is None:
            if state.late:
                self._put_off(state, line, state.late[-1].graph, lambda into: add_hardware(into, values))
            else:
                add_hardware(invocation, values)

    def _final(self, state: StreamState, final: Final, line: int) -> None:
        invocation = state.invocation or state.left
        if invocation is None:
            invocation = self._begin(state, self._path, line, self._base + line, implicit=True)
        invocation.finals.append(final)

    def _keep(self, state: StreamState, batch: LineBatch, event: List[int], found: EventBatch) -> None:
        """Keeps the lines, byte for byte, with the invocation that they belong to."""
        kind, line = event[0], event[2]
        if kind == Kind.FINAL:
            closed = state.invocation or state.left
            written = final_key(found.strings[event[10]], closed.frames) if closed is not None else None
            if closed is not None and written is not None:
                store_lines(closed, written, lines_of(batch, event, found))
            return
        key = (event[5], event[6], event[7], event[8], found.strings[event[9]].decode())
        lines = lines_of(batch, event, found)
        invocation = self._current(state, key[0], line)
        if kind == Kind.TEMPLATE_CHOICE or not invocation.implicit:
            store_lines(invocation, key, lines)
        else:
            self._apply(state, invocation, key[:3], line, lambda into: store_lines(into, key, lines))

    # --- logs without Start and End lines ------------------------------------------------------------------------

    def _is_late(self, state: StreamState, invocation: Invocation, group: GroupKey) -> bool:
        return bool(state.late) or group in invocation.choices

    def _apply(
        self,
        state: StreamState,
        invocation: Invocation,
        group: GroupKey,
        line: int,
        action: Callable[[Invocation], None],
    ) -> None:
        if invocation.implicit and self._is_late(state, invocation, group):
            self._put_off(state, line, group[0], action)
        else:
            action(invocation)

    def _put_off(self, state: StreamState, line: int, graph: int, action: Callable[[Invocation], None]) -> None:
        state.late.append(Late(graph, action, self._path, line, self._base + line))

    def _flush_late(self, state: StreamState) -> None:
        late, state.late = state.late, []
        if late and state.invocation is not None:
            for one in late:
                one.action(state.invocation)

    def _next_call(self, state: StreamState, group: Optional[GroupKey] = None) -> bool:
        """Whether a second choice of a group begins the next call: a result line came since, or none ever did."""
        invocation = state.invocation
        if invocation is None or not state.results_seen:
            return True
        lines = [invocation.choice_lines[key] for key in invocation.choices if group is None or key == group]
        graphs = invocation.result_lines
        since = max((graphs[g] for g in graphs if group is None or g == group[0]), default=-1)
        return since > max(lines, default=-1)

    def _late_call(self, state: StreamState, line: int = 0) -> Invocation:
        late, state.late = state.late, []
        path, first, key = late[0][2:] if late else (self._path, line, self._base + line)
        self._close(state)
        invocation = self._begin(state, path, first, key, implicit=True)
        for one in late:
            invocation.graphs.add(one.graph)
            one.action(invocation)
        return invocation


_BRACKETS = {
    types.InvocationEnd: Kind.END,
    types.GroupEnd: Kind.GROUP_END,
    types.TilingFailure: Kind.FAILED,
}
