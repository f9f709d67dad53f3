"""The two sides of a comparison: rows read from a summary CSV of any earlier tool, or straight from logs."""

from __future__ import annotations

import io
import os
import re
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, Dict, Iterable, List, Optional, Sequence, Union, cast

from autofuse.cli.app import App
from autofuse.errors import AutofuseError
from autofuse.report.model import Table
from autofuse.scan.locations import open_streams
from autofuse.scan.source import ByteStream, Notices

from autofuse_att_summary.compare_csv import HEADER_BYTES, looks_like_csv, parse_csv
from autofuse_att_summary.filters import InvocationChoice
from autofuse_att_summary.notices import say_what_was_skipped
from autofuse_att_summary.reading import read_log_streams
from autofuse_att_summary.rows import build_table
from autofuse_att_summary.summary import Summary

__all__ = ["LogSide", "Side", "SideRow", "open_side"]

_CASE = re.compile(r"\s*([A-Za-z]*)\s*(\d+)\s*\Z", re.ASCII)


_OTHER_REPORTS = (".jsonl", ".html", ".htm", ".xlsx", ".md", ".svg")


@dataclass(frozen=True)
class SideRow:
    """One row of a side; a cell that is empty is absent from `cells`."""

    operator: str
    graph: str
    result: str
    group: str
    shape: str
    cells: Dict[str, str]

    @property
    def template(self) -> str:
        """`2` or `R2`; empty when no case is known."""
        return self.cells.get("Sub Case", "") + self.cells.get("Case", "")


@dataclass
class Side:
    """One side: its columns in order, its rows, and what there is to say about reading it."""

    name: str
    columns: List[str]
    rows: List[SideRow]
    notes: List[str] = field(default_factory=list)
    failed: bool = False
    """Something that was named could not be read."""

    @property
    def has_several_calls(self) -> bool:
        """Whether some operator has more than one row for a graph, result and group."""
        keys = [(row.operator, row.graph, row.result, row.group) for row in self.rows]
        return len(set(keys)) < len(keys)

    @property
    def operators(self) -> List[str]:
        """Every operator once, in order of appearance."""
        return list(dict.fromkeys(row.operator for row in self.rows))


@dataclass(frozen=True)
class LogSide:
    """A side that is logs: opened, and not read yet."""

    name: str
    streams: Sequence[ByteStream]
    notices: Notices

    def read(self, app: App, invocations: InvocationChoice) -> Side:
        """The rows of the calls that are wanted. A pipe can be read once."""
        summary = Summary(invocations)
        run = read_log_streams(app, self.streams, self.notices, summary.add)
        say_what_was_skipped(app, run)
        rows = summary.rows()
        table = build_table(rows)
        side = _side(self.name, [column.name for column in table.columns], _texts(table))
        side.notes.extend(f"{self.name}: {line}" for line in summary.counts())
        if not rows:
            side.notes.append(f"{self.name}: no tiling messages in {run.lines} lines of {len(run.streams)} files")
        side.failed = bool(self.notices.failures)
        return side


def open_side(app: App, location: str) -> Union[Side, LogSide]:
    """A CSV with an Operator column, or else logs; AutofuseError when it can be neither."""
    if location.lower().endswith(_OTHER_REPORTS) and os.path.isfile(location):
        raise AutofuseError("is a report that compare does not read", location, "give a summary CSV, or the logs")
    if os.path.isfile(location) and (
        location.lower().endswith(".csv") or looks_like_csv(_read(location, HEADER_BYTES))
    ):
        return _csv_side(location, _read(location))
    notices = Notices()
    streams = open_streams(app.host, [location], notices)
    if len(streams) == 1 and streams[0].once:
        # A pipe: its beginning tells what it is, and cannot be read again.
        opened = io.BufferedReader(cast(io.RawIOBase, streams[0].open()))
        head = opened.read(HEADER_BYTES)
        if looks_like_csv(head):
            return _csv_side(location, head + opened.read())
        streams = [replace(streams[0], open=lambda: cast(BinaryIO, _Resumed(head, opened)))]
    return LogSide(location, streams, notices)


def _read(path: str, size: int = -1) -> bytes:
    try:
        with open(path, "rb") as source:
            return source.read(size)
    except OSError as error:
        raise AutofuseError(f"cannot read: {error.strerror}", path) from error


class _Resumed(io.RawIOBase):
    """A stream of which the head was taken already, from its beginning."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        super().__init__()
        self._head = io.BytesIO(head)
        self._rest = rest

    def readinto(self, buffer: Any) -> int:
        return self._head.readinto(buffer) or self._rest.readinto(buffer)  # type: ignore[attr-defined]

    def close(self) -> None:
        self._rest.close()
        super().close()


def _csv_side(name: str, data: bytes) -> Side:
    table = parse_csv(name, data)
    side = _side(name, table.columns, table.lines)
    side.notes.extend(f"{name}: {note}" for note in table.notes)
    return side


def _texts(table: Table) -> Iterable[List[str]]:
    for row in table.rows:
        yield ["" if cell is None else str(cell) for cell in row]


def _side(name: str, columns: List[str], lines: Iterable[Sequence[str]]) -> Side:
    rows: List[SideRow] = []
    nameless = 0
    for line in lines:
        cells = {column: cell for column, cell in zip(columns, line) if cell != ""}
        operator = cells.pop("Operator", "")
        if not operator:
            nameless += 1
            continue
        _split_case(cells)
        graph, result, group, shape = (cells.pop(key, "") for key in ("Graph", "Result", "Group", "Input Shape"))
        rows.append(SideRow(operator, graph, result, group, shape, cells))
    side = Side(name, columns, rows)
    if nameless:
        side.notes.append(f"{name}: {nameless} rows have no operator and are left out")
    return side


def _split_case(cells: Dict[str, str]) -> None:
    """In the CSV of an earlier tool the case `R2` is case 2 of the sub-case R."""
    match: Optional[re.Match[str]] = _CASE.match(cells.get("Case", ""))
    if match and match.group(1):
        cells["Case"] = match.group(2)
        cells.setdefault("Sub Case", match.group(1))
