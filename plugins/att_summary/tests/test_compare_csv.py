"""What compare makes of the CSVs of this and earlier tools, as they come back from editors, spreadsheets and pipes."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import threading
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest
from attruns import call, candidate, save
from autofuse.inprocess import Outcome

Cli = Callable[..., Outcome]

HEADER = "Operator,Graph,Result,Group,Case,AIV_MTE2,AIV_MTE3,Objective Value,Result Perf,tile"
ROW = "Add,0,0,0,1,10.5,4,12.5,20,64"
TABLE = f"{HEADER}\n{ROW}\n"


@pytest.fixture
def compared(autofuse_cli: Cli, tmp_path: Path) -> Callable[..., Outcome]:
    """Compares two texts as CSV files."""

    def run(base: Any, candidate: Any, *options: str) -> Outcome:
        for name, content in (("base.csv", base), ("candidate.csv", candidate)):
            (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return autofuse_cli("run", "compare", tmp_path / "base.csv", tmp_path / "candidate.csv", *options)

    return run


def differences(result: Outcome) -> List[Dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.rstrip("\n"),
        lambda text: "\n\n" + text + "\n\n",
        lambda text: text.replace("\n", ",,,\n"),
        lambda text: "\n".join(",".join(f'"{cell}"' for cell in line.split(",")) for line in text.splitlines()),
        lambda text: text.replace("Operator,Graph", " Operator , Graph "),
        lambda text: text.replace("Add,0,0,0,1,", "Add,0.0,0.0, 0 ,1.0,"),
        lambda text: text.replace("Add,0", "Add\0,0"),
    ],
    ids=["bom", "crlf", "cr", "no-end", "blank-lines", "trailing", "quoted", "blanks", "floats", "nul"],
)
def test_spreadsheets_and_editors_change_nothing(
    change: Callable[[str], str], compared: Callable[..., Outcome]
) -> None:
    result = compared(change(TABLE), TABLE, "-f", "jsonl", "--fail-on-regression", "0")
    assert (result.exit_code, differences(result)) == (0, [])


def test_a_case_of_an_earlier_tool_with_its_tag(compared: Callable[..., Outcome]) -> None:
    """`R2` in the column Case is case 2 of the sub-case R, which ours has in a column of its own."""
    ours = f"{HEADER},Sub Case\n{ROW.replace('0,1,', '0,2,')},R\n"
    result = compared(TABLE.replace("0,1,", "0,R2,"), ours, "-f", "jsonl")
    assert differences(result) == []
    found = differences(compared(TABLE.replace("0,1,", "0,2,"), ours, "-f", "jsonl"))
    assert [(one["kind"], one["field"], one["base"], one["candidate"]) for one in found] == [
        ("template", "Case", "2", "R2")
    ]


def test_short_rows_miss_their_last_cells_and_long_ones_are_told(compared: Callable[..., Outcome]) -> None:
    result = compared(f"{HEADER}\nAdd,0,0,0,1,10.5\n", f"{HEADER}\n{ROW},extra,,more\n", "-f", "jsonl")
    assert {one["field"]: one["base"] for one in differences(result)} == {
        "AIV_MTE3": None,
        "Objective Value": None,
        "Result Perf": None,
        "tile": None,
    }
    assert "1 rows have more cells than the header; the excess is left out" in result.stderr
    assert result.exit_code == 0


def test_rows_that_repeat_a_key_are_reported(compared: Callable[..., Outcome]) -> None:
    twice = f"{HEADER}\n{ROW}\n{ROW.replace('20,64', '99,64')}\n"
    result = compared(twice, TABLE)
    assert "1 rows repeat a key" in result.stdout
    assert "the first is used" in result.stdout
    assert differences(compared(twice, TABLE, "-f", "jsonl")) == []


def test_a_column_that_stands_there_twice_is_told(compared: Callable[..., Outcome]) -> None:
    base = f"{HEADER},tile,Operator\n{ROW},1,Other\n"
    result = compared(base, TABLE, "-f", "jsonl")
    assert differences(result) == []
    assert "has more than one column Operator, tile; the first is used" in result.stderr


def test_rows_without_an_operator_are_told(compared: Callable[..., Outcome]) -> None:
    result = compared(f"{HEADER}\n{ROW}\n,0,0,0\n,,,,\n", TABLE, "-f", "jsonl")
    assert result.exit_code == 0
    assert "2 rows have no operator and are left out" in result.stderr


def test_bytes_that_are_no_utf8_are_told(compared: Callable[..., Outcome]) -> None:
    base = TABLE.encode().replace(b"Add", "算子".encode("gbk"))
    result = compared(base, base, "-f", "jsonl")
    assert result.exit_code == 0
    assert "is no UTF-8" in result.stderr


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"\n\n\r\n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"\0\0\0", "is empty"),
        (b"Graph,Result\n0,0\n", "has no Operator column"),
        (b"operator,Graph\nAdd,0\n", "has no Operator column"),
        (TABLE.replace(",", ";").encode(), "has no Operator column"),
        (TABLE.encode("utf-16"), "has no Operator column"),
        (bytes(range(256)), "has no Operator column"),
        (TABLE.replace("Add", '"Add').encode(), "has a quote that is never closed"),
    ],
)
@pytest.mark.parametrize("side", [0, 1])
def test_what_is_no_summary_csv(content: bytes, says: str, side: int, compared: Callable[..., Outcome]) -> None:
    sides = [TABLE.encode(), content] if side else [content, TABLE.encode()]
    result = compared(*sides, "--fail-on-regression", "3")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert says in result.stderr
    assert ("candidate.csv" if side else "base.csv") in result.stderr


def test_a_header_alone_matches_nothing(compared: Callable[..., Outcome]) -> None:
    result = compared(f"{HEADER}\n", TABLE)
    assert result.exit_code == 1
    assert "nothing matched" in result.stderr
    assert "operators only in candidate: Add" in result.stdout


def test_text_that_a_spreadsheet_would_run(compared: Callable[..., Outcome]) -> None:
    """Cells that our own CSV guards with an apostrophe come back as they were, and go out guarded again."""
    base = f"{HEADER},Tiling Repr\n\"'=cmd()\",0,0,0,1,10.5,4,12.5,20,64,'@x\n"
    candidate_side = f"{HEADER},Tiling Repr\n=cmd(),0,0,0,1,10.5,4,12.5,20,64,'+1+1\n"
    found = differences(compared(base, candidate_side, "-f", "jsonl"))
    assert [(one["operator"], one["base"], one["candidate"]) for one in found] == [("=cmd()", "@x", "+1+1")]
    table = compared(base, candidate_side, "-f", "csv").stdout
    assert list(csv.reader(io.StringIO(table)))[1][0] == "'=cmd()"


def test_cells_with_commas_quotes_and_line_ends(compared: Callable[..., Outcome]) -> None:
    cell = '"{""a"": 1,\n""b"": ""x""}"'
    base = f"{HEADER},Tiling Repr\n{ROW},{cell}\n"
    (found,) = differences(compared(base, base.replace("1,\n", "1;\n"), "-f", "jsonl"))
    assert found["base"] == '{"a": 1,\n"b": "x"}'


def test_a_csv_is_told_by_its_header_whatever_its_name(autofuse_cli: Cli, tmp_path: Path) -> None:
    for name in ("summary", "table.log"):
        (tmp_path / name).write_text(TABLE)
    result = autofuse_cli("run", "compare", tmp_path / "summary", tmp_path / "table.log", "-f", "jsonl")
    assert (result.exit_code, result.stdout) == (0, "")


def test_a_csv_from_standard_input(autofuse_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text(TABLE.replace(",20,", ",25,"))
    result = autofuse_cli("run", "compare", "-", tmp_path / "new.csv", "-f", "jsonl", stdin=TABLE.encode())
    assert result.exit_code == 0
    assert [one["field"] for one in differences(result)] == ["Result Perf"]


@pytest.mark.parametrize("packed", [False, True])
def test_a_csv_and_a_log_from_named_pipes(packed: bool, autofuse_cli: Cli, tmp_path: Path) -> None:
    """As a shell's `<(…)` gives them: they can be read once."""
    ours = save(
        tmp_path / "a.log", call("Add", candidate(1, objective="12.5", tile="64", AIV_MTE2="10.5"))
    ).read_bytes()
    table = b"Operator,Graph,Result,Group,Case,Objective Value\nAdd,0,0,0,1,25\n"
    names = []
    for name, content in (("csv", table), ("log", ours)):
        path = tmp_path / name
        os.mkfifo(path)
        names.append(path)
        data = gzip.compress(content) if packed else content
        threading.Thread(target=path.write_bytes, args=(data,), daemon=True).start()
    result = autofuse_cli("run", "compare", *names, "-f", "jsonl")
    assert result.exit_code == 0, result.stderr
    assert ("Objective Value", -12.5) in [(one["field"], one["difference"]) for one in differences(result)]


