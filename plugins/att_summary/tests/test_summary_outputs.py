"""summary: formats and -o; every format shows the same rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, List

import pytest
from autofuse.testing import Outcome
from logwriter.model import Candidate, Solution
from logwriter.samples import call, candidate, group, result, run_of
from openpyxl import load_workbook
from summaries import COLUMNS_BEFORE, COLUMNS_BEHIND, csv_table, log_folder

Cli = Callable[..., Outcome]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    values = {
        "ub_size": "128",
        "big": "18446744073709551615",
        "AIV_MTE2": "nan",
        "AIV_MTE3": "12.500000",
        "AIV_VEC": "-inf",
    }
    odd = Candidate(3, "R", Solution(tuple(values.items()), "inf"))
    plain = [group(0, [candidate(0)], s0="1024", s1="512")]
    calls = (call('=1+1,"<b>|算子', [result(0, [group(0, [odd])])]), call("Add", [result(0, plain), result(1, plain)]))
    return log_folder(run_of(*calls), tmp_path / "log")


def test_console_is_the_default_and_text_is_the_same(folder: Path, autofuse_cli: Cli) -> None:
    console = autofuse_cli("run", "summary", folder)
    assert console.exit_code == 0
    assert console.stdout == autofuse_cli("run", "summary", folder, "--format", "console").stdout
    assert console.stdout == autofuse_cli("run", "summary", folder, "-f", "text").stdout
    assert "\x1b" not in console.stdout
    assert "s0=1024 s1=512" in console.stdout


def test_console_shows_what_is_missing_as_a_dash(folder: Path, autofuse_cli: Cli) -> None:
    lines = autofuse_cli("run", "summary", folder).stdout.splitlines()
    header = next(line for line in lines if line.startswith("Operator"))
    row = next(line for line in lines if "inferred_graph_result" in line)
    at = header.index("Result Perf")
    assert " - " in row[at - 4 : at + 14]


def test_csv_on_standard_output_has_no_bom(folder: Path, autofuse_cli: Cli) -> None:
    outcome = autofuse_cli("run", "summary", folder, "-f", "csv")
    assert outcome.stdout_bytes.startswith(b"Operator,Graph,")
    assert b"\r" not in outcome.stdout_bytes
    header, rows = csv_table(outcome)
    assert header == [*COLUMNS_BEFORE, "AIV_VEC", "big", "q0_size", *COLUMNS_BEHIND]
    # A spreadsheet would take the name for a formula; numbers that begin with a sign are none.
    assert rows[0]["Operator"] == "'=1+1,\"<b>|算子"
    assert (
        rows[0]["ub_size"],
        rows[0]["big"],
        rows[0]["AIV_MTE2"],
        rows[0]["AIV_VEC"],
        rows[0]["Objective Value"],
    ) == (*("128", "18446744073709551615", "nan", "-inf", "inf"),)


def test_csv_in_a_file_has_a_bom(folder: Path, tmp_path: Path, autofuse_cli: Cli) -> None:
    path = tmp_path / "out" / "summary.csv"
    outcome = autofuse_cli("run", "summary", folder, "-o", path)
    assert (outcome.exit_code, outcome.stdout) == (0, "")
    assert path.read_bytes() == b"\xef\xbb\xbf" + autofuse_cli("run", "summary", folder, "-f", "csv").stdout_bytes


def test_jsonl_has_null_and_names_for_what_json_cannot_say(folder: Path, autofuse_cli: Cli) -> None:
    outcome = autofuse_cli("run", "summary", folder, "-f", "jsonl")
    rows = [json.loads(line, parse_constant=refuse) for line in outcome.stdout.splitlines()]
    odd, plain = rows
    assert (odd["AIV_MTE2"], odd["AIV_VEC"], odd["Objective Value"]) == ("NaN", "-Infinity", "Infinity")
    assert (odd["ub_size"], odd["big"], odd["Case"], odd["Sub Case"]) == (128, 18446744073709551615, 3, "R")
    assert (odd["Result Perf"], odd["q0_size"], odd["Input Shape"]) == (None, None, None)
    assert (plain["Result Perf"], plain["big"], plain["Graph"]) == (0.25, None, 0)


def refuse(constant: str) -> Any:
    raise AssertionError(f"{constant} is no JSON")


@pytest.mark.parametrize("name", ["excel", "xlsx"])
def test_xlsx(folder: Path, tmp_path: Path, autofuse_cli: Cli, name: str) -> None:
    path = tmp_path / "summary.xlsx"
    assert autofuse_cli("run", "summary", folder, "-f", name, "-o", path).exit_code == 0
    sheet = load_workbook(path)["summary"]
    table: List[List[Any]] = [[cell.value for cell in row] for row in sheet.iter_rows()]
    odd, plain = (dict(zip(table[0], row)) for row in table[1:])
    assert table[0] == [*COLUMNS_BEFORE, "AIV_VEC", "big", "q0_size", *COLUMNS_BEHIND]
    assert odd["Operator"] == '=1+1,"<b>|算子' and sheet["A2"].data_type == "s"
    assert (plain["ub_size"], plain["AIV_MTE2"], plain["Result Perf"]) == (101, 10.1, 0.25)
    assert sheet.freeze_panes is not None and sheet.auto_filter.ref is not None


@pytest.mark.parametrize("name", ["excel", "xlsx"])
def test_xlsx_needs_a_file(folder: Path, autofuse_cli: Cli, name: str) -> None:
    outcome = autofuse_cli("run", "summary", folder, "-f", name)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert "-o" in outcome.stderr


@pytest.mark.parametrize(
    ("suffix", "begin"),
    [(".csv", b"\xef\xbb\xbfOperator"), (".jsonl", b"{"), (".txt", b"2 operators"), (".xlsx", b"PK"), (".md", b"#")],
)
def test_the_suffix_picks_the_format(
    folder: Path, tmp_path: Path, autofuse_cli: Cli, suffix: str, begin: bytes
) -> None:
    path = tmp_path / f"out{suffix}"
    assert autofuse_cli("run", "summary", folder, "--output", path).exit_code == 0
    assert path.read_bytes().startswith(begin)


def test_the_format_wins_over_the_suffix(folder: Path, tmp_path: Path, autofuse_cli: Cli) -> None:
    path = tmp_path / "out.txt"
    assert autofuse_cli("run", "summary", folder, "-f", "csv", "-o", path).exit_code == 0
    assert path.read_bytes().startswith(b"\xef\xbb\xbfOperator,")


def test_an_unknown_format_names_the_installed_ones(folder: Path, autofuse_cli: Cli) -> None:
    outcome = autofuse_cli("run", "summary", folder, "-f", "parquet")
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert all(name in outcome.stderr for name in ("parquet", "console", "csv", "jsonl", "xlsx"))


def test_a_failed_run_leaves_the_old_file(folder: Path, tmp_path: Path, autofuse_cli: Cli) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    assert autofuse_cli("run", "summary", folder, "--op", "nothing", "-o", path).exit_code == 1
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith("out")] == ["out.csv"]


def test_an_output_that_cannot_be_written(folder: Path, tmp_path: Path, autofuse_cli: Cli) -> None:
    (tmp_path / "file").write_text("")
    outcome = autofuse_cli("run", "summary", folder, "-o", tmp_path / "file" / "out.csv")
    assert outcome.exit_code == 2
    assert len(outcome.stderr.splitlines()) == 1


def test_chinese_labels_but_never_in_csv(folder: Path, autofuse_cli: Cli) -> None:
    outcome = autofuse_cli("--lang", "zh", "run", "summary", folder)
    assert "算子" in outcome.stdout and "inferred_graph_result" in outcome.stdout
    english = autofuse_cli("run", "summary", folder, "-f", "csv").stdout
    assert autofuse_cli("--lang", "zh", "run", "summary", folder, "-f", "csv").stdout == english
