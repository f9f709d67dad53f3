"""Acceptance of precision from its specification: graphs and dump files that are odd, hostile or cut short."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from autofuse.testing import run_cli
from precision_twins import TIME, RawTensor, Runs, desc, dump_name, npy_bytes, op, raw_dump

VALUES = np.linspace(-2, 2, 24, dtype="f4").reshape(4, 6)


# --- graphs -----------------------------------------------------------------------------------------------------------


def test_only_a_fused_source_resolves_to_its_origin(runs: Runs) -> None:
    """GE gives other operators an origin too; both runs dump those under their own name."""
    runs.open_ops.append(op("conv", "Conv2D", [], [desc(("inner", 3))]))
    runs.close_ops.append(op("conv", "Conv2D", [], [desc(("inner", 3))]))
    runs.pair(VALUES, VALUES, inputs=["conv:0"])
    runs.dump("open", dump_name("AscBackend", "af_0", "input"), VALUES)
    runs.dump("close", dump_name("Conv2D", "conv"), VALUES)
    row, _ = runs.rows("--compare-input", code=0)
    assert (row["origin_op_name"], row["origin_index"], row["status"]) == ("conv", 0, "OK")


def test_an_unfused_source_that_the_close_run_lacks_resolves_to_its_origin(runs: Runs) -> None:
    runs.open_ops.append(op("conv_relu", "Conv2D", [], [desc(("relu_9", 1))]))
    runs.close_ops.append(op("relu_9", "Relu"))
    runs.pair(VALUES, VALUES, inputs=["conv_relu:0"])
    runs.dump("open", dump_name("AscBackend", "af_0", "input"), VALUES)
    runs.dump("close", dump_name("Relu", "relu_9", index=1), VALUES)
    row, _ = runs.rows("--compare-input", code=0)
    assert (row["origin_op_name"], row["origin_index"], row["status"]) == ("relu_9", 1, "OK")


def test_a_fused_operator_without_descriptions_is_compared_by_its_raw_dump(runs: Runs) -> None:
    """`original_op` gives the mapping when the graph lacks it, even when the graph lacks the output itself."""
    runs.open_ops.append(op("af_0", "AscBackend"))
    runs.close_ops.append(op("relu_0", "Relu"))
    outputs = [RawTensor(VALUES.tobytes(), 1, VALUES.shape, origin=("relu_0", index)) for index in range(2)]
    runs.dump("open", dump_name("AscBackend", "af_0", ""), raw_dump([], outputs))
    for index in range(2):
        runs.dump("close", dump_name("Relu", "relu_0", index=index), VALUES)
    rows = runs.rows(code=0)
    assert [(row["fused_index"], row["origin_index"], row["status"]) for row in rows] == [(0, 0, "OK"), (1, 1, "OK")]


def test_a_fused_operator_that_nothing_describes_is_not_passed_over(runs: Runs) -> None:
    runs.pair(VALUES, VALUES)
    runs.open_ops += [op("af_1", "AscBackend"), op("af_2", "AscBackend")]
    runs.dump("open", dump_name("AscBackend", "af_1", index=1), VALUES)
    rows = runs.rows(code=0)
    assert [(row["fused_op_name"], row["fused_index"], row["status"]) for row in rows] == [
        ("af_0", 0, "OK"), ("af_1", 0, "NO_MAPPING"), ("af_1", 1, "NO_MAPPING"), ("af_2", 0, "NO_MAPPING")
    ]  # fmt: skip
    assert "no output_desc" in rows[3]["reason"]


def test_a_description_of_the_wrong_type_keeps_its_place(runs: Runs) -> None:
    runs.pair(VALUES, None)
    runs.open_ops[0]["output_desc"] = [None, "x", *runs.open_ops[0]["output_desc"]]
    runs.dump("open", dump_name("AscBackend", "af_0", index=2), VALUES)
    runs.dump("close", dump_name("Relu", "relu_0"), VALUES)
    assert [row["status"] for row in runs.rows(code=0)] == ["NO_MAPPING", "NO_MAPPING", "OK"]


def test_two_operators_of_one_name_are_named_as_such(runs: Runs) -> None:
    """The same name in two graphs, standing for two different operators."""
    runs.pair(VALUES, VALUES)
    runs.open_ops.append(op("af_0", "AscBackend", [], [desc(("relu_1", 0))]))
    first, second = runs.rows(code=2)
    assert (first["status"], second["status"]) == ("AMBIGUOUS_NAME", "AMBIGUOUS_NAME")
    assert "the graph has several operators of the name 'af_0'" in first["reason"]


def test_twenty_thousand_operators_of_one_name_cost_no_more_than_others(runs: Runs) -> None:
    """Would take minutes if each were compared with each."""
    runs.pair(VALUES, VALUES)
    runs.open_ops += [op("a/b" if n % 2 else "a.b", "AscBackend", [], [desc(shape=[n])]) for n in range(20_000)]
    result = runs.run("--op=af_0")
    assert result.exit_code == 0, result.stderr
    assert runs.rows("--op=a?b")[-1]["status"] == "NO_MAPPING"


def test_inputs_of_many_operators_cost_no_more_than_others(runs: Runs) -> None:
    """Would take minutes if the graph were gone through for each."""
    runs.pair(VALUES, VALUES)
    chain = [op(f"f{n}", "AscBackend", [f"f{n - 1}:0"] if n else ["af_0:0"], [desc()]) for n in range(10_000)]
    runs.open_ops += chain
    result = runs.run("--compare-input", "-f", "jsonl")
    assert result.exit_code == 1, result.stderr
    assert result.stdout.count('"NO_MAPPING"') == 19_999


def test_a_graph_cut_in_a_string_is_said_to_be_cut(runs: Runs) -> None:
    runs.pair(VALUES, VALUES)
    arguments = runs.arguments()
    path = runs.root / "open.json"
    whole = path.read_text()
    for cut in (whole.index("_datadump") + 5, whole.index("AscBackend") + 3):
        path.write_text(whole[:cut])
        result = run_cli("run", "precision", *arguments)
        assert result.exit_code == 2
        assert "the file ends too early" in result.stderr


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        json.dumps({"graph": [{"op": [op("f", "AscBackend", [], [desc(("r", 0), layout="L" * 100_000)])]}]}),
        json.dumps({"graph": [{"op": [op("f" * 100_000, "AscBackend", [], [desc(("r" * 100_000, 0))])]}]}),
    ],
)
def test_errors_stay_readable_whatever_the_names(runs: Runs, text: str) -> None:
    runs.pair(VALUES, VALUES)
    arguments = runs.arguments()
    (runs.root / "open.json").write_text(text)
    runs.dump("open", dump_name("AscBackend", "f"), VALUES)
    runs.dump("close", dump_name("Relu", "r"), VALUES)
    result = run_cli("run", "precision", *arguments)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert len(result.stderr) < 1500


# --- dump files -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content,status",
    [
        (npy_bytes(VALUES, shape=f"({'9' * 4000}, {'9' * 4000})"), "NPY_LOAD_ERROR"),
        (raw_dump([], [RawTensor(b"x" * 8, 1, [1 << 62] * 50_000)]), "NPY_LOAD_ERROR"),
        (raw_dump([], [RawTensor(b"x" * 8, 1, [1 << 62] * 30)]), "TRUNCATED"),
        (raw_dump([], [RawTensor(b"x" * 8, 1, [1 << 62] * 30, original_shape=[1 << 62] * 50_000)]), "TRUNCATED"),
    ],
)
def test_absurd_shapes(runs: Runs, content: bytes, status: str) -> None:
    """Extents whose product has a million digits are refused without being multiplied or printed."""
    raw = content[:6] != b"\x93NUMPY"
    runs.pair(None, VALUES)
    runs.dump("open", dump_name("AscBackend", "af_0", "" if raw else "output"), content)
    row = runs.row(code=2)
    assert row["status"] == status
    assert len(row["reason"]) < 400
    assert len(json.dumps(row)) < 10_000


def test_absurd_shapes_of_the_graph(runs: Runs) -> None:
    described: Any = desc(shape=[1 << 62] * 50_000, origin_shape=[1 << 62] * 50_000, dtype="DT_INT4")
    runs.pair(np.ones(6, "i1"), np.ones(6, "i1"), open_desc=described, close_desc=described)
    row = runs.row(code=0)
    assert len(json.dumps(row)) < 10_000


def test_f1_without_a_graph_is_what_ml_dtypes_writes_so(tmp_path: Path) -> None:
    """numpy writes float8_e5m2, and no other type, as `<f1`; `V1` may be many types."""
    values = np.linspace(-2, 2, 16).astype(ml_dtypes.float8_e5m2)
    np.save(tmp_path / "a.npy", values)
    (tmp_path / "b.npy").write_bytes(npy_bytes(values.astype("f4")))
    options = ["run", "precision", "--mode=2", f"--npy-a={tmp_path}/a.npy", f"--npy-b={tmp_path}/b.npy", "-f", "jsonl"]
    row = json.loads(run_cli(*options).stdout)
    assert (row["status"], row["dtype_a"], row["max_abs_error"]) == ("DTYPE_CAST", "float8_e5m2", 0)


def test_a_device_is_no_graph(runs: Runs) -> None:
    """/dev/zero never ends; it is not read to its end."""
    runs.pair(VALUES, VALUES)
    arguments = runs.arguments()
    result = run_cli("run", "precision", "--af-open-graph=/dev/zero", *arguments[1:])
    assert result.exit_code == 2
    assert "is a device, not a graph" in result.stderr


def test_names_of_files_are_utf8_whatever_the_locale(runs: Runs) -> None:
    """GE writes UTF-8; a user's locale may be GBK or C."""
    runs.pair(VALUES, VALUES, name="层/自动_0", origin="归一化")
    environment = {**os.environ, "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-m", "autofuse", "run", "precision", *runs.arguments(), "-f", "jsonl"]
    result = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert result.returncode == 0, result.stderr
    row = json.loads(result.stdout)
    assert (row["status"], row["fused_op_name"]) == ("OK", "层/自动_0")


