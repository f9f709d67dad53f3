"""jsonl, md, xlsx: read back by their own readers, hostile text in each, the limits of a sheet."""

from __future__ import annotations

import io
import json
import math
import re
import zipfile

import click
import pytest
from autofuse.cli.app import App
from autofuse.errors import AutofuseError
from autofuse.report.emit import emit
from autofuse.report.model import Column, Number, Provenance, Report, ReportContext, Table
from autofuse_formats.reporters import jsonl, markdown, xlsx
from openpyxl import load_workbook
from report_sample import COLUMNS, HOSTILE, Rows, sample_report

NAME_VALUE = (Column("Name"), Column("Value", "float"))


def render(write, report, **context):
    out = io.BytesIO()
    write(report, out, ReportContext(**context))
    return out.getvalue()


def one_table(*rows, columns=NAME_VALUE):
    return Report("t", (Table("main", columns, list(rows)),))


# --- jsonl ------------------------------------------------------------------------------------------------------------


def forbid(constant):
    raise AssertionError(f"{constant} is no strict JSON")


def test_jsonl_reads_back_exactly():
    lines = render(jsonl.write, sample_report()).decode("utf-8").splitlines()
    objects = [json.loads(line, parse_constant=forbid) for line in lines]
    assert [record["Operator"] for record in objects[: len(HOSTILE)]] == list(HOSTILE)
    assert list(objects[0]) == ["Operator", "graph_id", "Objective Value", "Cosine", "Tiling Key", "Source", "Line"]
    assert [record["Objective Value"] for record in objects[:10]] == [
        1754.08283, 18446744073709551615, "NaN", "-Infinity", None, 128, 0.1, "Infinity", "NaN", 1e300,
    ]  # fmt: skip
    assert objects[1]["Tiling Key"] == 2**64 + 1


def test_jsonl_keeps_integers_of_any_size_and_odd_numbers():
    digits = "9" * 6000
    lines = render(jsonl.write, one_table(("a", Number(digits)), (True, Number("+007")), (None, Number("1e999"))))
    first, second, third = lines.decode().splitlines()
    assert first == f'{{"Name": "a", "Value": {digits}}}'
    assert json.loads(second) == {"Name": True, "Value": 7}
    assert json.loads(third) == {"Name": None, "Value": "Infinity"}


def test_jsonl_leaves_no_control_characters():
    text = render(jsonl.write, sample_report()).decode("utf-8")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", text)
    assert "融合算子_加法" in text


# --- md ---------------------------------------------------------------------------------------------------------------


def test_markdown_tables():
    text = render(markdown.write, sample_report()).decode("utf-8")
    lines = text.splitlines()
    assert lines[0] == "# Summary of &lt;2&gt; logs"
    assert "## Chosen templates" in lines
    head = lines.index("| Operator | Graph | Objective Value | Cosine | Tiling Key | Source | Line |")
    assert lines[head + 1] == "| --- | ---: | ---: | ---: | --- | --- | ---: |"
    assert "| autofuse_pointwise_0_Abs_Add | 0 | 1754.082830 | 1.00000000 |  | /var/log/run 0/plog-0.log | 1 |" in lines
    assert "- command: autofuse run summary a.log" in lines


def test_markdown_escapes_hostile_names():
    text = render(markdown.write, sample_report()).decode("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    cells = {len(re.split(r"(?<!\\)\|", line)) for line in rows[: 2 + len(HOSTILE)]}
    assert cells == {9}
    assert "<" not in text
    assert "](" not in re.sub(r"\\.", "", text)
    assert "http://" not in text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)


def test_markdown_paragraphs_cannot_become_lists_or_headings():
    report = Report("t", (), lead=("- a", "+ b", "1. c", "=== d", "# e", "plain 1. f"))
    lines = render(markdown.write, report).decode().splitlines()
    assert [line for line in lines[1:] if line] == ["\\- a", "\\+ b", "1\\. c", "\\=== d", "\\# e", "plain 1. f"]


# --- xlsx -------------------------------------------------------------------------------------------------------------


def open_xlsx(report, **context):
    return load_workbook(io.BytesIO(render(xlsx.write, report, to_file=True, **context)))


def test_xlsx_sheets_and_heading():
    book = open_xlsx(sample_report())
    assert book.sheetnames == ["summary", "pipes", "nothing", "Provenance"]
    sheet = book["summary"]
    assert [cell.value for cell in sheet[1]] == [column.name for column in COLUMNS]
    assert all(cell.font.bold for cell in sheet[1])
    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == f"A1:G{1 + len(HOSTILE) + 12}"
    assert sheet.column_dimensions["A"].width > 20
    assert [cell.value for cell in book["nothing"][1]] == ["Name", "Value"]
    texts = list(book["Provenance"].iter_rows(values_only=True))
    assert ("command", "autofuse run summary a.log") in texts
    assert ("Chosen templates", "1 operator has no result") in texts


def test_xlsx_numbers():
    sheet = open_xlsx(sample_report())["summary"]
    values = [sheet.cell(row, 3).value for row in range(2, 12)]
    assert values == [
        1754.08283, "18446744073709551615", "nan", "-inf", None, 128, 0.1, "inf", "nan", 1e300,
    ]  # fmt: skip
    assert isinstance(values[5], int)
    assert sheet.cell(3, 4).number_format == "0.00000000"
    assert sheet.cell(3, 5).value == str(2**64 + 1)
    assert [sheet.cell(row, 7).value for row in (2, 3)] == [1, 2]


