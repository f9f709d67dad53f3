"""The gate of compare fails for what got slower or cannot be compared any more, and says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, List, Sequence

import pytest
from attruns import call, candidate, save
from autofuse.inprocess import Outcome

Cli = Callable[..., Outcome]
Gate = Callable[..., Outcome]

HEADER = "Operator,Graph,Result,Group,Case,AIV_MTE2,Objective Value,Result Perf"


def row(name: str, performance: str = "100", objective: str = "100", pipe: str = "100") -> str:
    return f"{name},0,0,0,1,{pipe},{objective},{performance}"


@pytest.fixture
def gated(autofuse_cli: Cli, tmp_path: Path) -> Gate:
    """compare with --fail-on-regression 3 unless another limit is given."""

    def run(base: Sequence[str], candidate: Sequence[str], *options: Any, limit: str = "3") -> Outcome:
        for name, rows in (("base.csv", base), ("candidate.csv", candidate)):
            (tmp_path / name).write_text("\n".join([HEADER, *rows, ""]))
        sides = (tmp_path / "base.csv", tmp_path / "candidate.csv")
        return autofuse_cli("run", "compare", *sides, "--fail-on-regression", limit, *options)

    return run


def offenders(result: Outcome) -> List[str]:
    """The lines of the gate at the end of the report."""
    lines = result.stdout.rstrip("\n").split("\n")
    at = max(number for number, line in enumerate(lines) if line.startswith("gate of "))
    return [line.strip() for line in lines[at + 1 :]]


@pytest.mark.parametrize(
    ("base", "candidate", "limit", "fails"),
    [
        ("100", "103", "3", False),
        ("100", "103.000001", "3", True),
        ("1000", "1001", "0.1", False),
        ("1000", "1001.01", "0.1", True),
        ("0.3", "0.309", "3", False),
        ("1000000000000000000000", "1000000000000000000001", "0", True),
        ("100", "100", "0", False),
        ("100", "50", "0", False),
        ("100", "100.5", "0.5", False),
        ("100", "100.6", ".5", True),
        ("3", "3.0000000000000000000000000000001", "0", True),
        ("0", "0", "0", False),
        ("0", "0.000001", "1000000", True),
        ("0", "-5", "0", False),
        ("-100", "-98", "3", False),
        ("-100", "-96", "3", True),
        ("100", "inf", "1e300", True),
        ("inf", "inf", "0", False),
        ("inf", "100", "0", False),
        ("-inf", "100", "3", True),
    ],
)
def test_more_percent_than_allowed(base: str, candidate: str, limit: str, fails: bool, gated: Gate) -> None:
    result = gated([row("A", base)], [row("A", candidate)], limit=limit)
    assert result.exit_code == (1 if fails else 0)
    assert (f"gate of {float(limit):g} %: " + ("1 regression" if fails else "passed")) in result.stdout
    if fails:
        assert f"A graph0_result0_g0: Result Perf {base} → {candidate}" in offenders(result)[0]
        assert "A graph0_result0_g0: Result Perf" in result.stderr


@pytest.mark.parametrize("limit", ["-1", "nan", "inf", "-inf", "3%", "three", ""])
def test_limits_that_make_no_sense(limit: str, gated: Gate) -> None:
    result = gated([row("A")], [row("A")], limit=limit)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--fail-on-regression" in result.stderr


def test_result_perf_decides_where_both_sides_have_it_else_the_objective(gated: Gate) -> None:
    assert gated([row("A", "100", "100")], [row("A", "100", "200")]).exit_code == 0
    for base, candidate_performance in (("", ""), ("100", ""), ("", "100")):
        result = gated([row("A", base, "100")], [row("A", candidate_performance, "200")])
        assert result.exit_code == 1
        assert offenders(result) == ["A graph0_result0_g0: Objective Value 100 → 200 (+100.00 %)"]
    assert gated([row("A", "100", "100")], [row("A", "", "90")]).exit_code == 0


def test_chosen_metrics(gated: Gate) -> None:
    base, new = [row("A", "100", "100", "100")], [row("A", "100", "90", "120")]
    assert gated(base, new).exit_code == 0
    assert gated(base, new, "--metric", "Objective Value").exit_code == 0
    assert gated(base, new, "--metric", "AIV_MTE2").exit_code == 1
    both = gated(base, [row("A", "100", "120", "120")], "--metric", "Objective Value", "--metric", "AIV_MTE2")
    assert [line.split(": ")[1] for line in offenders(both)] == [
        "Objective Value 100 → 120 (+20.00 %)",
        "AIV_MTE2 100 → 120 (+20.00 %)",
    ]


@pytest.mark.parametrize("name", ["Case", "Graph", "nothing", "aiv_mte2", "Operator", ""])
def test_what_is_no_metric(name: str, gated: Gate) -> None:
    result = gated([row("A")], [row("A")], "--metric", name)
    assert result.exit_code == 2
    assert "AIV_MTE2, Objective Value, Result Perf" in result.stderr


@pytest.mark.parametrize("lost", ["", "nan", "-", "broken"])
def test_a_row_that_lost_its_metric(lost: str, gated: Gate) -> None:
    result = gated([row("A"), row("B")], [row("A"), row("B", lost, lost)])
    assert result.exit_code == 1
    assert offenders(result) == ["B graph0_result0_g0: Result Perf is lost (base 100)"]
    assert gated([row("A"), row("B", lost, lost)], [row("A"), row("B")]).exit_code == 0
    chosen = gated([row("A", pipe="5")], [row("A", pipe=lost)], "--metric", "AIV_MTE2")
    assert chosen.exit_code == 1
    assert "AIV_MTE2 is lost (base 5)" in offenders(chosen)[0]


def test_operators_and_rows_that_are_gone(gated: Gate) -> None:
    result = gated([row("A"), row("B"), row("A").replace("0,0,0", "0,0,1")], [row("A"), row("C")])
    assert result.exit_code == 1
    assert offenders(result) == ["B: is gone from the candidate", "A graph0_result0_g1: is gone from the candidate"]


def test_new_operators_are_no_regression(gated: Gate) -> None:
    assert gated([row("A")], [row("A"), row("B", "99999")]).exit_code == 0


@pytest.mark.parametrize("sides", [(["A"], ["B"]), ([], ["B"]), (["A"], []), ([], [])])
def test_nothing_matched(sides: Sequence[Sequence[str]], gated: Gate) -> None:
    result = gated(*([row(name) for name in side] for side in sides))
    assert result.exit_code == 1
    assert "nothing matched" in result.stderr


@pytest.mark.parametrize("text", ["", "nan"])
def test_rows_that_match_without_any_number(text: str, gated: Gate) -> None:
    result = gated([row("A", text, text)], [row("A", text, text)])
    assert (result.exit_code, offenders(result)) == (1, ["no metric could be compared"])


def test_without_a_gate_slower_is_no_failure(autofuse_cli: Cli, tmp_path: Path) -> None:
    for name, value in (("a.csv", "100"), ("b.csv", "200")):
        (tmp_path / name).write_text(f"{HEADER}\n{row('A', value)}\n")
    result = autofuse_cli("run", "compare", tmp_path / "a.csv", tmp_path / "b.csv")
    assert result.exit_code == 0
    assert "gate of" not in result.stdout


def test_the_report_is_written_whole_when_the_gate_fails(gated: Gate, tmp_path: Path) -> None:
    result = gated([row("A")], [row("A", "200")], "-f", "csv", "-o", tmp_path / "report.csv")
    assert (result.exit_code, result.stdout) == (1, "")
    assert (tmp_path / "report.csv").read_text("utf-8-sig").splitlines()[1].startswith("A,0,0,0,,metric,Result Perf")
    assert result.stderr.count("\n") == 1


def test_the_gate_over_logs_that_lost_a_call(autofuse_cli: Cli, tmp_path: Path) -> None:
    whole = save(tmp_path / "a.log", call("A", candidate(objective="10")), call("B", candidate(objective="20")))
    half = save(tmp_path / "b.log", call("A", candidate(objective="10")))
    failing = save(tmp_path / "c.log", call("A", candidate(objective="10")), call("B", candidate(objective=None)))
    for other, says in ((half, "B: is gone"), (failing, "Objective Value is lost (base 20)")):
        result = autofuse_cli("run", "compare", whole, other, "--fail-on-regression", "3")
        assert result.exit_code == 1
        assert says in offenders(result)[0]
    assert autofuse_cli("run", "compare", half, whole, "--fail-on-regression", "3").exit_code == 0


def test_the_swapped_sides_pass(gated: Gate) -> None:
    base, new = [row("A"), row("B")], [row("A", "104"), row("B", "90")]
    assert [line.split(" graph")[0] for line in offenders(gated(base, new))] == ["A"]
    assert [line.split(" graph")[0] for line in offenders(gated(new, base))] == ["B"]
    assert gated(new[:1], base[:1]).exit_code == 0
