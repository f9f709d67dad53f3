"""Writes every row of every table as one line of `key=value`, quoted where the value holds a blank or a quote."""

from __future__ import annotations

import json
from typing import BinaryIO

from autofuse.report.model import Cell, Report, ReportContext


def write(report: Report, out: BinaryIO, context: ReportContext) -> None:
    """`table=NAME key=value …`; a missing value has no key."""
    for table in report.tables:
        for row in table.rows:
            pairs = [
                f"{column.name.replace(' ', '_')}={_value(cell)}"
                for column, cell in zip(table.columns, row)
                if cell is not None
            ]
            out.write(" ".join([f"table={_value(table.name)}", *pairs]).encode() + b"\n")


def _value(cell: Cell) -> str:
    text = str(cell)
    # Names come out of logs: JSON quoting keeps line ends and control characters out of the line.
    plain = text and text.isprintable() and not any(character in text for character in ' "=')
    return text if plain else json.dumps(text)
