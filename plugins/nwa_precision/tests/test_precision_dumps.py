"""Names, folders and steps of dumps: what belongs together, and what is said when the runs do not fit each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any, List

import numpy as np
import pytest
from autofuse_nwa_precision.dumps.index import index_folder
from autofuse_nwa_precision.dumps.names import mapped, parse_name, place_of
from hypothesis import given, settings
from hypothesis import strategies as st
from precision_twins import TIME, RawTensor, Runs, desc, dump_name, npy_bytes, op, raw_dump

VALUES = np.linspace(-2, 2, 24, dtype="f4").reshape(4, 6)
WORDS = st.text("abcdefXYZ0189_-", min_size=1, max_size=6).filter(lambda word: not word.isdigit())


@settings(max_examples=200, deadline=None)
@given(
    st.lists(WORDS, min_size=1, max_size=3),
    WORDS,
    st.sampled_from(["input", "output", ""]),
    st.integers(0, 40),
    st.integers(0, 9999),
    st.none() | st.integers(0, 99),
    st.sampled_from(["", "NC1HWC0", "1x2x3", "1_2_3", "NCHW.1_2"]),
    st.none() | st.tuples(st.integers(0, 99), st.integers(0, 7), st.integers(0, 7)),
)
def test_names_are_read_from_the_right(
    kind: List[str], name: str, side: str, index: int, task: int, stream: Any, layout: str, context: Any
) -> None:
    """Whatever stands in the type, in capture mode even dots; FFTS+ names have a stream."""
    stream = 3 if context and stream is None else stream
    file = dump_name(".".join(kind), name, side, index, task=task, stream=stream, layout=layout, context=context)
    if stream is None and task and len(kind) > 1:
        return  # Without a stream a number in front of the task cannot be told from a task.
    if layout and not side:
        return
    parsed = parse_name(file)
    assert parsed is not None
    assert (parsed.side, parsed.task, parsed.timestamp) == (side, task, TIME)
    assert ".".join(parsed.words) == f"{'.'.join(kind)}.{name}"
    assert parsed.index == (index if side else 0)
    assert parsed.thread == (context[1] if context else 0)


def test_operators_with_numbers_for_names() -> None:
    """Operator 9 is not task 9."""
    named = parse_name(f"Add.9.3.1.{TIME}.output.0.npy")
    tasked = parse_name(f"Add.x.9.1.{TIME}.output.0.npy")
    old = parse_name(f"Add.9.9.{TIME}.output.0.npy")
    assert named is not None
    assert tasked is not None
    assert old is not None
    assert (named.words, tasked.words, old.words) == (("Add", "9"), ("Add", "x"), ("Add", "9"))
    assert (named.task, tasked.task, old.task) == (3, 9, 9)


def test_an_operator_named_output() -> None:
    parsed = parse_name(f"Add.output.1.2.{TIME}.output.4.npy")
    assert parsed is not None
    assert (parsed.words, parsed.index) == (("Add", "output"), 4)


@pytest.mark.parametrize(
    "name",
    ["", ".npy", "mapping.csv", "notes.txt", "a.b.npy", "1700000000.npy", "Opdebug.Node_OpDebug.1.2.17000000000",
     "exception_info.3.1.17000000000", f"Add.x.1.2.{TIME}.npy", f"Add.x.1.2.{TIME}.output.npy",
     f"Add.x.1.2.{TIME}.output.٣.npy", "..1.2.3", "a" * 255],
)  # fmt: skip
def test_other_files_are_none(name: str) -> None:
    parsed = parse_name(name)
    assert parsed is None or name == "..1.2.3"


@pytest.mark.parametrize(
    "folders,expected",
    [
        ("20240101120000/0/model/1/3", ("0", "model", "1", "3", "20240101120000")),
        ("0/model/1/3", ("0", "model", "1", "3", "")),
        ("model/1/3", ("", "model", "1", "3", "")),
        ("3", ("", "", "", "3", "")),
        ("20240101120000/7", ("7", "", "", "", "20240101120000")),
        ("", ("", "", "", "", "")),
    ],
)
def test_places(folders: str, expected: Any) -> None:
    assert tuple(place_of([part for part in folders.split("/") if part])) == expected


def test_mapping_of_names() -> None:
    assert mapped("a b.c/d\\e_f") == "a_b_c_d_e_f"


def test_long_names_stand_in_mapping_csv(runs: Runs) -> None:
    """The file is a number or a uuid; the name may hold commas and quotes, and keep or lack its ending."""
    long = "layer/" + "x" * 300
    runs.pair(None, VALUES, name=long, origin="r0")
    runs.pair(VALUES, None, name="af_1", origin='a,"b"')
    runs.dump("open", "47", npy_bytes(VALUES))
    original = dump_name("AscBackend", long)
    runs.dump("open", "mapping.csv", f"\ufeff47,{original}\r\n48,missing\r\nbroken row\r\n".encode())
    runs.dump("close", "0c9e-77.npy", VALUES)
    runs.dump("close", "mapping.csv", f"0c9e-77,{dump_name('Relu', 'a,b', suffix='')}\n".encode())
    runs.close_ops[1]["name"] = "a,b"
    runs.open_ops[1]["output_desc"] = [desc(("a,b", 0))]
    assert [row["verdict"] for row in runs.rows(code=0)] == ["pass", "pass"]


def test_hostile_mapping_csv(runs: Runs) -> None:
    runs.pair(VALUES, VALUES)
    runs.dump("open", "mapping.csv", b"1,\xff\xfe\0\n" + b'"' * 200_000)
    runs.dump("open", "1", b"x")
    assert runs.row(code=0)["verdict"] == "pass"


def test_dots_in_capture_mode(runs: Runs) -> None:
    runs.pair(None, VALUES, name="a.b.c")
    runs.dump("open", f"AscBackend.a.b.c.1.2.{TIME}.output.0.npy", VALUES)
    assert runs.row(code=0)["verdict"] == "pass"


def test_a_type_that_differs_from_the_graph_is_found_by_name(runs: Runs) -> None:
    runs.pair(VALUES, None)
    runs.dump("close", dump_name("ReluV2", "relu_0"), VALUES)
    assert runs.row(code=0)["verdict"] == "pass"
    # The file of another operator with the same spelling is not taken for it.
    runs.close_ops.append(op("relu/0", "ReluV2"))
    assert runs.row(code=2)["status"] == "AMBIGUOUS_NAME"


def test_an_origin_unknown_to_the_close_graph_with_files_of_two_types(runs: Runs) -> None:
    runs.pair(VALUES, VALUES)
    runs.close_ops[0]["name"] = "other"
    assert runs.row(code=0)["verdict"] == "pass"
    runs.dump("close", dump_name("Add", "relu_0"), VALUES)
    assert runs.row(code=2)["status"] == "AMBIGUOUS_NAME"


def test_folders_are_searched_and_grouped(runs: Runs) -> None:
    """Same device and data index; model names, ids and times differ between the runs."""
    runs.pair(None, None)
    for index in range(3):
        for side, place in (("open", "20240101120000/0/ge_1/11"), ("close", "20240303030303/0/ge_2/7")):
            kind, name = ("AscBackend", "af_0") if side == "open" else ("Relu", "relu_0")
            runs.dump(side, f"{place}/{index}/{dump_name(kind, name)}", VALUES + index)
    rows = runs.rows(code=0)
    assert [(row["step"], row["place"], row["max_abs_error"]) for row in rows] == [
        (0, "0/ge_1/11/0", 0), (1, "0/ge_1/11/1", 0), (2, "0/ge_1/11/2", 0)
    ]  # fmt: skip


def test_the_kth_dump_belongs_to_the_kth(runs: Runs) -> None:
    """By the time in the name, not by the order of the folder or of other runs' times."""
    runs.pair(None, None)
    for k, (mine, theirs) in enumerate([(900, 5), (1000, 70), (8000, 600)]):
        runs.dump("open", dump_name("AscBackend", "af_0", time=TIME + mine), VALUES * (k + 1))
        runs.dump("close", dump_name("Relu", "relu_0", time=TIME + theirs), VALUES * (k + 1))
    assert [row["verdict"] for row in runs.rows(code=0)] == ["pass"] * 3


