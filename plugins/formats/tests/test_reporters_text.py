"""console, text, csv: alignment, hostile text, numbers as logged, and where emit sends a report."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys

import pytest
from autofuse.cli.app import App
from autofuse.errors import AutofuseError
from autofuse.report.emit import emit
from autofuse.report.formulas import guarded, unguarded
from autofuse.report.model import Column, Number, Report, ReportContext, Table
from autofuse_formats.reporters import console, csv_table
from autofuse_formats.reporters.visible import display_width, shorten, visible
from report_sample import HOSTILE, Rows, row, sample_report


def render(write, report, **context):
    out = io.BytesIO()
    write(report, out, ReportContext(**context))
    return out.getvalue().decode("utf-8")


NAME_VALUE = (Column("Name"), Column("Value", "float"))


def one_table(*rows, columns=NAME_VALUE):
    return Report("t", (Table("main", columns, list(rows)),))


# --- console ----------------------------------------------------------------------------------------------------------


def test_console_aligns_cjk_and_numbers():
    text = render(console.write, one_table(("融合算子", Number("1.50")), ("Add", 10.25), ("Mul", None)))
    assert text == ("Name      Value\n--------  -----\n融合算子   1.50\nAdd       10.25\nMul           -\n")


def test_console_shows_lead_title_notes_and_hides_hidden_columns():
    text = render(console.write, sample_report())
    assert text.startswith("Slowest: <Add> with 1754.082830 cycles\\x1b[2J\n\nChosen templates\nOperator")
    assert text.endswith("2 calls failed\n")
    assert "plog-0" not in text
    assert "(no rows)" in text
    assert "1 operator has no result" in text


def test_console_neutralises_every_control_character():
    text = render(console.write, sample_report(), colour=False)
    assert not [char for char in text if visible(char) != char and char != "\n"]
    assert "esc\\x1b[31mred\\x07\\x9b2J" in text


def test_console_uses_chinese_labels():
    text = render(console.write, sample_report(), lang="zh")
    assert "算子" in text.splitlines()[3]
    assert "目标值" in text
    assert "(无数据)" in text


def test_console_colours_headings_only():
    text = render(console.write, one_table(("a", 1.0)), colour=True)
    assert text == "\x1b[1mName  Value\x1b[0m\n----  -----\na       1.0\n"


def test_text_is_never_coloured_or_shortened():
    report = one_table(("x" * 150, 1.0))
    text = render(console.write_text, report, colour=True, width=40)
    assert "x" * 150 in text
    assert "\x1b" not in text


def test_console_shortens_the_middle_of_long_names_on_a_terminal():
    report = one_table(("autofuse_pointwise_" + "0" * 80 + "_Abs_Add", Number("1754.082830")))
    lines = render(console.write, report, width=50).splitlines()
    assert all(display_width(line) <= 50 for line in lines)
    assert lines[2].startswith("autofuse_pointwise…0")
    assert lines[2].endswith("_Abs_Add  1754.082830")


def test_console_puts_columns_below_each_other_when_they_do_not_fit():
    columns = (Column("Operator"), *(Column(f"value_{index}", "int") for index in range(12)))
    report = one_table(("Add", *range(12)), ("Mul", *range(12)), columns=columns)
    text = render(console.write, report, width=60)
    assert all(len(line) <= 60 for line in text.splitlines())
    blocks = text.split("\n\n")
    assert len(blocks) > 1
    assert all(block.split("\n")[0].split()[:2] == ["#", "Operator"] for block in blocks)
    shown = [name for block in blocks for name in block.split("\n")[0].split()[2:]]
    assert shown == [f"value_{index}" for index in range(12)]


def test_console_bounds_what_one_giant_name_adds():
    rows = [("y" * 100_000, 1.0), *(("a", 1.0) for _ in range(1000))]
    assert len(render(console.write, one_table(*rows))) < 500_000


def test_console_aligns_columns_of_any_kind_by_their_content():
    columns = (Column("a", "any"), Column("b", "any"))
    text = render(console.write, one_table((1, 1), (10, "x"), columns=columns))
    assert text == " a  b\n--  -\n 1  1\n10  x\n"


def test_shorten_keeps_both_ends_and_the_width():
    assert shorten("abcdefghij", 7) == "abc…hij"
    assert display_width(shorten("融合算子融合算子", 8)) <= 8
    assert shorten("abc", 3) == "abc"


# --- csv --------------------------------------------------------------------------------------------------------------


def test_csv_reads_back_exactly():
    report = sample_report()
    text = render(csv_table.write, report)
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0] == ["Operator", "Graph", "Objective Value", "Cosine", "Tiling Key", "Source", "Line"]
    names = [unguarded(cells[0]) for cells in rows[1:]]
    expected = [name.replace("\udc80", "\\udc80") for name in HOSTILE]
    assert names[: len(HOSTILE)] == expected
    assert [cells[2] for cells in rows[1:11]] == [
        "1754.082830", "18446744073709551615", "nan", "-inf", "", "128", "0.1", "inf", "nan", "1e+300",
    ]  # fmt: skip
    assert rows[2][3] == "0.99900000"


def test_csv_line_ends_and_bom():
    report = one_table(("a\r", 1.0), ("b\nc", 2.0))
    assert render(csv_table.write, report) == 'Name,Value\n"a\r",1.0\n"b\nc",2.0\n'
    assert render(csv_table.write, report, to_file=True).startswith("\ufeffName,")


@pytest.mark.parametrize("name", ["=1+1", "+a", "-a|b", "@x", "\tx", "\rx", "=", "'=1", "''@x"])
def test_csv_guards_formulas_without_loss(name):
    assert guarded(name) == f"'{name}"
    assert unguarded(guarded(name)) == name


@pytest.mark.parametrize("name", ["autofuse_0", "", "-", "-5", "+3.5 %", "-inf", "-1e-5", "'quoted'", "a=b", "融合"])
def test_csv_leaves_other_text_alone(name):
    assert guarded(name) == name
    assert unguarded(name) == name


def test_csv_makes_controls_visible_on_a_terminal_only():
    report = one_table(("a\x1b[2Jb", 1.0))
    assert "a\x1b[2Jb" in render(csv_table.write, report)
    assert "a\\x1b[2Jb" in render(csv_table.write, report, width=80)


def test_csv_writes_any_number_of_rows():
    report = Report("t", (Table("main", (Column("a"),) * 7, Rows(5000)),))
    assert render(csv_table.write, report).count("\n") == 5001


# --- emit -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def app():
    return App(arguments=("run", "test"))


def test_emit_picks_the_reporter_by_name_then_suffix_then_default(app, tmp_path, capfdbinary):
    report = one_table(("a", 1.0))
    emit(app, report, None, str(tmp_path / "a.CSV"))
    assert (tmp_path / "a.CSV").read_bytes() == b"\xef\xbb\xbfName,Value\na,1.0\n"
    emit(app, report, "csv", str(tmp_path / "a.txt"))
    assert (tmp_path / "a.txt").read_bytes().startswith(b"\xef\xbb\xbf")
    emit(app, report, None, str(tmp_path / "a.unknown"))
    assert (tmp_path / "a.unknown").read_text().startswith("Name  Value\n")
    emit(app, report, "csv", None)
    assert capfdbinary.readouterr().out == b"Name,Value\na,1.0\n"


def test_emit_into_a_folder_writes_one_file_per_table(app, tmp_path):
    report = sample_report()
    written = emit(app, report, "csv", f"{tmp_path}/new/")
    assert sorted(path.name for path in written) == ["nothing.csv", "pipes.csv", "summary.csv"]
    assert all(path.is_file() for path in written)
    assert emit(app, report, "text", str(tmp_path)) == (tmp_path / "summary.txt",)
    assert emit(app, report, "text", str(tmp_path), name="report") == (tmp_path / "report.txt",)


def test_emit_keeps_tables_of_one_name_apart(app, tmp_path):
    tables = (Table("a", (Column("x"),), []), Table("a", (Column("y"),), []), Table("../../b", (Column("z"),), []))
    written = emit(app, Report("t", tables), "csv", f"{tmp_path}/")
    assert [path.name for path in written][:2] == ["a.csv", "a_2.csv"]
    assert all(path.parent == tmp_path for path in written)


def test_emit_default_folder(app, tmp_path, monkeypatch, capfdbinary):
    monkeypatch.chdir(tmp_path)
    report = one_table(("a", 1.0))
    assert [str(path) for path in emit(app, report, "csv", None, default_folder="out/perf")] == ["out/perf/main.csv"]
    assert [str(path) for path in emit(app, report, "csv", "elsewhere", default_folder="out")] == ["elsewhere/main.csv"]
    assert [str(path) for path in emit(app, report, None, "one.csv", default_folder="out")] == ["one.csv"]
    assert emit(app, report, "console", None, default_folder="out") == ()
    assert capfdbinary.readouterr().out.startswith(b"Name")


def test_emit_unknown_format_lists_the_installed(app):
    with pytest.raises(AutofuseError, match=r"unknown format 'pdf'.*installed: .*csv"):
        emit(app, one_table(), "pdf", None)


def test_emit_leaves_the_old_file_when_writing_fails(app, tmp_path):
    def broken():
        yield ("a", 1.0)
        raise AutofuseError("the log ended")

    target = tmp_path / "a.csv"
    target.write_text("old")
    with pytest.raises(AutofuseError):
        emit(app, Report("t", (Table("main", (Column("a"), Column("b")), broken()),)), None, str(target))
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_emit_follows_links_and_writes_devices_directly(app, tmp_path):
    target = tmp_path / "real.csv"
    target.write_text("old")
    link = tmp_path / "link.csv"
    link.symlink_to(target)
    emit(app, one_table(("a", 1.0)), None, str(link))
    assert link.is_symlink()
    assert b"a,1.0" in target.read_bytes()
    emit(app, one_table(("a", 1.0)), "csv", os.devnull)
    assert not os.path.isfile(os.devnull)


SCRIPT = """
import sys
sys.path.insert(0, {folder!r})
from report_sample import Rows, COLUMNS
from autofuse.cli.app import App
from autofuse.report.emit import emit
from autofuse.report.formulas import guarded, unguarded
from autofuse.report.model import Report, Table
try:
    emit(App(), Report("t", (Table("main", COLUMNS, Rows(50000)),)), "csv", None)
except BaseException as error:
    sys.stderr.write(f"{{type(error).__name__}}: {{error}}")
    sys.exit(2)
sys.exit(7)
"""


def run_script(tmp_path, **streams):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(folder=os.path.dirname(__file__)))
    return subprocess.Popen([sys.executable, str(script)], stderr=subprocess.PIPE, **streams)


def test_emit_is_quiet_when_the_reader_has_gone(tmp_path):
    process = run_script(tmp_path, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"Operator,Graph,Objective Value,Cosine,Tiling Key,Source,Line\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    # The command goes on: a gate keeps its own exit code.
    assert process.wait() == 7


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_emit_says_when_standard_output_is_full(tmp_path):
    with open("/dev/full", "wb") as full:
        process = run_script(tmp_path, stdout=full)
    assert process.stderr.read() == b"AutofuseError: cannot write to standard output: No space left on device"
    process.stderr.close()
    assert process.wait() == 2


def test_sample_rows_can_be_read_twice():
    assert list(Rows(3)) == list(Rows(3)) == [row(0), row(1), row(2)]
