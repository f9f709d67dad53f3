"""The files of split-slog: every line of a template byte for byte, where index.json says, under safe names."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import termios
import time
from array import array
from collections import defaultdict
from fcntl import ioctl
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import pytest
from attruns import call, candidate, log, save, shape
from autofuse.inprocess import Outcome
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from logwriter.files import Layout, write
from logwriter.final import final_lines
from logwriter.model import Call, FinalTiling, Graph, Group, Process, Producer, Result, Run, Thread

Cli = Callable[..., Outcome]
Entry = Dict[str, Any]

CASE = r"(?P<tag>[A-Za-z]*)(?P<case>\d+)"
NAMES_A_TEMPLATE = [
    re.compile(rf"\bgraph(?P<g>\d+)_result(?P<r>\d+)_g(?P<s>\d+)_{CASE}\b"),
    re.compile(rf"tiling case {CASE} of graph(?P<g>\d+)_result(?P<r>\d+)_g(?P<s>\d+)\b"),
    re.compile(rf"tiling case{CASE} of asc_graph(?P<g>\d+)_schedule_result(?P<r>\d+)_g(?P<s>\d+)\b"),
    re.compile(rf"tiling case {CASE} of AscGraph(?P<g>\d+)ScheduleResult(?P<r>\d+)G(?P<s>\d+)\b"),
]
"""The spellings of a template id in runtime lines, written down once more."""


def index_of(folder: Path) -> List[Entry]:
    loaded: List[Entry] = json.loads((folder / "index.json").read_text())["files"]
    return loaded


def files_of(folder: Path) -> Dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_index_is_true(folder: Path) -> List[Entry]:
    """Every file is in the index and every entry tells the truth about it."""
    entries = index_of(folder)
    assert sorted(entry["path"] for entry in entries) == sorted(set(files_of(folder)) - {"index.json"})
    for entry in entries:
        written = (folder / entry["path"]).read_bytes().split(b"\n")[:-1]
        kept = [line for line in written if not line.startswith(b"# invocation ")]
        assert entry["lines"] == len(kept)
        for place, line in (("first", kept[0]), ("last", kept[-1])):
            source = Path(entry[f"{place}_source"]).read_bytes().split(b"\n")
            assert source[entry[f"{place}_line"] - 1] == line, (entry, place)
        if entry["side"] == "runtime":
            assert entry["invocations"] == len(written) - len(kept) + 1
    return entries


@pytest.fixture
def split(autofuse_cli: Cli, tmp_path: Path) -> Callable[..., Dict[str, bytes]]:
    """Splits a log; gives the files and checks the index."""

    def run(content: bytes, *options: str) -> Dict[str, bytes]:
        (tmp_path / "a.log").write_bytes(content)
        result = autofuse_cli("run", "split-slog", tmp_path / "a.log", "-o", tmp_path / "out", *options)
        assert result.exit_code == 0, result.stderr
        assert_index_is_true(tmp_path / "out")
        return {name: data for name, data in files_of(tmp_path / "out").items() if name != "index.json"}

    return run


# --- runtime side ----------------------------------------------------------------------------------------------------


def named_lines(content: bytes) -> Dict[Tuple[str, ...], List[bytes]]:
    """(operator, graph, result, group, tag, case) → the lines that name it, found without the parsers."""
    found: Dict[Tuple[str, ...], List[bytes]] = defaultdict(list)
    for line in content.split(b"\n"):
        text = line.decode("utf-8", "replace")
        operator = re.search(r"\w:\[(\w+)\]", text)
        for pattern in NAMES_A_TEMPLATE:
            match = pattern.search(text)
            if match and operator:
                found[(operator.group(1), *match.group("g", "r", "s", "tag", "case"))].append(line)
                break
    return found


def rich_call(operator: str, number: int) -> Call:
    groups = (
        Group(0, (candidate(1, q=str(number)), candidate(1, "R", AIV_VEC="2.5"), candidate(10)), 1, shape(s0=number)),
        Group(10, (candidate(2),), 0, shape(A_org_size=number)),
    )
    return Call(operator, (Graph(0, tuple(Result(r, groups, f"{r}.5") for r in (0, 10)), 0),))


def test_every_line_that_names_a_template_byte_for_byte(split: Callable[..., Dict[str, bytes]]) -> None:
    content = log(rich_call("Add", 1), rich_call("Mul", 2), rich_call("Add1", 3))
    files = split(content)
    wanted = {
        f"{op}/runtime/graph{g}_result{r}/g{s}/case{tag}{case}.log": b"".join(line + b"\n" for line in lines)
        for (op, g, r, s, tag, case), lines in named_lines(content).items()
    }
    assert len(wanted) == 3 * 2 * 4
    assert files == wanted


def test_calls_of_many_thousand_lines(split: Callable[..., Dict[str, bytes]]) -> None:
    """They are written before they are complete: nothing is lost, and a call still begins but once."""
    line = "[INFO] GE(7,x):2026-08-01-10:42:25.178.318 [a.cpp:1]9 F:[Add]{}\n"
    texts = []
    for number in (1, 2):
        texts += [
            "Start GetTiling.",
            f"Set input params for tiling case 1 of AscGraph0ScheduleResult0G0.  s0 = {number}.",
        ]
        frame = FinalTiling(0, 0, 0, 1, 5, representation="x" * 900)
        begin, *rest = final_lines(frame, "Add", Producer())
        texts.append(begin)
        texts += [f"[PROF]The value of q is {n} in graph0_result0_g0_{n % 2 + 1}." for n in range(10_000)]
        texts += [*rest, "End GetTiling."]
    content = "".join(line.format(text) for text in texts).encode()
    files = split(content)
    for case in (1, 2):
        data = files[f"Add/runtime/graph0_result0/g0/case{case}.log"]
        wanted = named_lines(content)[("Add", "0", "0", "0", "", str(case))]
        if case == 1:
            own = set(wanted)
            wanted = [one for one in content.split(b"\n")[:-1] if one in own or b"[ATT]" in one]
        written = data.split(b"\n")[:-1]
        assert [one for one in written if not one.startswith(b"#")] == wanted
        assert [one for one in written if one.startswith(b"#")] == [b"# invocation 2  s0=2"]


def test_line_ends_and_odd_bytes_stay(split: Callable[..., Dict[str, bytes]]) -> None:
    line = b"[Add] [PROF]The value of %s is 1 in graph0_result0_g0_1."
    content = b"\r\n".join(
        [line % b"a", b"\x1b[31m" + line % b"b" + b"\x1b[0m", line % b"\xff\xfe", line % b"d" + b"  "]
    )
    files = split(content)
    assert files == {"Add/runtime/graph0_result0/g0/case1.log": content + b"\n"}


def test_a_further_call_follows_a_separator_line(split: Callable[..., Dict[str, bytes]]) -> None:
    calls = [call("Add", candidate(case), shape=shape(s2=number, s3=9)) for number, case in enumerate((1, 2, 1, 1), 1)]
    files = split(log(*calls))
    lines = files["Add/runtime/graph0_result0/g0/case1.log"].split(b"\n")
    assert [line for line in lines if line.startswith(b"#")] == [
        b"# invocation 3  s2=3 s3=9",
        b"# invocation 4  s2=4 s3=9",
    ]
    assert not lines[0].startswith(b"#")
    assert files["Add/runtime/graph0_result0/g0/case2.log"].count(b"#") == 0


def test_a_static_operator_has_a_separator_without_a_shape(split: Callable[..., Dict[str, bytes]]) -> None:
    files = split(log(call("Add", candidate(1), shape=()), call("Add", candidate(1), shape=())))
    assert b"\n# invocation 2\n" in files["Add/runtime/graph0_result0/g0/case1.log"]


def test_final_records_go_with_their_template(split: Callable[..., Dict[str, bytes]]) -> None:
    """BEGIN names it, chunks and END go with their id; a summary names groups, no template."""
    long = FinalTiling(0, 0, 0, 2, 5, "R", representation="x" * 900)
    content = log(call("Add", candidate(2, "R"), candidate(2), finals=[FinalTiling(0, 0, 0, 2, 6), long]))
    files = split(content)
    tagged = files["Add/runtime/graph0_result0/g0/caseR2.log"].split(b"\n")
    assert [line.split(b"]")[4] for line in tagged if b"[ATT]" in line] == [
        b"[FINAL_TILING_BEGIN",
        *[b"[FINAL_TILING_CHUNK"] * 3,
        b"[FINAL_TILING_END",
    ]
    assert files["Add/runtime/graph0_result0/g0/case2.log"].count(b"[FINAL_TILING]") == 1
    assert sum(data.count(b"[ATT]") for data in files.values()) == content.count(b"[ATT]")


@pytest.mark.parametrize("tag", ["../x", "a/b", "..", "é", "R" * 40, "0"])
def test_a_tag_that_is_no_tag_makes_no_file(tag: str, split: Callable[..., Dict[str, bytes]]) -> None:
    files = split(log(call("Add", candidate(1), finals=[FinalTiling(0, 0, 0, 2, 5, tag)])))
    assert list(files) == ["Add/runtime/graph0_result0/g0/case1.log"]


@examples(25)
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 3))
def test_threads_and_rotated_files(autofuse_cli_once: Cli, tmp: Path, seed: int, threads: int, parts: int) -> None:
    """Interleaved threads, rotated files: no line is lost, doubled, or given to another operator or template."""
    made = [
        Thread(tid, tuple(rich_call(("Add", "Mul")[(tid + turn) % 2], turn) for turn in range(3)))
        for tid in range(threads)
    ]
    folder = tmp / f"{seed}-{threads}-{parts}"
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    content = b""
    for file in write(Run((Process(9, tuple(made)),)), Layout(seed=seed, parts=parts)):
        (folder / "logs" / file.name).write_bytes(file.data)
        content += file.data
    assert autofuse_cli_once("run", "split-slog", folder / "logs", "-o", folder / "out").exit_code == 0
    assert_index_is_true(folder / "out")
    for (op, g, r, s, tag, case), lines in named_lines(content).items():
        data = (folder / "out" / f"{op}/runtime/graph{g}_result{r}/g{s}/case{tag}{case}.log").read_bytes()
        written = data.split(b"\n")[:-1]
        assert sorted(line for line in written if not line.startswith(b"# ")) == sorted(lines)
        for own in _by_thread(written).values():
            assert own == [line for line in lines if line in own]  # in the order of the log


def _by_thread(lines: List[bytes]) -> Dict[bytes, List[bytes]]:
    found: Dict[bytes, List[bytes]] = defaultdict(list)
    for line in lines:
        if not line.startswith(b"# "):
            found[line.split(b"]")[2].split(b" ")[0]].append(line)
    return found


@pytest.fixture(scope="module")
def tmp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for a property test."""
    return tmp_path_factory.mktemp("split")


