"""The records of evidence: one per template of every call, sorted and strict, with the digits of the log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Dict, List

import jsonschema
import pytest
from attruns import call, candidate, log, shape
from autofuse.inprocess import Outcome
from logwriter.files import Layout, write
from logwriter.model import Call, FinalTiling, Graph, Group, Process, Result, Run, Thread

Cli = Callable[..., Outcome]
Evidence = Callable[..., List[Dict[str, Any]]]

KEYS = {
    "schema_version",
    "record_type",
    "operator",
    "graph_id",
    "result_id",
    "group_id",
    "case_id",
    "sub_case",
    "tiling_values",
    "pipes",
    "objective",
    "score",
    "selected",
    "bottleneck_pipe",
    "result_performance",
    "source_path",
    "source_line",
    "source_lines",
    "parse_status",
    "invocation",
    "input_shape",
    "pid",
    "tid",
}


@pytest.fixture
def evidence(autofuse_cli: Cli, tmp_path: Path) -> Evidence:
    """The records of a log."""

    def run(content: bytes) -> List[Dict[str, Any]]:
        (tmp_path / "a.log").write_bytes(content)
        result = autofuse_cli("run", "evidence", tmp_path / "a.log", "-o", tmp_path)
        assert result.exit_code == 0, result.stderr
        return [json.loads(line, parse_constant=pytest.fail) for line in lines_of(tmp_path)]

    return run


def lines_of(folder: Path) -> List[str]:
    text = (folder / "att-evidence.jsonl").read_text(encoding="utf-8")
    assert text.endswith("\n")
    return text[:-1].split("\n")


def test_one_record_per_template_with_every_key(evidence: Evidence, tmp_path: Path) -> None:
    chosen = candidate(1, "R", objective="120.500000", score=-3, q0_size="64", AIV_MTE2="100.250000", AIV_VEC="7.5")
    content = log(call("Add", candidate(1, objective="200.0", score=2), chosen, chosen=1, performance="120.500000"))
    records = evidence(content)
    assert all(set(record) == KEYS for record in records)
    (found,) = [record for record in records if record["selected"]]
    numbered = content.decode().split("\n")
    places = {
        name: 1 + next(n for n, line in enumerate(numbered) if f" {name} is" in line and "_R1." in line)
        for name in ("q0_size", "AIV_MTE2", "AIV_VEC")
    }
    objective = 1 + next(n for n, line in enumerate(numbered) if "objective value" in line and "_R1." in line)
    assert found == {
        "schema_version": "att-evidence/v1",
        "record_type": "template",
        "operator": "Add",
        "graph_id": 0,
        "result_id": 0,
        "group_id": 0,
        "case_id": 1,
        "sub_case": "R",
        "tiling_values": {"q0_size": 64, "AIV_MTE2": 100.25, "AIV_VEC": 7.5},
        "pipes": {"AIV_MTE2": 100.25, "AIV_VEC": 7.5},
        "objective": 120.5,
        "score": -3,
        "selected": True,
        "bottleneck_pipe": "AIV_MTE2",
        "result_performance": 120.5,
        "source_path": str(tmp_path / "a.log"),
        "source_line": places["q0_size"],
        "source_lines": {**places, "objective": objective},
        "parse_status": "ok",
        "invocation": 1,
        "input_shape": {"s0": 1024},
        "pid": 77,
        "tid": 12,
    }


def test_lines_have_sorted_keys_at_every_depth(evidence: Evidence, tmp_path: Path) -> None:
    final = FinalTiling(
        0, 0, 0, 1, 5, representation='{"z":{"b":1,"a":2},"c":3}', pipe_estimates=(("V", "1"), ("M2", "2"))
    )
    evidence(
        log(call("Z", candidate(1, b="1", a="2", AIV_VEC="3", AIV_MTE2="4"), shape=shape(s9=1, s1=2), finals=[final]))
    )

    def unsorted(pairs: List[Any]) -> bool:
        names = [name for name, _ in pairs]
        return names != sorted(names) or any(value is True for name, value in pairs if name != "selected")

    for line in lines_of(tmp_path):
        assert json.loads(line, object_pairs_hook=unsorted) is False


@pytest.mark.parametrize(
    ("logged", "written"),
    [
        ("18446744073709551615", "18446744073709551615"),
        ("-1", "-1"),
        ("1754.082830", "1754.082830"),
        ("-1.25e+02", "-1.25e+02"),
        ("+2.5E1", "25"),
        ("007", "7"),
        (".5", "0.5"),
        ("5.", "5"),
        ("1e999", "1e999"),
        ("nan", '"NaN"'),
        ("-nan", '"NaN"'),
        ("inf", '"Infinity"'),
        ("-inf", '"-Infinity"'),
        ("+inf", '"Infinity"'),
        (f"{1.7976931348623157e308:.6f}", f"{1.7976931348623157e308:.6f}"),
    ],
)
def test_numbers_keep_their_digits(logged: str, written: str, evidence: Evidence, tmp_path: Path) -> None:
    evidence(log(call("Add", candidate(objective=logged, tile=logged, AIV_VEC=logged), performance=logged)))
    (line,) = [line for line in lines_of(tmp_path) if '"selected": true' in line]
    for name in ("objective", "result_performance", "tile", "AIV_VEC"):
        assert f'"{name}": {written}' in line


def test_values_that_json_readers_refuse(evidence: Evidence, tmp_path: Path, autofuse_cli: Cli) -> None:
    """Bare lines have no limit: an integer of 6,000 digits."""
    line = f"[Add] [PROF]The value of q is {'9' * 6000} in graph0_result0_g0_1.\n"
    (record,) = evidence(line.encode() * 2)
    assert record["tiling_values"]["q"] == float("inf")
    assert f"{'9' * 10}" in lines_of(tmp_path)[0]
    assert autofuse_cli("run", "evidence", "--check", tmp_path).exit_code == 0


def test_a_value_printed_again_counts_with_its_last_line(evidence: Evidence) -> None:
    line = "[Add] [PROF]The value of q is {} in graph0_result0_g0_1.\n"
    (record,) = evidence((line.format(1) + line.format(2)).encode())
    assert (record["tiling_values"], record["source_lines"], record["source_line"]) == ({"q": 2}, {"q": 2}, 1)


def test_a_template_printed_over_and_over(evidence: Evidence) -> None:
    """A log without any choice is one call without an end: its last prints count, its first line is where it stands."""
    names = ("q", "AIV_VEC", "r")
    lines = [f"[Add] [PROF]The value of {names[n % 3]} is {n} in graph0_result0_g0_1." for n in range(3000)]
    lines[5:5] = ["[Add] [PROF]The objective value of the tiling data is 7.5 in graph0_result0_g0_1."]
    lines[6:6] = ["[Add] [PROF]The value of other is 5 in graph0_result0_g0_2."]
    (record, _) = evidence("\n".join(lines).encode())
    assert record["tiling_values"] == {"q": 2997, "AIV_VEC": 2998, "r": 2999}
    assert record["source_lines"] == {"q": 3000, "AIV_VEC": 3001, "r": 3002, "objective": 6}
    assert (record["source_line"], record["objective"], record["bottleneck_pipe"]) == (1, 7.5, "AIV_VEC")


# --- status ----------------------------------------------------------------------------------------------------------


def test_candidates_and_the_chosen_one(evidence: Evidence) -> None:
    records = evidence(log(call("Add", *(candidate(case) for case in (0, 1, 2)), candidate(2, "R"), chosen=3)))
    status = [(record["case_id"], record["sub_case"], record["parse_status"], record["selected"]) for record in records]
    assert status == [
        (0, "", "candidate", False),
        (1, "", "candidate", False),
        (2, "", "candidate", False),
        (2, "R", "inferred_graph_result", True),
    ]


def test_a_group_without_a_choice(evidence: Evidence) -> None:
    records = evidence(log(call("Add", candidate(0), candidate(1), chosen=None)))
    assert {record["parse_status"] for record in records} == {"missing_group_case"}
    assert not any(record["selected"] for record in records)


def test_the_choice_of_a_result_that_lost_is_not_selected(evidence: Evidence) -> None:
    """Its group chose a template, so that is no candidate; the other result was chosen."""
    records = evidence(log(call("Add", candidate(1), performance="1.5")))
    found = [(record["result_id"], record["parse_status"], record["selected"]) for record in records]
    assert found[0] == (0, "ok", True)
    assert found[1][0] == 1
    assert found[1][2] is False
    assert [record["result_performance"] for record in records] == [1.5, 900.0]


@pytest.mark.parametrize(
    ("made", "status"),
    [
        (call("Add", performance="1.5"), "ok"),
        (call("Add"), "inferred_graph_result"),
        (call("Add", performance="1.5", end=False), "ok;incomplete_invocation"),
        (call("Add", end=False), "inferred_graph_result;incomplete_invocation"),
    ],
)
def test_statuses_of_the_chosen_template(made: Call, status: str, evidence: Evidence) -> None:
    chosen = [record for record in evidence(log(made)) if record["selected"]]
    assert [record["parse_status"].replace("ok;", "") for record in chosen] == [status.replace("ok;", "")]


def test_a_chosen_template_without_values(evidence: Evidence) -> None:
    content = log(call("Add", candidate(1, q="5"), performance="1.5"))
    kept = [line for line in content.split(b"\n") if b"_g0_1." not in line]
    (chosen,) = [record for record in evidence(b"\n".join(kept)) if record["selected"]]
    assert chosen["parse_status"] == "missing_tiling_values"
    assert (chosen["tiling_values"], chosen["pipes"], chosen["objective"]) == ({}, {}, None)
    assert chosen["bottleneck_pipe"] is None


def test_a_lost_performance(evidence: Evidence) -> None:
    content = log(call("Add", candidate(1), performance="1.5")).split(b"\n")
    kept = [line for line in content if b"The value of graph0_result0 is" not in line]
    (chosen,) = [record for record in evidence(b"\n".join(kept)) if record["selected"]]
    assert (chosen["parse_status"], chosen["result_performance"]) == ("missing_result_performance", None)


def test_every_invocation_with_its_shape(evidence: Evidence) -> None:
    calls = [call("Add", shape=shape(s0=number, s1=2 * number)) for number in (1, 2, 3)]
    found = [(record["invocation"], record["input_shape"]) for record in evidence(log(*calls, call("Mul")))]
    assert found == [(1, {"s0": 1, "s1": 2}), (2, {"s0": 2, "s1": 4}), (3, {"s0": 3, "s1": 6}), (1, {"s0": 1024})]


def test_without_headers_process_and_thread_are_null(evidence: Evidence) -> None:
    (record,) = evidence(b"[Add] [PROF]The value of q is 1 in graph0_result0_g0_1.\n")
    assert (record["pid"], record["tid"]) == (None, None)


def test_several_graphs_results_and_groups(evidence: Evidence) -> None:
    groups = (Group(0, (candidate(1),)), Group(1, (candidate(0), candidate(10, "R")), 1))
    graphs = tuple(Graph(g, tuple(Result(r, groups, f"{r}.5") for r in (0, 1, 10)), 10) for g in (0, 1))
    records = evidence(log(Call("Add", graphs)))
    assert len(records) == 2 * 3 * 3
    selected = {(r["graph_id"], r["result_id"], r["group_id"], r["case_id"]) for r in records if r["selected"]}
    assert selected == {(g, 10, *group) for g in (0, 1) for group in ((0, 1), (1, 10))}


def test_final_records_come_first_and_nothing_is_dropped(evidence: Evidence) -> None:
    final = FinalTiling(0, 0, 0, 1, 5)
    records = evidence(log(*(call("Add", candidate(1), candidate(2), finals=[final]) for _ in range(2)), call("Mul")))
    assert [record["record_type"] for record in records] == ["final_tiling"] * 2 + ["template"] * 5


@pytest.mark.parametrize("operator", ['a"b', "a\\b", "a\tb", "算子", "a/b.c:0", "\x7f", "\u2028", "💥"])
def test_names_of_any_kind(operator: str, evidence: Evidence) -> None:
    records = evidence(log(call(operator, candidate(1, q="5"), finals=[FinalTiling(0, 0, 0, 1, 5)])))
    assert {record["operator"] for record in records} == {operator}


def test_bytes_that_are_no_utf8(evidence: Evidence) -> None:
    records = evidence(log(call("Add_X")).replace(b"Add_X", b"Add_\xff"))
    assert {record["operator"] for record in records} == {"Add_\N{REPLACEMENT CHARACTER}"}


# --- schemas ---------------------------------------------------------------------------------------------------------


def test_records_and_manifest_follow_the_shipped_schemas(autofuse_cli: Cli, evidence: Evidence, tmp_path: Path) -> None:
    """By another validator than the one that --check uses."""
    final = FinalTiling(0, 0, 0, 1, 5, pipe_estimates=(("V", None), ("M2", "1.5")))
    content = log(call("Add", candidate(1, AIV_VEC="nan"), candidate(2), finals=[final]), call("B", chosen=None))
    records = evidence(content + b"[Op][ATT][FINAL_TILING_SUMMARY] x\n[Op][ATT][FINAL_TILING_CHUNK]\n")
    schemas = {name: json.loads(autofuse_cli("schema", name).stdout) for name in ("att-evidence", "tool-manifest")}
    for schema in schemas.values():
        jsonschema.Draft7Validator.check_schema(schema)
    for record in records:
        jsonschema.validate(record, schemas["att-evidence"])
    jsonschema.validate(json.loads((tmp_path / "tool-manifest.json").read_text()), schemas["tool-manifest"])
    assert {record["record_type"] for record in records} == {"template", "final_tiling", "final_tiling_summary"}


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": "att-evidence/v2"},
        {"record_type": "other"},
        {"objective": "nan"},
        {"objective": "1"},
        {"tiling_values": {"q": None}},
        {"tiling_values": {"q": "5"}},
        {"selected": 1},
        {"case_id": None},
        {"case_id": 1.5},
        {"operator": None},
        {"source_line": 0},
        {"parse_status": ""},
        {"pipes": None},
        {"score": "3"},
    ],
)
def test_the_schema_refuses_what_no_evidence_holds(
    change: Dict[str, Any], autofuse_cli: Cli, evidence: Evidence
) -> None:
    schema = json.loads(autofuse_cli("schema", "att-evidence").stdout)
    record = evidence(log(call("Add", candidate(1, q="5"))))[0]
    jsonschema.validate(record, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**record, **change}, schema)
    for key in KEYS - {"result_performance", "pid", "tid"}:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({name: value for name, value in record.items() if name != key}, schema)


# --- many files and threads ------------------------------------------------------------------------------------------


def test_calls_of_rotated_files_keep_their_places(autofuse_cli: Cli, tmp_path: Path) -> None:
    calls = tuple(call("Add", candidate(1, q=str(number)), shape=shape(s0=number)) for number in range(6))
    run = Run((Process(7, (Thread(1, calls), Thread(2, calls))),))
    files = write(run, Layout(seed=5, parts=4))
    for file in files:
        (tmp_path / "logs" / file.name).parent.mkdir(exist_ok=True)
        (tmp_path / "logs" / file.name).write_bytes(file.data)
    assert autofuse_cli("run", "evidence", tmp_path / "logs", "-o", tmp_path / "out").exit_code == 0
    records = [json.loads(line) for line in lines_of(tmp_path / "out")]
    assert len(records) == 12
    for record in records:
        text = Path(record["source_path"]).read_bytes().split(b"\n")[record["source_line"] - 1]
        assert b"The value of q is %d in" % record["tiling_values"]["q"] in text
        assert record["input_shape"] == {"s0": record["tiling_values"]["q"]}
    assert sorted(record["invocation"] for record in records) == list(range(1, 13))
