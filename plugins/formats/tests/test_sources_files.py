"""Files, folders, patterns and pipes as a user names them: what is read, in which order, what is said of the rest."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Dict, List, Tuple

import pytest
from autofuse.errors import AutofuseError
from autofuse.host import Host
from autofuse.scan.reader import read_lines
from autofuse.scan.source import Notices
from autofuse_formats.sources.naming import place_of
from autofuse_formats.sources.sniff import has_text, kind_of


class Read:
    """Everything that reading locations gives."""

    def __init__(self, *locations: object) -> None:
        self.notices = Notices()
        reader = read_lines(Host(third_party=False), [str(one) for one in locations], [b"[PROF]"], self.notices)
        self.lines: List[Tuple[str, str]] = []
        for batch in reader:
            self.lines.extend((line.path, line.text) for line in batch)
        self.streams = reader.streams

    @property
    def texts(self) -> List[str]:
        return [text.replace("[PROF]", "") for _, text in self.lines]

    @property
    def skipped(self) -> Dict[str, str]:
        return {os.path.basename(name): reason for name, reason in self.notices.skipped}


def write(folder: Path, files: Dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_one_file_plain_or_compressed_whatever_its_name(tmp_path: Path, pack: type) -> None:
    path = write(tmp_path, {"any.name": pack(b"[PROF]one\nno\n[PROF]two")}) / "any.name"
    read = Read(path)
    assert read.lines == [(str(path), "[PROF]one"), (str(path), "[PROF]two")]
    assert [stats.lines for stats in read.streams] == [3]
    assert read.notices.skipped == []


def test_compressed_files_of_several_parts_and_with_padding(tmp_path: Path) -> None:
    parts = [b"[PROF]one\n", b"[PROF]two\n"]
    files = {
        "a.gz": gzip.compress(parts[0]) + gzip.compress(parts[1]) + bytes(512),
        "b.bz2": bz2.compress(parts[0]) + bz2.compress(parts[1]),
        "c.xz": lzma.compress(parts[0]) + bytes(4) + lzma.compress(parts[1]),
        "d.lzma": lzma.compress(parts[0] + parts[1], format=lzma.FORMAT_ALONE),
    }
    read = Read(write(tmp_path, files))
    assert read.texts == ["one", "two"] * 4
    assert read.notices.skipped == []


# --- folders ----------------------------------------------------------------------------------------------------------


def test_a_folder_gives_every_file_with_text_and_counts_the_rest(tmp_path: Path) -> None:
    files = {
        "a/train.LOG": b"[PROF]a\n",
        "a/deep/er/out.txt": b"[PROF]b\n",
        "no_suffix": b"[PROF]c\n",
        "gb.log": "[PROF]算子 融合\n".encode("gb18030") * 5,
        "colour.log": b"\x1b[32m[PROF]d\x1b[0m\n",
        "old.log.gz": gzip.compress(b"[PROF]e\n"),
        "empty.log": b"",
        "lib.so": b"\x7fELF\x02\x01\x01" + bytes(100),
        "kernel.o": b"\x7fELF\x02\x01\x01" + bytes(100),
        "picture.png": b"\x89PNG\r\n\x1a\n[PROF]",
        "dump.npy": b"\x93NUMPY\x01\x00[PROF]\n",
        "raw.bin": bytes(range(256)) * 40,
        "zeros.bin": bytes(5000),
        "windows.log": "[PROF]u\r\n".encode("utf-16"),
        "table.xlsx": b"PK\x03\x04[PROF]",
        "model.gz": gzip.compress(b"\x7fELF\x02\x01\x01" + bytes(100)),
    }
    read = Read(write(tmp_path, files))
    assert sorted(text for text in read.texts if text.isascii())[1:] == ["a", "b", "c", "e"]
    assert len(read.texts) == 5 + 5
    assert read.skipped == {
        "empty.log": "empty file",
        "lib.so": "binary: an ELF program or library",
        "kernel.o": "binary: an ELF program or library",
        "picture.png": "binary: a PNG picture",
        "dump.npy": "binary: an npy array",
        "raw.bin": "binary: no text at its beginning",
        "zeros.bin": "binary: no text at its beginning",
        "windows.log": "binary: UTF-16 text (convert it to UTF-8)",
        "table.xlsx": "binary: a workbook",
        "model.gz": "binary: an ELF program or library",
    }


def test_a_log_with_a_hole_at_its_beginning_is_text(tmp_path: Path) -> None:
    write(tmp_path, {"cut.log": bytes(100_000) + b"[PROF]after the hole\n" * 50})
    assert Read(tmp_path).lines[0][1].endswith("[PROF]after the hole")


def test_rotated_files_are_one_process_in_time_order(tmp_path: Path) -> None:
    files = {
        "x.log": b"[PROF]5\n",
        "x.log.1": b"[PROF]4\n",
        "x.log.2.gz": gzip.compress(b"[PROF]3\n"),
        "x.log.10.bz2": bz2.compress(b"[PROF]2\n"),
        "x.log-20251231": b"[PROF]1\n",
        "y.log": b"[PROF]y\n",
        "messages": b"[PROF]b\n",
        "messages.1": b"[PROF]a\n",
        "Add.1": b"[PROF]add\n",
    }
    read = Read(write(tmp_path, files))
    assert "".join(text for text in read.texts if text.isdigit()) == "12345"
    assert {stats.process for stats in read.streams} == {
        (str(tmp_path / name),) for name in ("x.log", "y.log", "messages", "Add.1")
    }
    assert read.texts.index("a") == read.texts.index("b") - 1


def test_files_named_one_by_one_are_sorted_too_and_read_once(tmp_path: Path) -> None:
    write(tmp_path, {"x.log": b"[PROF]3\n", "x.log.1": b"[PROF]2\n", "x.log.2": b"[PROF]1\n"})
    (tmp_path / "link.log").symlink_to(tmp_path / "x.log.1")
    named = [tmp_path / "x.log", tmp_path / "x.log.1", tmp_path / "x.log.2", tmp_path / "x.log", tmp_path]
    assert Read(*named).texts == ["1", "2", "3"]


def test_plog_files_of_a_process_are_merged_by_time_over_the_folders_of_a_tree(tmp_path: Path) -> None:
    files = {
        "n1/log/debug/plog/plog-7_20260101000000300.log": b"[PROF]3\n",
        "n1/log/debug/plog/plog-7_20260101000000100.log": b"[PROF]1\n",
        "n1/log/run/plog/plog-7_20260101000000200.log.gz": gzip.compress(b"[PROF]2\n"),
        "n1/log/debug/plog/plog-8_20260101000000150.log": b"[PROF]other process\n",
        "n1/log/debug/device-0/device-7_20260101000000120.log": b"[PROF]device\n",
        "n2/log/debug/plog/plog-7_20260101000000100.log": b"[PROF]other tree\n",
    }
    read = Read(write(tmp_path, files))
    assert [text for text in read.texts if text.isdigit()] == ["1", "2", "3"]
    tree = str(tmp_path / "n1/log")
    assert {(stats.process, stats.pid) for stats in read.streams} == {
        ((tree, "plog", "7"), 7),
        ((tree, "plog", "8"), 8),
        ((tree, "device-0", "7"), 7),
        ((str(tmp_path / "n2/log"), "plog", "7"), 7),
    }
    processes = [stats.process for stats in read.streams]
    assert processes.count((tree, "plog", "7")) == 3
    assert len({*processes[processes.index((tree, "plog", "7")) :][:3]}) == 1


def test_links_in_circles_are_followed_once(tmp_path: Path) -> None:
    write(tmp_path, {"a/x.log": b"[PROF]x\n"})
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "b").symlink_to(tmp_path / "a")
    (tmp_path / "broken.log").symlink_to(tmp_path / "gone")
    read = Read(tmp_path)
    assert read.texts == ["x"]
    assert read.skipped == {"broken.log": "cannot be read: No such file or directory"}


def test_special_files_in_a_folder_are_skipped(tmp_path: Path) -> None:
    write(tmp_path, {"x.log": b"[PROF]x\n"})
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    server = socket.socket(socket.AF_UNIX)
    server.bind(os.path.relpath(tmp_path / "socket"))
    server.close()
    read = Read(tmp_path)
    assert read.texts == ["x"]
    assert set(read.skipped.values()) == {"not a regular file"}
    assert set(read.skipped) == {"pipe", "endless", "socket"}


def test_a_folder_without_logs_says_what_is_in_it(tmp_path: Path) -> None:
    write(tmp_path, {"a.so": b"\x7fELF", "b.so": b"\x7fELF", "c.log": b""})
    with pytest.raises(AutofuseError, match=r"no log in this folder \(3 not read: 2 x binary: an ELF") as caught:
        Read(tmp_path)
    assert caught.value.exit_code == 2
    (tmp_path / "new").mkdir()
    with pytest.raises(AutofuseError, match="it holds no file"):
        Read(tmp_path / "new")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_may_not_be_read_is_counted_in_a_folder_and_an_error_when_named(tmp_path: Path) -> None:
    write(tmp_path, {"x.log": b"[PROF]x\n", "secret.log": b"[PROF]s\n", "closed/y.log": b"[PROF]y\n"})
    (tmp_path / "secret.log").chmod(0)
    (tmp_path / "closed").chmod(0)
    assert Read(tmp_path).skipped == {
        "secret.log": "cannot be read: Permission denied",
        "closed": "cannot be read: Permission denied",
    }
    with pytest.raises(AutofuseError, match="cannot be read: Permission denied"):
        Read(tmp_path / "secret.log")


# --- named files and patterns -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("lib.so", b"\x7fELF\x02", "binary: an ELF program or library"),
        ("log.zst", b"\x28\xb5\x2f\xfd1234", "zstd data .unpack it first."),
        ("log.gz", b"\x1f\x8b\x08broken", "damaged gz data"),
        ("model.gz", gzip.compress(b"\x93NUMPY"), "an npy array"),
        ("in.gz", gzip.compress(b"PK\x03\x04" + bytes(60)), "an archive inside an archive"),
    ],
    ids=["elf", "zstd", "damaged", "npy", "nested"],  # gzip data holds the time: it may not name a test
)
def test_a_named_file_that_is_no_log_is_an_error(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    with pytest.raises(AutofuseError, match=message) as caught:
        Read(write(tmp_path, {name: data}) / name)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


def test_a_named_file_that_only_looks_binary_is_read(tmp_path: Path) -> None:
    read = Read(write(tmp_path, {"x.log": bytes(range(256)) * 40 + b"\n[PROF]x\n"}) / "x.log")
    assert read.texts == ["x"]
    assert read.skipped == {"x.log": "looks binary; read all the same"}


def test_an_empty_named_file_is_counted(tmp_path: Path) -> None:
    read = Read(write(tmp_path, {"x.log": b""}) / "x.log", os.devnull)
    assert read.skipped == {"x.log": "empty file", "null": "empty file"}
    assert [stats.lines for stats in read.streams] == [0]


def test_missing_paths_and_the_rest_that_is_read(tmp_path: Path) -> None:
    write(tmp_path, {"x.log": b"[PROF]x\n"})
    (tmp_path / "broken").symlink_to(tmp_path / "gone")
    read = Read(tmp_path / "gone", tmp_path / "x.log", tmp_path / "broken", "/dev/zero")
    assert read.texts == ["x"]
    assert [error.what for error in read.notices.failures] == [
        "no such file or folder",
        "cannot be read: No such file or directory",
        "is a device or socket, not a log",
    ]


def test_patterns_are_expanded_unless_a_file_has_that_name(tmp_path: Path) -> None:
    write(
        tmp_path, {"a.log": b"[PROF]a\n", "d/b.log": b"[PROF]b\n", "d/e/c.log": b"[PROF]c\n", "[d].log": b"[PROF]d\n"}
    )
    assert Read(tmp_path / "*.log").texts == ["d", "a"]
    assert sorted(Read(tmp_path / "**" / "*.log").texts) == ["a", "b", "c", "d"]
    assert Read(tmp_path / "[d].log").texts == ["d"]
    assert sorted(Read(tmp_path / "d*").texts) == ["b", "c"]
    with pytest.raises(AutofuseError, match="no file or folder matches this pattern"):
        Read(tmp_path / "*.nothing")
    write(tmp_path, {"x.so": b"\x7fELF"})
    with pytest.raises(AutofuseError, match="no log among 1 matches of this pattern"):
        Read(tmp_path / "*.so")


# --- pipes ------------------------------------------------------------------------------------------------------------


class Stdin:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_standard_input(monkeypatch: pytest.MonkeyPatch, pack: type) -> None:
    data = b"".join(b"[PROF]%d\n" % number for number in range(20_000))
    monkeypatch.setattr(sys, "stdin", Stdin(pack(data)))
    read = Read("-")
    assert read.texts == [str(number) for number in range(20_000)]
    assert {path for path, _ in read.lines} == {"-"}
    assert not sys.stdin.buffer.closed


def test_standard_input_that_is_empty_binary_or_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(b""))
    assert Read("-").skipped == {"-": "empty"}
    monkeypatch.setattr(sys, "stdin", Stdin(b"\x7fELF\x02"))
    with pytest.raises(AutofuseError, match="-: not read: binary: an ELF program or library"):
        Read("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(AutofuseError, match="standard input is closed"):
        Read("-")


def test_a_named_pipe_is_read_as_it_comes(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    data = gzip.compress(b"[PROF]x\n" * 100_000)
    writer = threading.Thread(target=path.write_bytes, args=(data,))
    writer.start()
    read = Read(path)
    writer.join()
    assert len(read.texts) == 100_000


READ_AND_TELL = """
from autofuse.host import Host
from autofuse.scan.reader import read_lines
from autofuse.scan.source import Notices

