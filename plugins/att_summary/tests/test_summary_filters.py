"""summary: --op and --case, what they keep and how a mistake in them is told."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, List, Tuple

import pytest
from autofuse.testing import Outcome
from logwriter.samples import call, candidate, group, result, run_of
from summaries import log_folder, summary_rows

Cli = Callable[..., Outcome]
NAMES = ("Add", "Add1", "model/block.0/Add:0", "[x]*?", "算子")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five operators; each has results 0, 1, 10 with groups 0, 1, 10 and cases 3, R3, 13."""
    results = [
        result(number, [group(0, [candidate(3)]), group(1, [candidate(3, "R")]), group(10, [candidate(13)])])
        for number in (0, 1, 10)
    ]
    return log_folder(run_of(*(call(name, results) for name in NAMES)), tmp_path / "log")


def operators(folder: Path, *patterns: str) -> List[str]:
    options = [part for pattern in patterns for part in ("--op", pattern)]
    return list(dict.fromkeys(row["Operator"] for row in summary_rows(folder, *options)))


@pytest.mark.parametrize(
    ("patterns", "wanted"),
    [
        (["Add"], ["Add"]),
        (["Add?"], ["Add1"]),
        (["Add*"], ["Add", "Add1"]),
        (["*Add*"], ["Add", "Add1", "model/block.0/Add:0"]),
        (["add"], []),
        (["[x]*?"], ["[x]*?"]),
        (["*[0-9]"], ["Add1", "model/block.0/Add:0"]),
        (["算*"], ["算子"]),
        (["Add", "算子", "nope"], ["Add", "算子"]),
        (["*"], list(NAMES)),
    ],
)
def test_op_is_a_shell_pattern(folder: Path, autofuse_cli: Cli, patterns: List[str], wanted: List[str]) -> None:
    if wanted:
        assert operators(folder, *patterns) == wanted
    else:
        assert autofuse_cli("run", "summary", folder, "--op", *patterns).exit_code == 1


def test_an_op_that_matches_nothing(folder: Path, autofuse_cli: Cli) -> None:
    """Exit 1, and what there is."""
    outcome = autofuse_cli("run", "summary", folder, "--op", "Sub*", "--op", "Div")
    assert (outcome.exit_code, outcome.stdout) == (1, "")
    assert len(outcome.stderr.splitlines()) == 1
    assert all(name in outcome.stderr for name in ("Sub*", "Div", *NAMES))


Ids = List[Tuple[str, str, str]]
ALL: Ids = [(r, g, c) for r in ("0", "1", "10") for g, c in (("0", "3"), ("1", "R3"), ("10", "13"))]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("r=1", [ids for ids in ALL if ids[0] == "1"]),
        ("result=1,10", [ids for ids in ALL if ids[0] in ("1", "10")]),
        ("g=1", [ids for ids in ALL if ids[1] == "1"]),
        ("group=0,10,r=0", [ids for ids in ALL if ids[0] == "0" and ids[1] in ("0", "10")]),
        ("c=3", [ids for ids in ALL if ids[2] == "3"]),
        ("case=R3", [ids for ids in ALL if ids[2] == "R3"]),
        ("c=3,R3,r=10", [ids for ids in ALL if ids[0] == "10" and ids[2] in ("3", "R3")]),
        ("r=0,1,g=10,c=13", [("0", "10", "13"), ("1", "10", "13")]),
        ("r=0,r=1,g=0", [("0", "0", "3"), ("1", "0", "3")]),
        ("R=0, g=0 , 1", [("0", "0", "3"), ("0", "1", "R3")]),
    ],
)
def test_case_filters_by_dimension(folder: Path, text: str, wanted: Ids) -> None:
    rows = summary_rows(folder, "--all", "--op", "Add", "--case", text)
    assert [(row["Result"], row["Group"], row["Sub Case"] + row["Case"]) for row in rows] == wanted


@pytest.mark.parametrize(
    "text",
    ["", "x=1", "r", "1", "=1", "r=", "r=a", "r=1.5", "g=R1", "c=", "c=R", "c=3R", "r=1,,2", "r=1;g=2", "r=1,q=2"],
)
def test_a_bad_case_shows_the_grammar(folder: Path, autofuse_cli: Cli, text: str) -> None:
    outcome = autofuse_cli("run", "summary", folder, "--case", text)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert "r=0,1,g=2,c=R3" in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


def test_a_case_that_matches_nothing(folder: Path, autofuse_cli: Cli) -> None:
    outcome = autofuse_cli("run", "summary", folder, "--case", "c=4")
    assert (outcome.exit_code, outcome.stdout) == (1, "")
    assert "--case" in outcome.stderr and "Add" in outcome.stderr


def test_no_log_is_a_usage_error(autofuse_cli: Cli) -> None:
    outcome = autofuse_cli("run", "summary")
    assert outcome.exit_code == 2
    assert "LOG" in outcome.stderr


def test_help_names_every_option(autofuse_cli: Cli) -> None:
    outcome = autofuse_cli("run", "summary", "-h")
    assert outcome.exit_code == 0
    for option in ("-a, --all", "-f, --format", "-o, --output", "--invocations", "--op", "--case"):
        assert option in outcome.stdout
    assert autofuse_cli("run", "att_summary", "summary", "--help").stdout