def test_unequal_steps_are_reported(runs: Runs) -> None:
    runs.pair(VALUES, VALUES)
    runs.dump("open", dump_name("AscBackend", "af_0", time=TIME + 1), VALUES)
    first, second = runs.rows(code=1)
    assert (first["verdict"], second["status"]) == ("pass", "FILE_NOT_FOUND")
    assert "the open run has 2 dumps of it, the close run 1" in second["reason"]
    runs.dump("close", dump_name("Relu", "relu_0", time=TIME + 1), VALUES)
    runs.dump("close", dump_name("Relu", "relu_0", time=TIME + 2), VALUES)
    assert [row["verdict"] for row in runs.rows(code=1)] == ["pass", "pass", None]


def test_data_indices_pair_by_value(runs: Runs) -> None:
    runs.pair(None, None)
    for index in (0, 1):
        runs.dump("open", f"0/m/1/{index}/{dump_name('AscBackend', 'af_0')}", VALUES)
    for index in (1, 2):
        runs.dump("close", f"0/m/1/{index}/{dump_name('Relu', 'relu_0')}", VALUES)
    assert [(row["place"], row["verdict"]) for row in runs.rows(code=1)] == [
        ("0/m/1/0", None), ("0/m/1/1", "pass"), ("0/m/1/2", None)
    ]  # fmt: skip


def test_one_data_index_against_another_is_said(runs: Runs) -> None:
    runs.pair(None, None)
    runs.dump("open", f"0/m/1/4/{dump_name('AscBackend', 'af_0')}", VALUES)
    runs.dump("close", f"0/m/1/0/{dump_name('Relu', 'relu_0')}", VALUES)
    assert "data index 4 of the open run against 0" in runs.row(code=0)["reason"]


