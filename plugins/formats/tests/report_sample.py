"""A report built by hand, with everything a report can hold and the text that a hostile log can bring into it."""

from __future__ import annotations

from typing import Optional, Tuple

from autofuse.report.model import Cell, Chart, Column, Figure, Number, Provenance, Report, Series, Table

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<&>\"'`|*_[x](http://example.invalid)",
    "融合算子_加法",
    "esc\x1b[31mred\x07\x9b2J",
    "line\nbreak\rand\ttab",
    "nul\x00byte",
    "bidi\u202egnp.exe",
    "lone\udc80surrogate",
    'comma, "quote"',
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\tTAB",
    "'=quoted",
    "#REF!",
    "_x0041_",
    "{{ 7*7 }}",
    "]]>",
)
"""Names as a hostile log may hold them."""

COLUMNS = (
    Column("Operator", "text", meaning="Raw fused_graph_name", label_zh="算子"),
    Column("Graph", "int", key="graph_id"),
    Column("Objective Value", "float", unit="cycles", label_zh="目标值"),
    Column("Cosine", "float", format="%.8f"),
    Column("Tiling Key", "any"),
    Column("Source", "text", hidden=True),
    Column("Line", "int", hidden=True),
)

NUMBERS: Tuple[Cell, ...] = (
    Number("1754.082830"),
    Number("18446744073709551615"),
    Number("nan"),
    Number("-inf"),
    None,
    Number("128"),
    0.1,
    float("inf"),
    float("nan"),
    1e300,
)
"""Values of the objective column, in turn."""


def row(index: int, name: Optional[str] = None) -> Tuple[Cell, ...]:
    """One row of the main table."""
    operator = name if name is not None else f"autofuse_pointwise_{index}_Abs_Add"
    return (
        operator,
        index % 3,
        NUMBERS[index % len(NUMBERS)],
        1 - index / 1000,
        Number(str(2**64 + index)) if index % 2 else None,
        f"/var/log/run {index % 4}/plog-{index % 7}.log",
        index + 1,
    )


class Rows:
    """`count` rows, made when they are read."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self):  # type: ignore[no-untyped-def]
        return map(row, range(self.count))


def charts() -> Tuple[Chart, ...]:
    """One chart of each kind, and the awkward ones."""
    names = ("Add", "Mul", "<&>\"'", "融合算子_" * 12, "x" * 300)
    base = Series("base", (1.0, 2.5, None, -4.0, 3.0))
    values = (base, Series("candidate", (1.5, float("nan"), 2.0, float("inf"), 0.0)))
    plain = Series("ratio", (3.0, -1.0, 0.5, 2.0, 1.0))
    return (
        Chart("objective", "bar", "Objective by operator", names, values, unit="cycles", marked=(1,)),
        Chart("balance", "stacked", "Pipe balance", names, values, unit="cycles", y_title="Cycles"),
        Chart("course", "line", "Course", names, values, x_title="operator"),
        Chart("map", "heatmap", "Sweep", names, (*values, plain), unit="µs", marked=(0,)),
        Chart("moves", "waterfall", "What moved the objective", names, (plain,), unit="cycles"),
        Chart("none", "bar", "Nothing in it", (), ()),
        Chart("gaps", "line", "Only gaps", ("a", "b"), (Series("s", (None, float("nan"))),)),
    )


def figure() -> Figure:
    """A drawing of its own."""
    return Figure(
        "drawing",
        "A drawing",
        lambda: '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="50"><circle cx="25" cy="25" r="20"/></svg>',
    )


def sample_report(rows: int = 12) -> Report:
    """Hostile names first, then ordinary ones."""
    main = Table(
        "summary",
        COLUMNS,
        [*(row(index, name) for index, name in enumerate(HOSTILE)), *Rows(rows)],
        title="Chosen templates",
        notes=("1 operator has no result",),
    )
    second = Table("pipes", (Column("Pipe"), Column("Share", "float")), [("AIV_MTE2", 0.75), ("AIV_VEC", None)])
    empty = Table("nothing", (Column("Name"), Column("Value", "int")), [], "Empty")
    return Report(
        "Summary of <2> logs",
        (main, second, empty),
        charts(),
        (figure(),),
        lead=("Slowest: <Add> with 1754.082830 cycles\x1b[2J",),
        notes=("2 calls failed",),
        provenance=Provenance("autofuse run summary a.log", ("/var/log/a.log",), {"autofuse": "0.1.0"}, {"cwd": "/"}),
    )
