"""Any text and any number through the formats that are read back; nothing heavy is imported by the light ones."""

from __future__ import annotations

import csv
import doctest
import io
import json
import math
import re
import subprocess
import sys
from pathlib import Path

from autofuse.report.formulas import guarded, unguarded
from autofuse.report.model import Column, Number, Report, ReportContext, Table
from autofuse_formats.reporters import console, csv_table, html, jsonl, markdown, xlsx
from autofuse_formats.reporters.visible import display_width, shorten, visible
from hypothesis import example, given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook

COLUMNS = (Column("Name"), Column("Value", "any"), Column("Fixed", "float", format="%.4e"))

texts = st.text(max_size=12) | st.text(alphabet="'=+-@#|\"\r\n\t<>&_x0041 ,;融\x00\x1b\u202e\udc80", max_size=12)
numbers = st.integers() | st.floats() | st.floats(allow_nan=False).map(lambda value: Number(repr(value)))
rows = st.lists(st.tuples(texts, numbers | st.none() | st.booleans(), st.none() | st.floats()), max_size=6)


def render(write, cells, **context):
    out = io.BytesIO()
    write(Report("t", (Table("main", COLUMNS, cells),)), out, ReportContext(**context))
    return out.getvalue()


def in_utf8(text):
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def same(found, value):
    value = value.value if isinstance(value, Number) else value
    return found == value or (math.isnan(found) and math.isnan(value))


@given(texts)
def test_guard_is_without_loss(text):
    assert unguarded(guarded(text)) == text


@given(rows)
def test_csv_reads_back(cells):
    found = list(csv.reader(io.StringIO(render(csv_table.write, cells).decode("utf-8"), newline="")))
    assert len(found) == len(cells) + 1
    for (name, value, _), row in zip(cells, found[1:]):
        assert unguarded(row[0]) == in_utf8(name)
        if value is None or isinstance(value, bool):
            assert row[1] == {None: "", True: "true", False: "false"}[value]
        else:
            assert same(float(row[1]) if not isinstance(value, int) else int(row[1]), value)


@given(rows)
def test_jsonl_reads_back(cells):
    names = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
    lines = render(jsonl.write, cells).decode("utf-8").split("\n")[:-1]
    assert len(lines) == len(cells)
    for (name, value, _), line in zip(cells, lines):
        record = json.loads(line, parse_constant=lambda constant: 1 / 0)
        assert record["Name"] == name
        assert record["Value"] is value if value is None else same(names.get(record["Value"], record["Value"]), value)


@given(rows)
@settings(max_examples=40, deadline=None)
def test_xlsx_reads_back(cells):
    sheet = load_workbook(io.BytesIO(render(xlsx.write, cells)))["main"]
    for number, (name, value, _) in enumerate(cells, start=2):
        text = sheet.cell(number, 1)
        plain = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]", "", in_utf8(name))
        assert (text.value or "") == re.sub("_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", plain)
        assert text.data_type != "f"
        found = sheet.cell(number, 2).value
        assert found is value if value is None else same(float(found) if isinstance(found, str) else found, value)


# The last column of every block has a heading of five letters at least; no number and no gap is written as `-----`.
RULE = re.compile(r"(?:-+  )+-{5,}")


@given(rows, st.integers(min_value=20, max_value=90))
@example([("", 0, None), ("", None, None)], 20)
@settings(max_examples=60)
def test_console_fits_and_stays_on_its_lines(cells, width):
    text = render(console.write, cells, width=width).decode("utf-8")
    lines = text.split("\n")[:-1]
    assert visible(text.replace("\n", "")) == text.replace("\n", "")
    blocks = sum(1 for line in lines if RULE.fullmatch(line))
    assert len(lines) == (len(cells) + 2) * blocks + blocks - 1 + (not cells)


@given(rows)
@settings(max_examples=40, deadline=None)
def test_pages_stay_whole(cells):
    page = render(html.write, cells).decode("utf-8")
    assert page.count("<script") == page.count("</script>") == 2
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert data["tables"][0]["count"] == len(cells)
    lines = render(markdown.write, cells).decode("utf-8").split("\n")
    table = [line for line in lines if line.startswith("| ")]
    assert len(table) == len(cells) + 2
    assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table} == {4}


@given(st.text(max_size=60), st.integers(min_value=1, max_value=40))
def test_shortened_text_has_the_width(text, width):
    text = visible(text)
    assert display_width(shorten(text, width)) <= width or width == 1


def test_light_formats_import_nothing_heavy():
    code = (
        "import sys, autofuse_formats.plugin, autofuse.report.emit, autofuse.cli.options\n"
        "print(sorted(name for name in sys.modules if name.startswith('autofuse_formats.')))\n"
        "from autofuse_formats.reporters import console, csv_table, jsonl, markdown\n"
        "print(sorted({'numpy', 'openpyxl', 'jinja2', 'rich', 'xml'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], stdout=subprocess.PIPE, check=True)
    assert done.stdout.decode().split("\n")[:2] == ["['autofuse_formats.plugin']", "[]"]


def test_readme_example():
    readme = Path(__file__).parent.parent / "README.md"
    failed, tried = doctest.testfile(str(readme), module_relative=False)
    assert (failed, tried > 0) == (0, True)
