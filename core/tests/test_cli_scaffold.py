"""`plugins new`: each kind is a package that installs, conforms and passes its own test; nothing is overwritten."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from autofuse.cli.scaffold import KINDS

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib


@pytest.fixture
def made(tmp_path, autofuse_cli, monkeypatch):
    """Writes a package and puts it where an installation would: its folder, and a site folder for the path."""

    def make(name, kind):
        result = autofuse_cli("plugins", "new", name, "--kind", kind, "-o", tmp_path / "made")
        assert result.exit_code == 0, result.stderr
        folder = tmp_path / "made" / name
        assert result.stdout == f"{folder}\n"
        project = tomllib.loads((folder / "pyproject.toml").read_text())
        points = project["project"]["entry-points"]["autofuse"]
        info = folder / "src" / f"{name.replace('-', '_')}-0.1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n")
        (info / "entry_points.txt").write_text(
            "[autofuse]\n" + "".join(f"{key} = {value}\n" for key, value in points.items())
        )
        return folder

    return make


def run(*words, folder, **environment):
    """A Python program with the new package on its path."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src"), **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_kind(kind, made):
    if kind == "layout":
        pytest.importorskip("numpy")
    if kind == "command":
        pytest.importorskip("autofuse_formats")
    folder = made(f"sample-{kind}", kind)
    check = run("-m", "autofuse", "plugins", "check", f"sample-{kind}", folder=folder)
    assert check.returncode == 0, check.stdout + check.stderr
    assert len(check.stdout.splitlines()) >= 3
    tests = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", folder=folder)
    assert tests.returncode == 0, tests.stdout
    assert " passed" in tests.stdout
    assert f"autofuse plugins check sample-{kind}" in (folder / "README.md").read_text()
    left = [path for path in folder.rglob("*") if path.is_file() and "@" in path.read_text().replace("@hook", "")]
    assert [path.name for path in left if path.suffix != ".py"] == []


@pytest.mark.slow
def test_real_installation(tmp_path, autofuse_cli):
    """pip builds the package with its own backend and installs it where the program finds it."""
    pytest.importorskip("scikit_build_core")
    assert autofuse_cli("plugins", "new", "sample-real", "--kind", "parser", "-o", tmp_path).exit_code == 0
    target = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run(
        [*pip, "--target", str(target), str(tmp_path / "sample-real")], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert (target / "sample_real" / "plugin.py").is_file()
    environment = {**os.environ, "PYTHONPATH": str(target)}
    check = subprocess.run(
        [sys.executable, "-m", "autofuse", "plugins", "check", "sample-real"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert check.returncode == 0, check.stdout + check.stderr


def test_nothing_is_overwritten(tmp_path, autofuse_cli):
    assert autofuse_cli("plugins", "new", "mine", "-o", tmp_path).exit_code == 0
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "mine").rglob("*")}
    result = autofuse_cli("plugins", "new", "mine", "--kind", "layout", "-o", tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "is there already, and nothing is overwritten" in result.stderr
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "mine").rglob("*")} == before
    (tmp_path / "link").symlink_to("/no/such/place")
    assert autofuse_cli("plugins", "new", "link", "-o", tmp_path).exit_code == 2


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "is no name for a plugin"),
        ("Upper", "is no name for a plugin"),
        ("two words", "is no name for a plugin"),
        ("../up", "is no name for a plugin"),
        ("a--b", "is no name for a plugin"),
        ("1st", "is no name for a plugin"),
        ("a" * 61, "is no name for a plugin"),
        ("融合", "is no name for a plugin"),
        ("class", "the name class is taken"),
        ("autofuse", "is taken"),
        ("autofuse-formats", "is taken"),
        ("json", "there is a module json already"),
        ("click", "there is a module click already"),
    ],
)
def test_unfit_name(name, reason, tmp_path, autofuse_cli):
    result = autofuse_cli("plugins", "new", name, "-o", tmp_path / "made")
    assert (result.exit_code, result.stdout) == (2, "")
    assert reason in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "made").exists()


def test_unknown_kind(tmp_path, autofuse_cli):
    result = autofuse_cli("plugins", "new", "mine", "--kind", "toaster", "-o", tmp_path)
    assert result.exit_code == 2
    assert "'toaster' is not one of 'parser', 'reporter', 'layout', 'source', 'runner', 'command'" in result.stderr


def test_output_that_is_a_file(tmp_path, autofuse_cli):
    (tmp_path / "file").write_text("")
    result = autofuse_cli("plugins", "new", "mine", "-o", tmp_path / "file")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


def test_nothing_is_left_when_writing_fails(tmp_path, autofuse_cli, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("autofuse.cli.scaffold.os.rename", refuse)
    result = autofuse_cli("plugins", "new", "mine", "-o", tmp_path)
    assert result.exit_code == 2
    assert result.stderr == f"autofuse: {tmp_path / 'mine'}: cannot be written: No space left on device\n"
    assert list(tmp_path.iterdir()) == []
