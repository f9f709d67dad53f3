"""Summary CSVs of this and earlier tools, also after an editor or a spreadsheet had them in hand.

What cannot be taken as it stands is told in the notes; what the columns mean is left to the caller.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from dataclasses import dataclass
from typing import Iterable, List

from autofuse.errors import AutofuseError
from autofuse.report.formulas import unguarded

__all__ = ["HEADER_BYTES", "CsvTable", "looks_like_csv", "parse_csv"]

HEADER_BYTES = 1 << 16
"""Enough of a file to tell whether it is a summary CSV."""

_END = "\ue000end\ue000"
"""Stands behind the text; a quote that is never closed swallows it."""
_WHOLE_NUMBER = re.compile(r"\s*(-?[0-9]+)(?:\.0+)?\s*\Z", re.ASCII)
_IDS = ("Graph", "Result", "Group", "Case")


@dataclass(frozen=True)
class CsvTable:
    """The header, the lines below it (cells in the order of the header, ragged ones as they are) and what to tell."""

    columns: List[str]
    lines: List[List[str]]
    notes: List[str]


def looks_like_csv(head: bytes) -> bool:
    """Whether a file that begins so has a header line with an Operator column and another one."""
    first = head.decode("utf-8-sig", "replace").lstrip().splitlines()[:1]
    names = [name.strip().strip('"') for name in first[0].split(",")] if first else []
    return "Operator" in names and len(names) > 1


def parse_csv(name: str, data: bytes) -> CsvTable:
    """The table; AutofuseError when there is none, no Operator column, or when a quote swallows the rest of it."""
    text = data.decode("utf-8-sig", "replace").replace("\0", "")
    lines = _lines(name, text)
    if not lines:
        raise AutofuseError("is empty", name, "expected a summary CSV with an Operator column")
    header = [column.strip() for column in lines[0]]
    if "Operator" not in header:
        raise AutofuseError("has no Operator column", name, "expected a summary CSV, or logs")
    places = {column: header.index(column) for column in dict.fromkeys(header)}
    ids = [column in _IDS for column in places]
    found = [
        [_whole(cell) if is_id else unguarded(cell) for cell, is_id in zip(_pick(line, places.values()), ids)]
        for line in lines[1:]
    ]
    return CsvTable(list(places), found, _notes(data, header, lines[1:]))


def _lines(name: str, text: str) -> List[List[str]]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        lines = [line for line in csv.reader(io.StringIO(f"{text}\r\n{_END}", newline="")) if line]
    except csv.Error as error:
        raise AutofuseError(f"is no CSV: {error}", name) from error
    if lines[-1] != [_END]:
        raise AutofuseError("has a quote that is never closed", name, "the file may be cut, or not be a CSV")
    return lines[:-1]


def _pick(line: List[str], places: Iterable[int]) -> List[str]:
    return [line[place] if place < len(line) else "" for place in places]


def _whole(cell: str) -> str:
    """Ids as other programs write a column of numbers with gaps: `2.0` is 2."""
    match = _WHOLE_NUMBER.match(cell)
    return match.group(1) if match else unguarded(cell)


def _notes(data: bytes, header: List[str], lines: List[List[str]]) -> List[str]:
    notes: List[str] = []
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        notes.append(
            f"is no UTF-8 from byte {error.start} on; what does not decode is shown as \N{REPLACEMENT CHARACTER}"
        )
    twice = sorted({column for column in header if column and header.count(column) > 1})
    if twice:
        notes.append(f"has more than one column {', '.join(twice)}; the first is used")
    longer = sum(len(line) > len(header) and any(line[len(header) :]) for line in lines)
    if longer:
        notes.append(f"{longer} rows have more cells than the header; the excess is left out")
    return notes
