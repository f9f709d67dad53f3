"""The compiler side of split-slog: which block is whose, blocks without an end, threads, continuation lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

import pytest
from attruns import call, candidate, log
from autofuse.inprocess import Outcome
from autofuse_att_summary.dfx import parse_dfx
from logwriter.files import Layout, write
from logwriter.model import Compilation, Process, Run, Thread

Cli = Callable[..., Outcome]
Split = Callable[..., List[Dict[str, Any]]]

GROUP_BEGIN = (
    "[DFX]Begin to gen model info for asc graph 0, schedule result 1, schedule group 2, "
    "tiling_case size 4, graph name {}."
)
GROUP_END = "[DFX]End to gen model info for graph0_result1_g2 tiling_case size 4, graph name {}."
BEGIN = "[DFX]Begin to generate model info for graph {} of tiling case id {}"
END = "[DFX]End to generate model info for graph {} of tiling case id {}"


def plog(text: str, tid: int = 12, pid: int = 77) -> bytes:
    return f"[INFO] GE({pid},python3):2026-08-01-10:42:25.178.318 [gen.cpp:12]{tid} Gen:{text}\n".encode()


def block(graph: str, case: object = 1, *content: bytes, tid: int = 12, pid: int = 77) -> bytes:
    """One block of a template inside its group."""
    texts = [GROUP_BEGIN.format(graph), BEGIN.format(graph, case)]
    ends = [END.format(graph, case), GROUP_END.format(graph)]
    lines = [plog(text, tid, pid) for text in texts], [plog(text, tid, pid) for text in ends]
    return b"".join([*lines[0], *content, *lines[1]])


@pytest.fixture
def split(autofuse_cli: Cli, tmp_path: Path) -> Split:
    """The compiler entries of the index, each with its lines."""

    def run(*files: bytes, options: Tuple[str, ...] = ()) -> List[Dict[str, Any]]:
        for number, content in enumerate(files):
            (tmp_path / "logs").mkdir(exist_ok=True)
            (tmp_path / "logs" / f"{number}.log").write_bytes(content)
        result = autofuse_cli("run", "split-slog", tmp_path / "logs", "-o", tmp_path / "out", *options)
        assert result.exit_code == 0, result.stderr
        entries = json.loads((tmp_path / "out" / "index.json").read_text())["files"]
        for entry in entries:
            entry["text"] = (tmp_path / "out" / entry["path"]).read_bytes()
            assert entry["lines"] == entry["text"].count(b"\n") - entry["text"].count(b"\n# invocation ")
        return [entry for entry in entries if entry["side"] == "compiler"]

    return run


def owners(entries: List[Dict[str, Any]]) -> Dict[int, Optional[str]]:
    return {entry["case"]: entry["operator"] for entry in entries}


# --- what a block is -------------------------------------------------------------------------------------------------


def test_from_begin_to_end_with_everything_between(split: Split) -> None:
    content = [plog("[DFX] other"), plog("[Other][PROF]x"), b"no header\n", b"\xff\xfe\r\n", b"\n"]
    text = block("Add", "3", *content)
    (entry,) = split(text + log(call("Add")))
    assert entry["path"] == "Add/compiler/graph0_result1/g2/case3.log"
    assert entry["text"] == b"".join(text.splitlines(keepends=True)[1:-1])
    assert {
        "operator": "Add",
        "graph": 0,
        "result": 1,
        "group": 2,
        "case": 3,
        "sub_case": "",
        "lines": 7,
        "first_line": 2,
        "last_line": 8,
        "complete": True,
    }.items() <= entry.items()


def test_sub_cases_have_files_of_their_own(split: Split) -> None:
    entries = split(block("Add", "2") + block("Add", "R2") + log(call("Add")))
    assert [entry["path"].split("/")[-1] for entry in entries] == ["case2.log", "caseR2.log"]


def test_blocks_outside_any_group(split: Split) -> None:
    text = plog(BEGIN.format("Add", 1)) + plog(END.format("Add", 1))
    (entry,) = split(text + log(call("Add")))
    assert (entry["path"], entry["graph"]) == ("Add/compiler/unknown_group/case1.log", None)


def test_several_cases_of_several_groups(split: Split) -> None:
    made = [Compilation("Add", (0, 1, 10), group=group, content=("x", "y")) for group in (0, 1, 10)]
    entries = split(log(call("Add"), compilations=made))
    assert [(entry["group"], entry["case"], entry["lines"]) for entry in entries] == sorted(
        (group, case, 4) for group in (0, 1, 10) for case in (0, 1, 10)
    )


# --- whose it is -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("graph", "operators", "owner"),
    [
        ("Add", ["Add", "Mul"], "Add"),
        ("Add.", ["Add"], "Add"),
        ("Add..", ["Add."], "Add."),
        ("AscBackend_Add_graph_0", ["Add", "Mul"], "Add"),
        ("graph-Add:0", ["Add"], "Add"),
        ("算子/Add.1", ["Add"], "Add"),
        ("Add1", ["Add"], None),
        ("XAdd", ["Add"], None),
        ("add", ["Add"], None),
        ("Add_Mul", ["Add", "Add_Mul", "Mul"], "Add_Mul"),
        ("x_Add_Mul_x", ["Add", "Add_Mul", "Mul"], "Add_Mul"),
        ("Add_Mul", ["Add", "Mul"], None),
        ("null", ["Add"], None),
        ("", ["Add"], None),
        ("x_a.b(c)*_x", ["a.b(c)*"], "a.b(c)*"),
        ("axb", ["a.b"], None),
    ],
)
def test_by_the_name_of_the_graph(graph: str, operators: List[str], owner: Optional[str], split: Split) -> None:
    """Equal, or the longest name that stands in it as whole words; two that are as long are none."""
    runtime = b"".join(log(call(operator), tid=99) for operator in operators)
    (entry,) = split(block(graph) + runtime)
    assert entry["operator"] == owner
    assert entry["path"].startswith(
        f"{owner}/compiler" if owner == "Add" else ("" if owner else "_unattributed/compiler")
    )


def test_else_by_the_messages_around_it_in_its_thread(split: Split) -> None:
    add, mul = log(call("Add")), log(call("Mul"))
    entries = split(add + block("g", 1) + add + block("g", 2) + mul + block("g", 3) + mul + block("g", 4))
    assert owners(entries) == {1: "Add", 2: None, 3: "Mul", 4: None}


def test_messages_of_other_threads_and_processes_surround_nothing(split: Split) -> None:
    add, mul = log(call("Add")), log(call("Mul"), tid=13)
    entries = split(
        add + mul + block("g", 1) + mul + add + block("g", 2, tid=13) + log(call("Sub"), pid=78) + add + mul
    )
    assert owners(entries) == {1: "Add", 2: "Mul"}


def test_several_blocks_between_two_messages(split: Split) -> None:
    add = log(call("Add"))
    entries = split(add + b"".join(block("g", case) for case in range(5)) + add)
    assert owners(entries) == dict.fromkeys(range(5), "Add")


def test_a_block_is_never_copied(split: Split, tmp_path: Path) -> None:
    marker = plog("only once")
    split(block("nobody", 1, marker) + b"".join(log(call(name)) for name in ("A", "B", "C")))
    found = [path for path in (tmp_path / "out").rglob("*.log") if b"only once" in path.read_bytes()]
    assert [path.relative_to(tmp_path / "out").parts[0] for path in found] == ["_unattributed"]


def test_an_operator_named_like_the_folder_of_the_unattributed(split: Split) -> None:
    entries = split(block("nobody", 1) + block("_unattributed", 2) + log(call("_unattributed"), tid=5))
    assert owners(entries) == {1: None, 2: "_unattributed"}
    assert len({entry["path"].split("/")[0] for entry in entries}) == 2


def test_many_operators_and_graphs(split: Split) -> None:
    """150 of each, names that begin alike: every block finds its own."""
    names = [f"autofuse_pointwise_{number}_Abs" for number in range(150)]
    line = b"[%s] [PROF]The value of q is 1 in graph0_result0_g0_1.\n"
    runtime = b"".join(line % name.encode() for name in names)
    entries = split(b"".join(block(f"x_{name}_graph") for name in names) + runtime)
    assert [entry["operator"] for entry in entries] == sorted(names)


def test_op_selects_the_blocks_of_an_operator(split: Split) -> None:
    content = block("Add") + block("Mul") + block("nobody") + log(call("Add"), call("Mul"))
    assert [entry["operator"] for entry in split(content, options=("--op", "Add"))] == ["Add"]
    assert [entry["operator"] for entry in split(content, options=("--op", "*"))] == ["Add", "Mul"]
    assert [entry["operator"] for entry in split(content)] == ["Add", "Mul", None]
    assert [entry["case"] for entry in split(content + block("Add", 5), options=("--case", "c=5"))] == [5]


def test_blocks_alone(split: Split) -> None:
    assert owners(split(block("Add"))) == {1: None}


# --- unfinished blocks -----------------------------------------------------------------------------------------------


def unfinished(graph: str, case: int) -> bytes:
    lines = block(graph, case, plog("inside")).splitlines(keepends=True)
    return b"".join(lines[:-2])


def test_a_block_without_an_end_is_kept_and_marked(split: Split) -> None:
    entries = split(unfinished("Add", 1) + block("Add", 2) + unfinished("Add", 3) + log(call("Add"), tid=5))
    assert [(entry["case"], entry["complete"], entry["lines"]) for entry in entries] == [
        (1, False, 2),
        (2, True, 2),
        (3, False, 2),
    ]


def test_the_end_of_a_group_ends_its_blocks(split: Split) -> None:
    content = unfinished("Add", 1) + plog(GROUP_END.format("Add")) + plog("outside") * 3
    (entry,) = split(content + log(call("Add"), tid=5))
    assert (entry["complete"], entry["lines"]) == (False, 2)


def test_an_end_that_names_another_block(split: Split) -> None:
    content = unfinished("Add", 1) + plog(END.format("Add", 2)) + plog("outside")
    (entry,) = split(content + log(call("Add"), tid=5))
    assert (entry["case"], entry["complete"], entry["lines"]) == (1, False, 3)


def test_an_end_without_a_begin(split: Split) -> None:
    content = plog(END.format("Add", 1)) + plog(GROUP_END.format("Add")) + block("Add", 2)
    (entry,) = split(content + log(call("Add"), tid=5))
    assert (entry["case"], entry["complete"]) == (2, True)


def test_a_log_cut_inside_a_block(split: Split) -> None:
    text = log(call("Add"), tid=5) + block("Add", 1, plog("inside"))
    (entry,) = split(text[: text.index(b"inside") + 3])
    assert (entry["complete"], entry["text"][-8:]) == (False, b"Gen:ins\n")


def test_a_template_compiled_twice_is_one_file(split: Split) -> None:
    (entry,) = split(block("Add", 1) + log(call("Add")) + block("Add", 1) + unfinished("Add", 1))
    assert (entry["lines"], entry["complete"]) == (6, False)


# --- threads and lines that go on ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_threads_compile_at_once(seed: int, split: Split) -> None:
    threads = tuple(
        Thread(tid, (call(f"Op{tid}"),), (Compilation(f"Op{tid}_graph", (0, 1, 2), content=(f"of {tid}",) * 4),))
        for tid in (1, 2, 3)
    )
    (file,) = write(Run((Process(7, threads),)), Layout(seed=seed))
    entries = split(file.data)
    assert [(entry["operator"], entry["case"]) for entry in entries] == [
        (f"Op{t}", c) for t in (1, 2, 3) for c in range(3)
    ]
    for entry in entries:
        tid = entry["operator"][2:].encode()
        assert entry["text"].count(b"of " + tid) == 4
        assert (entry["lines"], entry["complete"]) == (6, True)


def test_lines_without_a_header_go_on_with_their_thread(split: Split) -> None:
    one, other = block("A", 1, b"@\n").split(b"@\n"), block("B", 2, b"@\n", tid=13).split(b"@\n")
    text = one[0] + b"of A\n" + other[0] + b"of B\nof B too\n" + plog("x") + b"of A again\n" + other[1] + one[1]
    entries = split(text + log(call("A"), call("B"), tid=5))
    assert [entry["text"].count(b"of " + name) for entry, name in zip(entries, (b"A", b"B"))] == [2, 2]
    assert [entry["lines"] for entry in entries] == [5, 4]


@pytest.mark.parametrize("engine", ["auto", "stdlib"])
def test_lines_without_a_header_over_many_blocks_of_reading(
    engine: str, split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block of 10 MB that only its first and last line give to a thread; the reading takes 4 MB at a time."""
    monkeypatch.setenv("AUTOFUSE_ATT", engine)
    content = b"".join(b"expression %070d\n" % number for number in range(120_000))
    (entry,) = split(block("Add", 1, content) + log(call("Add"), tid=5))
    assert entry["lines"] == 120_002
    assert entry["text"].count(content) == 1


