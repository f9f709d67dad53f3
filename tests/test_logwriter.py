"""The log writer writes what the emitters write: its texts beside literal lines of the formats, so that no mistake of
the readers hides in it."""

from __future__ import annotations

import random
from typing import List

import pytest
from logwriter.entries import Origin
from logwriter.files import Layout, write
from logwriter.final import final_lines, mix64, summary_lines
from logwriter.messages import call_messages, compilation_messages
from logwriter.model import (
    Call,
    Candidate,
    Compilation,
    FinalTiling,
    FinalTilingSummary,
    Graph,
    Group,
    Producer,
    Result,
    Solution,
)
from logwriter.noise import application_line, garbage_line, module_line
from logwriter.samples import call, candidate, group, result, run_of, tricky_run
from logwriter.wrap import OUTER, Bare, Plog, Wrapping

SOLVED = Candidate(0, "R", Solution((("q0_size", "64"), ("AIV_MTE2", "12.500000")), "15.250000"), 3)
UNSOLVED = Candidate(1, "", None)
BIG = '{"tile_m":64,' + ",".join(f'"q{number}_size":{number}' for number in range(80)) + "}"


def texts(one: Call, producer: Producer = Producer()) -> List[str]:  # noqa: B008 (frozen)
    """Messages without the chatter, with their level where it is another than INFO."""
    entries = call_messages(one, Origin(7, 8, 0), producer)
    wanted = [entry for entry in entries if entry.kind != "chatter" or "[PROF]" in entry.text]
    return [entry.text if entry.level == "INFO" else f"{entry.level} {entry.text}" for entry in wanted]


def test_a_call_with_two_groups() -> None:
    groups = (
        Group(0, (SOLVED, UNSOLVED), 0, (("s0", "1024"), ("s1", "512"))),
        Group(1, (SOLVED,), 0, (("A_org_size", "14"),)),
    )
    assert texts(Call("Add", (Graph(0, (Result(2, groups, "30.500000"),), 2),))) == [
        "Start GetTiling.",
        "Start tiling for sched group AscGraph0ScheduleResult2G0.",
        "tiling caseR0 of asc_graph0_schedule_result2_g0 score is 3",
        "Set input params for tiling case 0 of AscGraph0ScheduleResult2G0.  s0 = 1024. s1 = 512.",
        "Set hardware params. ub_size = 196608. block_dim = 48.",
        "[PROF]The value of q0_size is 64 in graph0_result2_g0_R0.",
        "[PROF]The value of AIV_MTE2 is 12.500000 in graph0_result2_g0_R0.",
        "[PROF]The objective value of the tiling data is 15.250000 in graph0_result2_g0_R0.",
        "[PROF]The score_map[3] has been processed, tiling case R0 of graph0_result2_g0 is the best choice.",
        "tiling case1 of asc_graph0_schedule_result2_g0 score is 0",
        "Set input params for tiling case 1 of AscGraph0ScheduleResult2G0.  s0 = 1024. s1 = 512.",
        "Set hardware params. ub_size = 196608. block_dim = 48.",
        "[PROF]The score_map[0] has been processed, tiling case R0 of graph0_result2_g0 is the best choice.",
        "[PROF]Among the templates, tiling case R0 of graph0_result2_g0 is the best choice.",
        "End tiling for sched group.",
        "Start tiling for sched group AscGraph0ScheduleResult2G1.",
        "tiling caseR0 of asc_graph0_schedule_result2_g1 score is 3",
        "Set input params for tiling case 0 of AscGraph0ScheduleResult2G1.  A_org_size = 14.",
        "Set hardware params. ub_size = 196608. block_dim = 48.",
        "[PROF]The value of q0_size is 64 in graph0_result2_g1_R0.",
        "[PROF]The value of AIV_MTE2 is 12.500000 in graph0_result2_g1_R0.",
        "[PROF]The objective value of the tiling data is 15.250000 in graph0_result2_g1_R0.",
        "[PROF]The score_map[3] has been processed, tiling case R0 of graph0_result2_g1 is the best choice.",
        "[PROF]Among the templates, tiling case R0 of graph0_result2_g1 is the best choice.",
        "End tiling for sched group.",
        "The value of graph0_result2 is 30.500000",
        "[PROF]Among all schedule results, graph0_result2 is the best choice.",
        "End GetTiling.",
    ]


