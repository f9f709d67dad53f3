"""What the log writer writes is what the parsers read: parse(write(model)) == model, however the log came about."""

from __future__ import annotations

from dataclasses import replace
from typing import List, Sequence

from autofuse_att_summary.model import Invocation, selected_groups
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from logreading import invocations, read_calls, view_of
from logwriter.expected import CallView, RowView, expected, rows
from logwriter.files import Layout, LogFile, write
from logwriter.model import Run
from logwriter.strategies import bare_layouts, bare_runs, layouts, runs

block_sizes = st.sampled_from([97, 1000, 1 << 16])


@examples(80)
@given(runs(), layouts(), block_sizes, st.booleans())
def test_plog_lines(run: Run, layout: Layout, block_size: int, together: bool) -> None:
    """Any block size, interleaving, wrapping, rotation; a file per process or all in one."""
    files = write(run, replace(layout, together=together))
    assert_same(read_calls(files, block_size=block_size), expected(run, files))


@examples(50)
@given(bare_runs(), bare_layouts(), block_sizes)
def test_bare_lines(run: Run, layout: Layout, block_size: int) -> None:
    files = write(run, replace(layout, together=True))
    assert_same(read_calls(files, block_size=block_size), expected(run, files, tells_process=False))


@examples(25)
@given(runs(), layouts())
def test_typed_records_say_what_columns_say(run: Run, layout: Layout) -> None:
    """All but FINAL_TILING, whose lines the model decodes itself."""
    files = write(run, layout)
    wanted = [replace(view, finals=()) for view in expected(run, files)]
    assert_same(read_calls(files, records=True), wanted)


@examples(20)
@given(bare_runs(), bare_layouts())
def test_typed_records_of_bare_lines(run: Run, layout: Layout) -> None:
    files = write(run, replace(layout, together=True))
    wanted = [replace(view, finals=()) for view in expected(run, files, tells_process=False)]
    assert_same(read_calls(files, records=True), wanted)


@examples(30)
@given(runs(), layouts(), st.booleans())
def test_rows_and_their_status(run: Run, layout: Layout, everything: bool) -> None:
    """Every group of the chosen results, or every choice, with the codes of what the log does not say."""
    for call in read(write(run, layout)):
        shown = [
            RowView(
                row.graph,
                row.result,
                row.group,
                row.template.key[3] if row.template else None,
                row.template.key[4] if row.template else "",
                row.status,
                None if row.performance is None else str(row.performance),
            )
            for row in selected_groups(call, everything)
        ]
        assert shown == rows(view_of(call), everything)


@examples(30)
@given(runs(), layouts())
def test_no_other_operator_ever_appears(run: Run, layout: Layout) -> None:
    """Whatever stands around the messages and between them."""
    files = write(run, replace(layout, noise=1.0))
    written = {call.operator for process in run.processes for thread in process.threads for call in thread.calls}
    assert {call.operator for call in read(files)} == written


def read(files: Sequence[LogFile]) -> List[Invocation]:
    found, _ = invocations(files)
    return found


def assert_same(found: List[CallView], wanted: List[CallView]) -> None:
    assert [view.operator for view in found] == [view.operator for view in wanted]
    for one, other in zip(found, wanted):
        assert one == other