def test_a_line_of_many_megabytes(split: Split) -> None:
    content = b"x" * 9_000_000 + b"\n" + plog("after")
    (entry,) = split(block("Add", 1, content) + log(call("Add"), tid=5))
    assert entry["text"].count(content) == 1
    assert (entry["lines"], entry["last_line"]) == (4, 5)


def test_a_block_goes_on_in_the_next_rotated_file(autofuse_cli: Cli, tmp_path: Path) -> None:
    lines = (block("Add", 1, *(b"part %d\n" % number for number in range(6))) + log(call("Add"))).splitlines(
        keepends=True
    )
    for number, part in enumerate((lines[:4], lines[4:7], lines[7:])):
        name = f"plog-77_2026080109422517{number}.log"
        end = b"" if number == 1 else None
        data = b"".join(part) if end is None else b"".join(part)[:-1]
        (tmp_path / "logs").mkdir(exist_ok=True)
        (tmp_path / "logs" / name).write_bytes(data)
    assert autofuse_cli("run", "split-slog", tmp_path / "logs", "-o", tmp_path / "out").exit_code == 0
    (entry,) = [
        one for one in json.loads((tmp_path / "out" / "index.json").read_text())["files"] if one["side"] == "compiler"
    ]
    assert (tmp_path / "out" / entry["path"]).read_bytes() == b"".join(lines[1:9])
    assert (entry["lines"], entry["complete"]) == (8, True)
    assert (Path(entry["first_source"]).name[-5], Path(entry["last_source"]).name[-5]) == ("0", "2")


