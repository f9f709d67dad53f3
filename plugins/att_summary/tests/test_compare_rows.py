"""Which rows compare pairs, what it says of those that have no partner, and in which order it tells what changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Dict, List, Sequence

import openpyxl
import pytest
from attruns import call, candidate, log, save, shape
from autofuse.inprocess import Outcome

Cli = Callable[..., Outcome]

HEADER = "Operator,Graph,Result,Group,Case,Sub Case,AIV_MTE2,Objective Value,Result Perf,tile,Input Shape"


@pytest.fixture
def compared(autofuse_cli: Cli, tmp_path: Path) -> Callable[..., Outcome]:
    """Compares two lists of CSV rows; `op` alone stands for a row of that operator."""

    def run(base: Sequence[str], candidate: Sequence[str], *options: Any) -> Outcome:
        for name, rows in (("base.csv", base), ("candidate.csv", candidate)):
            lines = [row if "," in row else f"{row},0,0,0,1,,10,12,20,64," for row in rows]
            (tmp_path / name).write_text("\n".join([HEADER, *lines, ""]))
        return autofuse_cli("run", "compare", tmp_path / "base.csv", tmp_path / "candidate.csv", *options)

    return run


def differences(result: Outcome) -> List[Dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def overview(result: Outcome) -> Dict[str, str]:
    lines = result.stdout.split("\n\n")[0].splitlines()
    return dict(line.split(": ", 1) for line in lines if ": " in line)


# --- which rows are one ----------------------------------------------------------------------------------------------


def test_rows_match_on_operator_graph_result_and_group(compared: Callable[..., Outcome]) -> None:
    rows = [f"{op},{g},{r},{s},1,,10,12,{op}{g}{r}{s},64," for op in "12" for g in "01" for r in "01" for s in "01"]
    result = compared(rows, rows[::-1], "--fail-on-regression", "0")
    assert result.exit_code == 0
    assert overview(result)["rows matched"] == "16"
    assert overview(result)["rows"] == "0 faster, 0 slower, 16 equal"


def test_template_and_tiling_values_are_compared_and_no_part_of_the_key(compared: Callable[..., Outcome]) -> None:
    found = differences(compared(["A,0,0,0,1,,10,12,20,64,"], ["A,0,0,0,2,R,10,12,20,128,"], "-f", "jsonl"))
    assert [(one["kind"], one["field"], one["base"], one["candidate"]) for one in found] == [
        ("template", "Case", "1", "R2"),
        ("tiling", "tile", 64, 128),
    ]


def test_case_2_and_case_r2_are_two_templates(compared: Callable[..., Outcome]) -> None:
    found = differences(compared(["A,0,0,0,2,,10,12,20,64,"], ["A,0,0,0,2,R,10,12,20,64,"], "-f", "jsonl"))
    assert [(one["kind"], one["base"], one["candidate"]) for one in found] == [("template", "2", "R2")]


def test_the_shape_is_a_part_of_the_key_only_where_an_operator_has_several_calls(
    compared: Callable[..., Outcome],
) -> None:
    one, other = "A,0,0,0,1,,10,12,20,64,s0=1", "A,0,0,0,1,,10,12,30,64,s0=2"
    found = differences(compared([one], [other], "-f", "jsonl"))
    assert [one["field"] for one in found] == ["Result Perf", "Input Shape"]
    result = compared([one, other], [other, one], "--fail-on-regression", "0")
    assert (result.exit_code, overview(result)["rows matched"]) == (0, "2")
    result = compared([one, other], [other])
    assert (overview(result)["rows matched"], overview(result)["rows only in base"]) == ("1", "1")


def test_one_shape_called_twice_is_a_repeated_key(compared: Callable[..., Outcome]) -> None:
    row = "A,0,0,0,1,,10,12,20,64,s0=1"
    result = compared([row, row, row], [row])
    assert "2 rows repeat a key (Operator, Graph, Result, Group, Input Shape); the first is used" in result.stdout
    assert overview(result)["rows matched"] == "1"


def test_rows_repeated_alike_on_both_sides_are_compared_in_their_order(compared: Callable[..., Outcome]) -> None:
    """Two processes tile the same operator: a regression of the second one does not pass."""
    fast, slow = "A,0,0,0,1,,10,12,20,64,s0=1", "A,0,0,0,1,,10,12,90,64,s0=1"
    result = compared([fast, fast], [fast, slow], "--fail-on-regression", "3")
    assert (result.exit_code, overview(result)["rows matched"]) == (1, "2")
    assert "Result Perf 20 → 90 (+350.00 %)" in result.stdout


def test_the_gate_says_that_shapes_differ(compared: Callable[..., Outcome]) -> None:
    result = compared(["A,0,0,0,1,,10,12,20,64,s0=1"], ["A,0,0,0,1,,10,12,90,64,s0=8"], "--fail-on-regression", "3")
    assert result.exit_code == 1
    assert "but the base has [s0=1]" in result.stdout
    assert "1 row: the input shapes of the two calls differ" in result.stdout


def test_another_result_is_a_change_of_template(compared: Callable[..., Outcome]) -> None:
    """When a graph chose another result on each side its rows are compared all the same."""
    result = compared(
        ["A,0,0,0,1,,10,12,20,64,"], ["A,0,1,0,1,,10,12,30,64,"], "-f", "jsonl", "--fail-on-regression", "3"
    )
    assert result.exit_code == 1
    found = differences(result)
    assert [(one["kind"], one["field"], one["base"], one["candidate"]) for one in found[:1]] == [
        ("template", "Result", "0", "1")
    ]
    assert "Result Perf" in [one["field"] for one in found]


def test_columns_and_operators_of_one_side_only(compared: Callable[..., Outcome], tmp_path: Path) -> None:
    result = compared(["A", "B", "C"], ["B", "D"])
    head = overview(result)
    assert head["operators matched"] == "1"
    assert head["operators only in base"] == "A, C"
    assert head["operators only in candidate"] == "D"
    assert (head["rows only in base"], head["rows only in candidate"]) == ("2", "1")
    assert head["base"] == f"{tmp_path / 'base.csv'} (3 rows)"


def test_columns_of_one_side_only(autofuse_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Operator,Graph,Result,Group,Result Perf,a,b\nB,0,0,0,20,1,\n")
    (tmp_path / "b.csv").write_text("Operator,Graph,Result,Group,Result Perf,c\nB,0,0,0,20,1\n")
    head = overview(autofuse_cli("run", "compare", tmp_path / "a.csv", tmp_path / "b.csv"))
    assert (head["columns only in base"], head["columns only in candidate"]) == ("a, b", "c")


# --- drifted names ---------------------------------------------------------------------------------------------------

OLD, NEW = "autofuse_pointwise_3_Abs_Add", "autofuse_pointwise_7_Abs_Add"


def test_names_that_drifted_match_only_when_asked_for(compared: Callable[..., Outcome]) -> None:
    exact = compared([OLD], [NEW])
    assert exact.exit_code == 1
    assert "nothing matched" in exact.stderr
    by_name = compared([OLD], [NEW], "--match", "name", "--fail-on-regression", "0")
    assert by_name.exit_code == 0
    assert f"{OLD} is compared with {NEW} (only running numbers differ)" in by_name.stdout
    assert overview(by_name)["operators matched"] == "1"
    assert "operators only in base" not in overview(by_name)


def test_a_pairing_that_is_not_unique_is_none(compared: Callable[..., Outcome]) -> None:
    for base, candidate_names in (
        (["op_1", "op_2"], ["op_3"]),
        (["op_1"], ["op_2", "op_3"]),
        (["op_1", "op_2"], ["op_3", "op_4"]),
    ):
        result = compared(base, candidate_names, "--match", "name")
        assert result.exit_code == 1, (base, candidate_names)
        assert "is compared with" not in result.stdout


def test_equal_names_match_before_drifted_ones(compared: Callable[..., Outcome]) -> None:
    result = compared(["op_1", "op_2", "add10_3"], ["op_2", "op_5", "add9_31"], "--match", "name")
    assert "op_1 is compared with op_5" in result.stdout
    assert "add10_3 is compared with add9_31" in result.stdout
    assert overview(result)["operators matched"] == "3"


def test_names_that_differ_in_more_than_numbers_never_match(compared: Callable[..., Outcome]) -> None:
    assert compared(["op_1"], ["ap_1"], "--match", "name").exit_code == 1
    assert compared(["op_1"], ["op_"], "--match", "name").exit_code == 1


def test_drifted_names_match_with_several_calls(compared: Callable[..., Outcome]) -> None:
    rows = [",0,0,0,1,,10,12,20,64,s0=1", ",0,0,0,1,,10,12,30,64,s0=2"]
    base, new = [f"op_1{row}" for row in rows], [f"op_2{row}" for row in rows]
    result = compared(base, new[::-1], "--match", "name", "--fail-on-regression", "0")
    assert (result.exit_code, overview(result)["rows"]) == (0, "0 faster, 0 slower, 2 equal")


# --- order and figures -----------------------------------------------------------------------------------------------


def test_changed_templates_come_first_then_the_largest_impact(compared: Callable[..., Outcome]) -> None:
    def row(name: str, performance: str, case: int = 1) -> str:
        return f"{name},0,0,0,{case},,10,12,{performance},64,"

    base = [row(name, "100") for name in ("a", "b", "c", "d", "e", "f", "g")]
    new = [
        row("a", "101"),
        row("b", "50"),
        row("c", "130", 2),
        row("d", "100"),
        row("e", "101"),
        row("f", "200"),
        row("g", "90", 3),
    ]
    result = compared(base, new, "-o", "-", "-f", "console")
    performance = result.stdout.split("Performance\n")[1].split("\n\n")[0].splitlines()[2:]
    assert [line.split()[0] for line in performance] == ["c", "g", "f", "b", "a", "e", "d"]
    found = differences(compared(base, new, "-f", "jsonl"))
    assert list(dict.fromkeys(one["operator"] for one in found)) == ["c", "g", "f", "b", "a", "e"]
    assert [(one["operator"], one["kind"]) for one in found[:2]] == [("c", "template"), ("c", "metric")]


def test_equal_impacts_keep_the_order_of_the_base(compared: Callable[..., Outcome]) -> None:
    names = [f"op{letter}" for letter in "zqkbxa"]
    base = [f"{name},0,0,0,1,,10,12,100,64," for name in names]
    slower = [f"{name},0,0,0,1,,10,12,110,64," for name in sorted(names)]
    found = differences(compared(base, slower, "-f", "jsonl"))
    assert [one["operator"] for one in found] == names


def test_fields_of_a_row_stand_metrics_first(compared: Callable[..., Outcome]) -> None:
    found = differences(compared(["A,0,0,0,1,,10,12,20,64,"], ["A,0,0,0,2,,11,13,21,65,"], "-f", "jsonl"))
    assert [one["field"] for one in found] == ["Case", "Objective Value", "Result Perf", "AIV_MTE2", "tile"]


def test_counts_and_geometric_mean(compared: Callable[..., Outcome]) -> None:
    base = [f"{name},0,0,0,1,,10,12,{value},64," for name, value in zip("abcdef", ("1", "4", "2", "0", "", "nan"))]
    new = [f"{name},0,0,0,1,,10,12,{value},64," for name, value in zip("abcdef", ("2", "1", "2", "5", "", "7"))]
    head = overview(compared(base, new))
    # e has no Result Perf at all and is judged by its objective; the one of f is no number in the base.
    assert head["rows"] == "1 faster, 2 slower, 2 equal, 1 without the metric on both sides"
    mean = (2 / 1 * 1 / 4 * 2 / 2 * 12 / 12) ** (1 / 4)
    assert head["geometric mean of candidate / base"] == f"{mean:.6f}"


# --- logs as sides ---------------------------------------------------------------------------------------------------


def test_logs_are_compared_straight_away(autofuse_cli: Cli, tmp_path: Path) -> None:
    for name, cycles, case in (("base", "100", 1), ("new", "120", 2)):
        save(tmp_path / name / "a.log", call("A", candidate(case, objective=f"{cycles}.000000", tile="5")), pid=1)
        save(tmp_path / name / "b.log", call("B", candidate(3, "R", tile="5"), performance="9.000000"), pid=2)
    result = autofuse_cli("run", "compare", tmp_path / "base", tmp_path / "new", "-f", "jsonl")
    found = differences(result)
    assert [(one["operator"], one["field"], one["difference"]) for one in found] == [
        ("A", "Case", None),
        ("A", "Objective Value", 20.0),
    ]


def test_invocations_of_logs_are_chosen_as_in_summary(autofuse_cli: Cli, tmp_path: Path) -> None:
    def run(name: str, *cycles: str) -> Path:
        calls = [call("A", candidate(objective=text), shape=shape(s0=n)) for n, text in enumerate(cycles)]
        return save(tmp_path / name, *calls)

    base, new = run("a.log", "10", "20", "30"), run("b.log", "10", "40", "30")
    found = {
        mode: differences(autofuse_cli("run", "compare", base, new, "-f", "jsonl", "--invocations", mode))
        for mode in ("last", "first", "all", "2", "-2")
    }
    assert {mode: len(lines) for mode, lines in found.items()} == {"last": 0, "first": 0, "all": 1, "2": 1, "-2": 1}
    assert found["all"][0]["input_shape"] == "s0=1"
    nothing = autofuse_cli("run", "compare", base, new, "--invocations", "4")
    assert (nothing.exit_code, "nothing matched" in nothing.stderr) == (1, True)
    assert autofuse_cli("run", "compare", base, new, "--invocations", "0").exit_code == 2


def test_a_log_against_a_csv_of_an_earlier_tool(autofuse_cli: Cli, tmp_path: Path) -> None:
    source = save(tmp_path / "a.log", call("A", candidate(2, "R", AIV_MTE2="7.5", tile="5"), performance="9.000000"))
    old = tmp_path / "old.csv"
    old.write_text(
        "\ufeffOperator,Graph,Result,Group,Case,AIV_MTE2,AIV_MTE3,Objective Value,Result Perf,tile\r\n"
        "A,0,0,0,R2,7.5,,100,9,5\r\n"
    )
    for sides in ((source, old), (old, source)):
        result = autofuse_cli("run", "compare", *sides, "-f", "jsonl", "--fail-on-regression", "0")
        assert result.exit_code == 0
        fields = {one["field"]: one for one in differences(result)}
        # What only one of them tells is told; what both tell is the same.
        assert not {"Case", "AIV_MTE2", "Objective Value", "Result Perf", "tile"} & set(fields)


# --- outputs ---------------------------------------------------------------------------------------------------------


def test_xlsx_has_a_sheet_for_overview_differences_and_performance(
    compared: Callable[..., Outcome], tmp_path: Path
) -> None:
    for options in (("-f", "excel", "-o", tmp_path / "x"), ("-o", tmp_path / "x.xlsx")):
        assert compared(["A,0,0,0,1,,10,12,20,64,", "B"], ["A,0,0,0,2,,10,12,30,64,", "C"], *options).exit_code == 0
    book = openpyxl.load_workbook(tmp_path / "x.xlsx")
    assert {"overview", "differences", "performance"} <= {name.lower() for name in book.sheetnames}
    rows = {name.lower(): [[cell.value for cell in row] for row in book[name].iter_rows()] for name in book.sheetnames}
    assert rows["differences"][1][:9] == ["A", 0, 0, 0, None, "template", "Case", "1", "2"]
    assert rows["performance"][1][:8] == ["A", 0, 0, 0, None, "Result Perf", 20, 30]
    assert ["operators only in base", "B"] in rows["overview"]


def test_text_is_the_console_report_as_a_file(compared: Callable[..., Outcome], tmp_path: Path) -> None:
    assert compared(["A", "B"], ["A", "C"], "-f", "text", "-o", tmp_path / "r.txt").exit_code == 0
    assert (tmp_path / "r.txt").read_text() == compared(["A", "B"], ["A", "C"]).stdout


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "md", "html", "svg", "txt", "xlsx"])
def test_every_reporter_writes_the_report(suffix: str, compared: Callable[..., Outcome], tmp_path: Path) -> None:
    path = tmp_path / f"report.{suffix}"
    result = compared(["A,0,0,0,1,,10,12,20,64,"], ["A,0,0,0,2,,10,12,30,64,"], "-o", path)
    assert (result.exit_code, result.stdout) == (0, "")
    assert path.stat().st_size > 100


def test_csv_and_jsonl_hold_the_differences(compared: Callable[..., Outcome], tmp_path: Path) -> None:
    sides = (["A,0,0,0,1,,10,12,20,64,"], ["A,0,0,0,2,,10,12,30,64,"])
    table = compared(*sides, "-f", "csv").stdout.splitlines()
    assert table == [
        "Operator,Graph,Result,Group,Input Shape,Kind,Field,Base,Candidate,Difference,Percent",
        "A,0,0,0,,template,Case,1,2,,",
        "A,0,0,0,,metric,Result Perf,20,30,10,50.0000",
    ]
    assert len(differences(compared(*sides, "-f", "jsonl"))) == 2
    assert compared(*sides, "-f", "csv", "-o", f"{tmp_path}/all/").exit_code == 0
    assert {path.stem for path in (tmp_path / "all").iterdir()} == {"differences", "performance", "overview"}


def test_nothing_to_write_to(compared: Callable[..., Outcome], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for output in ("/dev/full", tmp_path / "file" / "x.csv"):
        result = compared(["A"], ["A"], "-o", output, "-f", "csv")
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["base.csv", "candidate.csv", "file"]


def test_the_explanation_adds_up(autofuse_cli: Cli, tmp_path: Path) -> None:
    """The change of the objective is that of its largest pipe and of the head cost."""
    one = candidate(objective="120.5", AIV_MTE2="100.25", AIV_VEC="40")
    two = candidate(objective="90.125", AIV_MTE2="30", AIV_VEC="80.5")
    for name, template in (("a.log", one), ("b.log", two)):
        (tmp_path / name).write_bytes(log(call("A", template)))
    result = autofuse_cli("run", "compare", tmp_path / "a.log", tmp_path / "b.log")
    assert "objective -30.375 = bottleneck AIV_MTE2 → AIV_VEC -19.75, head cost -10.625" in result.stdout