def test_a_static_operator_with_one_group_prints_no_result_lines() -> None:
    one = call("Add", [Result(0, (Group(0, (SOLVED,)),))])
    assert texts(one, Producer(scores=False, score_map=False, hardware="")) == [
        "Start GetTiling.",
        "Set input params for tiling case 0 of AscGraph0ScheduleResult0G0. ",
        "[PROF]The value of q0_size is 64 in graph0_result0_g0_R0.",
        "[PROF]The value of AIV_MTE2 is 12.500000 in graph0_result0_g0_R0.",
        "[PROF]The objective value of the tiling data is 15.250000 in graph0_result0_g0_R0.",
        "[PROF]Among the templates, tiling case R0 of graph0_result0_g0 is the best choice.",
        "End GetTiling.",
    ]


def test_a_failing_call() -> None:
    """The group's failure within its brackets, then an ERROR without text of the call."""
    results = (Result(0, (Group(0, (UNSOLVED,), None, (("s0", "1"),)),)), Result(1, (Group(0, (UNSOLVED,), None),)))
    found = texts(Call("Add", (Graph(0, results),)), Producer(scores=False, hardware=""))
    assert found == [
        "Start GetTiling.",
        "Start tiling for sched group AscGraph0ScheduleResult0G0.",
        *["Set input params for tiling case 1 of AscGraph0ScheduleResult0G0.  s0 = 1."] * 2,
        "WARNING GetTiling Failed.",
        "End tiling for sched group.",
        "Start tiling for sched group AscGraph0ScheduleResult1G0.",
        *["Set input params for tiling case 1 of AscGraph0ScheduleResult1G0. "] * 2,
        "WARNING GetTiling Failed.",
        "End tiling for sched group.",
        "ERROR ",
        "End GetTiling.",
    ]


def test_old_producers() -> None:
    old = Producer(False, False, False, "input", ".", case_in_id=True)
    found = texts(
        call("Add", [Result(0, (Group(-1, (SOLVED,)),), "1.500000"), Result(1, (Group(-1, (SOLVED,)),))]), old
    )
    assert "The value of graph0_result0 is 1.500000." in found
    assert "[PROF]Among the templates, tiling case 0 of graph0_result0_g-1_R0 is the best choice." in found
    assert any(text.startswith("local buffer tiling success, input: core_num: 48, ub_size: 196608") for text in found)


def test_plog_lines() -> None:
    entry = call_messages(call("Add", [result(0, [group(0, [candidate(0)])])]), Origin(77, 12), Producer())[0]
    head = "GE(77,python3):2026-08-01-10:42:25.178.318 [Add_tiling_func_asc_graph0_schedule_result0_g0.cpp:142]"
    assert Plog()(entry, 1) == f"[INFO] {head}12 GetTiling:[Add]Start GetTiling.".encode()
    spaced = Plog(2, "[status:INIT] ", 1, process="( {pid}, {name}):")
    head = head.replace("(77,python3)", "( 77, python3)")
    assert spaced(entry, 1) == f"[INFO] {head}  [status:INIT] 12 GetTiling:[Add] Start GetTiling.".encode()
    assert Bare("[{level}][{operator}]{text}")(entry, 1) == b"[INFO][Add]Start GetTiling."


def test_an_empty_error_has_no_operator() -> None:
    one = Call("Add", (Graph(0, (Result(0, (Group(0, (UNSOLVED,), None),)),)),))
    (entry,) = (entry for entry in call_messages(one, Origin(77, 12), Producer()) if entry.kind == "empty_error")
    line = Plog()(entry, 1) or b""
    assert line.startswith(b"[ERROR] GE(77,python3):") and line.endswith(b"]12 GetTiling: ErrorNo: 4294967295()")
    assert Bare()(entry, 1) is None


def test_lines_are_cut_at_1023_bytes_with_their_newline() -> None:
    (file,) = write(run_of(call("算" * 400, [result(0, [group(0, [candidate(0)])])])))
    assert {len(line.data) for line in file.lines if len(line.data) > 1000} == {1022}
    assert file.data.count(b"\n") == len(file.lines)


@pytest.mark.parametrize(
    ("data", "digest"),
    [(b"", "000000006d2b79f5"), (b"{}", "f41025c6e346c01c"), (b'{"tiling_key":7}', "c492b5720c079792")],
)
def test_published_hashes(data: bytes, digest: str) -> None:
    assert mix64(data) == digest


