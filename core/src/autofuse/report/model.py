"""The Report: named tables, charts, figures, notes and provenance; a pure value that every reporter renders.

Commands build it, reporters write it; neither knows the other. Charts are data, not pixels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Callable, Iterable, Mapping, Optional, Sequence, Tuple, Union

__all__ = ["Cell", "Chart", "Column", "Figure", "Number", "Provenance", "Report", "ReportContext", "Series", "Table"]


class Number(str):
    """A number as it was logged: the text stays what a human compares, `value` is what a program computes with.

    `Number("1754.082830")` is written unchanged to text formats and as 1754.08283 to formats that have numbers.
    Integers of any size stay integers; nan and inf are values.
    """

    __slots__ = ()

    @property
    def value(self) -> Union[int, float]:
        """The exact integer, or the nearest float; ValueError when the text is no number."""
        try:
            return int(self)
        except ValueError:
            return float(self)

    @property
    def is_finite(self) -> bool:
        """False for nan and both infinities."""
        value = self.value
        return isinstance(value, int) or math.isfinite(value)


Cell = Union[None, str, int, float, bool, Number]
"""One value of a table. None is missing: empty in CSV, null in JSON, `-` on the console. Plain str is text."""


@dataclass(frozen=True)
class Column:
    """A column: exact name, what kind of values it holds, their unit and meaning."""

    name: str
    kind: str = "text"
    """`text`, `int`, `float` or `any`."""
    unit: str = ""
    meaning: str = ""
    label_zh: str = ""
    """Chinese heading for human-readable outputs; machine formats always use `name`."""
    key: str = ""
    """Key in JSON outputs when it differs from `name`."""
    format: str = ""
    """printf-style format of finite numbers in text outputs (console, csv), such as `%.8f`; empty: shortest exact."""
    hidden: bool = False
    """True when the console leaves it out for width; every file format has it."""


@dataclass(frozen=True)
class Table:
    """A named table. `rows` may be any re-iterable (a list, or an object whose `__iter__` starts again)."""

    name: str
    columns: Tuple[Column, ...]
    rows: Iterable[Sequence[Cell]]
    title: str = ""
    notes: Tuple[str, ...] = ()
    detail: bool = False
    """True when the console leaves it out; every file format has it."""


@dataclass(frozen=True)
class Series:
    """One named row of numbers of a chart; None and nan are gaps."""

    name: str
    values: Tuple[Optional[float], ...]


@dataclass(frozen=True)
class Chart:
    """A chart as data.

    `kind`: `bar` (grouped), `stacked`, `line`, `heatmap` (categories are the columns, each series one row) or
    `waterfall` (one series of signed steps). `marked` are category indices to emphasise (the chosen candidate, the
    offender).
    """

    name: str
    kind: str
    title: str
    categories: Tuple[str, ...]
    series: Tuple[Series, ...]
    unit: str = ""
    x_title: str = ""
    y_title: str = ""
    marked: Tuple[int, ...] = ()
    notes: Tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """A drawing of its own that no chart kind covers: a function that gives one complete `<svg>` element as text."""

    name: str
    title: str
    svg: Callable[[], str]


@dataclass(frozen=True)
class Provenance:
    """What a report was made from and by."""

    command: str = ""
    inputs: Tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """All a command has to say. The first table is the main one: what single-table formats write to a file."""

    title: str
    tables: Tuple[Table, ...]
    charts: Tuple[Chart, ...] = ()
    figures: Tuple[Figure, ...] = ()
    lead: Tuple[str, ...] = ()
    """Lines that stand before the tables in human-readable outputs (the answer first)."""
    notes: Tuple[str, ...] = ()
    """Lines that stand after the tables."""
    provenance: Provenance = Provenance()


@dataclass(frozen=True)
class ReportContext:
    """How the output will be read; everything in it is presentation."""

    to_file: bool = False
    """True for -o: CSV then starts with a BOM."""
    colour: bool = False
    width: Optional[int] = None
    """Columns of the terminal; None: as wide as the content."""
    lang: str = "en"
    """`en` or `zh`: labels of human-readable outputs."""
    notice: Callable[[str], None] = lambda text: None
    """Takes one line about what the format could not hold as it is (a cut cell, a table that goes on elsewhere)."""
