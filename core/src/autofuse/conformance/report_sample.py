"""A report that holds everything a report can hold, and the text that a hostile log can bring into it."""

from __future__ import annotations

from typing import Tuple

from autofuse.report.model import Cell, Chart, Column, Figure, Number, Provenance, Report, Series, Table

__all__ = ["standard_report"]

_NAMES = (
    "Add_1",
    "</script><script>alert(1)</script>",
    "<&>\"'`|*_",
    "融合算子_加法",
    "esc\x1b[31mred\x07",
    "line\nbreak\rand\ttab",
    "nul\x00byte",
    "bidi\u202egnp.exe",
    "lone\udc80surrogate",
    "=cmd|' /C calc'!A0",
    "@SUM(A1)",
    "x" * 40_000,
    "",
)
_NUMBERS: Tuple[Cell, ...] = (
    Number("1754.082830"),
    Number("18446744073709551615"),
    Number("-nan"),
    Number("-inf"),
    float("nan"),
    float("inf"),
    None,
    1e300,
    -0.0,
    True,
)


def standard_report() -> Report:
    """Three tables (one of them empty), a chart of each kind, a figure, and notes."""
    columns = (
        Column("Operator", "text", meaning="Raw fused_graph_name", label_zh="算子"),
        Column("Graph", "int", key="graph_id"),
        Column("Objective Value", "float", unit="cycles", label_zh="目标值"),
        Column("Cosine", "float", format="%.8f"),
        Column("Anything", "any"),
        Column("Line", "int", hidden=True),
    )
    rows = [
        (name, index, _NUMBERS[index % len(_NUMBERS)], 1 - index / 1000, _NUMBERS[-1 - index % len(_NUMBERS)], index)
        for index, name in enumerate(_NAMES)
    ]
    return Report(
        "Standard report <1>",
        (
            Table("main", columns, rows, title="Everything", notes=("a note",)),
            Table("shares", (Column("Pipe"), Column("Share", "float")), [("AIV_MTE2", 0.75), ("AIV_VEC", None)]),
            Table("empty", (Column("Name"), Column("Value", "int")), [], "Empty"),
        ),
        _charts(),
        (Figure("drawing", "A drawing", lambda: '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'),),
        lead=("The answer\x1b[2J",),
        notes=("The rest",),
        provenance=Provenance("autofuse run summary a.log", ("/var/log/a.log",), {"autofuse": "1"}, {"cwd": "/"}),
    )


def empty_report() -> Report:
    """A report whose only table has no rows."""
    return Report("Nothing", (Table("main", (Column("Operator"), Column("Value", "float")), []),))


def _charts() -> Tuple[Chart, ...]:
    names = ("Add", "<&>\"'", "融合算子")
    series = (Series("base", (1.0, None, -4.0)), Series("candidate", (float("nan"), 2.0, float("inf"))))
    steps = (Series("step", (3.0, -1.0, 0.5)),)
    kinds = (("bar", series), ("stacked", series), ("line", series), ("heatmap", series), ("waterfall", steps))
    charts = tuple(Chart(kind, kind, f"A {kind}", names, values, unit="cycles") for kind, values in kinds)
    return (*charts, Chart("none", "bar", "Nothing in it", (), ()))
