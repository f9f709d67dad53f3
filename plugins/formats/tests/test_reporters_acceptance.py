"""Pages and drawings as a reader meets them: values lead to the log of their own side, long cells hide no others."""

from __future__ import annotations

import io
import re

import pytest
from autofuse.report.model import Chart, Column, Report, ReportContext, Series, Table
from autofuse_formats.reporters import html, svg
from browser import evaluate, needs_browser

TWO_SIDES = Table(
    "performance",
    (
        Column("Operator"),
        Column("Metric"),
        Column("Base", "float"),
        Column("Candidate", "float"),
        Column("Percent", "float"),
        Column("Base Source", hidden=True),
        Column("Base Line", "int", hidden=True),
        Column("Candidate Source", hidden=True),
        Column("Candidate Line", "int", hidden=True),
    ),
    [("Add", "Result Perf", 10.5, 12.5, 19.0, "/log/old.log", 7, "/log/new.log", 9), ("Mul",) + (None,) * 8],
)


def rendered(write, report):
    out = io.BytesIO()
    write(report, out, ReportContext())
    return out.getvalue().decode("utf-8")


def page_of(table):
    return re.sub(
        r"<meta http-equiv=\"Content-Security-Policy\"[^>]*>", "", rendered(html.write, Report("t", (table,)))
    )


@needs_browser
def test_values_of_two_sides_lead_to_their_own_logs(tmp_path):
    script = (
        "answer([...document.querySelectorAll('tbody tr')].map(row => "
        "[...row.querySelectorAll('a.v')].map(link => link.textContent + ' ' + link.getAttribute('href'))))"
    )
    assert evaluate(tmp_path / "p.html", page_of(TWO_SIDES), script) == [
        ["10.5 file:///log/old.log#L7", "12.5 file:///log/new.log#L9", "19.0 file:///log/old.log#L7"],
        [],
    ]


@needs_browser
def test_long_cells_leave_room_for_the_columns_behind_them(tmp_path):
    names = ("x" * 300, "autofuse_" * 20 + "end", "融合算子" * 60, "a sentence of several words " * 8, "short")
    table = Table("t", (Column("Operator"), Column("In Words"), Column("Value", "int")), [(n, n, 1) for n in names])
    script = """
      const box = document.querySelector(".table .scroll"), row = document.querySelectorAll("tbody tr");
      answer([box.scrollWidth <= box.clientWidth, [...row].map(line => line.cells[1].title.length),
              Math.max(...[...row].map(line => line.getBoundingClientRect().height)) < 120]);
    """
    fits, titles, low = evaluate(tmp_path / "p.html", page_of(table), script)
    # The whole text stays at hand.
    assert titles[:4] == [len(name) for name in names[:4]]
    assert (fits, low) == (True, True)


@pytest.mark.parametrize("kind", ["bar", "stacked", "line", "waterfall", "heatmap"])
@pytest.mark.parametrize("values", [(), (float("nan"),), (float("inf"), -float("inf")), (None, None)])
def test_charts_of_nothing_are_whole_drawings(kind, values):
    names = tuple(f"<&>\"' 算子 {index}" for index in range(len(values)))
    chart = Chart("c", kind, "<&>\"' 算子", names, (Series("a", tuple(values)),), unit="cycles")
    text = rendered(svg.write, Report("t", (), charts=(chart,)))
    assert text.count("<svg") == text.count("</svg>") == 1
    assert not re.search(r'="[^"]*\b(?:nan|inf)\b', text)


def test_a_drawing_fills_its_window_in_its_own_colour():
    text = rendered(svg.write, Report("t", (), charts=(Chart("c", "bar", "t", ("a",), (Series("a", (1.0,)),)),)))
    assert 'class="af-page"' in text
    assert text.count(".af-page{background:") == 2  # light and dark