@pytest.fixture(scope="module")
def autofuse_cli_once() -> Cli:
    """The command line for a property test."""
    from autofuse.inprocess import run_cli

    return run_cli


# --- names -----------------------------------------------------------------------------------------------------------

HOSTILE = (
    "../..",
    "..",
    ".",
    "/etc/passwd",
    "a/b",
    "a.b",
    "a b",
    "a_b",
    "a:b",
    "a" * 300,
    "a" * 100,
    "a" * 101,
    "-rf",
    "~",
    "$HOME",
    "`id`",
    "a\\b",
    "a\tb",
    "con",
    "NUL",
    "_unattributed",
    "index.json",
    "index",
    "pending",
    "算子",
    "算子2",
    "💥",
    "x]y",
    "_",
    "%s",
    "\x01",
)


def test_names_of_operators_are_made_safe_and_never_collide(split: Callable[..., Any], tmp_path: Path) -> None:
    files = split(log(*(call(name, candidate(1)) for name in HOSTILE)))
    entries = index_of(tmp_path / "out")
    assert sorted(entry["operator"] for entry in entries) == sorted(HOSTILE)
    folders = {entry["operator"]: entry["path"].split("/")[0] for entry in entries}
    assert len(set(folders.values())) == len(HOSTILE)
    for operator, folder in folders.items():
        assert re.fullmatch(r"[0-9A-Za-z_]{1,100}(-[0-9a-f]{8})?|name-[0-9a-f]{8}", folder), operator
        assert f"[{operator}]".encode() in files[f"{folder}/runtime/graph0_result0/g0/case1.log"].split(b"\n")[0]
    assert folders["con"] == "con"
    assert folders["a_b"] == "a_b"
    assert folders["_unattributed"] != "_unattributed"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.log", "out"]