for batch in read_lines(Host(third_party=False), ["-"], [b"[PROF]"], Notices()):
    print("batch", flush=True)
"""


def test_an_interrupt_ends_the_program_while_it_waits_for_input() -> None:
    command = [sys.executable, "-c", READ_AND_TELL]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdin
        assert program.stdout
        assert program.stderr
        program.stdin.write(b"[PROF]x\n" * (9 << 17))
        program.stdin.flush()
        assert program.stdout.readline() == b"batch\n"
        program.send_signal(signal.SIGINT)
        told = program.stderr.read()
        assert program.wait() == -signal.SIGINT
    assert b"KeyboardInterrupt" in told
    assert b"Fatal" not in told


# --- the rules by themselves ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "process", "pid"),
    [
        ("/l/debug/plog/plog-12_20260101000000001.log", ("/l", "plog", "12"), 12),
        ("/l/plog/plog-12_20260101000000001.log.gz", ("/l", "plog", "12"), 12),
        ("/l/plog-12_20260101000000001.log", ("/l", "plog", "12"), 12),
        ("/l/run/device-3/device-12_20260101000000001.log", ("/l", "device-3", "12"), 12),
        ("/l/x.log.3.xz", ("/l/x.log",), None),
        ("/l/x.log.2026-01-31_07-00", ("/l/x.log",), None),
        ("/l/x-20260131", ("/l/x-20260131",), None),
        ("/l/run.7", ("/l/run.7",), None),
    ],
)
def test_the_name_tells_the_process(name: str, process: Tuple[str, ...], pid: object) -> None:
    place = place_of(name, lambda path: False)
    assert (place.process, place.pid) == (process, pid)


def test_text_beginning_like_a_compressed_file_is_text() -> None:
    assert kind_of(b"BZh9 is how bzip2 data begins\n", "x.log").name == "text"
    assert kind_of(b"MZ is no program\n", "x.log").name == "text"


def test_what_has_text() -> None:
    assert has_text("中文日志 only\n".encode())
    assert has_text("全部都是国标编码的日志，没有别的\n".encode("gb18030"))
    assert has_text(b"padded" + bytes(10) + b"line\n")
    assert not has_text(b"\x00\x00\x80\x3f" * 100)
    assert not has_text(bytes(100))