# --- shapes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
def test_both_ways_are_tried_whatever_the_order_in_the_file(runs: Runs, order: Any) -> None:
    """The same tensor with its axes merged and split again; Fortran order in the file changes nothing."""
    runs.pair(np.array(VALUES, order=order), VALUES.reshape(6, 4))
    runs.pair(np.array(VALUES, order=order), VALUES.T.copy(), name="af_1", origin="r1")
    stored, turned = runs.rows(code=0)
    assert (stored["status"], stored["max_abs_error"]) == ("SHAPE_FLATTENED", 0)
    assert "the order as stored" in stored["reason"]
    assert (turned["status"], turned["max_abs_error"]) == ("FORMAT_CONVERTED", 0)
    assert "axes [1, 0]" in turned["reason"]


def test_only_orders_that_a_sample_leaves_open_are_compared_in_full(
    monkeypatch: pytest.MonkeyPatch, runs: Runs
) -> None:
    """Two of the six orders agree on the sampled corner."""
    from autofuse_nwa_precision import comparison

    full = []
    measure = comparison.measure

    def counted(a: Any, b: Any, *rest: Any) -> Any:
        if b.size == values.size:
            full.append(b.shape)
        return measure(a, b, *rest)

    values = np.arange(64, dtype="f4").reshape(1, 64, 1, 1) * np.ones((60, 64, 61, 1), "f4")
    values[40, 3, 2] = 7
    monkeypatch.setattr(comparison, "measure", counted)
    runs.pair(values.reshape(60, 64, 61), values.reshape(60, 64, 61).transpose(1, 2, 0).copy())
    assert runs.row("--jobs=1", code=0)["max_abs_error"] == 0
    assert len(full) <= 3


