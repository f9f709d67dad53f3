"""Verdicts, tolerances, noise and reference runs, blame and amplification, exit codes: all through the command line."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Sequence

import ml_dtypes
import numpy as np
import pytest
from autofuse.testing import run_cli
from precision_twins import TIME, Runs, attr, desc, dump_name, npy_bytes, op

RNG = np.random.default_rng(7)
VALUES = RNG.standard_normal(500)


def off(relative: float) -> Any:
    """VALUES with a relative L2 error of just that size, at right angles to them."""
    other = RNG.standard_normal(VALUES.size)
    other -= VALUES * (other @ VALUES) / (VALUES @ VALUES)
    return VALUES + other * relative * np.linalg.norm(VALUES) / np.linalg.norm(other)


# --- verdict ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dtype,limit",
    [("f8", 1e-4), ("f4", 1e-4), ("f2", 5e-3), (ml_dtypes.bfloat16, 2e-2), (ml_dtypes.float8_e4m3fn, 0.1)],
)
def test_defaults_by_the_lower_precision_dtype(runs: Runs, dtype: Any, limit: float) -> None:
    """The other side is float64, so that the error is exact; its precision does not count."""
    narrow = VALUES.astype(dtype)
    described = {ml_dtypes.float8_e4m3fn: desc(dtype="DT_FLOAT8_E4M3FN")}.get(dtype, desc(dtype="DT_BF16"))
    described = described if dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn) else desc(dtype="DT_DOUBLE")
    wide = narrow.astype("f8")
    other = RNG.standard_normal(VALUES.size)
    unit = other * np.linalg.norm(wide) / np.linalg.norm(other)
    for number, factor in enumerate([0.05, 0.5, 1.2]):
        stored = npy_bytes(narrow.view("u1" if narrow.itemsize == 1 else "u2"), f"|V{narrow.itemsize}") if (
            narrow.dtype.kind == "V"
        ) else narrow  # fmt: skip
        runs.pair(wide + unit * limit * factor, stored, name=f"af_{number}", origin=f"r{number}",
                  open_desc=desc(dtype="DT_DOUBLE"), close_desc=described)  # fmt: skip
    rows = runs.rows(code=1)
    assert [row["verdict"] for row in rows] == ["pass", "warn", "fail"]
    assert rows[2]["rel_l2"] == pytest.approx(1.2 * limit, rel=1e-6)


def test_a_low_cosine_fails_even_with_a_generous_error(runs: Runs) -> None:
    runs.pair(off(0.2), VALUES)
    path = runs.root / "t.toml"
    path.write_text("[[tolerance]]\nrel_l2 = 10\n")
    row = runs.row(f"--tolerance={path}", code=1)
    assert "cosine 0.98" in row["reason"]


def test_the_verdict_uses_the_scale_free_cosine(runs: Runs) -> None:
    """The published epsilon makes two equal tiny tensors look unlike; they are equal all the same."""
    tiny = np.full(4, 1e-6)
    runs.pair(tiny, tiny)
    runs.pair(np.zeros(4), np.zeros(4), name="af_1", origin="r1")
    runs.pair(tiny, np.zeros(4), name="af_2", origin="r2")
    equal, zero, against_zero = runs.rows(code=1)
    assert equal["cosine_similarity"] == pytest.approx(4e-12 / (4e-12 + 1e-8))
    assert (equal["cosine_scale_free"], equal["verdict"]) == (pytest.approx(1), "pass")
    assert (zero["cosine_similarity"], zero["cosine_scale_free"], zero["verdict"]) == (0, 1, "pass")
    assert (against_zero["cosine_scale_free"], against_zero["rel_l2"], against_zero["verdict"]) == (
        0,
        "Infinity",
        "fail",
    )


def test_huge_values_do_not_overflow(runs: Runs) -> None:
    runs.pair(VALUES * 1e200, VALUES * 1e200)
    row = runs.row(code=0)
    assert row["cosine_similarity"] == pytest.approx(1)
    assert row["rel_l2"] == 0


@pytest.mark.parametrize("dtype", ["i1", "u2", "i8", "?"])
def test_integers_and_bool_must_be_equal(runs: Runs, dtype: str) -> None:
    numbers = np.array([0, 1, 0, 1], dtype)
    other = numbers.copy()
    other[3] = 0
    runs.pair(numbers, numbers)
    runs.pair(other, numbers, name="af_1", origin="r1")
    equal, unequal = runs.rows(code=1)
    assert (equal["verdict"], unequal["verdict"], unequal["max_abs_error"]) == ("pass", "fail", 1)


# --- tolerances -------------------------------------------------------------------------------------------------------


def test_rtol_and_atol_hold_for_every_element(runs: Runs) -> None:
    close = np.linspace(1, 2, 100)
    mine = close.copy()
    mine[17] += 1e-5
    runs.pair(mine, close)
    assert runs.row(code=0)["violations"] is None
    row = runs.row("--rtol=1e-6", code=1)
    assert (row["violations"], row["worst_index"]) == (1, "[17]")
    assert row["rtol_needed"] == pytest.approx(1e-5 / close[17], rel=1e-6)
    assert runs.row("--rtol=1e-6", "--atol=1e-5", code=0)["violations"] == 0
    assert runs.row("--atol=1e-4", code=0)["violations"] == 0
    assert runs.row("--cosine=1.0", "--atol=1", code=1)["reason"].startswith("cosine")


TABLE = """
[[tolerance]]
dtype = "float64"
rel_l2 = 1e-9
[[tolerance]]
op = "af_*"
cosine = 0.5
rel_l2 = 0.5
[[tolerance]]
op = "relu_2"
rel_l2 = 0.001
[[tolerance]]
dtype = "int"
rel_l2 = 0.5
"""


def test_the_last_match_of_the_file_wins(runs: Runs) -> None:
    path = runs.root / "t.toml"
    path.write_text(TABLE)
    runs.pair(off(0.1), VALUES, name="other", origin="relu_0")
    runs.pair(off(0.1), VALUES, name="af_1", origin="relu_1")
    runs.pair(off(0.1), VALUES, name="af_2", origin="relu_2")
    runs.pair(np.array([10, 11]), np.array([10, 10]), name="af_3", origin="relu_3")
    rows = runs.rows(f"--tolerance={path}", code=1)
    assert [row["verdict"] for row in rows] == ["fail", "warn", "fail", "warn"]
    shown = run_cli("run", "precision", "--show-tolerance", f"--tolerance={path}", "-f", "jsonl")
    table = [json.loads(line) for line in shown.stdout.splitlines()]
    assert [(row["op"], row["dtype"], row["cosine"], row["rel_l2"]) for row in table[-4:]] == [
        ("*", "float64", None, 1e-9), ("af_*", "*", 0.5, 0.5), ("relu_2", "*", None, 0.001), ("*", "int", None, 0.5)
    ]  # fmt: skip


def test_show_tolerance_needs_no_runs() -> None:
    result = run_cli("run", "precision", "--show-tolerance", "--rtol", "1e-3", "-f", "jsonl")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 0
    assert {row["dtype"]: (row["cosine"], row["rel_l2"]) for row in rows[:5]} == {
        "fp64": (0.99999, 1e-4),
        "fp32": (0.99999, 1e-4),
        "fp16": (0.999, 5e-3),
        "bf16": (0.99, 2e-2),
        "fp8": (0.98, 0.1),
    }
    assert (rows[-1]["rtol"], rows[-1]["origin"]) == (1e-3, "options")
    console = run_cli("run", "precision", "--show-tolerance")
    assert "相对L2误差上限" in console.stdout or "rel_l2" in console.stdout


@pytest.mark.parametrize(
    "text,words",
    [
        ("", "no [[tolerance]] entry"),
        ("tolerance = 3", "no [[tolerance]] entry"),
        ("[tolerances]\nx = 1", "unknown key 'tolerances'"),
        ("[[tolerance]]\nop = 'x'", "entry 1: sets no limit"),
        ("[[tolerance]]\ncosine = 'high'", "cosine must be a finite number"),
        ("[[tolerance]]\ncosine = 2", "between -1 and 1"),
        ("[[tolerance]]\nrtol = -1", "must not be negative"),
        ("[[tolerance]]\nrtol = nan", "must be a finite number"),
        ("[[tolerance]]\nrel_l2 = true", "must be a finite number"),
        ("[[tolerance]]\ncosin = 1", "unknown key 'cosin'"),
        ("[[tolerance]]\ndtype = 'float17'\nrtol = 1", "unknown dtype 'float17'"),
        ("[[tolerance]]\nop = 3\nrtol = 1", "are strings"),
        ("[[tolerance]\n", "is no TOML"),
    ],
)
def test_bad_tolerance_files(runs: Runs, text: str, words: str) -> None:
    path = runs.root / "t.toml"
    path.write_text(text)
    runs.pair(VALUES, VALUES)
    for result in (
        runs.run(f"--tolerance={path}"),
        run_cli("run", "precision", "--show-tolerance", "--tolerance", path),
    ):
        assert (result.exit_code, result.stdout) == (2, "")
        assert words in result.stderr


@pytest.mark.parametrize(
    "more,words",
    [
        (["--rtol=-1"], "must not be negative"),
        (["--rtol=nan"], "must be a finite number"),
        (["--cosine=7"], "between -1 and 1"),
        (["--rtol=inf"], "finite"),
        (["--tolerance=x", "--rtol=1"], "excludes"),
        (["--op="], "needs a pattern"),
        (["--jobs=0"], "--jobs"),
        (["--npy-a=x"], "does not take --npy-a"),
        (["--layout-a=ND"], "belong to --mode 2"),
        (["--shape=1,2"], "belong to --mode 2"),
        (["--mode=3"], "--mode"),
        (["--measures=some"], "--measures"),
        (["stray"], "stray"),
    ],
)
def test_usage_errors(runs: Runs, more: List[str], words: str) -> None:
    runs.pair(VALUES, VALUES)
    result = runs.run(*more)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_missing_options_are_named() -> None:
    result = run_cli("run", "precision", "--af-open-graph=x")
    assert result.exit_code == 2
    assert "--af-close-graph, --af-open-data, --af-close-data" in result.stderr
    assert "needs --npy-b" in run_cli("run", "precision", "--mode=2", "--npy-a=x").stderr
    assert "belong to --mode 2" in run_cli("run", "precision", "--npy-a=x", "--npy-b=y").stderr


# --- noise and reference ----------------------------------------------------------------------------------------------


def further(runs: Runs, name: str, values: Dict[str, Any]) -> str:
    """A further run without fusion."""
    for origin, array in values.items():
        runs.dump(name, dump_name("Relu", origin), array)
    return str(runs.root / name)


def test_noise_is_not_blamed(runs: Runs) -> None:
    runs.pair(off(0.01), VALUES, name="af_0", origin="r0")
    runs.pair(off(0.2), VALUES, name="af_1", origin="r1")
    runs.pair(off(0.01), VALUES, name="af_2", origin="r2")
    noise = further(runs, "noise", {"r0": off(0.01), "r1": off(0.01)})
    within, beyond, unknown = runs.rows(f"--noise-data={noise}", code=1)
    assert (within["verdict"], within["blame"]) == ("WITHIN_NOISE", "")
    assert within["noise_rel_l2"] == pytest.approx(0.01)
    assert (beyond["verdict"], beyond["blame"]) == ("fail", "ROOT")
    assert (unknown["verdict"], unknown["noise_rel_l2"]) == ("fail", None)


def test_a_mismatch_is_never_noise(runs: Runs) -> None:
    broken = VALUES.copy()
    broken[0] = np.nan
    runs.pair(broken, VALUES)
    noise = further(runs, "noise", {"relu_0": broken})
    assert runs.row(f"--noise-data={noise}", code=1)["verdict"] == "fail"


def test_closer_to_the_reference_is_more_accurate(runs: Runs) -> None:
    broken = VALUES.copy()
    broken[0] = np.nan
    runs.pair(VALUES.astype("f4"), off(0.01).astype("f4"), name="af_0", origin="r0")
    runs.pair(off(0.01).astype("f4"), VALUES.astype("f4"), name="af_1", origin="r1")
    runs.pair(VALUES.astype("f4"), broken.astype("f4"), name="af_2", origin="r2")
    runs.pair(broken.astype("f4"), VALUES.astype("f4"), name="af_3", origin="r3")
    reference = further(runs, "reference", {f"r{n}": VALUES for n in range(4)})
    better, worse, healed, broke = runs.rows(f"--reference-data={reference}", code=1)
    assert (better["verdict"], better["blame"]) == ("MORE_ACCURATE", "")
    assert better["reference_open_rel_l2"] < 1e-6 < better["reference_close_rel_l2"]
    assert [row["verdict"] for row in (worse, healed, broke)] == ["fail", "MORE_ACCURATE", "fail"]
    assert runs.rows(f"--reference-data={reference}", "--op=af_0", "--op=af_2", code=0)


# --- blame ------------------------------------------------------------------------------------------------------------


def chain(runs: Runs, errors: Dict[str, Optional[float]], edges: Dict[str, Sequence[str]]) -> None:
    """Fused operators with these relative errors; None for a missing dump."""
    for name, error in errors.items():
        mine = None if error is None else VALUES * (1 + error)
        runs.pair(mine, VALUES, name=name, origin=f"o_{name}", inputs=[f"{source}:0" for source in edges.get(name, [])])


def blames(runs: Runs, *more: str, code: Optional[int] = None) -> Dict[str, Any]:
    return {row["fused_op_name"]: row["blame"] for row in runs.rows(*more, code=code) if row["side"] == "output"}


def test_roots_and_what_they_pass_on(runs: Runs) -> None:
    """a is fine, b breaks, c passes it on through an unfused operator, d breaks on its own, e is behind a lost one."""
    runs.open_ops.append(op("cast", "Cast", ["b:0"]))
    chain(
        runs,
        {"a": 0, "b": 0.1, "c": 0.1, "d": 0.2, "lost": None, "e": 0.3},
        {"b": ["a"], "c": ["cast"], "d": ["a"], "lost": ["a"], "e": ["lost"]},
    )
    assert blames(runs, code=1) == {"a": "", "b": "ROOT", "c": "PROPAGATED", "d": "ROOT", "lost": "", "e": "ROOT"}
    lines = runs.run("--sort=worst").stdout.splitlines()
    assert [line.split()[1] for line in lines[:3]] == ["b", "d", "e"]
    assert "其前未能比较: lost" in lines[2]


def test_a_failure_passes_through_fused_operators_that_pass(runs: Runs) -> None:
    chain(runs, {"a": 0.1, "b": 0, "c": 0.1}, {"b": ["a"], "c": ["b"]})
    assert blames(runs) == {"a": "ROOT", "b": "", "c": "PROPAGATED"}


def test_blame_does_not_need_a_sorted_graph_and_survives_cycles(runs: Runs) -> None:
    chain(runs, {"c": 0.1, "b": 0.1, "a": 0.1}, {"b": ["a"], "c": ["b", "c"]})
    assert blames(runs) == {"a": "ROOT", "b": "PROPAGATED", "c": "PROPAGATED"}
    runs.open_ops[2]["input"] = ["c:0"]
    assert sorted(blames(runs).values()) == ["PROPAGATED", "PROPAGATED", "ROOT"]


def test_control_edges_carry_no_error(runs: Runs) -> None:
    chain(runs, {"a": 0.1, "b": 0.1}, {})
    runs.open_ops[1]["input"] = ["a:-1"]
    assert blames(runs) == {"a": "ROOT", "b": "ROOT"}


def test_blame_crosses_into_subgraphs_and_out(runs: Runs) -> None:
    chain(runs, {"a": 0.1, "inner": 0.1, "after": 0.1}, {})
    a, inner, after = runs.open_ops
    call = op("call", "PartitionedCall", ["a:0"], subgraph_name=["graph_1"])
    after["input"] = ["call:0"]
    inner["input"] = ["arg:0"]
    body = [op("arg", "Data", attrs=[attr("_parent_node_index", 0)]), inner, op("out", "NetOutput", ["inner:0"])]
    options = runs.arguments()
    from precision_twins import graph_json

    (runs.root / "open.json").write_text(graph_json([a, call, after], body))
    result = run_cli("run", "precision", *options, "-f", "jsonl")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert {row["fused_op_name"]: row["blame"] for row in rows} == {
        "a": "ROOT", "inner": "PROPAGATED", "after": "PROPAGATED"
    }  # fmt: skip


def test_each_step_is_blamed_on_its_own(runs: Runs) -> None:
    runs.pair(None, None, name="a", origin="oa")
    runs.pair(None, None, name="b", origin="ob", inputs=["a:0"])
    for step, (a, b) in enumerate([(0, 0.1), (0.1, 0.1)]):
        for name, error in (("a", a), ("b", b)):
            runs.dump("open", dump_name("AscBackend", name, time=TIME + step), VALUES * (1 + error))
            runs.dump("close", dump_name("Relu", f"o{name}", time=TIME + step), VALUES)
    rows = {(row["fused_op_name"], row["step"]): row["blame"] for row in runs.rows(code=1)}
    assert rows == {("a", 0): "", ("a", 1): "ROOT", ("b", 0): "ROOT", ("b", 1): "PROPAGATED"}


def test_amplification(runs: Runs) -> None:
    """Output error by the largest input error; constants have none, and the dtype's epsilon is the floor."""
    runs.open_ops.append(op("x", "Data"))
    chain(runs, {"a": 1e-6, "b": 0.1, "c": 0.1}, {"a": ["x"], "b": ["a", "x"], "c": ["somewhere"]})
    a, b, c = runs.rows()
    assert a["amplification"] == pytest.approx(1e-6 / 2**-52, rel=1e-3)
    assert b["amplification"] == pytest.approx(0.1 / 1e-6, rel=1e-3)
    assert c["amplification"] is None


