"""The compiler side of split-slog: blocks of `[DFX]` model info, per thread, and the operator each belongs to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Callable, Dict, List, Optional, Set, Tuple

from autofuse.scan.lines import LineBatch

from autofuse_att_summary.columns import EventBatch, thread_spans
from autofuse_att_summary.dfx import DfxLine, parse_dfx
from autofuse_att_summary.split_files import SplitFile, SplitFolder, operator_folder

__all__ = ["CompilerSide"]

ThreadKey = Tuple[Tuple[str, ...], int, int]


@dataclass
class _Pending:
    """One file of the compiler side under its provisional name, until all operators are known."""

    name: str
    graph_name: str
    entry: SplitFile
    before: Optional[str]
    after: Optional[str] = None
    torn: bool = False
    """What was written last has no line end yet."""


@dataclass
class _Thread:
    """What one thread is in the middle of."""

    group: Tuple[Optional[int], Optional[int], Optional[int]] = (None, None, None)
    block: Optional[_Pending] = None
    block_line: Optional[DfxLine] = None
    operator: Optional[str] = None
    """Whose message was the last one."""
    waiting: Dict[Tuple[object, ...], _Pending] = field(default_factory=dict)
    """Files begun since that message."""


class CompilerSide:
    """Takes every batch, writes each block to a provisional file, and names the files at the end."""

    def __init__(self, folder: SplitFolder, native: bool) -> None:
        self._folder = folder
        self._native = native
        self._threads: Dict[ThreadKey, _Thread] = {}
        self._open = 0
        self._pending: List[_Pending] = []
        self._writer: Tuple[Tuple[str, ...], int, int] = ((), -1, -1)
        """Process and thread of the last line: lines without a header go on with it, also in the next batch."""

    def batch(self, batch: LineBatch, found: EventBatch, has_dfx: bool) -> None:
        """Folds the lines of one batch; cheap while no block is open and none begins."""
        if not has_dfx and not self._open:
            self._skip(batch, found)
            return
        messages = self._messages(batch, found)
        at = 0
        for start, end, first, count, pid, tid in thread_spans(
            batch.block, batch.start, batch.end, batch.first_line, b"[DFX]", self._native
        ):
            if pid == tid == -1 and self._writer[0] == batch.process:
                pid, tid = self._writer[1:]
            self._writer = (batch.process, pid, tid)
            thread = self._thread(batch.process, pid, tid)
            while at < len(messages) and messages[at][0] < first:
                self._message(*messages[at][1:])
                at += 1
            self._span(thread, batch, start, end, first, count)
        for _, thread, operator in messages[at:]:
            self._message(thread, operator)

    def finish(self, operators: List[str], wanted: Callable[[Optional[str], SplitFile], bool]) -> List[SplitFile]:
        """Gives every file its final name; those that are not wanted are removed."""
        for thread in self._threads.values():
            self._abandon(thread)
        files: Dict[str, SplitFile] = {}
        known = set(operators)
        names: Dict[str, Optional[str]] = {}
        for pending in self._pending:
            if pending.graph_name not in names:
                names[pending.graph_name] = _by_name(pending.graph_name, known)
            operator = names[pending.graph_name]
            if operator is None and pending.before == pending.after:
                operator = pending.before
            self._place(pending, operator, files, wanted)
        return list(files.values())

    def _place(
        self,
        pending: _Pending,
        operator: Optional[str],
        files: Dict[str, SplitFile],
        wanted: Callable[[Optional[str], SplitFile], bool],
    ) -> None:
        entry = pending.entry
        if not wanted(operator, entry):
            return
        if pending.torn:
            self._folder.append(pending.name, b"\n")
        entry.operator = operator
        entry.path = _path(operator, entry)
        self._folder.adopt(pending.name, entry.path)
        known = files.setdefault(entry.path, entry)
        if known is not entry:
            known.lines += entry.lines
            known.last = entry.last
            known.complete = known.complete and entry.complete

    def _skip(self, batch: LineBatch, found: EventBatch) -> None:
        """Takes note of the messages of a batch without blocks; the last one of each thread does, if none waits."""
        owners = self._owners(batch, found)
        if any(thread.waiting for thread, _ in owners):
            for event in found.events:
                self._message(*owners[event[1]])
        else:
            unseen = {id(thread) for thread, operator in owners if operator}
            for event in reversed(found.events):
                if not unseen:
                    break
                thread, operator = owners[event[1]]
                if operator and id(thread) in unseen:
                    unseen.remove(id(thread))
                    thread.operator = operator
        self._writer = ((), -1, -1)

    def _owners(self, batch: LineBatch, found: EventBatch) -> List[Tuple[_Thread, str]]:
        """Thread and operator of each stream of the batch."""
        return [
            (self._thread(batch.process, pid, tid), found.strings[name].decode("utf-8", "replace"))
            for pid, tid, name in found.streams
        ]

    def _messages(self, batch: LineBatch, found: EventBatch) -> List[Tuple[int, _Thread, str]]:
        owners = self._owners(batch, found)
        return [(event[2], *owners[event[1]]) for event in found.events]

    def _thread(self, process: Tuple[str, ...], pid: int, tid: int) -> _Thread:
        key = (process, pid, tid)
        thread = self._threads.get(key)
        if thread is None:
            thread = self._threads[key] = _Thread()
        return thread

    def _message(self, thread: _Thread, operator: str) -> None:
        if not operator:
            return
        if thread.waiting:
            for pending in thread.waiting.values():
                pending.after = operator
            thread.waiting.clear()
        thread.operator = operator

    def _span(self, thread: _Thread, batch: LineBatch, start: int, end: int, first: int, count: int) -> None:
        raw = bytes(batch.block[start:end])
        line = parse_dfx(raw.rstrip(b"\r\n")) if count == 1 and b"[DFX]" in raw else None
        if line is not None and line.begin:
            self._begin(thread, line)
        elif line is not None and line.case is None:
            self._end_group(thread)
        if thread.block is not None:
            goes_on = batch.continues and start == batch.start
            self._write(thread.block, raw, goes_on)
            thread.block.entry.count(count - goes_on, (batch.path, first), (batch.path, first + count - 1))
        if line is not None and not line.begin and line.case is not None:
            self._end(thread, line)

    def _write(self, pending: _Pending, raw: bytes, goes_on: bool) -> None:
        """Appends; a file that ended without a line end gets one before a line of the next file."""
        if pending.torn and not goes_on:
            self._folder.append(pending.name, b"\n")
        self._folder.append(pending.name, raw)
        pending.torn = not raw.endswith(b"\n")

    def _begin(self, thread: _Thread, line: DfxLine) -> None:
        self._abandon(thread)
        if line.case is None:
            thread.group = (line.graph, line.result, line.group)
            return
        key = (line.graph_name, thread.group, line.case, line.sub_case)
        pending = thread.waiting.get(key)
        if pending is None:
            entry = SplitFile("", None, "compiler", *thread.group, line.case, line.sub_case)
            pending = _Pending(f"pending/{len(self._pending)}.log", line.graph_name, entry, thread.operator)
            self._pending.append(pending)
            thread.waiting[key] = pending
        thread.block, thread.block_line = pending, line
        self._open += 1

    def _end(self, thread: _Thread, line: DfxLine) -> None:
        if thread.block is not None and thread.block_line is not None:
            begun = thread.block_line
            matches = (begun.graph_name, begun.case, begun.sub_case) == (line.graph_name, line.case, line.sub_case)
            thread.block.entry.complete = thread.block.entry.complete and matches
            thread.block = thread.block_line = None
            self._open -= 1

    def _end_group(self, thread: _Thread) -> None:
        self._abandon(thread)
        thread.group = (None, None, None)

    def _abandon(self, thread: _Thread) -> None:
        """Ends a block that has no End of its own; it is kept and marked."""
        if thread.block is not None:
            thread.block.entry.complete = False
            thread.block = thread.block_line = None
            self._open -= 1


def _path(operator: Optional[str], entry: SplitFile) -> str:
    place = f"{operator_folder(operator)}/compiler"
    ids = (entry.graph, entry.result, entry.group)
    group = "unknown_group" if None in ids else f"graph{ids[0]}_result{ids[1]}/g{ids[2]}"
    return f"{place}/{group}/case{entry.sub_case}{entry.case}.log"


def _by_name(graph_name: str, operators: Set[str]) -> Optional[str]:
    """The operator of that name, or the longest whose name stands in it as whole words; None when two are as good."""
    if graph_name in operators:
        return graph_name
    inside = [
        name
        for name in operators
        if name in graph_name and re.search(rf"(?<![0-9A-Za-z]){re.escape(name)}(?![0-9A-Za-z])", graph_name, re.ASCII)
    ]
    if not inside:
        return None
    longest = max(len(name) for name in inside)
    best = [name for name in inside if len(name) == longest]
    return best[0] if len(best) == 1 else None
