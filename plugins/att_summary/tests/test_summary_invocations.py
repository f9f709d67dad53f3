"""summary: --invocations, and what is said about the calls that are not shown."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, List

import pytest
from autofuse.testing import Outcome
from logwriter.model import Call, Candidate, Graph, Group, Process, Result, Run, Thread
from logwriter.samples import call, candidate, group, result, run_of
from summaries import csv_table, log_folder, summary_rows

Cli = Callable[..., Outcome]


def good(operator: str, seed: int, end: bool = True) -> Call:
    return call(operator, [result(0, [group(0, [candidate(0, seed=seed)], s0=str(seed))])], end=end)


def bad(operator: str, seed: int = 0) -> Call:
    unsolved = Group(0, (Candidate(0, "", None),), None, (("s0", str(seed)),))
    return Call(operator, (Graph(0, (Result(0, (unsolved,)),)),))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Add: five calls, the second incomplete, the last failing; Mul: one call; Bad: two failing calls."""
    calls = (
        *(good("Add", 1), good("Add", 2, end=False), good("Add", 3), good("Mul", 7), good("Add", 4), bad("Add", 5)),
        *(bad("Bad", 8), bad("Bad", 9)),
    )
    return log_folder(run_of(*calls), tmp_path / "log")


def shown(*arguments: object) -> List[str]:
    return [f"{row['Operator']} {row['Input Shape']}" for row in summary_rows(*map(str, arguments))]


def test_last_is_the_last_that_chose_something(folder: Path) -> None:
    assert shown(folder) == shown(folder, "--invocations", "last") == ["Add s0=4", "Mul s0=7", "Bad s0=9"]


def test_first(folder: Path) -> None:
    assert shown(folder, "--invocations", "first")[:2] == ["Add s0=1", "Mul s0=7"]


def test_all(folder: Path) -> None:
    rows = summary_rows(folder, "--invocations", "all")
    assert [(row["Operator"], row["Input Shape"], row["Invocation"], row["Invocations"]) for row in rows] == [
        *(("Add", f"s0={number}", str(number), "5") for number in range(1, 6)),
        ("Mul", "s0=7", "1", "1"),
        *(("Bad", "s0=8", "1", "2"), ("Bad", "s0=9", "2", "2")),
    ]


@pytest.mark.parametrize(
    ("number", "rows"),
    [
        ("1", ["Add s0=1", "Mul s0=7", "Bad s0=8"]),
        ("2", ["Add s0=2", "Bad s0=9"]),
        ("5", ["Add s0=5"]),
        ("-1", ["Add s0=5", "Mul s0=7", "Bad s0=9"]),
        ("-2", ["Add s0=4", "Bad s0=8"]),
        ("-5", ["Add s0=1"]),
    ],
)
def test_a_number_counts_from_1_or_from_the_end(folder: Path, number: str, rows: List[str]) -> None:
    assert shown(folder, "--invocations", number) == rows


def test_operators_without_that_number_are_told(folder: Path, autofuse_cli: Cli) -> None:
    outcome = autofuse_cli("run", "summary", folder, "--invocations", "3", "-f", "csv")
    assert outcome.exit_code == 0
    assert "no invocation 3 of Mul, Bad" in outcome.stderr


@pytest.mark.parametrize("number", ["6", "-6", "1000000"])
def test_a_number_that_does_not_exist(folder: Path, autofuse_cli: Cli, number: str) -> None:
    outcome = autofuse_cli("run", "summary", folder, "--invocations", number)
    assert (outcome.exit_code, outcome.stdout) == (1, "")
    assert number in outcome.stderr and "at most 5" in outcome.stderr
    assert all(name in outcome.stderr for name in ("Add", "Mul", "Bad"))


@pytest.mark.parametrize("text", ["0", "latest", "1.5", "", "--", "1 2"])
def test_what_is_no_choice_is_a_usage_error(folder: Path, autofuse_cli: Cli, text: str) -> None:
    outcome = autofuse_cli("run", "summary", folder, "--invocations", text)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert "last, first, all or an integer" in outcome.stderr


def test_counts_on_standard_error(folder: Path, autofuse_cli: Cli) -> None:
    outcome = autofuse_cli("run", "summary", folder, "-f", "csv")
    assert "Add: 5 invocations (1 failed, 1 incomplete)" in outcome.stderr
    assert "Bad: 2 invocations (2 failed)" in outcome.stderr
    assert "Mul" not in outcome.stderr
    assert "invocation" not in outcome.stdout.replace("inferred", "").lower().split("\n", 1)[1].replace(
        "incomplete_", ""
    )


def test_one_call_each_needs_no_words(tmp_path: Path, autofuse_cli: Cli) -> None:
    outcome = autofuse_cli("run", "summary", log_folder(run_of(good("Add", 1), good("Mul", 2)), tmp_path / "log"))
    assert (outcome.exit_code, outcome.stderr) == (0, "")


def test_each_process_counts_for_itself(tmp_path: Path, autofuse_cli: Cli) -> None:
    processes = (
        Process(7, (Thread(1, (good("Add", 1), good("Add", 2))),)),
        Process(8, (Thread(1, (good("Add", 3),)),)),
    )
    folder = log_folder(Run(processes), tmp_path / "log")
    outcome = autofuse_cli("run", "summary", folder, "-f", "csv")
    _, rows = csv_table(outcome)
    assert [(row["Input Shape"], row["Invocation"], row["Invocations"]) for row in rows] == [
        ("s0=2", "2", "2"),
        ("s0=3", "1", "1"),
    ]


def test_many_operators_are_told_together(tmp_path: Path, autofuse_cli: Cli) -> None:
    calls = [good(f"op{number}", seed) for number in range(30) for seed in (1, 2)]
    outcome = autofuse_cli("run", "summary", log_folder(run_of(*calls), tmp_path / "log"))
    assert "30 operators: 60 invocations" in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1
