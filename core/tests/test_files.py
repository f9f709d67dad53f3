"""Output files: the old one stays until the new one is complete, and names from inputs stay in their folder."""

from __future__ import annotations

import os
import threading

import pytest
from autofuse.errors import AutofuseError
from autofuse.files import atomic_open, make_folder
from autofuse.names import safe_name
from hypothesis import given
from hypothesis import strategies as st


def write(path, content=b"new"):
    """Writes a file as commands do."""
    with atomic_open(path) as out:
        out.write(content)


def fail_half_way(path, failure):
    """Writes a part and fails."""
    with atomic_open(path) as out:
        out.write(b"half")
        raise failure


def test_new_file_and_folders(tmp_path):
    write(tmp_path / "a" / "b" / "c.txt")
    assert (tmp_path / "a" / "b" / "c.txt").read_bytes() == b"new"
    assert os.listdir(tmp_path / "a" / "b") == ["c.txt"]


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_failure_leaves_the_old_file(failure, tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    with pytest.raises(failure):
        fail_half_way(path, failure)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_full_disk_is_told_with_the_path(tmp_path):
    path = tmp_path / "a.txt"
    with pytest.raises(AutofuseError) as caught, atomic_open(path):
        raise OSError(28, "No space left on device")
    assert str(caught.value) == f"{path}: cannot write: No space left on device"


def test_an_input_that_cannot_be_read_is_not_taken_for_the_output(tmp_path):
    with pytest.raises(FileNotFoundError), atomic_open(tmp_path / "a.txt"):
        (tmp_path / "input.txt").read_bytes()
    assert os.listdir(tmp_path) == []


def test_permissions(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "new.txt")
        (tmp_path / "private.txt").touch(mode=0o600)
        write(tmp_path / "private.txt")
    finally:
        os.umask(before)
    assert (tmp_path / "new.txt").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "private.txt").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everything")
def test_read_only_file(tmp_path):
    (tmp_path / "a.txt").touch(mode=0o400)
    with pytest.raises(AutofuseError, match="read-only"):
        write(tmp_path / "a.txt")


def test_link_is_followed(tmp_path):
    (tmp_path / "real.txt").write_bytes(b"old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write(tmp_path / "link.txt")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_bytes() == b"new"


def test_devices_are_not_replaced(tmp_path):
    write("/dev/null")
    assert not os.path.isfile("/dev/null")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    write(pipe)
    reader.join(30)
    assert received == [b"new"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: folder, "is a folder, not a file"),
        (lambda folder: folder / "file" / "a.txt", "folder"),
        (lambda folder: folder / ("x" * 300), "File name too long"),
    ],
)
def test_where_no_file_can_be(make, message, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises((AutofuseError, OSError), match=message):
        write(make(tmp_path))


def test_folder(tmp_path):
    (tmp_path / "file").write_text("")
    assert make_folder(tmp_path / "a" / "b").is_dir()
    assert make_folder(tmp_path / "a" / "b").is_dir()
    with pytest.raises(AutofuseError, match="is a file, not a folder"):
        make_folder(tmp_path / "file")


@given(st.text(max_size=300))
def test_safe_name(name):
    found = safe_name(name)
    assert 0 < len(found.encode()) <= 109
    assert not set(found) - set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-")
    assert found not in (".", "..")


@given(st.lists(st.sampled_from(["a/b", "a_b", "a.b", "../a", "a", "_", "", "融", "a b", "A"]), unique=True))
def test_two_names_never_share_a_file(names):
    assert len({safe_name(name) for name in names}) == len(names)