@pytest.mark.parametrize("value", [2**53, -(2**53), 0, 0.1, 1e-300, -0.0, 123456789012345.67])
def test_xlsx_keeps_what_a_sheet_holds(value):
    found = open_xlsx(one_table(("a", value)))["main"]["B2"].value
    assert found == value
    assert math.copysign(1, found) == math.copysign(1, value) or value == 0


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, 10**400, Number("9007199254740993")])
def test_xlsx_writes_longer_integers_as_text(value):
    assert open_xlsx(one_table(("a", value)))["main"]["B2"].value == str(value)


def test_xlsx_hostile_text_is_text():
    book = open_xlsx(sample_report())
    cells = [book["summary"].cell(row, 1) for row in range(2, 2 + len(HOSTILE))]
    assert {cell.data_type for cell in cells} == {"s"}
    found = [cell.value for cell in cells]
    assert found == [
        "".join(char for char in name if char in "\t\n\r" or (char >= " " and not "\x7f" <= char < "\xa0"))
        .replace("\udc80", "\\udc80")
        .replace("_x0041_", "_x005F_x0041_")
        for name in HOSTILE
    ]
    assert all(cell.quotePrefix for cell in cells if cell.value.startswith(("=", "+", "-", "@", "#", "\t")))


def test_xlsx_has_no_formula_anywhere():
    with zipfile.ZipFile(io.BytesIO(render(xlsx.write, sample_report()))) as archive:
        sheets = [archive.read(name) for name in archive.namelist() if "worksheets/sheet" in name]
    assert len(sheets) == 4
    assert not any(b"<f>" in sheet or b"<f " in sheet for sheet in sheets)


def test_xlsx_goes_on_in_the_next_sheet(monkeypatch):
    monkeypatch.setattr(xlsx, "MAX_ROWS", 101)
    notices = []
    report = Report("t", (Table("main", COLUMNS, Rows(250)), Table("exact", COLUMNS, Rows(100))))
    book = open_xlsx(report, notice=notices.append)
    assert book.sheetnames == ["main", "main (2)", "main (3)", "exact"]
    assert [book[name].max_row for name in book.sheetnames] == [101, 101, 51, 101]
    lines = [row[6] for name in book.sheetnames[:3] for row in book[name].iter_rows(min_row=2, values_only=True)]
    assert lines == list(range(1, 251))
    assert notices == ["table main has more rows than a sheet holds; it goes on in sheets main, main (2), main (3)"]


def test_xlsx_one_row_more_than_a_sheet_holds():
    class Many:
        def __iter__(self):
            return (((index,)) for index in range(1_048_576))

    notices = []
    data = render(xlsx.write, Report("t", (Table("main", (Column("n", "int"),), Many()),)), notice=notices.append)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        first = archive.read("xl/worksheets/sheet1.xml")
        second = archive.read("xl/worksheets/sheet2.xml")
    assert first.count(b"<row ") == 1_048_576
    assert b'<c r="A1048576"><v>1048574</v></c></row></sheetData>' in first
    assert b'<c r="A2"><v>1048575</v></c></row></sheetData>' in second
    assert len(notices) == 1


def test_xlsx_sheet_names_are_legal_and_unique():
    names = ["a/b[c]:*?", "A/B[C]:*?", "x" * 40, "x" * 41, "", "'quoted'", "history", "融合" * 20, "😀" * 20, "nul\x00"]
    book = open_xlsx(Report("t", tuple(Table(name, NAME_VALUE, [("a", 1.0)]) for name in names)))
    assert len({name.lower() for name in book.sheetnames}) == len(names)
    for name in book.sheetnames:
        assert 0 < len(name.encode("utf-16-le")) // 2 <= 31
        assert not set(name) & set("[]:*?/\\\x00")
        assert not name.startswith("'")
        assert name.lower() != "history"


def test_xlsx_cuts_what_a_cell_cannot_hold_and_says_so():
    notices = []
    book = open_xlsx(one_table(("a" * 40_000, 1.0), ("b", 2.0)), notice=notices.append)
    assert len(book["main"]["A2"].value) == 32_767
    assert notices == [
        "1 cells of table main were cut to the 32767 characters that xlsx allows; csv and jsonl hold them whole"
    ]


def test_xlsx_refuses_more_columns_than_a_sheet_holds():
    columns = tuple(Column(f"c{index}") for index in range(16_385))
    with pytest.raises(AutofuseError, match="16385 columns"):
        render(xlsx.write, Report("t", (Table("main", columns, []),)))


def test_xlsx_is_the_same_bytes_each_time():
    assert render(xlsx.write, sample_report()) == render(xlsx.write, sample_report())


def test_xlsx_of_nothing_opens():
    assert open_xlsx(Report("t", ())).sheetnames == ["Provenance"]
    empty = Report("t", (Table("main", (), []),), provenance=Provenance("x"))
    assert open_xlsx(empty).sheetnames == ["main", "Provenance"]


# --- through emit -----------------------------------------------------------------------------------------------------


def test_emit_refuses_a_binary_format_on_standard_output():
    with pytest.raises(click.UsageError, match=r"format xlsx needs a file: add -o FILE\.xlsx"):
        emit(App(), sample_report(), "excel", None)


def test_emit_writes_every_format_to_a_file_and_a_folder(tmp_path):
    app = App()
    for name in ("jsonl", "md", "xlsx", "excel", "markdown"):
        (path,) = emit(app, one_table(("a", 1.0)), name, str(tmp_path / f"one.{name}"))
        assert path.stat().st_size > 0
    written = emit(app, sample_report(), "jsonl", f"{tmp_path}/folder/")
    assert [path.name for path in written] == ["summary.jsonl", "pipes.jsonl", "nothing.jsonl"]
    assert [path.name for path in emit(app, sample_report(), "xlsx", f"{tmp_path}/folder/")] == ["summary.xlsx"]
