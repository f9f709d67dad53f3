"""The compiled parser and its Python twin give the same columns for any bytes: real lines, broken lines, noise."""

from __future__ import annotations

import random
from typing import List

import pytest
from autofuse.scan.scanner import compile_markers
from autofuse_att_summary.columns import native_available, parse_matches
from effort import examples
from hypothesis import example, given
from hypothesis import strategies as st
from logreading import MARKERS, read_calls
from logwriter.damage import mutate
from logwriter.files import Layout, write
from logwriter.model import Run
from logwriter.strategies import bare_layouts, bare_runs, layouts, runs

pytestmark = pytest.mark.skipif(not native_available(), reason="the compiled parser is not built")

_PIECES = (
    *(b"[INFO]", b"[ERROR]", b"[WARN]", b"[EVENT]", b" GE(", b"7,python3", b"):", b"2026-08-01-10:42:25.178.318 "),
    *(b"[a.cpp:12]", b"[asc_graph1_x.cpp:3]", b"[status:INIT]", b"77", b" GetTiling:", b" ErrorNo: 4294967295()"),
    *(
        b"[Add]",
        b"[a]b]",
        b"[]",
        b"[rank8]",
        b"[17:55:54]",
        b"[PROF]",
        b"[ATT]",
        b"[FINAL_TILING] a=1",
        b"[PERF]",
        b"[DFX]",
    ),
    *(b"The value of ", b"q0_size", b" is ", b"12", b"-nan", b"+1.5e-3", b".", b" in ", b"graph0_result1_g2", b"_R3"),
    *(b"The objective value of the tiling data is ", b"Among the templates, tiling case ", b" is the best choice."),
    *(b"Among all schedule results, ", b"graph0_result1", b"tiling case0 of asc_graph0_schedule_result1_g0 score is 3"),
    *(b"Start GetTiling.", b"End GetTiling.", b"GetTiling Failed.", b"Start tiling for sched group ", b"of "),
    *(b"AscGraph0ScheduleResult1G2", b"End tiling for sched group.", b"Set input params for tiling case 4 of "),
    *(b"  s0 = 12. s1 = 3.", b"Set hardware params. ub_size = 1. block_dim = 2.", b"input: core_num: 48, ub_size: 1"),
    *(
        b"The score_map[0] has been processed, tiling case R4 of graph0_result1_g2",
        b"Update best perf to 1",
        b"\x1b[31m",
    ),
    *(
        b"Set ub_size for tiling case 4 of AscGraph0ScheduleResult1G2",
        b"\x1b]0;t\x07",
        b"\x1b",
        b"\0",
        b" ",
        b"\t",
        b"\xe7",
    ),
)
_lines = st.lists(st.one_of(st.sampled_from(_PIECES), st.binary(max_size=6)), max_size=14).map(b"".join)


@examples(400)
@given(st.lists(_lines, max_size=5), st.booleans(), st.booleans())
@example([b"[INFO] GE(1,a):t [f.cpp:1]2 F:[a]b][PROF]The value of x is 1 in graph0_result0_g0_0."], True, False)
@example([b"[" * 500 + b"]" * 500 + b"[PROF]"], True, True)
@example([b"[INFO]" * 300 + b"[PROF]The value of graph"], True, True)
def test_composed_lines(lines: List[bytes], merge: bool, mentions: bool) -> None:
    same_columns(lines, merge, mentions)


@examples(60)
@given(st.binary(max_size=300), st.booleans())
def test_arbitrary_bytes(data: bytes, merge: bool) -> None:
    same_columns(data.split(b"\n"), merge, True)


@examples(60)
@given(runs(), layouts(), st.integers(0, 2**32), st.booleans(), st.booleans())
def test_broken_plog_lines(run: Run, layout: Layout, seed: int, merge: bool, mentions: bool) -> None:
    same_columns(broken(run, layout, seed), merge, mentions)


@examples(30)
@given(bare_runs(), bare_layouts(), st.integers(0, 2**32), st.booleans())
def test_broken_bare_lines(run: Run, layout: Layout, seed: int, merge: bool) -> None:
    same_columns(broken(run, layout, seed), merge, True)


@examples(20)
@given(runs(), layouts())
def test_whole_logs(run: Run, layout: Layout) -> None:
    files = write(run, layout)
    assert read_calls(files, native=False) == read_calls(files)


def broken(run: Run, layout: Layout, seed: int) -> List[bytes]:
    """Some lines of the run's log, two thirds of them damaged."""
    chance = random.Random(seed)
    whole = [line.data for file in write(run, layout) for line in file.lines if line.data]
    chosen = chance.sample(whole, k=min(len(whole), 60))
    return [mutate(line, chance.choice(whole), chance) if chance.random() < 0.67 else line for line in chosen]


def same_columns(lines: List[bytes], merge: bool, mentions: bool) -> None:
    """Both give the same for the lines, whichever of them the scanner would give out."""
    block = b"\n".join(lines) + b"\n"
    everything = compile_markers([b"["]).scan(block, 0, len(block), 1)
    matched = compile_markers(MARKERS).scan(block, 0, len(block), 1)
    for matches in (everything, matched):
        native = parse_matches(block, matches, merge, len(lines), mentions, native=True)
        twin = parse_matches(block, matches, merge, len(lines), mentions, native=False)
        assert native.events == twin.events
        assert native[1:3] == twin[1:3]
        assert native.value_lines.tolist() == twin.value_lines.tolist()
        assert native.value_spans.tolist() == twin.value_spans.tolist()
        assert native[4:7] == twin[4:7]
