"""The folder that evidence writes: its manifest, `--check`, and what failures, links and earlier runs leave there."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import signal
import subprocess
import sys
import termios
import time
from array import array
from pathlib import Path
from typing import Any, Callable, Dict, List

import pytest
from attruns import call, candidate, log, save, shape
from autofuse.inprocess import Outcome
from autofuse_att_summary import evidence as module
from logwriter.model import FinalTiling

Cli = Callable[..., Outcome]

RECORDS, MANIFEST = "att-evidence.jsonl", "tool-manifest.json"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A small log."""
    return save(tmp_path / "logs" / "a.log", call("Add", candidate(1, q="5"), candidate(2)), call("Mul"))


@pytest.fixture
def written(autofuse_cli: Cli, source: Path, tmp_path: Path) -> Path:
    """A folder with the evidence of the log."""
    folder = tmp_path / "out"
    assert autofuse_cli("run", "evidence", source, "-o", folder).exit_code == 0
    return folder


def manifest_of(folder: Path) -> Dict[str, Any]:
    loaded: Dict[str, Any] = json.loads((folder / MANIFEST).read_text())
    return loaded


def content_of(folder: Path) -> Dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- the manifest ----------------------------------------------------------------------------------------------------


def test_the_manifest_proves_where_the_records_come_from(written: Path, source: Path) -> None:
    manifest = manifest_of(written)
    assert list(manifest) == sorted(manifest)
    assert manifest["manifest_version"] == "att-tool/v1"
    assert manifest["schema_version"] == "att-evidence/v1"
    assert manifest["tool"] == "autofuse"
    assert manifest["record_count"] == 3
    digest = hashlib.sha256((written / RECORDS).read_bytes()).hexdigest()
    assert manifest["artifacts"] == [{"path": RECORDS, "sha256": digest}]
    data = source.read_bytes()
    assert manifest["inputs"] == [
        {
            "path": str(source),
            "sha256": hashlib.sha256(data).hexdigest(),
            "bytes": len(data),
            "lines": data.count(b"\n"),
            "undecodable_bytes": 0,
        }
    ]
    assert f"run evidence {source} -o {written}" in manifest["command"]