def test_final_tiling_in_one_line() -> None:
    record = FinalTiling(
        *(0, 0, 1, 2, 5, "", 1), template="ConcatCase2", representation='{"tile_m":64}', pipe_estimates=(("V", None),)
    )
    assert final_lines(record, "Fusion_0", Producer()) == [
        (
            '[ATT][FINAL_TILING] schema=1 source="runtime" selection_mode="default" operator="Fusion_0" graph=0 '
            'result=0 group=1 case_id=2 tiling_key=5 score=1 sub_case_tag="" template="ConcatCase2" '
            'repr_kind="full_json" pipe_estimates="{\\"V\\":null}" tiling_repr="{\\"tile_m\\":64}"'
        )
    ]


def test_final_tiling_in_a_frame() -> None:
    begin, *chunks, end = final_lines(FinalTiling(0, 1, 0, 12, 7, "R", representation=BIG), "Fusion_0", Producer())
    frame_id = 'id="8:Fusion_0|0|1|0|12|7|1:R"'
    check = f"{frame_id} chunks={len(chunks)} len={len(BIG)} hash_alg=att_mix64_v1 hash={mix64(BIG.encode())}"
    assert begin.startswith("[ATT][FINAL_TILING_BEGIN] schema=1 ") and begin.endswith(check)
    assert "tiling_repr" not in begin
    assert end == f"[ATT][FINAL_TILING_END] {check}"
    for number, chunk in enumerate(chunks):
        assert chunk.startswith(f'[ATT][FINAL_TILING_CHUNK] {frame_id} seq={number} data="')
    payload = "".join(chunk.split('data="')[1][:-1] for chunk in chunks)
    assert payload.replace('\\"', '"') == BIG


def test_a_summary_in_one_line() -> None:
    lines = summary_lines(FinalTilingSummary(0, 1, (FinalTiling(0, 1, 0, 2, 5),)), "Add", Producer())
    assert lines == [
        (
            '[ATT][FINAL_TILING_SUMMARY] schema=1 source="runtime" selection_mode="default" operator="Add" graph=0 '
            'result=1 groups="{\\"0\\":{\\"case_id\\":2,\\"tiling_key\\":5,\\"score\\":0,\\"sub_case_tag\\":\\"\\",'
            '\\"template\\":\\"graph0_result1_g0_2\\"}}"'
        )
    ]


def test_compiler_blocks() -> None:
    entries = compilation_messages(Compilation("Add_graph", (0, 3), 0, 1, 2, ("anything",)), Origin(7, 8))
    assert [entry.text for entry in entries] == [
        (
            "[DFX]Begin to gen model info for asc graph 0, schedule result 1, schedule group 2, tiling_case size 2, "
            "graph name Add_graph."
        ),
        "[DFX]Begin to generate model info for graph Add_graph of tiling case id 0",
        "anything",
        "[DFX]End to generate model info for graph Add_graph of tiling case id 0",
        "[DFX]Begin to generate model info for graph Add_graph of tiling case id 3",
        "anything",
        "[DFX]End to generate model info for graph Add_graph of tiling case id 3",
        "[DFX]End to gen model info for graph0_result1_g2 tiling_case size 2, graph name Add_graph.",
    ]


def test_rotated_files_hold_all_lines_in_order() -> None:
    (whole,) = write(tricky_run(), Layout(seed=3, noise=0.2))
    parts = write(tricky_run(), Layout(seed=3, noise=0.2, parts=5))
    assert b"".join(part.data for part in parts) == whole.data
    assert [part.name for part in parts] == sorted(part.name for part in parts)


def test_interleaving_keeps_the_order_of_each_thread() -> None:
    (file,) = write(tricky_run(), Layout(Wrapping(outer=tuple(OUTER)), seed=1, noise=0.5, blank_lines=0.2))
    entries = [line.entry for line in file.lines if line.entry is not None]
    assert [entry.text for entry in entries] == [
        entry.text
        for number, one in enumerate(tricky_run().processes[0].threads[0].calls)
        for entry in call_messages(one, Origin(77, 12, number), Producer())
    ]


def test_noise_comes_in_all_kinds() -> None:
    chance = random.Random(0)
    modules = {module_line(chance, 7, 8, number).split(b" ")[1].split(b"(")[0] for number in range(300)}
    assert modules >= {b"GE", b"HCCL", b"RUNTIME", b"PROFILING"}
    assert any(b"Traceback" in application_line(chance, number) for number in range(300))
    with pytest.raises(UnicodeDecodeError):
        b"\n".join(garbage_line(chance) for _ in range(50)).decode()