def test_amplification_prefers_the_inputs_as_dumped(runs: Runs) -> None:
    chain(runs, {"a": 1e-6, "b": 0.1}, {"b": ["a"]})
    runs.dump("open", dump_name("AscBackend", "b", "input", 0), VALUES * (1 + 1e-5))
    rows = {(row["fused_op_name"], row["side"]): row for row in runs.rows("--compare-input", code=1)}
    assert rows["b", "output"]["amplification"] == pytest.approx(1e4, rel=1e-3)
    assert rows["b", "input"]["verdict"] == "warn"


# --- exit codes -------------------------------------------------------------------------------------------------------


def test_exit_codes(runs: Runs) -> None:
    runs.pair(VALUES * (1 + 5e-5), VALUES)
    assert runs.row(code=0)["verdict"] == "warn"
    runs.open_ops.append(op("af_1", "AscBackend", [], [desc()]))
    assert [row["status"] for row in runs.rows(code=0)] == ["OK", "NO_MAPPING"]
    runs.pair(None, VALUES, name="af_2", origin="r2")
    runs.rows(code=1)
    result = runs.run("--op=af_1", "--op=af_2")
    assert result.exit_code == 2
    assert "compared 0 of 2" in result.stderr
    assert "FILE_NOT_FOUND" in result.stdout
