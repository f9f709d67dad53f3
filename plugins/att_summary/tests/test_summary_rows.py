"""summary: which rows there are, in which order, and what stands in their columns."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

from autofuse.testing import Outcome
from logwriter.files import Layout
from logwriter.model import Call, Candidate, Graph, Process, Producer, Run, Solution, Thread
from logwriter.samples import call, candidate, group, result, run_of, tricky_run
from logwriter.wrap import Bare, Wrapping
from summaries import COLUMNS_BEFORE, COLUMNS_BEHIND, csv_table, log_folder, summary_rows

Cli = Callable[..., Outcome]


def test_groups_of_the_chosen_result_of_each_graph(tmp_path: Path) -> None:
    rows = summary_rows(log_folder(tricky_run(), tmp_path / "log"))
    keys = [(row["Operator"], row["Graph"], row["Result"], row["Group"], row["Sub Case"], row["Case"]) for row in rows]
    assert keys == [
        ("Add", "0", "10", "0", "", "1"),
        ("Add", "1", "0", "0", "", "0"),
        ("Add1", "0", "0", "0", "", "10"),
    ]


def test_all_shows_every_result_and_group_that_chose(tmp_path: Path) -> None:
    for option in ("-a", "--all"):
        rows = summary_rows(log_folder(tricky_run(), tmp_path / "log"), option, "--op", "Add")
        keys = [(row["Graph"], row["Result"], row["Group"], row["Sub Case"], row["Case"]) for row in rows]
        assert keys == [
            ("0", "1", "0", "R", "1"),
            ("0", "1", "1", "", "10"),
            ("0", "1", "10", "", "1"),
            ("0", "10", "0", "", "1"),
            ("1", "0", "0", "", "0"),
        ]


def test_every_row_has_the_numbers_of_its_own_template(tmp_path: Path) -> None:
    """The seeds of the templates begin alike (1, 12, 123 …): a prefix of an id would bring another one's numbers."""
    rows = summary_rows(log_folder(tricky_run(), tmp_path / "log"), "--all", "--op", "Add")
    assert [row["q0_size"] for row in rows] == ["123", "2", "23", "2345", "3"]
    assert [row["AIV_VEC"] for row in rows] == ["123.123456", "2.123456", "23.123456", "2345.123456", "3.123456"]
    assert [row["Objective Value"] for row in rows] == [
        "1235.500000",
        "25.500000",
        "235.500000",
        "23455.500000",
        "35.500000",
    ]
    assert [row["Result Perf"] for row in rows] == ["1.250000", "1.250000", "1.250000", "12.500000", "00.250000"]


def test_columns_are_the_published_ones_in_order(tmp_path: Path, autofuse_cli: Cli) -> None:
    values = {"z9": "1", "Z9": "2", "a_size": "3", "é": "4", "AIC_MAC": "5.000000"}
    one = call("Add", [result(0, [group(0, [Candidate(0, "", Solution(tuple(values.items()), "6.0"))])])])
    outcome = autofuse_cli("run", "summary", log_folder(run_of(one), tmp_path / "log"), "-f", "csv")
    header, _ = csv_table(outcome)
    assert header == [*COLUMNS_BEFORE, "AIC_MAC", "Z9", "a_size", "z9", "é", *COLUMNS_BEHIND]


def test_numbers_stay_as_logged(tmp_path: Path) -> None:
    digits = f"{1.7976931348623157e308:.6f}"
    values = {
        "big": "18446744073709551615",
        "huge": "123456789012345678901234567890",
        "ub_size": "-1",
        "AIV_MTE2": digits,
        "AIV_MTE3": "-nan",
        "AIV_VEC": "-1.25e+02",
        "PIPE_NONE": "+2.5E1",
        "zero": "0",
    }
    one = call("Add", [result(0, [group(0, [Candidate(0, "", Solution(tuple(values.items()), "-inf"))])])])
    (row,) = summary_rows(log_folder(run_of(one), tmp_path / "log"))
    assert {name: row[name] for name in values} == values
    assert row["Objective Value"] == "-inf"


