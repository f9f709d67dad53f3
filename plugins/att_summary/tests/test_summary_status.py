"""summary: every parse status, produced by logs that lack just what the status names."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, List

import pytest
from logwriter.damage import lose
from logwriter.files import Layout, Line, write
from logwriter.model import Call, Candidate, Graph, Group, Process, Producer, Result, Run, Thread
from logwriter.samples import call, candidate, group, result, run_of
from logwriter.wrap import Bare, Wrapping
from summaries import Row, summary_rows

Lost = Callable[[Line], bool]

BARE = Layout(Wrapping(Bare()), together=True)
NOTHING: Lost = lambda line: False  # noqa: E731


def rows_without(tmp_path: Path, run: Run, lost: Lost = NOTHING, layout: Layout = Layout()) -> List[Row]:  # noqa: B008
    """All rows of all calls in the log of the run without the lost lines."""
    for file in lose(write(run, layout), lost):
        (tmp_path / file.name).write_bytes(file.data)
    return summary_rows(tmp_path, "--invocations", "all")


def kind(*kinds: str) -> Lost:
    return lambda line: line.entry is not None and line.entry.kind in kinds


def statuses(rows: List[Row]) -> List[str]:
    return [row["Parse Status"] for row in rows]


def two_results(operator: str = "Add", **options: bool) -> Call:
    groups = [group(0, [candidate(0), candidate(1, seed=2)], s0="8"), group(1, [candidate(3, "R", seed=4)], A="2")]
    return call(operator, [result(0, groups), result(1, groups[:1])], **options)


def one_group(operator: str = "Add") -> Call:
    return call(operator, [result(0, [group(0, [candidate(0)], s0="8")])])


def failing(operator: str = "Add", single: bool = False, end: bool = True) -> Call:
    """No template fits, in any result."""
    unsolved = Group(0, (Candidate(0, "", None), Candidate(0, "R", None)), None, (("s0", "100"),))
    results = (Result(0, (unsolved,)),) if single else (Result(0, (unsolved,)), Result(1, (unsolved, unsolved)))
    return Call(operator, (Graph(0, results),), end=end)


def test_ok(tmp_path: Path) -> None:
    assert statuses(rows_without(tmp_path, run_of(two_results()))) == ["ok", "ok"]


def test_inferred_graph_result(tmp_path: Path) -> None:
    """One group and one result print no result lines: that is normal."""
    (row,) = rows_without(tmp_path, run_of(one_group()))
    assert row["Parse Status"] == "inferred_graph_result"
    assert (row["Graph"], row["Result"], row["Group"], row["Result Perf"]) == ("0", "0", "0", "")


def test_inferred_graph_result_when_the_choice_line_is_lost(tmp_path: Path) -> None:
    """Without the choice every result with a choice of its own may be the one."""
    rows = rows_without(tmp_path, run_of(two_results()), kind("result"))
    assert [(row["Result"], row["Group"]) for row in rows] == [("0", "0"), ("0", "1"), ("1", "0")]
    assert set(statuses(rows)) == {"inferred_graph_result"}
    assert [row["Result Perf"] for row in rows] == ["00.250000", "00.250000", "10.250000"]


def test_missing_group_case(tmp_path: Path) -> None:
    """The group is there, its choice is not; nothing of its candidates is shown as chosen."""
    rows = rows_without(
        tmp_path, run_of(two_results()), lambda line: kind("choice")(line) and b"result0_g1" in line.data
    )
    assert statuses(rows) == ["ok", "missing_group_case"]
    assert {rows[1][name] for name in ("Case", "q0_size", "AIV_MTE2", "Objective Value", "Bottleneck Pipe")} == {""}
    assert (rows[1]["Group"], rows[1]["Result Perf"]) == ("1", "00.250000")


def test_missing_result_performance(tmp_path: Path) -> None:
    rows = rows_without(tmp_path, run_of(two_results()), kind("performance"))
    assert statuses(rows) == ["missing_result_performance"] * 2
    assert {row["Result Perf"] for row in rows} == {""}


def test_missing_tiling_values(tmp_path: Path) -> None:
    rows = rows_without(tmp_path, run_of(two_results()), lambda line: kind("value")(line) and b"_g1_R3." in line.data)
    assert statuses(rows) == ["ok", "missing_tiling_values"]
    assert (rows[1]["Case"], rows[1]["Sub Case"], rows[1]["Objective Value"]) == ("3", "R", "")


def test_missing_graph_result_of_one_graph(tmp_path: Path) -> None:
    """Two graphs; of the second one neither a result choice nor a template line is left."""
    graphs = (*two_results().graphs, Graph(1, (result(2, [group(0, [candidate(5)])]),), 2))
    lost: Lost = lambda line: kind("choice", "result")(line) and b"graph1" in line.data  # noqa: E731
    rows = rows_without(tmp_path, run_of(Call("Add", graphs)), lost)
    assert [(row["Graph"], row["Result"], row["Parse Status"]) for row in rows] == [
        *(("0", "0", "ok"), ("0", "0", "ok")),
        ("1", "", "missing_graph_result"),
    ]


def test_missing_graph_result_of_a_log_of_values_only(tmp_path: Path) -> None:
    (row,) = rows_without(tmp_path, run_of(one_group()), lambda line: not kind("value")(line), BARE)
    assert (row["Parse Status"], row["Graph"], row["Case"]) == ("missing_graph_result", "", "")


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("level", ["ERROR", "WARNING"])
@pytest.mark.parametrize("end", [True, False])
def test_tiling_failed(tmp_path: Path, single: bool, level: str, end: bool) -> None:
    """The call keeps its row, with operator, invocation and shape; the calls around it are not touched."""
    run = run_of(one_group(), failing(single=single, end=end), one_group(), producer=Producer(failure_level=level))
    rows = rows_without(tmp_path, run)
    assert statuses(rows) == [
        "inferred_graph_result",
        "tiling_failed" if end else "tiling_failed;incomplete_invocation",
        "inferred_graph_result",
    ]
    assert [row["Invocation"] for row in rows] == ["1", "2", "3"]
    assert (rows[1]["Operator"], rows[1]["Input Shape"], rows[1]["Graph"], rows[1]["Case"]) == ("Add", "s0=100", "", "")


def test_a_failing_group_fails_that_group_only(tmp_path: Path) -> None:
    """`GetTiling Failed.` within a sched group: the call goes on and another result is chosen."""
    unsolved = Group(1, (Candidate(0, "", None),), None)
    results = [Result(0, (group(0, [candidate(0)]), unsolved)), result(1, [group(0, [candidate(2)])])]
    for level in ("WARNING", "ERROR"):
        run = run_of(Call("Add", (Graph(0, tuple(results), 1),)), producer=Producer(failure_level=level))
        rows = rows_without(tmp_path, run)
        assert [(row["Result"], row["Case"], row["Parse Status"]) for row in rows] == [("1", "2", "ok")]


def test_a_zero_size_shape_succeeds_with_nan(tmp_path: Path) -> None:
    groups = [group(0, [candidate(0)], s0="0")]
    rows = rows_without(tmp_path, run_of(call("Add", [result(0, groups, "-nan"), result(1, groups, "-nan")])))
    assert [(row["Parse Status"], row["Result Perf"]) for row in rows] == [("ok", "-nan")]


def test_incomplete_at_the_end_of_the_log(tmp_path: Path) -> None:
    """The log ends before the call does: behind the last value line of the second group."""
    (file,) = write(run_of(two_results()))
    last = max(number for number, line in enumerate(file.lines) if b"_g1_R3." in line.data)
    (tmp_path / "cut.log").write_bytes(b"\n".join(line.data for line in file.lines[: last + 1]) + b"\n")
    rows = summary_rows(tmp_path)
    assert [(row["Group"], row["Parse Status"]) for row in rows] == [
        ("0", "inferred_graph_result;incomplete_invocation")
    ]


def test_incomplete_when_the_next_call_starts(tmp_path: Path) -> None:
    rows = rows_without(tmp_path, run_of(two_results(end=False), two_results()))
    assert statuses(rows) == ["incomplete_invocation"] * 2 + ["ok"] * 2
    assert [row["Invocations"] for row in rows] == ["2"] * 4


def test_incomplete_with_nothing_chosen(tmp_path: Path) -> None:
    """Neither failed nor chosen: the log just ends."""
    (file,) = write(run_of(one_group()))
    (tmp_path / "cut.log").write_bytes(b"\n".join(line.data for line in file.lines[:4]) + b"\n")
    (row,) = summary_rows(tmp_path)
    assert (row["Parse Status"], row["Input Shape"]) == ("missing_graph_result;incomplete_invocation", "s0=8")


def test_several_codes_stand_in_their_order(tmp_path: Path) -> None:
    lost: Lost = lambda line: kind("choice", "performance", "end")(line) and b"_g0 " not in line.data  # noqa: E731
    rows = rows_without(tmp_path, run_of(two_results()), lost)
    assert statuses(rows) == [
        "missing_result_performance;incomplete_invocation",
        "missing_group_case;missing_result_performance;incomplete_invocation",
    ]


def test_without_start_and_end_calls_are_complete(tmp_path: Path) -> None:
    calls = [Call("Add", two_results().graphs, start=False, end=False)] * 3
    rows = rows_without(tmp_path, run_of(*calls), layout=BARE)
    assert [(row["Invocation"], row["Group"], row["Parse Status"]) for row in rows] == [
        (str(number), group_id, "ok") for number in (1, 2, 3) for group_id in ("0", "1")
    ]


def test_an_empty_error_belongs_to_the_open_call_of_its_thread(tmp_path: Path) -> None:
    """Two threads; the failing one prints an ERROR without operator or text."""
    threads = (Thread(1, (failing("Bad"), one_group("Bad"))), Thread(2, (two_results("Good"), two_results("Good"))))
    rows = rows_without(tmp_path, Run((Process(7, threads),)), layout=Layout(seed=11))
    found = {(row["Operator"], row["Invocation"]): row["Parse Status"] for row in rows}
    assert found == {
        ("Bad", "1"): "tiling_failed",
        ("Bad", "2"): "inferred_graph_result",
        ("Good", "1"): "ok",
        ("Good", "2"): "ok",
    }
