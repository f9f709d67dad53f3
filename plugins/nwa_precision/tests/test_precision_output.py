"""What the command prints and writes: the published console table, every reporter, mode 2, and the shipped samples."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from autofuse.testing import run_cli
from precision_twins import Runs, desc, npy_bytes

VALUES = np.linspace(-2, 2, 24, dtype="f4").reshape(4, 6)
HEADERS = ["类型", "融合算子名", "索引", "原算子名", "原索引", "余弦相似度", "绝对误差最大值", "相对误差最大值", "状态"]
SAMPLES = Path(__file__).parents[3] / "examples" / "precision"
ADDED = ["无尺度余弦", "结论"]
KEYS = [
    "side", "fused_op_name", "fused_index", "origin_op_name", "origin_index", "cosine_similarity", "max_abs_error",
    "max_rel_error", "status", "cosine_scale_free", "verdict", "blame", "amplification",
]  # fmt: skip


@pytest.fixture
def mixed(runs: Runs) -> Runs:
    """A root with a name that needs escaping, a row that passes, and one without a file."""
    runs.pair(VALUES * 1.5, VALUES, name='<af>&"融合"\x1b[31m', origin="relu|0")
    runs.pair(VALUES, VALUES, name="af_1", origin="r1", inputs=['<af>&"融合"\x1b[31m:0'])
    runs.pair(None, VALUES, name="af_2", origin="r2")
    return runs


def test_the_published_console_table(mixed: Runs) -> None:
    result = mixed.run()
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0].startswith("ROOT: <af>")
    assert f"解析开启融合 dump 图 {mixed.root}/open.json" in lines
    assert f"解析关闭融合 dump 图 {mixed.root}/close.json" in lines
    assert "找到 3 个融合算子输出映射" in lines
    head = next(place for place, line in enumerate(lines) if line.startswith("类型"))
    assert lines[head].split() == HEADERS + ADDED
    root, passing, lost = lines[head + 2 : head + 5]
    cosine = float(np.dot(VALUES.ravel() * 1.5, VALUES.ravel())) / (1.5 * float(np.dot(VALUES.ravel(), VALUES.ravel())))
    assert root.split()[:4] == ["输出", '<af>&"融合"\\x1b[31m', "0", "relu|0"]
    assert root.split()[5:8] == [f"{cosine:.8f}", "1.0000e+00", "3.3333e-01"]
    assert passing.split()[4:] == ["0", passing.split()[5], "0.0000e+00", "0.0000e+00", "OK", "1.00000000", "pass"]
    assert lost.split()[5:] == ["-", "-", "-", "FILE_NOT_FOUND", "-", "-"]
    assert "\x1b" not in result.stdout
    assert any("af_2 输出 0 (r2:0): FILE_NOT_FOUND" in line for line in lines)


def test_inputs_have_their_word_and_line(mixed: Runs) -> None:
    out = mixed.run("--compare-input").stdout
    assert "找到 1 个融合算子输入映射" in out
    assert any(line.startswith("输入") for line in out.splitlines())


def test_english_when_asked_for(mixed: Runs) -> None:
    result = run_cli("--lang", "en", "run", "precision", *mixed.arguments())
    assert "found 3 mapped outputs of fused operators" in result.stdout
    assert any(line.split()[:3] == ["side", "fused_op_name", "fused_index"] for line in result.stdout.splitlines())
    assert not any("\u4e00" <= char <= "\u9fff" for char in result.stdout.replace("融合", ""))


def test_rows_in_graph_order_or_worst_first(mixed: Runs) -> None:
    names = [row["fused_op_name"] for row in mixed.rows()]
    assert names[1:] == ["af_1", "af_2"]
    assert [row["fused_op_name"] for row in mixed.rows("--sort=worst")] == [names[0], "af_2", "af_1"]


def test_jsonl_keys(mixed: Runs) -> None:
    first, _, lost = mixed.rows()
    assert list(first)[: len(KEYS)] == KEYS
    assert list(first) == list(lost)
    for key in ("open_dtype", "close_shape", "open_layout", "close_path", "step", "rel_l2", "rmse", "p99_rel_error",
                "bit_equal", "max_ulp", "norm_ratio", "rtol_needed", "worst_index", "over_5_permille"):  # fmt: skip
        assert key in first
    assert (first["blame"], first["worst_index"], first["worst_open"]) == ("ROOT", "[0, 0]", -3)
    assert lost["reason"] == "the open run has no dump of it"


def test_basic_measures_leave_the_others_out(mixed: Runs) -> None:
    first, *_ = mixed.rows("--measures=basic", code=1)
    assert first["max_abs_error"] == 1
    assert (first["bit_equal"], first["p99_rel_error"], first["rtol_needed"]) == (None, None, None)
    assert (first["verdict"], first["blame"]) == ("fail", "ROOT")


@pytest.mark.parametrize("jobs", ["1", "2", "7"])
def test_jobs_change_nothing(runs: Runs, jobs: str) -> None:
    for number in range(40):
        runs.pair(VALUES * (1 + number / 1e4), VALUES, name=f"af_{number}", origin=f"r{number}")
    assert runs.rows(f"--jobs={jobs}") == runs.rows("--jobs=3")


@pytest.mark.parametrize("suffix", ["csv", "md", "xlsx", "jsonl", "svg", "html", "txt"])
def test_every_reporter_writes_a_file(mixed: Runs, suffix: str) -> None:
    path = mixed.root / "out" / f"report.{suffix}"
    result = mixed.run(f"-o{path}")
    assert (result.exit_code, result.stdout) == (1, "")
    content = path.read_bytes()
    assert content
    if suffix == "svg":
        ElementTree.fromstring(content)
    if suffix not in ("xlsx", "svg"):
        assert b"FILE_NOT_FOUND" in content
    assert b'<af>&"' not in content or suffix in ("csv", "txt", "md", "jsonl")


def test_the_html_report_has_the_graph_the_histograms_and_the_elements(mixed: Runs) -> None:
    path = mixed.root / "report.html"
    mixed.run(f"-o{path}")
    text = path.read_text(encoding="utf-8")
    for words in (
        "ROOT:",
        "Fused operators by error",
        "Relative errors of",
        "Worst elements",
        "Agreeing decimal digits",
    ):
        assert words in text, words


def test_worst_elements_in_their_own_table(mixed: Runs) -> None:
    folder = mixed.root / "tables"
    mixed.run("-f", "jsonl", f"-o{folder}/")
    rows = [json.loads(line) for line in (folder / "worst_elements.jsonl").read_text().splitlines()]
    assert [row["rank"] for row in rows] == list(range(1, 11))
    assert (rows[0]["element"], rows[0]["open_value"], rows[0]["close_value"], rows[0]["abs_error"]) == (
        "[0, 0]",
        -3,
        -2,
        1,
    )
    assert rows[1]["element"] == "[3, 5]"


def test_worst_elements_of_a_stored_layout_have_their_original_index(runs: Runs) -> None:
    plain = np.zeros((1, 40, 3, 3), "f4") + 1
    broken = plain.copy()
    broken[0, 35, 2, 1] = np.inf
    broken[0, 3, 0, 2] = 9
    stored = np.full((1, 3, 3, 3, 16), np.nan, "f4")
    for channel in range(40):
        stored[:, channel // 16, :, :, channel % 16] = broken[:, channel]
    runs.pair(stored, plain, open_desc=desc(layout="NC1HWC0"), close_desc=desc(layout="NCHW"))
    folder = runs.root / "tables"
    runs.run("-f", "jsonl", f"-o{folder}/")
    rows = [json.loads(line) for line in (folder / "worst_elements.jsonl").read_text().splitlines()]
    assert [(row["element"], row["abs_error"]) for row in rows] == [("[0, 35, 2, 1]", "Infinity"), ("[0, 3, 0, 2]", 8)]


def test_a_failed_write_leaves_the_old_file(mixed: Runs) -> None:
    path = mixed.root / "old.csv"
    path.write_text("old")
    result = mixed.run(f"-o{path}", "--tolerance=/nowhere")
    assert result.exit_code == 2
    assert path.read_text() == "old"


# --- mode 2 -----------------------------------------------------------------------------------------------------------


def files(folder: Path, a: Any, b: Any) -> list[str]:
    """The options for two npy files."""
    for name, content in (("a", a), ("b", b)):
        (folder / f"{name}.npy").write_bytes(content if isinstance(content, bytes) else npy_bytes(content))
    return ["run", "precision", "--mode", "2", f"--npy-a={folder}/a.npy", f"--npy-b={folder}/b.npy"]


def test_mode_2_prints_the_published_lines(tmp_path: Path) -> None:
    result = run_cli(*files(tmp_path, VALUES.astype("f2"), VALUES))
    assert result.exit_code == 0
    lines = [line.partition(": ") for line in result.stdout.splitlines()]
    assert [name for name, _, _ in lines[:7]] == [
        "文件A", "文件B", "状态", "余弦相似度", "绝对误差最大值", "相对误差最大值", "无尺度余弦"
    ]  # fmt: skip
    values = {name: value for name, _, value in lines}
    assert (values["文件A"], values["状态"], values["结论"]) == (f"{tmp_path}/a.npy", "DTYPE_CAST", "pass")
    half = VALUES.astype("f2").astype("f8")
    assert values["绝对误差最大值"] == f"{np.abs(half - VALUES).max():.6e}"
    assert len(values["余弦相似度"].partition(".")[2]) == 10
    assert values["最大ULP距离"] == "-"


def test_mode_2_in_english_and_as_jsonl(tmp_path: Path) -> None:
    options = files(tmp_path, VALUES * 2, VALUES)
    english = run_cli("--lang", "en", *options)
    assert english.exit_code == 1
    assert f"npy_a: {tmp_path}/a.npy" in english.stdout
    row = json.loads(run_cli(*options, "-f", "jsonl").stdout)
    assert (row["status"], row["verdict"], row["rel_l2"]) == ("OK", "fail", 1)


def test_mode_2_with_layouts_and_a_shape(tmp_path: Path) -> None:
    plain = np.arange(2 * 3 * 4 * 4, dtype="f4").reshape(2, 3, 4, 4)
    stored = np.full((2, 1, 4, 4, 16), -1e9, "f4")
    stored[:, 0, :, :, :3] = plain.transpose(0, 2, 3, 1)
    options = files(tmp_path, stored, plain.reshape(2, 48))
    result = run_cli(*options, "--layout-a", "nc1hwc0", "--layout-b", "NCHW", "--shape", "2,3,4,4", "-f", "jsonl")
    # The order of the original shape is not given, and 3x4x4 fits as NCHW only.
    row = json.loads(result.stdout)
    assert (row["status"], row["verdict"]) == ("FORMAT_CONVERTED_SHAPE_FLATTENED", "pass")
    options = files(tmp_path, stored, plain.transpose(0, 2, 3, 1))
    row = json.loads(run_cli(*options, "--layout-a=NC1HWC0", "--layout-b=NHWC", "-f", "jsonl").stdout)
    assert (row["status"], row["verdict"], row["max_abs_error"]) == ("FORMAT_CONVERTED", "pass", 0)


@pytest.mark.parametrize(
    "content,status",
    [(b"", "NPY_LOAD_ERROR"), (npy_bytes(VALUES)[:50], "NPY_LOAD_ERROR"), (npy_bytes(np.ones(3)), "SHAPE_MISMATCH")],
)
def test_mode_2_with_nothing_to_compare(tmp_path: Path, content: bytes, status: str) -> None:
    result = run_cli(*files(tmp_path, content, VALUES))
    assert result.exit_code == 2
    assert f"compared 0 of 1: {status}" in result.stderr
    assert f"状态: {status}" in result.stdout


def test_mode_2_without_a_file_or_with_a_folder(tmp_path: Path) -> None:
    options = files(tmp_path, VALUES, VALUES)
    for path in ("/nowhere.npy", str(tmp_path)):
        result = run_cli(*options, f"--npy-a={path}")
        assert result.exit_code == 2
        assert path in result.stderr
    assert "is no shape" in run_cli(*options, "--shape=1,y").stderr


# --- samples, start-up ------------------------------------------------------------------------------------------------


def test_help_imports_no_numpy() -> None:
    code = (
        "import sys; from autofuse.cli.main import main; main(['run', 'precision', '--help']); "
        "print(sorted({'numpy', 'ml_dtypes', 'autofuse_nwa_precision.mode1'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples are part of the repository, not of the distribution")
def test_the_samples_name_the_culprit() -> None:
    result = run_cli(
        "run",
        "precision",
        f"--af-open-graph={SAMPLES}/ge_proto_00031_resnet_block_Build.txt",
        f"--af-close-graph={SAMPLES}/resnet_block_fusion_off.json",
        f"--af-open-data={SAMPLES}/open",
        f"--af-close-data={SAMPLES}/close",
    )
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0].startswith("ROOT: autofused_layernorm_4 输出 0 (head/LayerNorm:0)")
    assert [line.split()[1] for line in lines if line.startswith("ROOT")] == [
        "autofused_layernorm_4",
        "autofused_layernorm_4",
        "autofused_sqrt_9",
    ]
    for words in ("FORMAT_CONVERTED_NAN_MISMATCH", "FILE_NOT_FOUND", "找到 13 个融合算子输出映射"):
        assert words in result.stdout


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples are part of the repository, not of the distribution")
def test_the_script_makes_the_samples(tmp_path: Path) -> None:
    script = SAMPLES.parent / "make_precision_samples.py"
    subprocess.run([sys.executable, script, tmp_path], check=True, capture_output=True)

    def names(root: Path) -> set[str]:
        return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}

    assert names(tmp_path) == names(SAMPLES)