def test_every_input_is_listed(autofuse_cli: Cli, tmp_path: Path) -> None:
    for name in ("b.log", "a.log"):
        save(tmp_path / "logs" / name, call("Add"))
    (tmp_path / "logs" / "c.log").write_bytes(log(call("Add")).replace(b"Add", b"A\xff\xfe", 1)[:-1])
    (tmp_path / "logs" / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    assert autofuse_cli("run", "evidence", tmp_path / "logs", "-o", tmp_path / "out").exit_code == 0
    manifest = manifest_of(tmp_path / "out")
    found = {Path(one["path"]).name: one for one in manifest["inputs"]}
    assert set(found) == {"a.log", "b.log", "c.log"}
    assert found["c.log"]["undecodable_bytes"] == 2
    assert found["c.log"]["lines"] == found["a.log"]["lines"]
    assert [Path(one["path"]).name for one in manifest["skipped"]] == ["image.png"]


def test_standard_input_has_no_path(autofuse_cli: Cli, tmp_path: Path) -> None:
    data = log(call("Add"))
    assert autofuse_cli("run", "evidence", "-", "-o", tmp_path, stdin=data).exit_code == 0
    (used,) = manifest_of(tmp_path)["inputs"]
    assert (used["path"], used["sha256"]) == ("-", hashlib.sha256(data).hexdigest())
    assert json.loads((tmp_path / RECORDS).read_text())["source_path"] == "-"


def test_other_files_are_kept_and_listed(autofuse_cli: Cli, source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    (folder / "deep").mkdir(parents=True)
    (folder / "notes.txt").write_text("mine")
    (folder / "deep" / "x").write_text("mine too")
    assert autofuse_cli("run", "evidence", source, "-o", folder).exit_code == 0
    assert manifest_of(folder)["other_files"] == ["deep", "notes.txt"]
    assert sorted(content_of(folder)) == [RECORDS, "deep/x", "notes.txt", MANIFEST]
    assert autofuse_cli("run", "evidence", "--check", folder).exit_code == 0


def test_the_folder_is_created_with_its_parents(autofuse_cli: Cli, source: Path, tmp_path: Path) -> None:
    assert autofuse_cli("run", "evidence", source, "-o", tmp_path / "a" / "b" / "c").exit_code == 0
    assert sorted(content_of(tmp_path / "a")) == [f"b/c/{RECORDS}", f"b/c/{MANIFEST}"]


def test_files_are_as_readable_as_others(autofuse_cli: Cli, source: Path, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        assert autofuse_cli("run", "evidence", source, "-o", tmp_path / "out").exit_code == 0
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "out").iterdir()} == {0o600}


def test_nothing_found(autofuse_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text("hello\nworld\n")
    result = autofuse_cli("run", "evidence", tmp_path / "app.log", "-o", tmp_path / "out")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no tiling messages in 2 lines" in result.stderr
    assert (tmp_path / "out" / RECORDS).read_bytes() == b""
    assert manifest_of(tmp_path / "out")["record_count"] == 0
    assert autofuse_cli("run", "evidence", "--check", tmp_path / "out").exit_code == 0


def test_a_second_run_replaces_both(autofuse_cli: Cli, written: Path, tmp_path: Path) -> None:
    other = save(tmp_path / "other.log", call("Sub"))
    assert autofuse_cli("run", "evidence", other, "-o", written).exit_code == 0
    assert json.loads((written / RECORDS).read_text())["operator"] == "Sub"
    assert manifest_of(written)["other_files"] == []
    assert autofuse_cli("run", "evidence", "--check", written).exit_code == 0
    assert sorted(content_of(written)) == [RECORDS, MANIFEST]


@pytest.mark.parametrize("output", [".", "evidence"])
def test_the_output_of_an_earlier_run_is_no_input(
    output: str, autofuse_cli: Cli, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`evidence . -o .`, twice: what the first run wrote holds the text of log lines."""
    monkeypatch.chdir(source.parent)
    found = []
    for _ in range(2):
        result = autofuse_cli("run", "evidence", ".", "-o", output)
        assert result.exit_code == 0
        found.append((Path(output, RECORDS).read_bytes(), [one["path"] for one in manifest_of(Path(output))["inputs"]]))
    assert found[0] == found[1]
    assert found[0][1] == [str(source)]
    assert "written by an earlier run" in result.stderr


# --- usage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("LOG",),
        ("-o", "OUT"),
        ("LOG", "-o", "-"),
        ("--check", "OUT", "LOG"),
        ("--check", "OUT", "-o", "OUT"),
        ("LOG", "-o", "OUT", "--nonsense"),
        ("none.log", "-o", "OUT"),
        ("LOG", "-o", "LOG"),
        ("LOG", "-o", "LOG/below"),
        ("--check", "none"),
        ("--check", "LOG"),
    ],
)
def test_what_cannot_be_done(arguments: List[str], autofuse_cli: Cli, source: Path, tmp_path: Path) -> None:
    words = [word.replace("LOG", str(source)).replace("OUT", str(tmp_path / "out")) for word in arguments]
    result = autofuse_cli("run", "evidence", *words)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert not list(tmp_path.rglob(RECORDS))
    assert not Path("-").exists()


def test_one_log_that_cannot_be_read(autofuse_cli: Cli, source: Path, tmp_path: Path) -> None:
    """The evidence of the others is written; the exit code tells."""
    result = autofuse_cli("run", "evidence", source, tmp_path / "none.log", "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert "none.log" in result.stderr
    assert manifest_of(tmp_path / "out")["record_count"] == 3
    assert [Path(one["path"]).name for one in manifest_of(tmp_path / "out")["skipped"]] == ["none.log"]


# --- failures leave an earlier pair as it was ------------------------------------------------------------------------


def test_a_full_disk(autofuse_cli: Cli, written: Path, tmp_path: Path) -> None:
    """Whether it fills while records are collected or when they are put in place."""
    finals = [FinalTiling(0, 0, 0, 0, 5, representation="x" * 300)]
    many = save(tmp_path / "many.log", *(call("Add", shape=shape(s0=n), finals=finals) for n in range(200)))
    assert autofuse_cli("run", "evidence", many, "-o", tmp_path / "whole").exit_code == 0
    before = content_of(written)
    for limit in (0, 50_000, (tmp_path / "whole" / RECORDS).stat().st_size - 1):
        ended = limited(["run", "evidence", str(many), "-o", str(written)], limit)
        assert ended.returncode == 2
        assert ended.stderr.count(b"\n") == 1
        assert b"cannot write" in ended.stderr
        assert content_of(written) == before


def limited(arguments: List[str], limit: int) -> subprocess.CompletedProcess[bytes]:
    """Runs the tool where no file may grow beyond `limit` bytes, as on a full disk."""
    set_limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))"
    code = f"{set_limit}; import sys; from autofuse.cli.main import main; sys.exit(main({arguments!r}))"
    return subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, check=False, timeout=60)


@pytest.mark.parametrize("step", ["records", "manifest", "first rename", "second rename"])
def test_a_failure_at_each_step(
    step: str, autofuse_cli: Cli, written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content_of(written)
    other = save(tmp_path / "other.log", call("Sub"))
    real_open, real_replace = Path.open, os.replace
    renames: List[str] = []

    def open_path(self: Path, *arguments: Any, **options: Any) -> Any:
        if self.name.startswith(f".{RECORDS if step == 'records' else MANIFEST}.") and "rename" not in step:
            raise OSError(28, "No space left on device", str(self))
        return real_open(self, *arguments, **options)

    def replace(old: Any, new: Any) -> None:
        renames.append(str(new))
        if "rename" in step and len(renames) == ("first rename", "second rename").index(step) + 1:
            raise OSError(5, "Input/output error", str(new))
        real_replace(old, new)

    monkeypatch.setattr(Path, "open", open_path)
    monkeypatch.setattr(module.os, "replace", replace)
    result = autofuse_cli("run", "evidence", other, "-o", written)
    monkeypatch.undo()
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    after = content_of(written)
    if "rename" not in step:
        assert after == before
    # Never a manifest that tells of other records.
    assert set(after) <= {RECORDS, MANIFEST}
    assert autofuse_cli("run", "evidence", "--check", written).exit_code == (0 if MANIFEST in after else 1)


@pytest.mark.parametrize("name", [RECORDS, MANIFEST])
def test_a_folder_in_place_of_a_file(name: str, autofuse_cli: Cli, written: Path, source: Path) -> None:
    (written / name).unlink()
    (written / name).mkdir()
    before = content_of(written)
    result = autofuse_cli("run", "evidence", source, "-o", written)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert name in result.stderr
    assert content_of(written) == before


def test_a_link_in_place_of_a_file_is_replaced(autofuse_cli: Cli, source: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("precious")
    (tmp_path / "out").mkdir()
    for name in (RECORDS, MANIFEST):
        (tmp_path / "out" / name).symlink_to(outside)
    assert autofuse_cli("run", "evidence", source, "-o", tmp_path / "out").exit_code == 0
    assert outside.read_text() == "precious"
    assert not any(path.is_symlink() for path in (tmp_path / "out").iterdir())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(autofuse_cli: Cli, written: Path, source: Path) -> None:
    before = content_of(written)
    written.chmod(0o500)
    try:
        result = autofuse_cli("run", "evidence", source, "-o", written)
    finally:
        written.chmod(0o700)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert content_of(written) == before


def test_interrupted(written: Path) -> None:
    """Ctrl-C while it reads standard input: the earlier pair stays, and nothing else."""
    before = content_of(written)
    arguments = [sys.executable, "-m", "autofuse", "run", "evidence", "-", "-o", str(written)]
    process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(log(call("Add")) * 8000)
    process.stdin.flush()
    wait_until_read(process.stdin)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert b"interrupted" in errors
    assert content_of(written) == before


def wait_until_read(pipe: Any) -> None:
    """Until the other end has taken everything that was written."""
    waiting = array("i", [1])
    while waiting[0]:
        time.sleep(0.02)
        fcntl.ioctl(pipe, termios.FIONREAD, waiting)


# --- --check ---------------------------------------------------------------------------------------------------------


def edit_record(folder: Path, change: Callable[[str], str]) -> None:
    path = folder / RECORDS
    path.write_text(change(path.read_text()))


def edit_manifest(folder: Path, **changes: Any) -> None:
    path = folder / MANIFEST
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def hashed(folder: Path) -> None:
    """Makes the manifest's hash right again, so that only the records are wrong."""
    digest = hashlib.sha256((folder / RECORDS).read_bytes()).hexdigest()
    edit_manifest(folder, artifacts=[{"path": RECORDS, "sha256": digest}])


TAMPERED: Dict[str, Any] = {
    "a changed number": (lambda f: edit_record(f, lambda t: t.replace('"q": 5', '"q": 6')), "differs from the SHA-256"),
    "a changed operator": (lambda f: edit_record(f, lambda t: t.replace("Add", "Abb")), "differs from the SHA-256"),
    "a line more": (lambda f: edit_record(f, lambda t: t + t.splitlines()[0] + "\n"), "has 4 records"),
    "a line less": (lambda f: edit_record(f, lambda t: t[t.index("\n") + 1 :]), "has 2 records"),
    "an empty line": (lambda f: edit_record(f, lambda t: t + "\n"), "is no JSON"),
    "a cut line": (lambda f: edit_record(f, lambda t: t[:-20]), ":3: is no JSON"),
    "no record": (lambda f: edit_record(f, lambda t: ""), "has 0 records"),
    "NaN": (lambda f: (edit_record(f, lambda t: t.replace('"q": 5', '"q": NaN')), hashed(f)), "NaN is not allowed"),
    "-Infinity": (
        lambda f: (edit_record(f, lambda t: t.replace('"q": 5', '"q": -Infinity')), hashed(f)),
        "-Infinity is not allowed",
    ),
    "a lost key": (lambda f: (edit_record(f, lambda t: t.replace('"pipes"', '"pipe"')), hashed(f)), ":1: data must"),
    "a list": (lambda f: (edit_record(f, lambda t: "[]\n" + t[t.index("\n") + 1 :]), hashed(f)), ":1: data must"),
    "deep": (lambda f: edit_record(f, lambda t: "[" * 99999 + t[t.index("\n") :]), ":1: is no JSON"),
    "no UTF-8": (lambda f: (f / RECORDS).write_bytes(b'{"a": "\xff"}\n'), ":1: is no JSON"),
    "a changed hash": (lambda f: edit_manifest(f, artifacts=[{"path": RECORDS, "sha256": "0" * 64}]), "differs from"),
    "no hash": (lambda f: edit_manifest(f, artifacts=[]), "artifacts"),
    "another artifact": (
        lambda f: edit_manifest(f, artifacts=[{"path": "x", "sha256": "0" * 64}]),
        f"does not list {RECORDS}",
    ),
    "an artifact too many": (
        lambda f: edit_manifest(f, artifacts=[*manifest_of(f)["artifacts"], {"path": "x", "sha256": "0" * 64}]),
        "/x: is missing",
    ),
    "an artifact elsewhere": (
        lambda f: edit_manifest(f, artifacts=[*manifest_of(f)["artifacts"], {"path": "../x", "sha256": "0" * 64}]),
        "'../x' is no file of this folder",
    ),
    "an absolute artifact": (
        lambda f: edit_manifest(
            f, artifacts=[*manifest_of(f)["artifacts"], {"path": "/etc/passwd", "sha256": "0" * 64}]
        ),
        "'/etc/passwd' is no file of this folder",
    ),
    "another count": (lambda f: edit_manifest(f, record_count=4), "the manifest says 4"),
    "a negative count": (lambda f: edit_manifest(f, record_count=-1), "record_count"),
    "another version": (lambda f: edit_manifest(f, manifest_version="att-tool/v2"), "manifest_version"),
    "another schema": (lambda f: edit_manifest(f, schema_version="att-evidence/v2"), "schema_version"),
    "another date": (lambda f: edit_manifest(f, generated_at_utc="yesterday"), "generated_at_utc"),
    "broken inputs": (lambda f: edit_manifest(f, inputs=[{"path": "x"}]), "inputs"),
    "a manifest that is a list": (lambda f: (f / MANIFEST).write_text("[]"), "data must be object"),
    "a manifest cut short": (lambda f: (f / MANIFEST).write_text((f / MANIFEST).read_text()[:-5]), "is no JSON"),
    "an empty manifest": (lambda f: (f / MANIFEST).write_text(""), "is no JSON"),
    "a binary manifest": (lambda f: (f / MANIFEST).write_bytes(bytes(range(256))), "is no JSON"),
    "no manifest": (lambda f: (f / MANIFEST).unlink(), f"{MANIFEST}: is missing"),
    "no records": (lambda f: (f / RECORDS).unlink(), f"{RECORDS}: is missing"),
    "a pipe for records": (lambda f: ((f / RECORDS).unlink(), os.mkfifo(f / RECORDS)), f"{RECORDS}: is missing"),
    "nothing": (lambda f: ((f / RECORDS).unlink(), (f / MANIFEST).unlink()), f"{MANIFEST}: is missing"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_check_of_a_tampered_folder(name: str, autofuse_cli: Cli, written: Path) -> None:
    change, says = TAMPERED[name]
    assert autofuse_cli("run", "evidence", "--check", written).exit_code == 0
    change(written)
    result = autofuse_cli("run", "evidence", "--check", written)
    assert result.exit_code == 1
    assert says in result.stdout
    assert "problem" in result.stderr
    assert "Traceback" not in result.stderr


def test_check_shows_the_first_of_many_problems(autofuse_cli: Cli, written: Path) -> None:
    (written / RECORDS).write_text("x\n" * 5000)
    result = autofuse_cli("run", "evidence", "--check", written)
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 20
    assert "5002 problems (the first 20 are shown)" in result.stderr


def test_check_needs_no_log(autofuse_cli: Cli, written: Path, source: Path) -> None:
    source.unlink()
    result = autofuse_cli("run", "evidence", "--check", written)
    assert result.exit_code == 0
    assert "the evidence is what its manifest says" in result.stdout
