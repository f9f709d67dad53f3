"""summary: where logs come from, and what is wrong with some of them: told in one line, and the rest is read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import threading
import zipfile
from pathlib import Path
from typing import Callable, Dict, List, Tuple

import pytest
from autofuse.testing import Outcome
from logwriter.files import Layout, folder_of, write
from logwriter.model import Run
from logwriter.samples import call, candidate, group, result, run_of, tricky_run
from logwriter.wrap import Bare, Wrapping
from summaries import csv_table, log_folder, summary_rows

Cli = Callable[..., Outcome]
WITHOUT_PLACE = ("Source", "Line")


def simple(operator: str = "Add", seed: int = 1, pid: int = 77) -> Run:
    return run_of(call(operator, [result(0, [group(0, [candidate(0, seed=seed)], s0=str(seed))])]), pid=pid)


def text_of(run: Run, layout: Layout = Layout()) -> bytes:  # noqa: B008 (frozen)
    (file,) = write(run, layout)
    return file.data


def told(outcome: Outcome) -> List[str]:
    """The lines on standard error."""
    return outcome.stderr.splitlines()


def content(rows: List[Dict[str, str]]) -> List[Dict[str, str]]:
    return [{name: value for name, value in row.items() if name not in WITHOUT_PLACE} for row in rows]


# --- sources ----------------------------------------------------------------------------------------------------------


def test_file_folder_glob_and_stdin_say_the_same(tmp_path: Path, autofuse_cli: Cli) -> None:
    folder = log_folder(tricky_run(), tmp_path / "run" / "plog")
    (path,) = folder.iterdir()
    wanted = content(summary_rows(path))
    assert content(summary_rows(folder)) == wanted
    assert content(summary_rows(tmp_path / "run")) == wanted
    assert content(summary_rows(str(tmp_path / "run" / "*" / "plog-*.log"))) == wanted
    outcome = autofuse_cli("run", "summary", "-", "-f", "csv", stdin=path.read_bytes())
    assert content(csv_table(outcome)[1]) == wanted
    assert {row["Source"] for row in csv_table(outcome)[1]} == {"-"}


def test_archives_say_the_same(tmp_path: Path) -> None:
    folder = log_folder(tricky_run(), tmp_path / "plog", Layout(parts=2))
    wanted = content(summary_rows(folder))
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(f"log/{name}", data)
    for mode in ("w", "w:gz", "w:xz"):
        with tarfile.open(tmp_path / f"a.tar{mode[1:].replace(':', '.')}", mode) as tar:
            tar.add(folder, "log")
    for name in ("a.zip", "a.tar", "a.tar.gz", "a.tar.xz"):
        rows = summary_rows(tmp_path / name)
        assert content(rows) == wanted
        assert {row["Source"].split("!")[0] for row in rows} == {str(tmp_path / name)}


def test_compressed_files_say_the_same(tmp_path: Path) -> None:
    data = text_of(tricky_run())
    (tmp_path / "x.log").write_bytes(data)
    wanted = content(summary_rows(tmp_path / "x.log"))
    for suffix, compress in ((".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)):
        path = tmp_path / f"x.log{suffix}"
        path.write_bytes(compress(data))
        assert content(summary_rows(path)) == wanted


def test_rotated_files_are_one_process(tmp_path: Path) -> None:
    """In time order, by the digits of plog names or the number of rotated ones, however they are named."""
    layout = Layout(parts=4, seed=1)
    wanted = content(summary_rows(log_folder(tricky_run(), tmp_path / "whole")))
    plog = log_folder(tricky_run(), tmp_path / "plog", layout)
    bare = log_folder(tricky_run(), tmp_path / "bare", Layout(Wrapping(Bare()), together=True, parts=4, seed=1))
    names = sorted((str(path) for path in plog.iterdir()), reverse=True)
    assert len(names) == 4
    assert content(summary_rows(plog)) == content(summary_rows(*names)) == wanted
    assert content(summary_rows(bare)) == wanted


def test_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    folder = log_folder(simple(), tmp_path / "log")
    (path,) = folder.iterdir()
    rows = summary_rows(path, folder, str(folder / "*.log"), "--invocations", "all")
    assert [row["Invocations"] for row in rows] == ["1"]


def test_source_keeps_two_runs_apart(tmp_path: Path) -> None:
    one = log_folder(simple(seed=1), tmp_path / "one")
    two = log_folder(simple(seed=2), tmp_path / "two")
    rows = summary_rows(one, two)
    assert [(row["Operator"], row["Input Shape"], Path(row["Source"]).parent.name) for row in rows] == [
        ("Add", "s0=1", "one"),
        ("Add", "s0=2", "two"),
    ]


def test_two_files_without_process_are_two_processes(tmp_path: Path) -> None:
    layout = Layout(Wrapping(Bare()), together=True)
    for name, seed in (("a.log", 1), ("b.log", 2)):
        (tmp_path / name).write_bytes(text_of(simple(seed=seed), layout))
    rows = summary_rows(tmp_path)
    assert [(row["Invocations"], row["Input Shape"]) for row in rows] == [("1", "s0=1"), ("1", "s0=2")]


def test_every_text_file_of_a_folder_is_read_whatever_its_name(tmp_path: Path) -> None:
    names = ["a.LOG", "b.txt", "c", "d.log.1", "e.out", "f.json"]
    for seed, name in enumerate(names, 1):
        (tmp_path / name).write_bytes(text_of(simple(seed=seed, pid=seed)))
    (tmp_path / "g.log.gz").write_bytes(gzip.compress(text_of(simple(seed=7, pid=7))))
    assert len(summary_rows(tmp_path)) == 7


# --- what cannot be read ----------------------------------------------------------------------------------------------


def refused(outcome: Outcome, code: int, *words: str) -> None:
    """One line that names the place; nothing on standard output."""
    assert (outcome.exit_code, outcome.stdout) == (code, "")
    assert all(word in outcome.stderr for word in words), outcome.stderr
    assert "Traceback" not in outcome.stderr


def test_missing_path(tmp_path: Path, autofuse_cli: Cli) -> None:
    outcome = autofuse_cli("run", "summary", tmp_path / "nothing.log")
    refused(outcome, 2, "nothing.log", "no such file")
    assert len(told(outcome)) == 1


def test_missing_path_beside_a_good_one(tmp_path: Path, autofuse_cli: Cli) -> None:
    """The good one is shown, and the exit code says that something could not be done."""
    outcome = autofuse_cli(
        "run", "summary", tmp_path / "nothing.log", log_folder(simple(), tmp_path / "log"), "-f", "csv"
    )
    assert outcome.exit_code == 2
    assert [row["Operator"] for row in csv_table(outcome)[1]] == ["Add"]
    assert "nothing.log" in outcome.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_path(tmp_path: Path, autofuse_cli: Cli) -> None:
    path = tmp_path / "secret.log"
    path.write_bytes(text_of(simple()))
    path.chmod(0)
    refused(autofuse_cli("run", "summary", path), 2, "secret.log")


def test_links_that_lead_nowhere(tmp_path: Path, autofuse_cli: Cli) -> None:
    (tmp_path / "dangling.log").symlink_to("nothing")
    (tmp_path / "circle.log").symlink_to("circle.log")
    for name in ("dangling.log", "circle.log"):
        refused(autofuse_cli("run", "summary", tmp_path / name), 2, name)
    log_folder(simple(), tmp_path)
    outcome = autofuse_cli("run", "summary", tmp_path, "-f", "csv")
    assert [row["Operator"] for row in csv_table(outcome)[1]] == ["Add"]
    assert "dangling.log" in outcome.stderr and "circle.log" in outcome.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_read_once(tmp_path: Path, autofuse_cli: Cli) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(text_of(simple()),))
    writer.start()
    outcome = autofuse_cli("run", "summary", tmp_path / "pipe", "-f", "csv")
    writer.join()
    assert [row["Operator"] for row in csv_table(outcome)[1]] == ["Add"]


def test_empty_file(tmp_path: Path, autofuse_cli: Cli) -> None:
    (tmp_path / "empty.log").touch()
    refused(autofuse_cli("run", "summary", tmp_path / "empty.log"), 1, "empty.log", "empty file", "0 lines")


def test_empty_standard_input(autofuse_cli: Cli) -> None:
    refused(autofuse_cli("run", "summary", "-", stdin=b""), 1, "0 lines")


def test_binary_file(tmp_path: Path, autofuse_cli: Cli) -> None:
    (tmp_path / "lib.so").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(500))
    refused(autofuse_cli("run", "summary", tmp_path / "lib.so"), 2, "lib.so", "binary")


def test_folder_without_logs(tmp_path: Path, autofuse_cli: Cli) -> None:
    refused(autofuse_cli("run", "summary", tmp_path), 2, str(tmp_path), "no log")
    (tmp_path / "lib.so").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(500))
    refused(autofuse_cli("run", "summary", tmp_path), 2, str(tmp_path), "binary")


def test_what_was_skipped_is_counted(tmp_path: Path, autofuse_cli: Cli) -> None:
    log_folder(simple(), tmp_path)
    for number in range(3):
        (tmp_path / f"lib{number}.so").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(500))
    (tmp_path / "empty").touch()
    outcome = autofuse_cli("run", "summary", tmp_path, "-f", "csv")
    assert outcome.exit_code == 0
    assert [row["Operator"] for row in csv_table(outcome)[1]] == ["Add"]
    assert any("skipped 3" in line and "lib0.so" in line for line in told(outcome))
    assert any("skipped 1" in line and "empty" in line for line in told(outcome))


def test_nothing_found_names_what_was_looked_for(tmp_path: Path, autofuse_cli: Cli) -> None:
    (tmp_path / "app.log").write_text("step 1\nstep 2\n[INFO] GE(1,x):2026 [a.cc:1]1 F:[Add]hello\n")
    outcome = autofuse_cli("run", "summary", tmp_path / "app.log")
    refused(outcome, 1, "3 lines", "[PROF]", "Start GetTiling")
    assert len(told(outcome)) == 1


def test_damaged_archives_give_what_is_left(tmp_path: Path, autofuse_cli: Cli) -> None:
    data = b"".join(text_of(simple(seed=seed, operator=f"op{seed}")) for seed in range(1, 400))
    (tmp_path / "cut.log.gz").write_bytes(gzip.compress(data)[:-2000])
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("first.log", text_of(simple(seed=1)))
        archive.writestr("second.log", data)
    (tmp_path / "cut.zip").write_bytes(memory.getvalue()[:-2000])
    for name in ("cut.log.gz", "cut.zip"):
        outcome = autofuse_cli("run", "summary", tmp_path / name, "-f", "csv")
        assert outcome.exit_code in (0, 2)
        assert len(csv_table(outcome)[1]) > 100
        assert name in outcome.stderr and "lost" in outcome.stderr


def test_an_archive_of_rubbish(tmp_path: Path, autofuse_cli: Cli) -> None:
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04" + bytes(range(256)) * 4)
    (tmp_path / "bad.gz").write_bytes(b"\x1f\x8b\x08\x00" + bytes(range(256)) * 4)
    for name in ("bad.zip", "bad.gz"):
        outcome = autofuse_cli("run", "summary", tmp_path / name)
        assert outcome.exit_code in (1, 2)
        assert outcome.stdout == "" and name in outcome.stderr and "Traceback" not in outcome.stderr


# --- what stands in the lines -----------------------------------------------------------------------------------------


def test_a_line_of_many_megabytes(tmp_path: Path, autofuse_cli: Cli) -> None:
    """Only its head is looked at; the lines around it are read."""
    path = tmp_path / "long.log"
    first, second = text_of(simple(seed=1)), text_of(simple("Mul", seed=2))
    path.write_bytes(first + b"[Evil][PROF]" + b"x" * (9 << 20) + b"[Add][PROF]\n" + second)
    outcome = autofuse_cli("run", "summary", path, "-f", "csv")
    rows = csv_table(outcome)[1]
    assert [(row["Operator"], row["Input Shape"]) for row in rows] == [("Add", "s0=1"), ("Mul", "s0=2")]
    assert int(rows[1]["Line"]) == first.count(b"\n") + 1 + second[: second.index(b"q0_size")].count(b"\n") + 1
    assert any("too long" in line for line in told(outcome))


def test_a_line_of_many_megabytes_and_nothing_else(autofuse_cli: Cli) -> None:
    outcome = autofuse_cli("run", "summary", "-", stdin=b"x" * (5 << 20))
    refused(outcome, 1, "1 line")


def test_cut_in_the_middle_of_a_line(tmp_path: Path, autofuse_cli: Cli) -> None:
    """The number in the last line may have lost digits: it is left out, and that is said."""
    data = text_of(simple(seed=123))
    at = data.index(b"The value of ub_size is 12301 in graph0_result0_g0_0.") + len(
        b"The value of ub_size is 12301 in graph0_result0_g0_0"
    )
    (tmp_path / "cut.log").write_bytes(data[:at])
    outcome = autofuse_cli("run", "summary", tmp_path / "cut.log", "-f", "csv")
    (row,) = csv_table(outcome)[1]
    assert row["Parse Status"] == "missing_graph_result;incomplete_invocation"
    assert any("cut" in line and "left out" in line for line in told(outcome))


def test_cut_in_the_middle_of_an_invocation(tmp_path: Path, autofuse_cli: Cli) -> None:
    lines = text_of(run_of(*(simple(seed=seed).processes[0].threads[0].calls[0] for seed in (1, 2)))).split(b"\n")
    (tmp_path / "cut.log").write_bytes(b"\n".join(lines[: len(lines) - 5]) + b"\n")
    outcome = autofuse_cli("run", "summary", tmp_path / "cut.log", "-f", "csv")
    (row,) = csv_table(outcome)[1]
    assert (row["Input Shape"], row["Invocation"], row["Invocations"]) == ("s0=1", "1", "2")
    assert any("2 invocations (1 incomplete)" in line for line in told(outcome))


def test_bytes_that_are_no_utf8_are_counted(tmp_path: Path, autofuse_cli: Cli) -> None:
    data = text_of(simple())
    noise = "算子 融合".encode("gb18030") + b"\n\xff\xfe\x80\n"
    undecodable = len(noise) - len(noise.decode("utf-8", "ignore").encode())
    (tmp_path / "x.log").write_bytes(noise + data + b"\xe7\xae")
    outcome = autofuse_cli("run", "summary", tmp_path / "x.log", "-f", "csv")
    assert [row["Operator"] for row in csv_table(outcome)[1]] == ["Add"]
    assert any(f"{undecodable + 2} bytes" in line for line in told(outcome))


def test_a_name_that_is_no_utf8_is_shown_replaced(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_bytes(text_of(simple("Add_é")).replace("é".encode(), b"\xe9"))
    (row,) = summary_rows(tmp_path)
    assert row["Operator"] == "Add_\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    "outer", [("coloured",), ("grep --color",), ("holes",), ("grep -rn", "coloured"), ("container", "stamp")]
)
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_what_stands_around_the_lines_changes_nothing(tmp_path: Path, outer: Tuple[str, ...], line_end: bytes) -> None:
    plain = log_folder(tricky_run(), tmp_path / "plain")
    layout = Layout(Wrapping(outer=outer), seed=4, noise=0.3, blank_lines=0.3, line_end=line_end, bom=True)
    wrapped = log_folder(tricky_run(), tmp_path / "wrapped", layout)
    assert content(summary_rows(wrapped, "--all")) == content(summary_rows(plain, "--all"))


def test_lines_with_a_message_but_without_an_operator(tmp_path: Path, autofuse_cli: Cli) -> None:
    """Severities, files, ranks and times in brackets are never operators."""
    message = "[PROF]Among the templates, tiling case 0 of graph0_result0_g0 is the best choice."
    heads = [
        "",
        "[INFO]",
        "[ERROR] ",
        "[tiling.cpp:12]",
        "[rank8]: ",
        "[2026-07-25 17:55:54] ",
        "[INFO] [a.h:1] ",
        "[Add ",
    ]
    (tmp_path / "x.log").write_text("".join(f"{head}{message}\n{head}Start GetTiling.\n" for head in heads))
    refused(autofuse_cli("run", "summary", tmp_path / "x.log"), 1, "no tiling messages")


def test_folder_names_that_need_care(tmp_path: Path) -> None:
    folder = log_folder(simple(), tmp_path / "log [1] *" / "ü\u200b")
    (row,) = summary_rows(folder)
    assert row["Source"].startswith(str(folder))
    assert folder_of(write(simple())).keys() == {Path(row["Source"]).name}