# --- selection -------------------------------------------------------------------------------------------------------


def test_op_and_case(split: Callable[..., Dict[str, bytes]]) -> None:
    content = log(rich_call("Add", 1), rich_call("Add1", 2), rich_call("Mul", 3))

    def chosen(*options: str) -> List[str]:
        return sorted(split(content, *options))

    assert {name.split("/")[0] for name in chosen("--op", "Add")} == {"Add"}
    assert {name.split("/")[0] for name in chosen("--op", "Add*", "--op", "Mul")} == {"Add", "Add1", "Mul"}
    assert {name.split("/")[-1] for name in chosen("--case", "c=R1")} == {"caseR1.log"}
    assert {name.split("/")[-1] for name in chosen("--case", "c=1,2")} == {"case1.log", "case2.log"}
    assert chosen("--op", "Mul", "--case", "r=10,g=0,c=10") == ["Mul/runtime/graph0_result10/g0/case10.log"]
    assert chosen("--op", "Mul", "--case", "result=10,group=10") == ["Mul/runtime/graph0_result10/g10/case2.log"]


def test_an_operator_that_is_not_there(autofuse_cli: Cli, tmp_path: Path) -> None:
    source = save(tmp_path / "a.log", call("Add"), call("Mul"))
    result = autofuse_cli("run", "split-slog", source, "-o", tmp_path / "out", "--op", "Sub*")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no operator matches Sub*; there are: Add, Mul" in result.stderr
    assert list((tmp_path / "out").iterdir()) == []
    nothing = autofuse_cli("run", "split-slog", source, "-o", tmp_path / "out", "--case", "c=99")
    assert nothing.exit_code == 1
    assert "no line passes --case" in nothing.stderr


