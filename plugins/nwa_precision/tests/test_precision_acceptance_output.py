"""Acceptance of precision from its specification: what the files hold, exactly and in order."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
from autofuse.testing import run_cli
from precision_twins import RawTensor, Runs, desc, dump_name, npy_bytes, raw_dump

VALUES = np.linspace(-2, 2, 24, dtype="f4").reshape(4, 6)
KEYS = [
    "side", "fused_op_name", "fused_index", "origin_op_name", "origin_index", "cosine_similarity", "max_abs_error",
    "max_rel_error", "status", "cosine_scale_free", "verdict", "blame", "amplification", "open_dtype", "close_dtype",
    "open_shape", "close_shape", "open_layout", "close_layout", "open_path", "close_path", "step",
]  # fmt: skip


def test_keys_stand_in_the_order_of_the_specification(runs: Runs) -> None:
    runs.pair(VALUES, VALUES)
    assert list(runs.row())[: len(KEYS)] == KEYS
    assert runs.run("-f", "csv").stdout.splitlines()[0].split(",")[: len(KEYS)] == KEYS


def test_csv_loses_no_digit(runs: Runs) -> None:
    """The formats of the console are for eyes; a file of data keeps what jsonl keeps."""
    wide = np.array([2**64 - 1, 0, 7], "u8")
    runs.pair(VALUES * np.float32(1 + 1e-6), VALUES)
    runs.pair(wide, np.array([-(2**63), 1, 7]), name="af_1", origin="r1", open_desc=desc(dtype="DT_UINT64"))
    rows = runs.rows()
    assert rows[1]["max_abs_error"] == 2**64 - 1 + 2**63
    for row, cells in zip(rows, csv.DictReader(io.StringIO(runs.run("-f", "csv").stdout))):
        for key in ("cosine_similarity", "max_abs_error", "max_rel_error", "cosine_scale_free", "rel_l2", "rmse"):
            assert cells[key] == str(row[key])


def test_csv_of_mode_2_loses_no_digit(tmp_path: Path) -> None:
    for name, values in (("a", VALUES * np.float32(1 + 1e-6)), ("b", VALUES)):
        (tmp_path / f"{name}.npy").write_bytes(npy_bytes(values))
    options = ["run", "precision", "--mode=2", f"--npy-a={tmp_path}/a.npy", f"--npy-b={tmp_path}/b.npy"]
    row = json.loads(run_cli(*options, "-f", "jsonl").stdout)
    (cells,) = csv.DictReader(io.StringIO(run_cli(*options, "-f", "csv").stdout))
    for key in ("cosine_similarity", "max_abs_error", "max_rel_error", "p99_rel_error"):
        assert cells[key] == str(row[key])


def test_a_row_without_a_finite_element_says_so(runs: Runs) -> None:
    """Equal, but of nothing that could differ: it passes, never silently."""
    runs.pair(np.full(4, np.nan), np.full(4, np.nan))
    runs.pair(np.array([np.inf, np.nan]), np.array([np.inf, np.nan]), name="af_1", origin="r1")
    runs.pair(np.array([1, np.nan]), np.array([1, np.nan]), name="af_2", origin="r2")
    first, second, third = runs.rows(code=0)
    assert first["reason"] == second["reason"] == "no element is finite on both sides: only their places were compared"
    assert (first["compared"], first["status"], first["verdict"], third["reason"]) == (0, "OK", "pass", "")


def test_inspect_shows_an_origin_without_an_index_as_such(runs: Runs) -> None:
    tensors = [RawTensor(VALUES.tobytes(), 1, VALUES.shape, origin=("relu", index)) for index in (2, None)]
    path = runs.dump("open", dump_name("AscBackend", "af_0", ""), raw_dump([], tensors))
    lines = run_cli("run", "precision", "inspect", str(path), "-f", "jsonl").stdout.splitlines()
    assert [json.loads(line)["origin"] for line in lines] == ["relu:2", "relu"]
