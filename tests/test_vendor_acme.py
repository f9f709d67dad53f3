"""The trial of the architecture: a vendor's log works with every command, by a package or by one file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "vendor_acme"
LOG = EXAMPLE / "logs" / "acme.log"

pytest.importorskip("autofuse_att_summary")


def as_installed(folder):
    """PYTHONPATH with which the example is found as an installed package."""
    info = folder / "site" / "autofuse_acme-1.2.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "entry_points.txt").write_text("[autofuse]\nacme = autofuse_acme.plugin\n")
    return f"{info.parent}{os.pathsep}{EXAMPLE / 'src'}"


def run(*words, by, folder, exit_code=0):
    """The program where the example is installed as a package (`by` is `package`), or known by its file alone."""
    settings = folder / "settings"
    site = settings / "site"
    (site / "autofuse_acme-1.2.0.dist-info").mkdir(parents=True, exist_ok=True)
    (site / "autofuse_acme-1.2.0.dist-info" / "entry_points.txt").write_text(
        "[autofuse]\nacme = autofuse_acme.plugin\n"
    )
    config = settings / "config.toml"
    if by == "package":
        config.write_text("")
        path = f"{site}{os.pathsep}{EXAMPLE / 'src'}"
    else:
        config.write_text(
            f"[formats]\nfolders = [{json.dumps(str(EXAMPLE))}]\n[plugins]\ndisable = ['autofuse-acme']\n"
        )
        path = ""
    done = subprocess.run(
        [sys.executable, "-m", "autofuse", *map(str, words)],
        env={**os.environ, "PYTHONPATH": path, "AUTOFUSE_CONFIG": str(config), "XDG_CONFIG_HOME": str(settings)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == exit_code, done.stderr
    return done.stdout


@pytest.mark.parametrize("by", ["package", "file"])
def test_summary(by, tmp_path):
    rows = [json.loads(line) for line in run("run", "summary", LOG, "-f", "jsonl", by=by, folder=tmp_path).splitlines()]
    assert len(rows) == 10
    assert {row["Operator"] for row in rows} >= {"acme_add_relu_0", "acme_softmax_4"}
    chosen = next(row for row in rows if row["Operator"] == "acme_softmax_4" and row["Group"] == 0)
    assert (chosen["Parse Status"], chosen["Invocations"], chosen["Input Shape"]) == ("ok", 3, "s0=17 s1=3")


def test_package_and_file_say_the_same(tmp_path):
    words = ("-q", "run", "summary", LOG, "--all", "--invocations", "all", "-f", "csv")
    assert run(*words, by="package", folder=tmp_path) == run(*words, by="file", folder=tmp_path)


def test_compare_with_a_gate(tmp_path):
    slower = tmp_path / "slower.log"
    slower.write_text(LOG.read_text().replace("perf acme_mul_sum_1 0/0 ", "perf acme_mul_sum_1 0/0 9"))
    words = ("run", "compare", LOG, slower, "--fail-on-regression", "3")
    assert "acme_mul_sum_1" in run(*words, by="package", folder=tmp_path, exit_code=1)
    run("run", "compare", LOG, LOG, "--fail-on-regression", "3", by="file", folder=tmp_path)


@pytest.mark.parametrize("by", ["package", "file"])
def test_evidence(by, tmp_path):
    run("run", "evidence", LOG, "-o", tmp_path / "evidence", by=by, folder=tmp_path)
    run("run", "evidence", "--check", tmp_path / "evidence", by=by, folder=tmp_path)
    records = [json.loads(line) for line in (tmp_path / "evidence" / "att-evidence.jsonl").read_text().splitlines()]
    assert {record["pid"] for record in records} == {4242}
    assert {record["tid"] for record in records} == {17, 18}
    assert sum(record["sub_case"] == "R" for record in records) > 10


def test_the_vendors_own_command_reporter_and_checks(tmp_path):
    assert "acme_concat_3" in run("run", "acme", LOG, by="package", folder=tmp_path)
    assert run("run", "summary", LOG, "-f", "acme", by="package", folder=tmp_path).startswith("table=summary Operator=")
    assert "failed" not in run("plugins", "check", "autofuse-acme", by="package", folder=tmp_path)
    assert "failed" not in run("plugins", "check", EXAMPLE / "acme.format.toml", by="file", folder=tmp_path)


def test_the_examples_own_tests(tmp_path):
    site = tmp_path / "site"
    (site / "autofuse_acme-1.2.0.dist-info").mkdir(parents=True)
    (site / "autofuse_acme-1.2.0.dist-info" / "entry_points.txt").write_text(
        "[autofuse]\nacme = autofuse_acme.plugin\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", EXAMPLE / "tests"],
        env={**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{EXAMPLE / 'src'}", "XDG_CONFIG_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout


def test_the_sample_log_is_what_its_script_writes(tmp_path):
    script = tmp_path / "make_log.py"
    script.write_text((EXAMPLE / "make_log.py").read_text())
    subprocess.run([sys.executable, script], check=True, timeout=60)
    assert (tmp_path / "logs" / "acme.log").read_bytes() == LOG.read_bytes()
