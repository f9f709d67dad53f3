"""The two sides of a comparison: rows read from a summary CSV of any earlier tool, or straight from logs."""

from __future__ import annotations

import csv
import io
import os
import re
import sys
from dataclasses import dataclass, field
from typing import Callable, Dict, Iterable, List, Optional, Sequence

from autofuse.cli.app import App
from autofuse.errors import AutofuseError
from autofuse.report.formulas import unguarded
from autofuse.report.model import Table

from autofuse_att_summary.filters import InvocationChoice
from autofuse_att_summary.notices import say_what_was_skipped
from autofuse_att_summary.reading import read_logs
from autofuse_att_summary.rows import build_table
from autofuse_att_summary.summary import Summary

__all__ = ["Side", "SideRow", "read_side"]

_CASE = re.compile(r"\s*([A-Za-z]*)\s*(\d+)\s*\Z", re.ASCII)
_HEADER_BYTES = 1 << 16


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
    def operators(self) -> List[str]:
        """Every operator once, in order of appearance."""
        return list(dict.fromkeys(row.operator for row in self.rows))


def read_side(app: App, location: str, invocations: InvocationChoice) -> Side:
    """Reads a CSV with an Operator column, or else logs; AutofuseError when it can be neither."""
    if os.path.isfile(location):
        if location.lower().endswith(".csv"):
            return _read_csv(location)
        if _looks_like_csv(location):
            return _read_csv(location)
    return _read_logs(app, location, invocations)


def _looks_like_csv(path: str) -> bool:
    try:
        with open(path, "rb") as source:
            head = source.read(_HEADER_BYTES)
    except OSError as error:
        raise AutofuseError(f"cannot read: {error.strerror}", path) from error
    first = head.decode("utf-8-sig", "replace").splitlines()[:1]
    names = [name.strip().strip('"') for name in first[0].split(",")] if first else []
    return "Operator" in names and len(names) > 1


def _read_csv(path: str) -> Side:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        with open(path, "rb") as source:
            text = source.read().decode("utf-8-sig", "replace").replace("\0", "")
    except OSError as error:
        raise AutofuseError(f"cannot read: {error.strerror}", path) from error
    try:
        lines = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error as error:
        raise AutofuseError(f"is no CSV: {error}", path) from error
    lines = [line for line in lines if line]
    if not lines:
        raise AutofuseError("is empty", path, "expected a summary CSV with an Operator column")
    header = [name.strip() for name in lines[0]]
    if "Operator" not in header:
        raise AutofuseError("has no Operator column", path, "expected a summary CSV, or logs")
    side = _side(path, header, lines[1:], unguarded)
    longer = sum(len(line) > len(header) and any(line[len(header) :]) for line in lines[1:])
    if longer:
        side.notes.append(f"{path}: {longer} rows have more cells than the header; the excess is left out")
    return side


def _read_logs(app: App, location: str, invocations: InvocationChoice) -> Side:
    summary = Summary(invocations)
    run = read_logs(app, [location], summary.add)
    say_what_was_skipped(app, run)
    table = build_table(summary.rows())
    side = _side(location, [column.name for column in table.columns], _texts(table))
    side.notes.extend(f"{location}: {line}" for line in summary.counts())
    side.failed = bool(run.notices.failures)
    return side


def _texts(table: Table) -> Iterable[List[str]]:
    for row in table.rows:
        yield ["" if cell is None else str(cell) for cell in row]


def _side(name: str, columns: List[str], lines: Iterable[Sequence[str]], read: Callable[[str], str] = str) -> Side:
    rows: List[SideRow] = []
    nameless = 0
    for line in lines:
        cells = {column: read(cell) for column, cell in zip(columns, line) if cell != ""}
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
