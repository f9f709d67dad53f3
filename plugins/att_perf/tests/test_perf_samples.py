"""The sample operators of examples/: compiled and called by verify-tiling, their log agrees with their formulas."""

from __future__ import annotations

import csv
import io
import shutil
from pathlib import Path

import pytest
from autofuse_att_perf import parallel
from perf_sources import Case, Operator, write_log, write_sources

TILING = Path(__file__).resolve().parents[3] / "examples" / "tiling"
SAMPLES = {
    "mul_sum_dyn": ("--preset", "B"),
    "abs_add_old": ("--preset", "B"),
    "relu_static": (),
    "gelu_inductor": ("--input-json", str(TILING / "gelu_inductor" / "input.json")),
}
needs_verify = pytest.mark.skipif(
    shutil.which("g++") is None or shutil.which("cmake") is None or not TILING.is_dir(),
    reason="no compiler, no CMake, or no examples",
)


def checks_of(autofuse_cli, source, log, folder):
    outcome = autofuse_cli("run", "perf-formula", source, log, "-f", "csv", "-o", f"{folder}/")
    assert outcome.exit_code == 0, outcome.stderr
    return list(csv.DictReader(io.StringIO((folder / "checks.csv").read_text("utf-8-sig"))))


@needs_verify
@pytest.mark.parametrize("name", SAMPLES)
def test_formula_values_equal_the_log_to_all_six_decimals(autofuse_cli, tmp_path, name):
    pytest.importorskip("autofuse_att_verify")
    outcome = autofuse_cli("run", "verify-tiling", TILING / name, *SAMPLES[name], "-o", tmp_path / "verify")
    assert outcome.exit_code == 0, outcome.stderr
    log = tmp_path / "verify" / "att.log"
    checks = checks_of(autofuse_cli, TILING / name, log, tmp_path / "out")
    assert len(checks) >= 4
    for check in checks:
        assert check["Status"] == "ok", check
        assert f"{float(check['Formula']):.6f}" == f"{float(check['Logged']):.6f}"

    shutil.copytree(TILING / name, tmp_path / "stale")
    for path in tmp_path.joinpath("stale").iterdir():
        path.write_text(path.read_text("utf-8").replace("775.0", "775.1"), encoding="utf-8")
    stale = checks_of(autofuse_cli, tmp_path / "stale", log, tmp_path / "out2")
    assert {check["Status"] for check in stale if check["Quantity"] == "AIV_MTE2"} & {"mismatch"}


def test_processes_draw_what_one_process_draws(autofuse_cli, tmp_path, monkeypatch):
    operators = [Operator(f"op{index}").with_case(Case(0, tile=100 + index)) for index in range(70)]
    for index, operator in enumerate(operators):
        write_sources(tmp_path / "src" / str(index), operator, stem=f"s{index}")
    log = write_log(tmp_path / "a.log", *operators)
    drawn = []
    for cores in (1, 2):
        monkeypatch.setattr(parallel, "_cores", lambda cores=cores: cores)
        outcome = autofuse_cli("run", "perf-formula", tmp_path / "src", log, "-o", tmp_path / f"{cores}.svg")
        assert outcome.exit_code == 0, outcome.stderr
        drawn.append((tmp_path / f"{cores}.svg").read_bytes())
    assert drawn[0] == drawn[1]
    assert drawn[0].count(b'class="card"') == 70


def test_for_each_keeps_the_order_and_does_the_share_of_a_dead_process(monkeypatch):
    monkeypatch.setattr(parallel, "_cores", lambda: 3)
    assert parallel.for_each(200, lambda number: number * number) == [number * number for number in range(200)]
    assert parallel.for_each(0, str) == []

    import os

    here = os.getpid()

    def dies_elsewhere(number):
        if os.getpid() != here and number == 100:
            os._exit(1)
        return number

    assert parallel.for_each(200, dies_elsewhere) == list(range(200))

    def fails(number):
        raise ValueError(number)

    with pytest.raises(ValueError):
        parallel.for_each(200, fails)