# --- the messages ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "begin", "name", "case", "ids"),
    [
        (GROUP_BEGIN.format("Add"), True, "Add", None, (0, 1, 2)),
        (GROUP_END.format("Add"), False, "Add", None, (0, 1, 2)),
        (GROUP_BEGIN.format("null"), True, "null", None, (0, 1, 2)),
        (GROUP_BEGIN.format("a b, graph name c."), True, "a b, graph name c.", None, (0, 1, 2)),
        (GROUP_END.format("..."), False, "...", None, (0, 1, 2)),
        (BEGIN.format("Add", 3), True, "Add", 3, (None, None, None)),
        (END.format("x of tiling case id 4", 3), False, "x of tiling case id 4", 3, (None, None, None)),
        (BEGIN.format("Add", "3.") + " \r", True, "Add", 3, (None, None, None)),
        ("\x1b[32m" + BEGIN.format("Add", 3) + "\x1b[0m", True, "Add", 3, (None, None, None)),
        (GROUP_BEGIN.format("Add").replace("group 2", "group -1"), True, "Add", None, (0, 1, -1)),
    ],
)
def test_messages(text: str, begin: bool, name: str, case: Optional[int], ids: Tuple[Optional[int], ...]) -> None:
    found = parse_dfx(b"[INFO] GE(1,x): " + text.encode())
    assert found is not None
    assert (found.begin, found.graph_name, found.case, (found.graph, found.result, found.group)) == (
        begin,
        name,
        case,
        ids,
    )


@pytest.mark.parametrize(
    "text",
    ["[DFX]", "[DFX] Begin to gen", BEGIN.format("Add", ""), BEGIN.format("Add", "x"), BEGIN.format("Add", "9" * 40)],
)
def test_other_messages_are_content(text: str) -> None:
    assert parse_dfx(text.encode()) is None


def test_the_calls_around_are_split_too(split: Split, tmp_path: Path) -> None:
    split(block("Add", 1) + log(call("Add", candidate(4))))
    assert (tmp_path / "out" / "Add" / "runtime" / "graph0_result0" / "g0" / "case4.log").exists()