@pytest.mark.parametrize("case", ["x=1", "1", "r=", "r=a", "c=1R", "c=-1", "g=1.5", "r==1", "", ",", "r=1,,g=2"])
def test_a_filter_that_cannot_be_read(case: str, autofuse_cli: Cli, tmp_path: Path) -> None:
    source = save(tmp_path / "a.log", call("Add"))
    for command in (("split-slog", "-o", tmp_path / "out"), ("summary",)):
        result = autofuse_cli("run", command[0], source, *command[1:], "--case", case)
        assert result.exit_code == 2
        assert "r=0,1,g=2,c=R3" in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_log_without_tiling_messages(autofuse_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("hello\n")
    result = autofuse_cli("run", "split-slog", tmp_path / "a.log", "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "nothing to split in 1 lines of 1 files" in result.stderr


def test_the_folder_is_output_split_by_default(
    autofuse_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path / "a.log", call("Add", candidate(1)))
    monkeypatch.chdir(tmp_path)
    assert autofuse_cli("run", "split-slog", "a.log").exit_code == 0
    assert set(files_of(tmp_path / "output" / "split")) == {"index.json", "Add/runtime/graph0_result0/g0/case1.log"}


# --- the folder ------------------------------------------------------------------------------------------------------


def test_a_further_run_replaces_what_the_first_one_wrote(autofuse_cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = save(tmp_path / "a.log", call("Add", candidate(1), candidate(2)), call("Old", candidate(3)))
    assert autofuse_cli("run", "split-slog", first, "-o", out).exit_code == 0
    (out / "Add" / "mine.txt").write_text("keep")
    (out / "Old" / "runtime" / "extra.log").write_text("keep")
    second = save(tmp_path / "b.log", call("Add", candidate(2)))
    for _ in range(2):
        assert autofuse_cli("run", "split-slog", second, "-o", out).exit_code == 0
        assert set(files_of(out)) == {
            "index.json",
            "Add/mine.txt",
            "Add/runtime/graph0_result0/g0/case2.log",
            "Old/runtime/extra.log",
        }
    assert not (out / "Old" / "runtime" / "graph0_result0").exists()
    assert len(index_of(out)) == 1


@pytest.mark.parametrize("output", [".", "output/split/"])
def test_the_output_of_an_earlier_run_is_no_input(
    output: str, autofuse_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`split-slog .`, twice: the files of the first run hold the very same lines."""
    save(tmp_path / "a.log", call("Add", candidate(1)))
    monkeypatch.chdir(tmp_path)
    leftover = Path(output, ".split.abcdef", "pending")
    leftover.mkdir(parents=True)
    (leftover / "0.log").write_bytes(log(call("Ghost")))
    found = []
    for _ in range(2):
        assert autofuse_cli("run", "split-slog", ".", "-o", output).exit_code == 0
        found.append((index_of(Path(output)), files_of(Path(output))))
    assert found[0] == found[1]
    assert [entry["operator"] for entry in found[0][0]] == ["Add"]


@pytest.mark.parametrize("broken", [b"", b"[]", b"{", b'{"files": 5}', b'{"files": [{}]}', b"[" * 99999, bytes(99)])
def test_an_earlier_index_that_is_broken(broken: bytes, autofuse_cli: Cli, tmp_path: Path) -> None:
    source = save(tmp_path / "a.log", call("Add", candidate(1)))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "index.json").write_bytes(broken)
    assert autofuse_cli("run", "split-slog", source, "-o", tmp_path / "out").exit_code == 0
    assert_index_is_true(tmp_path / "out")


def test_an_earlier_index_that_lies(autofuse_cli: Cli, tmp_path: Path) -> None:
    """It may name anything; only logs inside the folder are ever removed."""
    source = save(tmp_path / "a.log", call("Add", candidate(1)))
    out, outside = tmp_path / "out", tmp_path / "outside"
    for folder in (out, outside):
        folder.mkdir()
        (folder / "precious.log").write_text("x")
    (out / "notes.txt").write_text("x")
    (out / "link").symlink_to(outside)
    lies = [
        "../outside/precious.log",
        str(outside / "precious.log"),
        "link/precious.log",
        "notes.txt",
        "",
        "./../a.log",
        5,
    ]
    (out / "index.json").write_text(json.dumps({"files": [{"path": lie} for lie in lies]}))
    assert autofuse_cli("run", "split-slog", source, "-o", out).exit_code == 0
    assert (outside / "precious.log").exists()
    assert (out / "notes.txt").exists()
    assert (out / "link").is_symlink()
    assert source.exists()


def test_what_is_in_the_way_stops_it_before_anything_is_touched(autofuse_cli: Cli, tmp_path: Path) -> None:
    source = save(tmp_path / "a.log", call("Add", candidate(1)), call("Mul", candidate(2)))
    outside = tmp_path / "outside"
    outside.mkdir()
    out = tmp_path / "out"

    def file_for_folder() -> None:
        (out / "Mul").write_text("mine")

    def folder_for_file() -> None:
        (out / "Mul" / "runtime" / "graph0_result0" / "g0" / "case2.log").mkdir(parents=True)

    def folder_for_index() -> None:
        (out / "index.json").unlink()
        (out / "index.json").mkdir()

    def link() -> None:
        (out / "Mul").symlink_to(outside)

    for block in (file_for_folder, folder_for_file, link, folder_for_index):
        subprocess.run(["rm", "-rf", str(out)], check=True)
        earlier = save(tmp_path / "b.log", call("Add", candidate(9)))
        assert autofuse_cli("run", "split-slog", earlier, "-o", out).exit_code == 0
        block()
        before = files_of(out)
        result = autofuse_cli("run", "split-slog", source, "-o", out)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1), block
        assert files_of(out) == before
        assert not list(out.glob(".split.*"))
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("output", ["-", "a.log", "a.log/below"])
def test_what_is_no_folder(output: str, autofuse_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path / "a.log", call("Add"))
    monkeypatch.chdir(tmp_path)
    result = autofuse_cli("run", "split-slog", "a.log", "-o", output)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["a.log"]


# --- limits ----------------------------------------------------------------------------------------------------------


def run_limited(limits: str, arguments: List[str]) -> subprocess.CompletedProcess[bytes]:
    code = (
        f"import resource as r; {limits}; import sys; from autofuse.cli.main import main; sys.exit(main({arguments!r}))"
    )
    return subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, check=False, timeout=60)


def test_at_most_128_files_are_open_at_once(tmp_path: Path) -> None:
    """600 templates whose lines interleave, runtime and compiler side."""
    names = [f"graph0_result{r}_g{g}_{c}" for r in range(10) for g in range(6) for c in range(10)]
    line = "[Add] [PROF]The value of q is {} in {}.\n"
    block = "[DFX]Begin to generate model info for graph G{0} of tiling case id 1\nx\n"
    content = "".join(line.format(turn, name) for turn in range(3) for name in names)
    content += "".join(block.format(number) for number in range(300))
    (tmp_path / "a.log").write_text(content)
    arguments = ["run", "split-slog", str(tmp_path / "a.log"), "-o", str(tmp_path / "out")]
    ended = run_limited("r.setrlimit(r.RLIMIT_NOFILE, (128, 128))", arguments)
    assert ended.returncode == 0, ended.stderr
    entries = assert_index_is_true(tmp_path / "out")
    assert sum(entry["side"] == "runtime" for entry in entries) == 600
    assert {entry["lines"] for entry in entries if entry["side"] == "runtime"} == {3}
    assert sum(entry["lines"] for entry in entries if entry["side"] == "compiler") == 600


def test_a_full_disk_leaves_the_earlier_files(autofuse_cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert autofuse_cli("run", "split-slog", save(tmp_path / "a.log", call("Add")), "-o", out).exit_code == 0
    before = files_of(out)
    many = save(tmp_path / "b.log", *(call("Add", shape=shape(s0=number)) for number in range(100)))
    for limit in (0, 2000, 30_000):
        arguments = ["run", "split-slog", str(many), "-o", str(out)]
        ended = run_limited(f"r.setrlimit(r.RLIMIT_FSIZE, ({limit}, {limit}))", arguments)
        assert (ended.returncode, ended.stderr.count(b"\n")) == (2, 1), ended.stderr
        assert files_of(out) == before
        assert not list(out.glob(".split.*"))


def test_interrupted(autofuse_cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert autofuse_cli("run", "split-slog", save(tmp_path / "a.log", call("Add")), "-o", out).exit_code == 0
    before = files_of(out)
    arguments = [sys.executable, "-m", "autofuse", "run", "split-slog", "-", "-o", str(out)]
    process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(log(call("Add", candidate(1), candidate(2))) * 5000)
    process.stdin.flush()
    waiting = array("i", [1])
    while waiting[0]:
        time.sleep(0.02)
        ioctl(process.stdin, termios.FIONREAD, waiting)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert files_of(out) == before
    assert os.listdir(out) == ["Add", "index.json"] or os.listdir(out) == ["index.json", "Add"]
