"""FINAL_TILING records as evidence and summary show them: every status, threads, ids that come back, odd values."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from pathlib import Path
from typing import Any, Callable, Dict, List, Sequence

import pytest
from attruns import call, candidate, log
from autofuse.inprocess import Outcome
from logwriter.files import Layout, write
from logwriter.model import Call, FinalTiling, FinalTilingSummary, Process, Producer, Run, Thread

Cli = Callable[..., Outcome]
Records = Callable[..., List[Dict[str, Any]]]

FINAL = FinalTiling(0, 0, 0, 1, 5, representation='{"tile_m": 64, "tile_n": 128}', pipe_estimates=(("V", "2.500000"),))
LONG = json.dumps({f"q{number}_size": number for number in range(200)}, separators=(",", ":"))
STRUCT = 'AutofuseTilingData{\n  .block_dim = 1,\n  .note = "a\\b",\n  .a = 2,\n}'
FIELDS = {
    "schema": "1",
    "source": '"runtime"',
    "selection_mode": '"default"',
    "operator": '"Add"',
    "graph": "0",
    "result": "0",
    "group": "0",
    "case_id": "1",
    "tiling_key": "5",
    "score": "1",
    "sub_case_tag": '""',
    "template": '"T"',
    "repr_kind": '"full_json"',
    "pipe_estimates": '"{}"',
    "tiling_repr": '"{\\"a\\":1}"',
}


@pytest.fixture
def records(autofuse_cli: Cli, tmp_path: Path) -> Records:
    """The FINAL_TILING objects of the evidence of a log; the evidence is checked on the way."""

    def run(content: bytes, folder: str = "evidence") -> List[Dict[str, Any]]:
        (tmp_path / "a.log").write_bytes(content)
        result = autofuse_cli("run", "evidence", tmp_path / "a.log", "-o", tmp_path / folder)
        assert result.exit_code == 0, result.stderr
        assert autofuse_cli("run", "evidence", "--check", tmp_path / folder).exit_code == 0
        lines = (tmp_path / folder / "att-evidence.jsonl").read_text().splitlines()
        return [one for one in map(json.loads, lines) if one["record_type"] != "template"]

    return run


def line(tag: str = "FINAL_TILING", **changes: Any) -> str:
    """A record written out; a change of None leaves the field out."""
    fields = {**FIELDS, **changes}
    return f"[ATT][{tag}] " + " ".join(f"{name}={text}" for name, text in fields.items() if text is not None)


def lines(*texts: str, operator: str = "Add", tid: int = 9) -> bytes:
    head = f"[INFO] GE(7,app):2026-08-20-10:11:12.123.593 [a.h:412]{tid} EmitFinalTilingLines:[{operator}]"
    return b"".join(f"{head}{text}\n".encode() for text in texts)


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# --- values ----------------------------------------------------------------------------------------------------------


def test_all_fields(records: Records) -> None:
    final = dataclasses.replace(FINAL, sub_case="R", score=-3, source="pgo", selection_mode="explicit", template="C2")
    (found,) = records(log(call("Add", candidate(1, "R"), finals=[final])))
    assert {
        "graph_id": 0,
        "result_id": 0,
        "group_id": 0,
        "case_id": 1,
        "sub_case": "R",
        "sub_case_tag": "R",
        "tiling_key": 5,
        "score": -3,
        "source": "pgo",
        "selection_mode": "explicit",
        "template_name": "C2",
        "repr_kind": "full_json",
        "repr_hash": None,
        "pipe_est": {"AIV_VEC": 2.5},
        "tiling_repr": {"tile_m": 64, "tile_n": 128},
        "parse_status": "ok",
        "record_type": "final_tiling",
        "schema_version": "att-evidence/v1",
        "operator": "Add",
        "invocation": 1,
        "input_shape": {"s0": 1024},
        "pid": 77,
        "tid": 12,
    }.items() <= found.items()


@pytest.mark.parametrize("payload", [LONG, STRUCT * 20, "算子" * 300, '"' * 400 + "\\" * 400 + "\n\r\t" * 99])
@pytest.mark.parametrize("algorithm", ["att_mix64_v1", "sha256", None])
def test_long_records_are_framed_and_come_back_verbatim(payload: str, algorithm: Any, records: Records) -> None:
    producer = Producer(hash_algorithm=algorithm)
    content = log(call("Add", finals=[dataclasses.replace(FINAL, representation=payload)]), producer=producer)
    assert b"FINAL_TILING_BEGIN" in content
    (found,) = records(content)
    assert found["parse_status"] == "ok"
    value = found["tiling_repr"]
    assert value == (json.loads(payload) if payload == LONG else payload)
    assert len(found["repr_hash"]) == (16 if algorithm == "att_mix64_v1" else 64)


def test_text_of_a_struct_keeps_its_order(records: Records) -> None:
    (found,) = records(log(call("Add", finals=[dataclasses.replace(FINAL, representation=STRUCT)])))
    assert found["tiling_repr"] == STRUCT


def test_unavailable_is_valid(records: Records) -> None:
    (found,) = records(log(call("Add", finals=[dataclasses.replace(FINAL, representation=None)])))
    assert (found["parse_status"], found["repr_kind"], found["tiling_repr"]) == ("ok", "unavailable", None)


def test_unquoted_fields_of_old_producers(records: Records) -> None:
    producer = Producer(quoted=False, hash_algorithm=None)
    content = log(
        call("Add", finals=[FINAL, dataclasses.replace(FINAL, group=1, representation=LONG)]), producer=producer
    )
    assert b" operator=Add " in content
    assert [(one["parse_status"], one["source"]) for one in records(content)] == [("ok", "runtime")] * 2


def test_unknown_keys_are_ignored_wherever_they_stand(records: Records) -> None:
    extra = line(new='"x y"', other="1") + ' later="\\"" empty= last=2'
    (found,) = records(lines(extra.replace("schema=1", "first=0 schema=1")))
    assert (found["parse_status"], found["tiling_repr"]) == ("ok", {"a": 1})
    assert not {"new", "other", "first", "later", "last"} & set(found)


@pytest.mark.parametrize(
    ("payload", "value"),
    [
        ('{"a":18446744073709551616,"b":-0.10,"c":1e3}', '{"a": 18446744073709551616, "b": -0.10, "c": 1e3}'),
        (
            '{"b":1,"a":{"d":[1,{"z":null,"y":true}],"c":""}}',
            '{"a": {"c": "", "d": [1, {"y": true, "z": null}]}, "b": 1}',
        ),
        ('{"a":1,"a":2}', '"{\\"a\\":1,\\"a\\":2}"'),
        ('{"a":NaN}', '"{\\"a\\":NaN}"'),
        ("[]", "[]"),
        ("7", "7"),
        ("null", "null"),
        ('"text"', '"text"'),
        ("", '""'),
        ("{", '"{"'),
        ("'a'", "\"'a'\""),
        ('{"算":"\\u7b97"}', '{"算": "算"}'),
        ('"\\ud800"', '"\\ud800"'),
    ],
)
def test_the_payload_is_its_json_value_or_its_text(payload: str, value: str, autofuse_cli: Cli, tmp_path: Path) -> None:
    """Numbers keep their digits, keys are sorted, and nothing that a JSON reader would drop is dropped."""
    (tmp_path / "a.log").write_bytes(lines(line(tiling_repr=quoted(payload))))
    assert autofuse_cli("run", "evidence", tmp_path / "a.log", "-o", tmp_path).exit_code == 0
    text = (tmp_path / "att-evidence.jsonl").read_text()
    assert f'"tiling_repr": {value}}}' in text
    assert autofuse_cli("run", "evidence", "--check", tmp_path).exit_code == 0


@pytest.mark.parametrize("depth", [99, 100, 101, 300, 700, 980, 1200, 50_000])
@pytest.mark.parametrize("shape", ["list", "object"])
def test_deep_json(depth: int, shape: str, records: Records) -> None:
    payload = "[" * depth + "]" * depth if shape == "list" else '{"a":' * depth + "1" + "}" * depth
    content = lines(line(tiling_repr=quoted(payload)), line(group="1", pipe_estimates=quoted(payload)))
    representation, estimates = records(content)
    assert representation["parse_status"] == "ok"
    assert isinstance(representation["tiling_repr"], str) == (depth > 100)
    assert estimates["parse_status"] == "invalid_final_tiling"


def test_integers_longer_than_json_readers_take(records: Records) -> None:
    (found,) = records(lines(line(tiling_repr=quoted(f'{{"a":{"9" * 6000}}}'))))
    assert found["parse_status"] == "ok"


# --- statuses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": "2"},
        {"schema": None},
        {"schema": "01"},
        {"graph": None},
        {"graph": "x"},
        {"graph": '""'},
        {"result": "-1"},
        {"group": "1.5"},
        {"case_id": "R1"},
        {"case_id": "0x1"},
        {"tiling_key": "-5"},
        {"tiling_key": "1e3"},
        {"tiling_key": "１"},
        {"tiling_key": "9" * 30},
        {"operator": None},
        {"score": "high"},
        {"score": "9" * 30},
        {"repr_kind": '"half_json"'},
        {"pipe_estimates": quoted("")},
        {"pipe_estimates": quoted("[]")},
        {"pipe_estimates": quoted("{")},
        {"pipe_estimates": quoted('{"V":NaN}')},
        {"pipe_estimates": quoted('{"V":Infinity}')},
        {"pipe_estimates": quoted('{"V":1e999}')},
        {"pipe_estimates": quoted('{"V":"1"}')},
        {"pipe_estimates": quoted('{"V":true}')},
        {"pipe_estimates": quoted('{"V":{}}')},
        {"pipe_estimates": quoted('{"V":1,"V":2}')},
        {"pipe_estimates": quoted('{"V":1,"AIV_VEC":2}')},
        {"pipe_estimates": quoted('{"V":' + "9" * 5000 + "}")},
    ],
)
def test_invalid(changes: Dict[str, Any], records: Records) -> None:
    (found,) = records(lines(line(**changes)))
    assert found["parse_status"] == "invalid_final_tiling"
    assert (found["tiling_repr"], found["pipe_est"]) == (None, None)


@pytest.mark.parametrize(
    "changes",
    [
        {"tiling_key": "18446744073709551615"},
        {"tiling_key": '"5"'},
        {"score": "-2147483648"},
        {"score": None},
        {"sub_case_tag": None},
        {"pipe_estimates": None},
        {"pipe_estimates": quoted('{"AIV_MTE2":120.000000,"V":null,"M3":-1e-3}')},
        {"repr_kind": None},
        {"source": '"pgo"'},
    ],
)
def test_valid(changes: Dict[str, Any], records: Records) -> None:
    (found,) = records(lines(line(**changes)))
    assert (found["parse_status"], found["tiling_repr"]) == ("ok", {"a": 1})
    assert found["tiling_key"] in (5, 18446744073709551615)


@pytest.mark.parametrize(
    "text",
    [
        line()[:-1],
        line(tiling_repr=None),
        line(operator='"Add'),
        line(template='"T"x'),
        line().replace("score=1", "score:1"),
        line("FINAL_TILING_WHAT"),
        "[ATT][FINAL_TILING",
        "[ATT][FINAL_TILING]",
        line("FINAL_TILING_BEGIN"),
        line("FINAL_TILING_END"),
    ],
)
def test_incomplete(text: str, records: Records) -> None:
    (found,) = records(lines(text))
    assert (found["parse_status"], found["tiling_repr"]) == ("incomplete_final_tiling", None)


def test_duplicates_within_one_call_only(records: Records) -> None:
    """The first valid record of a key counts; the next shape may choose the same again."""
    other = dataclasses.replace(FINAL, representation='{"tile_m": 1}')
    calls = [
        call(
            "Add",
            finals=[FINAL, other, dataclasses.replace(FINAL, tiling_key=6), dataclasses.replace(FINAL, source="pgo")],
        ),
        call("Add", finals=[FINAL]),
    ]
    found = records(log(*calls))
    status = [(one["invocation"], one["tiling_key"], one["source"], one["parse_status"]) for one in found]
    assert status == [
        (1, 5, "runtime", "ok"),
        (1, 5, "runtime", "duplicate_final_tiling"),
        (1, 6, "runtime", "ok"),
        (1, 5, "pgo", "ok"),
        (2, 5, "runtime", "ok"),
    ]


def test_a_damaged_record_is_no_first_one(records: Records) -> None:
    found = records(lines(line(pipe_estimates='"{"'), line(), line()))
    assert [one["parse_status"] for one in found] == ["invalid_final_tiling", "ok", "duplicate_final_tiling"]


# --- summaries -------------------------------------------------------------------------------------------------------

GROUPS = tuple(dataclasses.replace(FINAL, group=number, case=number) for number in range(12))


@pytest.mark.parametrize("groups", [GROUPS[:2], GROUPS])
def test_summaries_single_and_framed(groups: Sequence[FinalTiling], records: Records) -> None:
    content = log(call("Add", finals=groups, summaries=[FinalTilingSummary(0, 0, tuple(groups))]))
    assert (b"FINAL_TILING_SUMMARY_BEGIN" in content) == (len(groups) > 2)
    *finals, summary = records(content)
    assert [one["parse_status"] for one in finals] == ["ok"] * len(groups)
    assert (summary["record_type"], summary["parse_status"]) == ("final_tiling_summary", "ok")
    assert set(summary["groups"]) == {str(number) for number in range(len(groups))}
    assert summary["groups"]["1"]["case_id"] == 1
    assert "tiling_repr" not in summary


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"groups": quoted('{"0":{"case_id":1}}')}, "ok"),
        ({"groups": quoted("{}")}, "ok"),
        ({"groups": quoted("[]")}, "invalid_final_tiling_summary"),
        ({"groups": quoted('{"0":1}')}, "invalid_final_tiling_summary"),
        ({"groups": quoted('{"x":{}}')}, "invalid_final_tiling_summary"),
        ({"groups": quoted('{"0":{},"0":{}}')}, "invalid_final_tiling_summary"),
        ({"groups": quoted("[" * 500)}, "invalid_final_tiling_summary"),
        ({"groups": quoted("{}"), "graph": "-1"}, "invalid_final_tiling_summary"),
        ({"groups": quoted("{}"), "schema": "2"}, "invalid_final_tiling_summary"),
        ({"groups": '"{}'}, "incomplete_final_tiling_summary"),
        ({}, "incomplete_final_tiling_summary"),
    ],
)
def test_status_of_a_summary(changes: Dict[str, Any], status: str, records: Records) -> None:
    left_out = dict.fromkeys(("group", "case_id", "tiling_key", "tiling_repr", "pipe_estimates"))
    (found,) = records(lines(line("FINAL_TILING_SUMMARY", **left_out, **changes)))
    assert found["parse_status"] == status
    assert (found["groups"] is not None) == (status == "ok")


def test_a_repeated_summary(records: Records) -> None:
    left_out = dict.fromkeys(("group", "case_id", "tiling_key", "tiling_repr", "pipe_estimates"))
    text = line("FINAL_TILING_SUMMARY", groups=quoted("{}"), **left_out)
    assert [one["parse_status"] for one in records(lines(text, text))] == ["ok", "duplicate_final_tiling_summary"]


# --- threads, processes, order ---------------------------------------------------------------------------------------


def test_frames_of_threads_interleave(autofuse_cli: Cli, tmp_path: Path) -> None:
    """Two threads tile one operator at once; their frames have the same id and other data."""

    def of(tid: int) -> Thread:
        payloads = [json.dumps({f"q{n}": tid * 1000 + n + turn for n in range(150)}) for turn in range(3)]
        finals = [dataclasses.replace(FINAL, representation=payload) for payload in payloads]
        return Thread(tid, tuple(call("Add", finals=[final], finals_after_end=True) for final in finals))

    run = Run((Process(5, tuple(of(tid) for tid in (1, 2, 3))),))
    for seed in range(3):
        (file,) = write(run, Layout(seed=seed))
        (tmp_path / "a.log").write_bytes(file.data)
        result = autofuse_cli("run", "evidence", tmp_path / "a.log", "-o", tmp_path / str(seed))
        assert result.exit_code == 0
        found = [json.loads(text) for text in (tmp_path / str(seed) / "att-evidence.jsonl").read_text().splitlines()]
        finals = [one for one in found if one["record_type"] == "final_tiling"]
        assert {one["parse_status"] for one in finals} == {"ok"}
        assert {(one["tid"], one["tiling_repr"]["q0"]) for one in finals} == {
            (tid, tid * 1000 + turn) for tid in (1, 2, 3) for turn in range(3)
        }


def test_candidates_that_were_not_written_have_no_record(records: Records) -> None:
    (found,) = records(log(call("Add", candidate(0), candidate(1), candidate(1, "R"), chosen=2, finals=[FINAL])))
    assert (found["case_id"], found["sub_case"]) == (1, "")


# --- summary ---------------------------------------------------------------------------------------------------------


def rows_of(result: Outcome) -> List[Dict[str, str]]:
    assert result.exit_code == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_summary_joins_a_record_with_the_values_of_its_template(autofuse_cli: Cli, tmp_path: Path) -> None:
    finals = [dataclasses.replace(FINAL, case=2, sub_case="R", score=-3, representation=STRUCT)]
    written = call(
        "Add", candidate(2, objective="1"), candidate(2, "R", objective="2", tile="8"), chosen=0, finals=finals
    )
    (tmp_path / "a.log").write_bytes(log(written, call("Other", candidate(4))))
    add, other = rows_of(autofuse_cli("run", "summary", tmp_path / "a.log", "-f", "csv"))
    assert {
        "Case": "2",
        "Sub Case": "R",
        "Objective Value": "2",
        "tile": "8",
        "Final Source": "runtime",
        "Tiling Key": "5",
        "Score": "-3",
        "Pipe Estimate": '{"AIV_VEC":2.500000}',
        "Tiling Repr": STRUCT,
        "Final Parse Status": "ok",
    }.items() <= add.items()
    assert (other["Operator"], other["Case"], other["Final Source"], other["Final Parse Status"]) == (
        "Other",
        "4",
        "",
        "",
    )


def test_summary_keeps_one_row_per_record_and_the_groups_without_one(autofuse_cli: Cli, tmp_path: Path) -> None:
    content = log(call("Add", candidate(1), performance="5.0")) + lines(
        line(), line(group="3"), line(case_id="x"), line()[:-1], operator="Add", tid=12
    ).replace(b"GE(7,", b"GE(77,")
    (tmp_path / "a.log").write_bytes(content)
    rows = rows_of(autofuse_cli("run", "summary", tmp_path / "a.log", "-f", "csv"))
    status = sorted((row["Group"], row["Case"], row["Final Parse Status"], row["Tiling Repr"]) for row in rows)
    assert status == [
        ("0", "", "invalid_final_tiling", ""),
        ("0", "1", "incomplete_final_tiling", ""),
        ("0", "1", "ok", '{"a":1}'),
        ("3", "1", "ok", '{"a":1}'),
    ]


@pytest.mark.parametrize("text", [line(case_id=None), line(case_id="x"), line()[: line().index(" case_id")]])
def test_a_damaged_record_that_names_no_template_hides_none(text: str, autofuse_cli: Cli, tmp_path: Path) -> None:
    damaged = lines(text, tid=12).replace(b"GE(7,", b"GE(77,")
    (tmp_path / "a.log").write_bytes(log(call("Add", candidate(1, objective="8.5"))) + damaged)
    rows = rows_of(autofuse_cli("run", "summary", tmp_path / "a.log", "-f", "csv"))
    assert sorted((row["Case"], row["Objective Value"], bool(row["Final Parse Status"])) for row in rows) == [
        ("", "", True),
        ("1", "8.5", False),
    ]


def test_a_log_of_final_records_alone(autofuse_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(lines(line(), line(group="1")))
    rows = rows_of(autofuse_cli("run", "summary", tmp_path / "a.log", "-f", "csv"))
    assert [(row["Group"], row["Case"], row["Tiling Key"], row["Objective Value"]) for row in rows] == [
        ("0", "1", "5", ""),
        ("1", "1", "5", ""),
    ]


def test_records_after_the_end_of_their_call(records: Records) -> None:
    calls: List[Call] = [
        call("Add", shape=(("s0", str(number)),), finals=[FINAL], finals_after_end=True) for number in (1, 2)
    ]
    found = records(log(*calls))
    assert [(one["invocation"], one["input_shape"], one["parse_status"]) for one in found] == [
        (1, {"s0": 1}, "ok"),
        (2, {"s0": 2}, "ok"),
    ]