@pytest.mark.parametrize("stored_side", ["open", "close"])
@pytest.mark.parametrize("form", ["row", "column"])
@pytest.mark.parametrize("extent", [2, 7, 16, 33])
def test_a_vector_in_fractals_is_a_row_or_a_column(runs: Runs, extent: int, form: str, stored_side: str) -> None:
    """Up to 16 elements both have one stored shape; the one that is closer is taken, and named."""
    plain = np.arange(1, extent + 1, dtype="f4")
    matrix = plain[None, :] if form == "row" else plain[:, None]
    height, width = (-(-size // 16) for size in matrix.shape)
    padded = np.full((height * 16, width * 16), -99, "f4")
    padded[: matrix.shape[0], : matrix.shape[1]] = matrix
    stored = padded.reshape(height, 16, width, 16).transpose(2, 0, 1, 3).copy()
    tensors = {"open": plain, "close": plain, stored_side: stored}
    layouts = {"open": "ND", "close": "ND", stored_side: "FRACTAL_NZ"}
    runs.pair(tensors["open"], tensors["close"],
              open_desc=desc(layout=layouts["open"]), close_desc=desc(layout=layouts["close"]))  # fmt: skip
    row = runs.row(code=0)
    assert (row["status"], row["max_abs_error"], row["compared_shape"]) == ("FORMAT_CONVERTED", 0, f"[{extent}]")
    assert (f"stored as a {form} fits best" in row["reason"]) == (extent <= 16)


# --- names ------------------------------------------------------------------------------------------------------------


def test_a_task_slice_in_the_old_form_without_a_stream(runs: Runs) -> None:
    runs.pair(VALUES, None)
    runs.dump("close", dump_name("Relu", "relu_0", stream=None, context=(2, 0, 1)), VALUES)
    assert runs.row(code=0)["status"] == "OK"


def test_numbers_in_a_captured_name_are_no_task_slice(runs: Runs) -> None:
    """`a.100.4` has a 4 where a slice has one, but behind it stands a timestamp, not a device."""
    runs.pair(VALUES, None, origin="a.100.4")
    runs.dump("close", f"Relu.a.100.4.7.0.{TIME}.output.0.npy", VALUES)
    assert runs.row(code=0)["status"] == "OK"


# --- tensors as one row of elements -----------------------------------------------------------------------------------


@pytest.mark.parametrize("c0", [8, 16])
def test_a_flat_dump_has_the_stored_shape_of_its_graph(runs: Runs, c0: int) -> None:
    plain = np.arange(2 * 5 * 3 * 4, dtype="f4").reshape(2, 5, 3, 4)
    stored = np.full((2, 1, 3, 4, c0), -99, "f4")
    stored[..., :5] = plain.transpose(0, 2, 3, 1)[:, None]
    described = desc(layout="NC1HWC0", shape=stored.shape)
    runs.pair(stored.reshape(-1), plain, open_desc=described, close_desc=desc(layout="NCHW"))
    row = runs.row(code=0)
    assert (row["status"], row["max_abs_error"], row["open_layout"]) == ("FORMAT_CONVERTED", 0, "NC1HWC0")


def test_a_flat_dump_in_another_order_is_turned(runs: Runs) -> None:
    plain = np.arange(2 * 5 * 3 * 4, dtype="f4").reshape(2, 5, 3, 4)
    turned = plain.transpose(0, 2, 3, 1)
    first, second = desc(layout="NHWC", shape=turned.shape), desc(layout="NCHW", shape=plain.shape)
    runs.pair(turned.reshape(-1), plain.reshape(-1), open_desc=first, close_desc=second)
    runs.pair(turned.reshape(-1), plain, name="af_1", origin="r1", open_desc=first, close_desc=second)
    rows = runs.rows(code=0)
    assert [(row["status"], row["max_abs_error"]) for row in rows] == [("FORMAT_CONVERTED", 0)] * 2


def test_a_flat_dump_of_no_named_order_stays_flat(runs: Runs) -> None:
    runs.pair(VALUES.reshape(-1), VALUES, open_desc=desc(shape=[4, 6]))
    row = runs.row(code=0)
    assert (row["status"], row["open_shape"]) == ("SHAPE_FLATTENED", "[24]")
