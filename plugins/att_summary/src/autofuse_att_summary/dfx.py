"""Compiler messages: `[DFX]` lines that begin and end the model info of a group and of each of its tiling cases."""

from __future__ import annotations

import re
from typing import Iterator, NamedTuple, Optional

from autofuse import types
from autofuse.scan.lines import LineBatch, rows

from autofuse_att_summary.lines import parse_writer, strip_ansi

__all__ = ["BLOCK_MARKERS", "DfxLine", "parse_dfx", "parser"]

BLOCK_MARKERS = (b"[DFX]Begin to gen", b"[DFX]End to gen")

_GROUP_BEGIN = re.compile(
    rb"\[DFX\]Begin to gen model info for asc graph (\d{1,18}), schedule result (\d{1,18}), "
    rb"schedule group (-?\d{1,18}), tiling_case size \d+, graph name (.*)"
)
_GROUP_END = re.compile(
    rb"\[DFX\]End to gen model info for graph(\d{1,18})_result(\d{1,18})_g(-?\d{1,18}) tiling_case size \d+, "
    rb"graph name (.*)"
)
_CASE = re.compile(
    rb"\[DFX\](Begin|End) to generate model info for graph (.*) of tiling case id ([A-Za-z]*)(\d{1,18})\.?\s*\Z"
)


class DfxLine(NamedTuple):
    """One begin or end; `case` is None for those of a whole group, the group's ids are None for those of a case."""

    begin: bool
    graph_name: str
    case: Optional[int] = None
    sub_case: str = ""
    graph: Optional[int] = None
    result: Optional[int] = None
    group: Optional[int] = None


def parse_dfx(line: bytes) -> Optional[DfxLine]:
    """Reads a line without its line end; None when it neither begins nor ends anything."""
    line = strip_ansi(line)
    at = line.find(b"[DFX]")
    if at < 0:
        return None
    case = _CASE.match(line, at)
    if case:
        return DfxLine(case.group(1) == b"Begin", _name(case.group(2)), int(case.group(4)), case.group(3).decode())
    for pattern, begin in ((_GROUP_BEGIN, True), (_GROUP_END, False)):
        match = pattern.match(line, at)
        if match:
            graph, result, group = (int(match.group(index)) for index in (1, 2, 3))
            return DfxLine(begin, _name(match.group(4)), None, "", graph, result, group)
    return None


def parser(batch: LineBatch) -> Iterator[types.Record]:
    """The record parser: ModelInfoBegin and ModelInfoEnd of each line; they pair up per process and thread."""
    view = memoryview(batch.block)
    for start, end, _, number in rows(batch.matches):
        line = bytes(view[start:end])
        found = parse_dfx(line)
        if found is None:
            continue
        pid, tid = parse_writer(line) or (-1, -1)
        position = types.Position(batch.path, number, None if pid < 0 else pid, None if tid < 0 else tid)
        kind = types.ModelInfoBegin if found.begin else types.ModelInfoEnd
        yield kind("", position, found.graph_name, found.case, found.graph, found.result, found.group)


def _name(text: bytes) -> str:
    """The asc-graph name; the message's own full stop is exactly one."""
    name = text.decode("utf-8", "replace").rstrip("\r\n")
    return name[:-1] if name.endswith(".") else name
