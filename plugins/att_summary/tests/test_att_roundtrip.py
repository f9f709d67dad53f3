"""What the log writer writes is what the parsers read: parse(write(model)) == model, however the log came about."""

from __future__ import annotations

from dataclasses import replace
from typing import List

from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from logreading import read_calls
from logwriter.expected import CallView, expected
from logwriter.files import Layout, write
from logwriter.model import Run
from logwriter.strategies import bare_layouts, bare_runs, layouts, runs

block_sizes = st.sampled_from([1, 7, 64, 1000, 1 << 16])


@examples(60)
@given(runs(), layouts(), block_sizes, st.booleans())
def test_plog_lines(run: Run, layout: Layout, block_size: int, together: bool) -> None:
    files = write(run, replace(layout, together=together))
    assert_same(read_calls(files, block_size=block_size), expected(run, files))


@examples(60)
@given(bare_runs(), bare_layouts(), block_sizes)
def test_bare_lines(run: Run, layout: Layout, block_size: int) -> None:
    files = write(run, replace(layout, together=True))
    assert_same(read_calls(files, block_size=block_size), expected(run, files, tells_process=False))


def assert_same(found: List[CallView], wanted: List[CallView]) -> None:
    assert [view.operator for view in found] == [view.operator for view in wanted]
    for one, other in zip(found, wanted):
        assert one == other