def test_a_value_named_like_a_fixed_column_gets_a_column_of_its_own(tmp_path: Path) -> None:
    values = {"Case": "41", "Line": "42", "Operator": "43", "Score": "44", "Case (value)": "45"}
    one = call("Add", [result(0, [group(0, [Candidate(7, "R", Solution(tuple(values.items()), "1.0"))])])])
    (row,) = summary_rows(log_folder(run_of(one), tmp_path / "log"))
    assert (row["Operator"], row["Case"], row["Score"]) == ("Add", "7", "")
    assert (row["Line (value)"], row["Operator (value)"], row["Score (value)"]) == ("42", "43", "44")
    assert (row["Case (value)"], row["Case (value) (value)"]) == ("41", "45")


def test_source_and_line_lead_to_the_first_value(tmp_path: Path) -> None:
    folder = log_folder(tricky_run(), tmp_path / "log", Layout(noise=0.5, parts=3))
    for row in summary_rows(folder, "--all"):
        line = Path(row["Source"]).read_text(errors="replace").split("\n")[int(row["Line"]) - 1]
        where = f"graph{row['Graph']}_result{row['Result']}_g{row['Group']}_{row['Sub Case']}{row['Case']}."
        assert line.endswith(f"[PROF]The value of q0_size is {row['q0_size']} in {where}")


def test_bottleneck_and_head_cost(tmp_path: Path) -> None:
    largest = int(1.7976931348623157e308)
    cases = [
        ({"AIV_MTE2": "10.500000", "AIV_VEC": "7.0"}, "12.000000", "AIV_MTE2", "1.500000"),
        ({"AIV_MTE3": "3.000000", "AIV_MTE2": "3.000000"}, "3.000000", "AIV_MTE2", "0.000000"),
        ({"AIV_MTE2": "nan", "AIV_VEC": "7.000000"}, "8.250000", "AIV_VEC", "1.250000"),
        ({"AIV_MTE2": "nan"}, "8.250000", "", ""),
        ({"q0_size": "12"}, "8.250000", "", ""),
        ({"AIV_MTE2": "2.000000"}, "nan", "AIV_MTE2", ""),
        ({"AIV_MTE2": "inf", "AIV_VEC": "1.0"}, "inf", "AIV_MTE2", ""),
        ({"AIV_MTE2": "2.000000"}, None, "AIV_MTE2", ""),
        ({"AIV_MTE2": "0.100000"}, f"{largest}.000000", "AIV_MTE2", f"{largest - 1}.900000"),
    ]
    calls = [
        call(f"op{number}", [result(0, [group(0, [Candidate(0, "", Solution(tuple(pipes.items()), objective))])])])
        for number, (pipes, objective, _, _) in enumerate(cases)
    ]
    rows = summary_rows(log_folder(run_of(*calls), tmp_path / "log"))
    assert [(row["Bottleneck Pipe"], row["Head Cost"]) for row in rows] == [case[2:] for case in cases]


def test_shape_is_that_of_group_0_and_derived_symbols_stay_out(tmp_path: Path) -> None:
    groups = [group(0, [candidate(0)], s0="1024", s1="512"), group(1, [candidate(0, seed=2)], A_org_size="14")]
    rows = summary_rows(log_folder(run_of(call("Add", [result(0, groups), result(1, groups[:1])])), tmp_path / "log"))
    assert [row["Input Shape"] for row in rows] == ["s0=1024 s1=512", "s0=1024 s1=512"]


def test_a_static_operator_has_an_empty_shape(tmp_path: Path) -> None:
    (row,) = summary_rows(log_folder(run_of(call("Add", [result(0, [group(0, [candidate(0)])])])), tmp_path / "log"))
    assert row["Input Shape"] == ""


def test_shape_is_the_union_over_graphs_and_results(tmp_path: Path) -> None:
    graphs = (
        Graph(0, (result(0, [group(0, [candidate(0)], s0="1")]),), 0),
        Graph(1, (result(0, [group(0, [candidate(0)], s1="2", s0="1")]),), 0),
    )
    rows = summary_rows(log_folder(run_of(Call("Add", graphs)), tmp_path / "log"))
    assert {row["Input Shape"] for row in rows} == {"s0=1 s1=2"}


