"""Acceptance of precision from its specification: further runs, skipped rows, inputs, amplification."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from autofuse.testing import run_cli
from precision_twins import TIME, RawTensor, Runs, attr, desc, dump_name, graph_json, npy_bytes, op, raw_dump

RNG = np.random.default_rng(11)
VALUES = RNG.standard_normal((8, 16))


def off(values: Any, relative: float) -> Any:
    """The values with a relative L2 error of just that size."""
    other = RNG.standard_normal(values.shape)
    return values + other * relative * np.linalg.norm(values) / np.linalg.norm(other)


def tree(device: int, index: int = 0, time: str = "20240101010101") -> str:
    """The folders of one device and data index."""
    return f"{time}/{device}/net/11/{index}/"


# --- noise and reference runs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("steps", [1, 2])
def test_a_further_run_is_paired_by_device_and_step(runs: Runs, first: int, steps: int) -> None:
    """Each device and data index of a noise or reference run belongs to the same one of the close run."""
    runs.pair(None, None)
    for device in (0, 1):
        for index in range(steps):
            values = VALUES * (1 + device) + index
            time = TIME + (device != first)
            for side, when, name in (
                ("open", "20240101010101", dump_name("AscBackend", "af_0", time=time)),
                ("close", "20240101010101", dump_name("Relu", "relu_0", time=time)),
                ("further", "20250101010101", dump_name("Relu", "relu_0", time=time)),
            ):
                runs.dump(side, tree(device, index, when) + name, values if side == "close" else off(values, 1e-3))
    rows = runs.rows(f"--noise-data={runs.root}/further", code=0)
    assert [row["noise_rel_l2"] for row in rows] == [pytest.approx(1e-3)] * 2 * steps
    rows = runs.rows(f"--reference-data={runs.root}/further")
    assert [row["reference_close_rel_l2"] for row in rows] == [pytest.approx(1e-3, rel=1e-2)] * 2 * steps


def test_noise_of_a_zero_tensor_excuses_no_more_than_its_size(runs: Runs) -> None:
    """Against a zero reference every relative error is infinite; the errors themselves still compare."""
    zero = np.zeros(8)
    runs.pair(zero + 1e9, zero, name="af_0", origin="r0")
    runs.pair(zero + 1e-9, zero, name="af_1", origin="r1")
    for origin in ("r0", "r1"):
        runs.dump("noise", dump_name("Relu", origin), zero + 1e-9)
    far, near = runs.rows(f"--noise-data={runs.root}/noise", code=1)
    assert (far["verdict"], far["blame"], near["verdict"]) == ("fail", "ROOT", "WITHIN_NOISE")


def test_closer_to_a_zero_reference_is_more_accurate(runs: Runs) -> None:
    zero = np.zeros(8)
    runs.pair(zero + 1e-9, zero + 1e-3, name="af_0", origin="r0")
    runs.pair(zero + 1e-3, zero + 1e-9, name="af_1", origin="r1")
    for origin in ("r0", "r1"):
        runs.dump("reference", dump_name("Relu", origin), zero)
    better, worse = runs.rows(f"--reference-data={runs.root}/reference", code=1)
    assert (better["verdict"], worse["verdict"]) == ("MORE_ACCURATE", "fail")


@pytest.mark.parametrize("option", ["--noise-data", "--reference-data"])
def test_a_further_run_that_belongs_to_nothing_is_said(runs: Runs, option: str) -> None:
    runs.pair(VALUES, VALUES)
    runs.dump("further", dump_name("Relu", "somebody_else"), VALUES)
    result = runs.run(f"{option}={runs.root}/further")
    assert result.exit_code == 0
    assert f"{runs.root}/further: holds no dump of any original output that was compared" in result.stderr


# --- skipped rows -----------------------------------------------------------------------------------------------------

PLAIN = VALUES.astype("f4")


def raw(**more: Any) -> RawTensor:
    return RawTensor(PLAIN.tobytes(), 1, PLAIN.shape, **more)


@pytest.mark.parametrize(
    "content,status",
    [
        (raw_dump([], [raw()])[:-1], "TRUNCATED"),
        (raw_dump([raw()], [raw(address=0)]), "NO_DATA"),
        (npy_bytes(PLAIN)[:-1], "NPY_LOAD_ERROR"),
        (raw_dump([], [raw(layout=200)]), "FORMAT_UNSUPPORTED"),
    ],
)
def test_a_skipped_row_carries_what_the_headers_say(runs: Runs, content: bytes, status: str) -> None:
    """Both paths, shapes and dtypes, though the graph says nothing and the values cannot be read."""
    nothing = desc(dtype="DT_UNDEFINED", layout="")
    runs.pair(None, PLAIN, open_desc=nothing, close_desc=nothing)
    runs.dump("open", dump_name("AscBackend", "af_0", "output" if content[:6] == b"\x93NUMPY" else ""), content)
    row = runs.row(code=2)
    assert row["status"] == status
    for side in ("open", "close"):
        assert row[f"{side}_path"].startswith(str(runs.root / side))
        assert (row[f"{side}_shape"], row[f"{side}_dtype"]) == ("[8, 16]", "float32")


def test_a_row_without_a_counterpart_describes_the_file_there_is(runs: Runs) -> None:
    nothing = desc(dtype="DT_UNDEFINED", layout="")
    runs.pair(None, PLAIN, open_desc=nothing, close_desc=nothing)
    runs.pair(raw_dump([], [raw(layout=0)]), None, name="af_1", origin="r1", open_desc=nothing, close_desc=nothing)
    (runs.root / "open" / dump_name("AscBackend", "af_1")).rename(
        runs.root / "open" / dump_name("AscBackend", "af_1", "")
    )
    first, second = runs.rows(code=2)
    assert (first["status"], first["close_shape"], first["close_dtype"]) == ("FILE_NOT_FOUND", "[8, 16]", "float32")
    assert (second["status"], second["open_shape"], second["open_layout"]) == ("FILE_NOT_FOUND", "[8, 16]", "NCHW")


def test_rows_with_nothing_to_compare_with_name_the_fused_dump(runs: Runs) -> None:
    runs.open_ops.append(op("k", "Const"))
    runs.open_ops.append(op("af_1", "AscBackend", ["k:0"], [desc(dtype="")], [desc(dtype="")]))
    runs.pair(PLAIN, PLAIN)
    for side in ("input", "output"):
        runs.dump("open", dump_name("AscBackend", "af_1", side), PLAIN)
    rows = runs.rows("--compare-input", code=0)
    assert [row["status"] for row in rows] == ["SKIPPED_CONST_DATA", "NO_MAPPING", "OK"]
    for row, side in zip(rows, ("input", "output")):
        assert row["open_path"] == str(runs.root / "open" / dump_name("AscBackend", "af_1", side))
        assert (row["open_shape"], row["open_dtype"]) == ("[8, 16]", "float32")


# --- amplification ----------------------------------------------------------------------------------------------------


def test_amplification_counts_every_input_that_is_known(runs: Runs) -> None:
    """One input as dumped, the other, which has no dump, by the error of the output that feeds it."""
    runs.pair(off(VALUES, 1e-2), VALUES, name="a", origin="oa")
    runs.pair(off(VALUES, 1e-7), VALUES, name="b", origin="ob")
    runs.pair(off(VALUES, 1e-1), VALUES, name="c", origin="oc", inputs=["b:0", "a:0"])
    runs.dump("open", dump_name("AscBackend", "c", "input", 0), off(VALUES, 1e-6))
    rows = {(row["fused_op_name"], row["side"]): row for row in runs.rows("--compare-input", code=1)}
    assert rows["c", "output"]["amplification"] == pytest.approx(10, rel=1e-3)


def test_a_negative_parent_index_is_no_input(runs: Runs) -> None:
    """A Data of a subgraph that claims the input -1 of its caller reads none of them."""
    runs.pair(off(VALUES, 1e-1), VALUES, name="a", origin="oa")
    runs.pair(off(VALUES, 1e-1), VALUES, name="b", origin="ob", inputs=["arg:0"])
    call = op("call", "PartitionedCall", ["a:0"], subgraph_name=["graph_1"])
    options = runs.arguments()
    body = [op("arg", "Data", attrs=[attr("_parent_node_index", -1)]), runs.open_ops[1]]
    (runs.root / "open.json").write_text(graph_json([runs.open_ops[0], call], body))
    result = run_cli("run", "precision", *options, "-f", "jsonl")
    assert [json.loads(line)["blame"] for line in result.stdout.splitlines()] == ["ROOT", "ROOT"]


# --- models and devices -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ours,theirs",
    [
        (["0/net/11", "0/net/12"], ["0/net/3", "0/net/4"]),
        (["0/net/11", "0/net/12"], ["0/net/12", "0/net/13"]),
        (["0/net/9", "0/net/10"], ["0/net/10", "0/net/11"]),
        (["0/ge_1_1/11", "0/ge_1_2/12"], ["0/ge_9_1/3", "0/ge_9_2/4"]),
        (["0/net/11", "1/net/11"], ["4/net/2", "5/net/2"]),
        (["0/net/1", "0/other/2"], ["0/net/7", "0/another/5"]),
    ],
)
def test_models_of_runs_that_number_them_otherwise_pair_in_order(runs: Runs, ours: Any, theirs: Any) -> None:
    """Ids (and names with a time in them) are given anew in each run: the k-th model belongs to the k-th."""
    runs.pair(None, None)
    for place, model in enumerate(ours):
        runs.dump("open", f"20240101010101/{model}/0/{dump_name('AscBackend', 'af_0')}", VALUES + place)
    for place, model in enumerate(theirs):
        runs.dump("close", f"20250101010101/{model}/0/{dump_name('Relu', 'relu_0')}", VALUES + place)
    rows = runs.rows(code=0)
    assert [(row["status"], row["max_abs_error"]) for row in rows] == [("OK", 0)] * 2
    # A model that is alone with its name, or without one the other run has, is no guess.
    assert sum("taken for" in row["reason"] for row in rows) == (0 if "other" in ours[1] else 2)


def test_more_models_than_in_the_other_run_are_not_guessed_at(runs: Runs) -> None:
    runs.pair(None, None)
    for number in (11, 12, 13):
        runs.dump("open", f"0/net/{number}/0/{dump_name('AscBackend', 'af_0')}", VALUES)
    for number in (12, 20):
        runs.dump("close", f"0/net/{number}/0/{dump_name('Relu', 'relu_0')}", VALUES)
    rows = runs.rows(code=1)
    assert [row["status"] for row in rows] == ["FILE_NOT_FOUND", "OK", "FILE_NOT_FOUND", "FILE_NOT_FOUND"]
    assert "model net 12" in rows[0]["reason"]