def test_devices_are_not_mixed(runs: Runs) -> None:
    runs.pair(None, None)
    for device in (0, 1):
        runs.dump("open", f"{device}/m/1/0/{dump_name('AscBackend', 'af_0')}", VALUES * device)
    for device in (1, 2):
        runs.dump("close", f"{device}/m/1/0/{dump_name('Relu', 'relu_0')}", VALUES * device)
    assert [row["verdict"] for row in runs.rows(code=1)] == [None, "pass", None]


def test_a_flat_folder_of_converted_files_against_a_dump_tree(runs: Runs) -> None:
    runs.pair(None, None)
    for index in (0, 1):
        runs.dump("open", f"0/m/1/{index}/{dump_name('AscBackend', 'af_0')}", VALUES * (index + 1))
        runs.dump("close", dump_name("Relu", "relu_0", time=TIME + index), VALUES * (index + 1))
    assert [row["verdict"] for row in runs.rows(code=0)] == ["pass", "pass"]


def test_slices_of_ffts_tasks_pair_by_thread(runs: Runs) -> None:
    runs.pair(None, None)
    for thread in (0, 1):
        context = (5, thread, 0)
        runs.dump("open", dump_name("AscBackend", "af_0", context=context, time=TIME + thread), VALUES * (thread + 1))
        runs.dump("close", dump_name("Relu", "relu_0", context=context, time=TIME - thread), VALUES * (thread + 1))
    assert [row["verdict"] for row in runs.rows(code=0)] == ["pass", "pass"]


def test_links_are_followed_once_and_pipes_left_alone(runs: Runs, tmp_path: Path) -> None:
    import os

    runs.pair(VALUES, VALUES)
    (runs.root / "open" / "loop").symlink_to(runs.root / "open")
    (runs.root / "open" / "dangling").symlink_to(runs.root / "nowhere")
    os.mkfifo(runs.root / "open" / dump_name("AscBackend", "af_0", time=TIME + 9))
    assert runs.row(code=0)["verdict"] == "pass"
    assert index_folder(runs.root / "open").files == 1


def test_a_converted_file_beside_its_raw_dump_is_one_dump(runs: Runs) -> None:
    """The raw file knows the layout and wins; it is not a second step."""
    runs.pair(VALUES + 1, VALUES)
    raw = raw_dump([], [RawTensor(VALUES.tobytes(), 1, VALUES.shape)])
    runs.dump("open", dump_name("AscBackend", "af_0", ""), raw)
    assert runs.row(code=0)["open_path"].endswith(str(TIME))


def test_inputs_are_compared_with_their_producers(runs: Runs) -> None:
    """Fused sources resolve to their origin, others stand for themselves; the n-th data input is the n-th dump."""
    runs.open_ops.append(op("plain", "Cast"))
    runs.close_ops.append(op("plain", "Cast"))
    runs.dump("close", dump_name("Cast", "plain", index=1), VALUES * 3)
    runs.pair(VALUES, VALUES)
    runs.pair(VALUES, VALUES, name="af_1", origin="r1", inputs=["", "af_0:0", "ctl:-1", "plain:1", "lost:0"])
    runs.dump("open", dump_name("AscBackend", "af_1", "input", 0), VALUES)
    runs.dump("open", dump_name("AscBackend", "af_1", "input", 1), VALUES * 3)
    runs.open_ops.append(op("af_2", "AscBackend", [], [desc()]))
    runs.open_ops[-2]["input"].append("af_2:0")
    inputs = [row for row in runs.rows("--compare-input", code=1) if row["side"] == "input"]
    assert [(row["fused_index"], row["origin_op_name"], row["origin_index"], row["status"]) for row in inputs] == [
        (0, "relu_0", 0, "OK"),
        (1, "plain", 1, "OK"),
        (2, "lost", 0, "FILE_NOT_FOUND"),
        (3, "af_2", 0, "NO_MAPPING"),
    ]


def test_the_mapping_of_a_raw_dump_stands_in_for_the_graphs(runs: Runs) -> None:
    values = VALUES.tobytes()
    outputs = [
        RawTensor(values, 1, VALUES.shape, origin=("relu_0", 0)),
        RawTensor(values, 1, VALUES.shape, origin=("relu_0", None)),
        RawTensor(values, 1, VALUES.shape),
    ]
    runs.open_ops.append(op("af_0", "AscBackend", [], [desc(), desc(), desc()]))
    runs.close_ops.append(op("relu_0", "Relu"))
    runs.dump("open", dump_name("AscBackend", "af_0", ""), raw_dump([], outputs))
    runs.dump("close", dump_name("Relu", "relu_0"), VALUES)
    assert [row["status"] for row in runs.rows(code=0)] == ["OK", "NO_MAPPING", "NO_MAPPING"]