def test_the_second_tiling_of_the_winner_counts(tmp_path: Path) -> None:
    first = group(0, [candidate(0, seed=1), candidate(0, "R", seed=2)], 1, s0="1")
    again = type(first)(0, first.candidates, 1, first.shape, candidate(0, seed=3).solution)
    (row,) = summary_rows(log_folder(run_of(call("Add", [result(0, [again]), result(1, [first])])), tmp_path / "log"))
    assert (row["Sub Case"], row["q0_size"], row["AIV_MTE2"]) == ("R", "3", "30.100000")


def test_a_group_that_is_printed_twice_is_one_row(tmp_path: Path) -> None:
    first = group(0, [candidate(0, seed=1)], s0="1")
    twice = type(first)(0, first.candidates, 0, first.shape, None, 2)
    rows = summary_rows(log_folder(run_of(call("Add", [result(0, [twice])])), tmp_path / "log"))
    assert [(row["Group"], row["q0_size"]) for row in rows] == [("0", "1")]


def test_order_is_operator_process_invocation_graph_result_group(tmp_path: Path) -> None:
    def tiled(name: str, seed: int) -> Call:
        groups = [group(1, [candidate(0, seed=seed)]), group(0, [candidate(0, seed=seed + 1)])]
        return call(name, [result(0, groups)])

    processes = (
        Process(900, (Thread(1, (tiled("Zeta", 10), tiled("Alpha", 20))), Thread(2, (tiled("Alpha", 30),)))),
        Process(80, (Thread(1, (tiled("Alpha", 40), tiled("Zeta", 50), tiled("Alpha", 60))),)),
    )
    rows = summary_rows(log_folder(Run(processes), tmp_path / "log", Layout(seed=3)), "--invocations", "all")
    keys = [(row["Operator"], Path(row["Source"]).name[:8], int(row["Invocation"]), row["Group"]) for row in rows]
    seen = list(dict.fromkeys(row["Operator"] for row in rows))
    files = list(dict.fromkeys(name for _, name, _, _ in keys))
    assert keys == sorted(keys, key=lambda key: (seen.index(key[0]), files.index(key[1]), *key[2:]))
    assert [(row["Invocation"], row["Invocations"]) for row in rows if row["Operator"] == "Zeta"] == [("1", "1")] * 4


def test_calls_of_threads_are_numbered_by_their_first_line(tmp_path: Path) -> None:
    threads = tuple(
        Thread(tid, tuple(call("Add", [result(0, [group(0, [candidate(0, seed=tid + n)])])]) for n in range(3)))
        for tid in (100, 200, 300)
    )
    folder = log_folder(Run((Process(7, threads),)), tmp_path / "log", Layout(seed=5))
    rows = summary_rows(folder, "--invocations", "all")
    assert [row["Invocation"] for row in rows] == [str(number) for number in range(1, 10)]
    assert {row["Invocations"] for row in rows} == {"9"}
    assert sorted(row["q0_size"] for row in rows) == sorted(str(tid + n) for tid in (100, 200, 300) for n in range(3))


def test_operators_that_share_a_stem_stay_apart(tmp_path: Path) -> None:
    names = ["a/b.c:0", "a_b_c_0", "a b-c#0", "a.b.c.0"]
    calls = [call(name, [result(0, [group(0, [candidate(0, seed=n)])])]) for n, name in enumerate(names, 1)]
    rows = summary_rows(log_folder(run_of(*calls), tmp_path / "log"))
    assert [(row["Operator"], row["q0_size"]) for row in rows] == list(zip(names, "1234"))


def test_old_producers(tmp_path: Path) -> None:
    """The case in the id, a full stop behind the performance, `core_num`, blanks behind the name, group -1."""
    producer = Producer(False, False, False, "input", ".", case_in_id=True, failure_level="ERROR")
    two = [result(0, [group(-1, [candidate(2), candidate(2, "R", seed=9)], 1)]), result(1, [group(-1, [candidate(0)])])]
    layout = Layout(Wrapping(Bare("[{level}] [{operator}] {text}")), together=True)
    (row,) = summary_rows(log_folder(run_of(call("Add", two), producer=producer), tmp_path / "log", layout))
    assert (row["Group"], row["Sub Case"], row["Case"], row["q0_size"]) == ("-1", "R", "2", "9")
    assert (row["Result Perf"], row["Parse Status"]) == ("00.250000", "ok")