def test_a_csv_that_this_tool_wrote_equals_the_log_it_came_from(autofuse_cli: Cli, tmp_path: Path) -> None:
    operators = ("Add", "=Evil()", "算子/融合:1", "-1+1", "'quoted")
    calls = [
        call(
            name,
            candidate(
                2, "R", objective="-1.25e+02", AIV_MTE2="nan", Case="5", block_dim="48", big="18446744073709551615"
            ),
            performance="12.500000",
        )
        for name in operators
    ]
    source = save(tmp_path / "a.log", *calls, call("Two", shape=(("s0", "1"),)), call("Two", shape=(("s0", "2"),)))
    for mode in ("last", "all"):
        table = tmp_path / f"{mode}.csv"
        assert autofuse_cli("run", "summary", source, "--invocations", mode, "-o", table).exit_code == 0
        for sides in ((table, source), (source, table), (table, table)):
            options = ("--invocations", mode, "-f", "jsonl", "--fail-on-regression", "0")
            result = autofuse_cli("run", "compare", *sides, *options)
            assert (result.exit_code, result.stdout) == (0, ""), result.stderr


def test_a_missing_side_and_a_folder_without_logs(autofuse_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(TABLE)
    missing = autofuse_cli("run", "compare", tmp_path / "none.csv", tmp_path / "a.csv")
    assert (missing.exit_code, "no such file or folder" in missing.stderr) == (2, True)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "app.log").write_text("nothing of ours\n")
    nothing = autofuse_cli("run", "compare", tmp_path / "a.csv", tmp_path / "logs")
    assert nothing.exit_code == 1
    assert "no tiling messages in 1 lines of 1 files" in nothing.stderr
    assert "nothing matched" in nothing.stderr


@pytest.mark.parametrize("place", [0, 1])
def test_a_log_from_a_pipe_beside_a_csv_of_several_calls(place: int, autofuse_cli: Cli, tmp_path: Path) -> None:
    """All calls of the log are wanted then, which must be known before the pipe is read."""
    calls = [call("Add", candidate(objective=f"{number}.5"), shape=(("s0", str(number)),)) for number in (1, 2)]
    source = save(tmp_path / "a.log", *calls)
    assert autofuse_cli("run", "summary", source, "--invocations", "all", "-o", tmp_path / "a.csv").exit_code == 0
    sides = ["-", tmp_path / "a.csv"] if place == 0 else [tmp_path / "a.csv", "-"]
    result = autofuse_cli("run", "compare", *sides, "--fail-on-regression", "0", stdin=source.read_bytes())
    assert result.exit_code == 0, result.stderr
    assert "rows matched: 2" in result.stdout
