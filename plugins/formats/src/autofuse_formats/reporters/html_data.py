"""The rows of a table for the page's script: by column, repeated values once, short enough for ten thousand rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Dict, List, Sequence, Tuple

from autofuse.report.model import Cell, Column, Table

from autofuse_formats.reporters.cells import cell_text, heading, is_number, padded
from autofuse_formats.reporters.jsonl import json_value
from autofuse_formats.reporters.visible import visible
from autofuse_formats.reporters.words import words

__all__ = ["PageTable", "page_table"]

_FIRST_ROWS = 50
# An integer that JavaScript holds exactly and writes the same way.
_SMALL_INTEGER = re.compile(r"-?[1-9][0-9]{0,14}|0")


@dataclass(frozen=True)
class PageTable:
    """A table as the template and the script need it."""

    columns: Tuple[Column, ...]
    numeric: Tuple[bool, ...]
    count: int
    first_rows: List[List[str]]
    data: str
    """JSON for the script; the members are described in page.js."""
    relative: bool
    """Whether a log is named by a relative path, so that links need the folder it starts from."""


def page_table(table: Table, lang: str) -> PageTable:
    """Reads all rows once."""
    rows = [padded(row, table.columns) for row in table.rows]
    cells = list(zip(*rows)) if rows else [() for _ in table.columns]
    numeric = tuple(_is_numeric(column, values) for column, values in zip(table.columns, cells))
    links = _links(table.columns, words(lang))
    parts = [_column(column, values, number, lang) for column, values, number in zip(table.columns, cells, numeric)]
    data = f'{{"count":{len(rows)},"links":{_links_json(links)},"columns":[{",".join(parts)}]}}'
    first = [
        [visible(cell_text(cell, column)) for cell, column in zip(row, table.columns)] for row in rows[:_FIRST_ROWS]
    ]
    relative = any(_is_relative(cell) for link in links for cell in cells[link["source"]])
    return PageTable(table.columns, numeric, len(rows), first, data, relative)


def column_tip(column: Column) -> str:
    """Meaning and unit of a column, for a tooltip."""
    parts = [column.meaning, f"[{column.unit}]" if column.unit else ""]
    return visible(" ".join(part for part in parts if part))


def _column(column: Column, values: Sequence[Cell], numeric: bool, lang: str) -> str:
    members = {
        "name": _quoted(column.name),
        "label": _quoted(heading(column, lang)),
        "tip": _quoted(column_tip(column)),
        "numeric": "true" if numeric else "false",
        "hidden": "true" if column.hidden else "false",
    }
    members.update(_values(column, values))
    if column.format:
        members["exact"] = f"[{','.join(json_value(value) for value in values)}]"
    return "{" + ",".join(f'"{name}":{value}' for name, value in members.items()) + "}"


def _values(column: Column, values: Sequence[Cell]) -> Dict[str, str]:
    """All cells, or the different ones and for each row the number of its own where that is shorter."""
    cells = [_cell(value, column) for value in values]
    different: Dict[str, int] = {}
    for cell in cells:
        different.setdefault(cell, len(different))
    if len(different) * 2 > len(cells) or sum(map(len, cells)) < 4 * len(cells):
        return {"cells": f"[{','.join(cells)}]"}
    return {"values": f"[{','.join(different)}]", "rows": f"[{','.join(str(different[cell]) for cell in cells)}]"}


def _cell(value: Cell, column: Column) -> str:
    if value is None:
        return "null"
    text = cell_text(value, column)
    return text if is_number(value) and _SMALL_INTEGER.fullmatch(text) else _quoted(text)


def _quoted(text: str) -> str:
    return json_value(str(visible(text)))


def _is_numeric(column: Column, values: Sequence[Cell]) -> bool:
    if column.kind in ("int", "float"):
        return True
    present = [value for value in values if value is not None]
    return column.kind == "any" and bool(present) and all(map(is_number, present))


def _links(columns: Tuple[Column, ...], word: Dict[str, str]) -> List[Dict[str, Any]]:
    """Pairs of a source column and its line column: `Source` and `Line`, `Base Source` and `Base Line`."""
    places = {column.name.lower(): index for index, column in enumerate(columns)}
    links = []
    for index, column in enumerate(columns):
        match = re.fullmatch(r"(.*?[ _]?)source((?:_path)?)", column.name, re.IGNORECASE)
        line = places.get(f"{match[1]}{'source_line' if match[2] else 'line'}".lower()) if match else None
        if match and line is not None:
            owner = match[1].strip(" _").capitalize()
            name = f"{owner} {word['Log']}".strip()
            links.append({"source": index, "line": line, "name": name, "owner": match[1].strip(" _").lower()})
    return links


def _links_json(links: List[Dict[str, Any]]) -> str:
    return "[" + ",".join(f"{{{','.join(_member(*member) for member in link.items())}}}" for link in links) + "]"


def _member(name: str, value: Any) -> str:
    return f'"{name}":{value if isinstance(value, int) else _quoted(value)}'


def _is_relative(cell: Cell) -> bool:
    return isinstance(cell, str) and cell not in ("", "-") and not cell.startswith(("/", "<"))
