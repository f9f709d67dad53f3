"""summary: mistakes that earlier scripts made on such logs, each with the smallest log that shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List, Sequence, Tuple

from logwriter.files import Layout
from logwriter.model import Call, Candidate, FinalTiling, Process, Run, Solution, Thread
from logwriter.samples import call, candidate, group, result, run_of
from summaries import log_folder, summary_rows

HEAD = "[INFO] GE({pid},python3):2026-08-01-10:42:25.178.318 [Add_tiling_func.cpp:12]{tid} F:[{op}]"


def lines(*texts: str, operator: str = "Add", pid: int = 7, tid: int = 1) -> List[str]:
    return [HEAD.format(pid=pid, tid=tid, op=operator) + text for text in texts]


def rows_of(tmp_path: Path, text: Sequence[str], *options: str) -> List[Dict[str, str]]:
    path = tmp_path / "x.log"
    path.write_text("\n".join(text) + "\n")
    return summary_rows(path, *options)


def value(number: int, case: str, name: str = "q0_size") -> str:
    return f"[PROF]The value of {name} is {number} in graph0_result0_g0_{case}."


def choice(case: str) -> str:
    return f"[PROF]Among the templates, tiling case {case} of graph0_result0_g0 is the best choice."


def test_case_1_never_takes_the_numbers_of_case_10(tmp_path: Path) -> None:
    for order in (("10", "1", "100"), ("1", "100", "10"), ("100", "10", "1")):
        values = [value(int(case) + 3, case) for case in order]
        (row,) = rows_of(tmp_path, lines("Start GetTiling.", *values, choice("1"), "End GetTiling."))
        assert (row["Case"], row["q0_size"]) == ("1", "4")


def test_a_sub_case_is_a_template_of_its_own(tmp_path: Path) -> None:
    for chosen, number in (("2", "20"), ("R2", "99")):
        text = lines("Start GetTiling.", value(20, "2"), value(99, "R2"), choice(chosen), "End GetTiling.")
        (row,) = rows_of(tmp_path, text)
        assert (row["Sub Case"] + row["Case"], row["q0_size"]) == (chosen, number)


def test_the_best_so_far_is_no_choice(tmp_path: Path) -> None:
    so_far = "[PROF]The score_map[0] has been processed, tiling case 0 of graph0_result0_g0 is the best choice."
    text = lines("Start GetTiling.", value(1, "0"), so_far, value(2, "1"), choice("1"), so_far, "End GetTiling.")
    (row,) = rows_of(tmp_path, text)
    assert (row["Case"], row["q0_size"]) == ("1", "2")


def test_nan_and_inf_are_values(tmp_path: Path) -> None:
    values = {"AIV_MTE2": "nan", "AIV_MTE3": "-nan", "AIV_VEC": "inf", "AIC_MAC": "-inf", "q0_size": "0"}
    one = call("Add", [result(0, [group(0, [Candidate(0, "", Solution(tuple(values.items()), "-nan"))])])])
    (row,) = summary_rows(log_folder(run_of(one), tmp_path / "log"))
    assert {name: row[name] for name in values} == values
    assert (row["Objective Value"], row["Bottleneck Pipe"], row["Head Cost"]) == ("-nan", "AIV_VEC", "")


def test_a_value_of_the_call_before_is_no_value_of_this_one(tmp_path: Path) -> None:
    first = ("Start GetTiling.", value(1, "0"), value(2, "0", "b0_size"), choice("0"), "End GetTiling.")
    second = ("Start GetTiling.", value(3, "0"), choice("0"), "End GetTiling.")
    rows = rows_of(tmp_path, lines(*first, *second), "--invocations", "all")
    assert [(row["q0_size"], row["b0_size"]) for row in rows] == [("1", "2"), ("3", "")]


def test_every_call_keeps_its_own_objective(tmp_path: Path) -> None:
    calls = [call("Add", [result(0, [group(0, [candidate(0, seed=seed)], s0=str(seed))])]) for seed in range(1, 21)]
    rows = summary_rows(log_folder(run_of(*calls), tmp_path / "log"), "--invocations", "all")
    assert [(row["Input Shape"], row["Objective Value"]) for row in rows] == [
        (f"s0={seed}", f"{seed * 10 + 5}.500000") for seed in range(1, 21)
    ]


def test_threads_that_tile_one_operator_at_once(tmp_path: Path) -> None:
    """Their lines alternate one by one, with the same template ids."""
    streams = [
        lines("Start GetTiling.", value(seed, "0"), value(seed, "1"), choice(best), "End GetTiling.", tid=tid)
        for tid, seed, best in ((1, 11, "0"), (2, 22, "1"), (10, 33, "0"))
    ]
    text = [line for together in zip(*streams) for line in together]
    rows = rows_of(tmp_path, text, "--invocations", "all")
    assert [(row["Case"], row["q0_size"], row["Parse Status"]) for row in rows] == [
        ("0", "11", "inferred_graph_result"),
        ("1", "22", "inferred_graph_result"),
        ("0", "33", "inferred_graph_result"),
    ]


def test_processes_in_one_file(tmp_path: Path) -> None:
    """The thread ids may be equal; the process ids are not."""
    streams = [lines("Start GetTiling.", value(pid, "0"), choice("0"), "End GetTiling.", pid=pid) for pid in (7, 70, 8)]
    rows = rows_of(tmp_path, [line for together in zip(*streams) for line in together])
    assert [(row["q0_size"], row["Invocations"]) for row in rows] == [("7", "1"), ("70", "1"), ("8", "1")]


def test_operators_whose_names_begin_alike(tmp_path: Path) -> None:
    names = ("Add", "Add1", "Add10", "Add[1]", "Add]", "AddAdd")
    streams = [
        lines("Start GetTiling.", value(number, "0"), choice("0"), "End GetTiling.", operator=name)
        for number, name in enumerate(names)
    ]
    rows = rows_of(tmp_path, [line for together in zip(*streams) for line in together])
    assert [(row["Operator"], row["q0_size"]) for row in rows] == [(name, str(n)) for n, name in enumerate(names)]


def test_one_new_record_never_hides_a_file(tmp_path: Path) -> None:
    """FINAL_TILING of one operator; the others, and the groups without one, keep their rows."""
    results = [
        result(0, [group(0, [candidate(0)]), group(1, [candidate(4, "R", seed=2)])]),
        result(1, [group(0, [candidate(0)])]),
    ]
    new = Call("New", call("New", results).graphs, finals=(FinalTiling(0, 0, 1, 4, 9, "R"),))
    rows = summary_rows(log_folder(run_of(call("Old", results), new, call("Other", results)), tmp_path / "log"))
    assert [(row["Operator"], row["Group"], row["Final Parse Status"]) for row in rows] == [
        *(("Old", "0", ""), ("Old", "1", "")),
        *(("New", "0", ""), ("New", "1", "ok")),
        *(("Other", "0", ""), ("Other", "1", "")),
    ]
    assert (rows[3]["Tiling Key"], rows[3]["q0_size"], rows[3]["Sub Case"]) == ("9", "2", "R")


def test_a_file_of_new_records_hides_no_other_file(tmp_path: Path) -> None:
    results = [result(0, [group(0, [candidate(0)])])]
    new = Call("New", call("New", results).graphs, finals=(FinalTiling(0, 0, 0, 0),))
    log_folder(run_of(new, pid=1), tmp_path / "log")
    rows = summary_rows(log_folder(run_of(call("Old", results), pid=2), tmp_path / "log"))
    assert [row["Operator"] for row in rows] == ["New", "Old"]


def test_a_reused_thread_id_of_another_process_starts_anew(tmp_path: Path) -> None:
    def process(pid: int, seeds: Tuple[int, ...]) -> Process:
        calls = tuple(call("Add", [result(0, [group(0, [candidate(0, seed=seed)])])], end=False) for seed in seeds)
        return Process(pid, (Thread(1, calls),))

    run = Run((process(7, (1, 2)), process(77, (3,))))
    rows = summary_rows(log_folder(run, tmp_path / "log", Layout(together=True, seed=9)), "--invocations", "all")
    assert sorted((row["q0_size"], row["Invocation"], row["Invocations"]) for row in rows) == [
        *(("1", "1", "2"), ("2", "2", "2")),
        ("3", "1", "1"),
    ]
