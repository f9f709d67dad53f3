"""Runs summary on written logs and reads its CSV back, for tests that look at rows."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Dict, List, Sequence, Tuple, Union

from autofuse.testing import Outcome, run_cli
from logwriter.files import Layout, write
from logwriter.model import Run

__all__ = ["COLUMNS_BEFORE", "COLUMNS_BEHIND", "csv_table", "log_folder", "summary_rows"]

COLUMNS_BEFORE = (
    *("Operator", "Graph", "Result", "Group", "Case"),
    *("AIV_MTE2", "AIV_MTE3", "Objective Value", "Result Perf"),
)
COLUMNS_BEHIND = (
    *("ub_size", "block_dim"),
    *("Final Source", "Tiling Key", "Score", "Pipe Estimate", "Tiling Repr", "Final Parse Status"),
    *("Sub Case", "Parse Status", "Bottleneck Pipe", "Head Cost", "Invocation", "Invocations", "Input Shape"),
    *("Source", "Line"),
)
"""The published columns; those of the other values stand between."""

Row = Dict[str, str]


def log_folder(run: Run, folder: Path, layout: Layout = Layout()) -> Path:  # noqa: B008 (frozen)
    """Writes the logs of the run into the folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in write(run, layout):
        (folder / file.name).write_bytes(file.data)
    return folder


def summary_rows(*arguments: Union[str, Path]) -> List[Row]:
    """The rows of `autofuse run summary ARGUMENTS`, which must succeed."""
    outcome = run_cli("run", "summary", *arguments, "-f", "csv")
    assert outcome.exit_code == 0, outcome.stderr
    return csv_table(outcome)[1]


def csv_table(outcome: Outcome) -> Tuple[Sequence[str], List[Row]]:
    """Header and rows of CSV on standard output."""
    reader = csv.DictReader(io.StringIO(outcome.stdout, newline=""), strict=True)
    rows = list(reader)
    return reader.fieldnames or (), rows
