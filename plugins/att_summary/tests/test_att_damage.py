"""Damaged logs: what is left is read, and no number is ever read as another one or given to another template."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Dict, Iterator, List, Optional, Sequence, Set, Tuple

import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from logreading import invocations, read_calls
from logwriter.damage import cut_file, lose, mutate
from logwriter.expected import CallView, expected
from logwriter.files import Layout, Line, LogFile, write
from logwriter.model import Run
from logwriter.samples import call, candidate, group, result, run_of, tricky_run
from logwriter.strategies import bare_layouts, bare_runs, layouts, runs
from logwriter.wrap import Bare, Wrapping

PLOG = Layout()
BARE = Layout(Wrapping(Bare("[{operator}] {text}")), together=True)


@pytest.mark.parametrize("layout", [PLOG, BARE], ids=["plog", "bare"])
def test_log_cut_at_any_byte(layout: Layout) -> None:
    """A file that ends in the middle of a line: its last line gives its number only where nothing can be missing."""
    (file,) = write(tricky_run(), layout)
    printed = prints([file])
    whole = {(view.path, view.line): view for view in read_calls([file])}
    for size in cuts(file):
        for view in read_calls([cut_file(file, size)]):
            # A Start at the very end may be the second graph's; it is counted as a call of which nothing is known.
            if view.groups or (view.path, view.line) in whole:
                assert_part(view, whole[view.path, view.line], printed)


@pytest.mark.parametrize("length", range(760, 900, 3))
def test_lines_cut_by_the_line_limit(length: int) -> None:
    """Long names push the numbers and ids over the limit of 1023 bytes, at every place."""
    operator = "A" * length
    results = [result(0, [group(0, [candidate(1, seed=12), candidate(10, seed=123), candidate(1, "R", seed=1234)])])]
    files = write(run_of(call(operator, [*results, result(10, results[0].groups)])))
    assert max(len(line.data) for file in files for line in file.lines) == 1022
    whole = expected(run_of(call(operator, [*results, result(10, results[0].groups)])), files)
    for view in read_calls(files):
        assert_part(view, whole[0], prints(files))


@examples(40)
@given(runs(), layouts(), st.integers(0, 2**32))
def test_lost_values_are_missing_and_nothing_else_changes(run: Run, layout: Layout, seed: int) -> None:
    chance = random.Random(seed)
    files = write(run, layout)
    damaged = lose(files, lambda line: is_value(line) and chance.random() < 0.3)
    printed = prints(damaged)
    for view, whole in zip(read_calls(damaged), expected(run, files)):
        assert (view.choices, view.results, view.performances) == (whole.choices, whole.results, whole.performances)
        assert (view.operator, view.shape, view.ordinal, view.incomplete) == (
            *(whole.operator, whole.shape, whole.ordinal, whole.incomplete),
        )
        for key, template in view.templates.items():
            assert set(template.values) == {name for name in whole.templates[key].values if name in template.lines}
        assert_values(view, printed)


@examples(40)
@given(runs(), layouts(), st.integers(0, 2**32), st.floats(0.01, 0.6))
def test_any_lines_lost(run: Run, layout: Layout, seed: int, share: float) -> None:
    """Calls may melt together when their Start is lost, but operators, threads and processes never do."""
    chance = random.Random(seed)
    files = lose(write(run, layout), lambda line: chance.random() < share)
    printed = prints(files)
    for view in read_calls(files):
        assert_values(view, printed)


@examples(40)
@given(st.one_of(st.tuples(runs(), layouts()), st.tuples(bare_runs(), bare_layouts())), st.integers(0, 2**32))
def test_broken_lines_never_stop_the_reading(written: Tuple[Run, Layout], seed: int) -> None:
    chance = random.Random(seed)
    files = [broken(file, chance) for file in write(*written)]
    for records in (False, True):
        found, streams = invocations(files, records=records)
        assert sum(stream.lines for stream in streams) == sum(line_count(file.data) for file in files)
        assert all(invocation.ordinal >= 1 for invocation in found)


def line_count(data: bytes) -> int:
    data = data[3:] if data.startswith(b"\xef\xbb\xbf") else data
    return data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))


def cuts(file: LogFile) -> Iterator[int]:
    """Every place near the end of a line, where its numbers and ids are, and some before."""
    begin = 0
    for line in file.lines:
        end = begin + len(line.data)
        message = max(begin, end - 30)
        yield from range(begin, message, 41)
        yield from range(message, end + 1)
        begin = end + 1


Printed = Dict[Tuple[object, ...], Set[str]]


def prints(files: Sequence[LogFile]) -> Printed:
    """(operator, template, name) and the thread → every value that the lines of the files print for it."""
    found: Printed = {}
    for file in files:
        for line in file.lines:
            entry = line.entry
            if entry is not None and entry.kind == "value":
                value = entry.text.split(" is ")[1].split(" in ")[0]
                thread = (entry.origin.pid, entry.origin.tid)
                for who in (thread, (None, None)):
                    found.setdefault((entry.operator, *who, entry.template, entry.name), set()).add(value)
    return found


def assert_values(view: CallView, printed: Printed) -> None:
    """Every value was printed for this template, by this operator, in this thread."""
    for key, template in view.templates.items():
        for name, value in template.values.items():
            assert value in printed[view.operator, view.pid, view.tid, key, name]
        if template.objective is not None:
            assert template.objective in printed[view.operator, view.pid, view.tid, key, ""]


def assert_part(view: CallView, whole: CallView, printed: Printed) -> None:
    """The call holds nothing that the whole log does not say about it."""
    assert (view.operator, view.pid, view.tid) == (whole.operator, whole.pid, whole.tid)
    assert_values(view, printed)
    assert view.groups <= whole.groups
    assert view.templates.keys() <= whole.templates.keys()
    assert {template.score for template in view.templates.values()} <= {None, *scores(whole)}
    for part, full in (
        (view.choices, whole.choices),
        (view.results, whole.results),
        (view.performances, whole.performances),
        (view.shape, whole.shape),
        (view.hardware, whole.hardware),
    ):
        assert part.items() <= full.items()


def scores(view: CallView) -> List[Optional[int]]:
    return [template.score for template in view.templates.values()]


def is_value(line: Line) -> bool:
    return line.entry is not None and line.entry.kind == "value"


def broken(file: LogFile, chance: random.Random) -> LogFile:
    others = [line.data for line in file.lines]
    lines = (
        Line(mutate(line.data, chance.choice(others), chance)) if chance.random() < 0.4 else line for line in file.lines
    )
    return replace(file, lines=tuple(lines))
