"""Writes examples/runs/: the logs of two runs, `default` and `pgo`, of twenty fused operators.

Everything is made up from a small cost model; names, shapes and cycles belong to no real network. In `pgo` one operator
(autofuse_reduce_7_Mul_Sum) chose another template that is some per cent slower; the others are as fast as in `default`
or a little faster.

    python examples/make_sample_runs.py [FOLDER]
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Generator, Iterator, List, Sequence, Tuple

PID = 4711
TIDS = (4711, 4733)
CORES = 48
UB_BYTES = 196608
SLOWER = "autofuse_reduce_7_Mul_Sum"
"""The operator that gets slower in `pgo`."""
RETUNED = "autofuse_concat_12_Cast_Concat"
"""The operator that chooses another, faster template in `pgo`."""
LINES_PER_FILE = 2600

Line = Tuple[int, str, str, str]
"""Thread, emitter (`file:line`), function, `[OP]message`."""
Template = Tuple[str, int, Dict[str, str]]
"""Case with its tag, group, values."""


@dataclass(frozen=True)
class Operator:
    """A fused operator: what it looks like to the tiling code."""

    name: str
    weight: float
    results: int
    groups: int
    cases: Tuple[str, ...]
    """Cases of each group, with their sub-case tags."""
    shapes: Tuple[Tuple[int, int], ...]
    graphs: int = 1
    final: bool = False
    fails_first: bool = False
    static: bool = False


OPERATORS = (
    Operator("autofuse_pointwise_0_Abs_Add", 1.0, 1, 1, ("0", "1"), ((64, 512), (128, 4096), (1024, 1024))),
    Operator("autofuse_pointwise_1_Mul_Relu", 0.8, 1, 1, ("0",), ((32, 256), (256, 2048))),
    Operator("autofuse_pointwise_2_Exp_Sub_Div", 1.7, 1, 1, ("0", "1", "R1"), ((128, 1000), (128, 4000))),
    Operator("autofuse_pointwise_3_Cast_Mul", 0.6, 1, 1, ("0",), ((1, 8192),), static=True),
    Operator("autofuse_reduce_4_Max", 1.2, 2, 1, ("0", "1", "R0"), ((64, 777), (512, 777))),
    Operator("autofuse_reduce_5_Sum", 1.3, 2, 2, ("0", "R0"), ((16, 4096), (48, 65536))),
    Operator(
        "autofuse_reduce_6_Softmax", 2.4, 3, 2, ("0", "1", "R1"), ((128, 512), (128, 2048), (256, 4096)), final=True
    ),
    Operator("autofuse_reduce_7_Mul_Sum", 2.0, 2, 2, ("0", "1", "R2"), ((256, 1024), (512, 4096))),
    Operator("autofuse_reduce_8_LayerNorm", 2.8, 3, 2, ("0", "1", "2", "R2"), ((128, 768), (512, 768))),
    Operator("autofuse_transpose_9_Sub_Abs", 1.5, 1, 1, ("0", "1", "10"), ((64, 333), (128, 777))),
    Operator("autofuse_transpose_10_Add", 1.1, 1, 1, ("0", "1"), ((96, 1280),)),
    Operator("autofuse_concat_11_Concat", 0.9, 2, 2, ("0", "1"), ((8, 51), (1000, 51)), fails_first=True),
    Operator("autofuse_concat_12_Cast_Concat", 1.4, 3, 2, ("0", "1", "R2"), ((16, 640), (64, 640))),
    Operator("autofuse_slice_13_Slice_Add", 0.7, 1, 1, ("0",), ((128, 300), (128, 900))),
    Operator("autofuse_gather_14_Gather_Mul", 1.9, 2, 1, ("0", "1"), ((4096, 64), (16384, 64))),
    Operator("autofuse_broadcast_15_Add_Gelu", 2.2, 2, 1, ("0", "R0", "1"), ((128, 3072), (256, 3072)), final=True),
    Operator("autofuse_split_16_Split_Relu", 1.0, 1, 1, ("0", "1"), ((32, 2048),), graphs=2),
    Operator("model/block.3/attn:0 [fused]", 1.6, 2, 1, ("0", "1"), ((12, 512), (12, 2048))),
    Operator("Fused_Where_Select", 0.8, 1, 1, ("0", "R0"), ((1, 100), (64, 100))),
    Operator("Fused_Clip_Round", 0.5, 1, 1, ("0",), ((512, 512),), final=True),
)


class Run:
    """One run: draws everything from a seed of its own, so that a change of one operator leaves the others alone."""

    def __init__(self, name: str) -> None:
        self.pgo = name == "pgo"
        self.name = name

    def lines(self) -> List[Line]:
        """All calls; two threads take turns in the order of a scheduler that is made up too."""
        queues: Dict[int, List[List[Line]]] = {tid: [] for tid in TIDS}
        for index, operator in enumerate(OPERATORS):
            tid = TIDS[index % len(TIDS)]
            for number, shape in enumerate(operator.shapes):
                queues[tid].append(list(Call(self, operator, number, shape, tid).lines()))
        return _interleave(queues, random.Random(99))


class Call:
    """One call of GetTiling."""

    def __init__(self, run: Run, operator: Operator, number: int, shape: Tuple[int, int], tid: int) -> None:
        self.run = run
        self.operator = operator
        self.shape = shape
        self.tid = tid
        self.failing = operator.fails_first and number == 0
        self.random = random.Random(f"{operator.name} {number}")
        self.last = number == len(operator.shapes) - 1

    def lines(self) -> Iterator[Line]:
        """As the generated code logs it."""
        several = self.operator.results * self.operator.groups > 1
        for graph in range(self.operator.graphs):
            entry = "schedule_group_tail.cpp:280" if several else f"asc_graph{graph}_schedule_result0_g0.cpp:726"
            yield self._line(entry, "GetTiling", "Start GetTiling.")
            yield from self._graph(graph, several)
        yield self._line("schedule_group_tail.cpp:348", "GetTiling", "End GetTiling.")

    def _graph(self, graph: int, several: bool) -> Iterator[Line]:
        best: Tuple[float, int] = (float("inf"), -1)
        chosen: Dict[int, List[Template]] = {}
        for result in range(self.operator.results):
            total = 0.0
            templates: List[Template] = []
            for group in range(self.operator.groups):
                cycles, found = yield from self._group(graph, result, group, several)
                total += cycles
                templates.append(found)
            chosen[result] = templates
            if several and not self.failing:
                tail = "schedule_group_tail.cpp:262"
                text = f"The value of graph{graph}_result{result} is {total:.6f}"
                yield self._line(tail, f"GetScheduleResult{result}", text)
                if total < best[0]:
                    best = (total, result)
                    text = f"Update best perf to {total:.6f}, tiling key = {result}, block dim = {CORES}"
                    yield self._line("schedule_group_tail.cpp:268", f"GetScheduleResult{result}", text)
        if several and self.failing:
            yield (self.tid, self._file("schedule_group_tail.cpp:24"), "GetResultSummary", " ErrorNo: 4294967295() ")
        elif several:
            text = f"[PROF]Among all schedule results, graph{graph}_result{best[1]} is the best choice."
            yield self._line("schedule_group_tail.cpp:66", "GetResultSummary", text)
        if self.operator.final and not self.failing:
            yield from self._final(graph, max(best[1], 0), chosen[max(best[1], 0)])

    def _group(
        self, graph: int, result: int, group: int, several: bool
    ) -> Generator[Line, None, Tuple[float, Template]]:
        place = f"asc_graph{graph}_schedule_result{result}_g{group}.cpp"
        camel = f"AscGraph{graph}ScheduleResult{result}G{group}"
        if several:
            yield self._line(f"{place}:683", "GetTiling", f"Start tiling for sched group {camel}.")
        for case in self.operator.cases:
            text = f"tiling case{case} of asc_graph{graph}_schedule_result{result}_g{group} score is {_score(case)}"
            yield self._line(f"{place}:657", "GetTilingKey", text)
        candidates: List[Tuple[float, str, Dict[str, str]]] = []
        for case in self.operator.cases:
            text = f"Set input params for tiling case {case.lstrip('R')} of {camel}. {self._symbols(group)}"
            yield self._line(f"{place}:422", "DoTiling", text)
            hardware = f"Set hardware params. ub_size = {UB_BYTES}. block_dim = {CORES}."
            yield self._line(f"{place}:427", "DoTiling", hardware)
            if self.failing:
                yield self._line(f"{place}:629", "DoTiling", "Failed to execute axes reorder solver.", "WARNING")
                continue
            values, objective = self._candidate(result, group, case)
            template = f"graph{graph}_result{result}_g{group}_{case}"
            for name, value in values.items():
                yield self._line(
                    f"{place}:579", "TilingSummary", f"[PROF]The value of {name} is {value} in {template}."
                )
            text = f"[PROF]The objective value of the tiling data is {objective:.6f} in {template}."
            yield self._line(f"{place}:590", "TilingSummary", text)
            candidates.append((objective, case, values))
        if self.failing:
            yield self._line(f"{place}:724", "GetTiling", "GetTiling Failed.", "WARNING")
            cycles, case, values = float("inf"), "", {}
        else:
            cycles, case, values = min(candidates)
            chosen = f"tiling case {case} of graph{graph}_result{result}_g{group}"
            text = f"[PROF]Among the templates, {chosen} is the best choice."
            yield self._line(f"{place}:697", "GetTilingKey", text)
        if several:
            yield self._line(f"{place}:688", "GetTiling", "End tiling for sched group.")
        return cycles, (case, group, values)

    def _candidate(self, result: int, group: int, case: str) -> Tuple[Dict[str, str], float]:
        """Values and objective of one template, after what profile-guided tuning did to it."""
        name = self.operator.name
        tuned = {SLOWER: 1.1, RETUNED: 0.985}.get(name)
        if tuned is None:
            gain = 0.004 * (sum(map(ord, name)) % 5) if self.run.pgo else 0.0
            return self._modelled(result, group, case, 1.0 - gain)
        plain = [other for other in self.operator.cases if other != "R2"]
        if case != "R2":
            return self._modelled(result, group, case, 3.0 if self.run.pgo else 1.0)
        if not self.run.pgo:
            return self._modelled(result, group, case, 3.0)
        best = min(plain, key=lambda other: self._modelled(result, group, other, 1.0)[1])
        return self._modelled(result, group, best, tuned)

    def _modelled(self, result: int, group: int, case: str, factor: float) -> Tuple[Dict[str, str], float]:
        rows, columns = self.shape
        draw = random.Random(f"{self.operator.name} {self.shape} {result} {group} {case}")
        elements = rows * columns * self.operator.weight / (group + 1)
        tile = max(8, int(columns // draw.choice((1, 2, 4))))
        blocks = max(1, min(CORES, rows * columns // max(tile * 4, 1)))
        spread = 1.0 + 0.35 * draw.random() + 0.1 * result
        mte2 = (elements / blocks * 0.031 * spread + 171.4) * factor
        mte3 = (elements / blocks * 0.024 * spread * draw.uniform(0.6, 1.6) + 96.2) * factor
        vec = (elements / blocks * 0.05 * draw.random() + 41.9) * factor
        values = {
            "z0t_size": str(tile),
            "z0Tb_size": str(max(1, rows // blocks)),
            "ub_size": str(min(UB_BYTES, tile * 4 * 32 + 8192)),
            "block_dim": str(blocks),
            "q0_size": str(tile * 4),
            "b0_size": str(tile * 2 + 8192),
            "AIV_MTE2": f"{mte2:.6f}",
            "AIV_MTE3": f"{mte3:.6f}",
            "AIV_VEC": f"{vec:.6f}",
        }
        return values, max(mte2, mte3, vec) + 300.0 * max(1, blocks / 16)

    def _symbols(self, group: int) -> str:
        if self.operator.static:
            return ""
        if group:
            return f" A_org_size = {self.shape[0]}. Rm_org_size = {self.shape[1]}."
        return f" s0 = {self.shape[0]}. s1 = {self.shape[1]}."

    def _final(self, graph: int, result: int, templates: Sequence[Template]) -> Iterator[Line]:
        for key, (case, group, values) in enumerate(templates):
            numbers = {name: int(value) for name, value in values.items() if value.isdigit()}
            payload = {"tiling_key": key, **numbers}
            if self.operator.name.endswith("Softmax"):
                payload.update({f"q{index}_size": numbers["q0_size"] + index for index in range(1, 60)})
            pipes = {name: value for name, value in values.items() if name.startswith("AIV_")}
            yield from self._records(graph, result, group, case, key, pipes, json.dumps(payload, separators=(",", ":")))

    def _records(
        self, graph: int, result: int, group: int, case: str, key: int, pipes: Dict[str, str], payload: str
    ) -> Iterator[Line]:
        tag, number = ("R", case[1:]) if case.startswith("R") else ("", case)
        name = self.operator.name
        estimates = "{" + ",".join(f'\\"{pipe}\\":{value}' for pipe, value in pipes.items()) + "}"
        head = (
            f'schema=1 source="runtime" selection_mode="default" operator="{name}" graph={graph} result={result} '
            f'group={group} case_id={number} tiling_key={key} score={_score(case)} sub_case_tag="{tag}" '
            f'template="graph{graph}_result{result}_g{group}_{case}" repr_kind="full_json" '
            f'pipe_estimates="{estimates}"'
        )
        emitter, function = "tiling_const.h:412", "EmitFinalTilingLines"
        text = payload.replace("\\", "\\\\").replace('"', '\\"')
        if len(payload) <= 300:
            yield self._line(emitter, function, f'[ATT][FINAL_TILING] {head} tiling_repr="{text}"')
            return
        ident = f'id="{len(name)}:{name}|{graph}|{result}|{group}|{number}|{key}|{len(tag)}:{tag}"'
        chunks = [payload[at : at + 400] for at in range(0, len(payload), 400)]
        size = f"chunks={len(chunks)} len={len(payload)} hash_alg=att_mix64_v1 hash={_mix64(payload.encode()):016x}"
        yield self._line(emitter, function, f"[ATT][FINAL_TILING_BEGIN] {head} {ident} {size}")
        for sequence, chunk in enumerate(chunks):
            data = chunk.replace('"', '\\"')
            yield self._line(emitter, function, f'[ATT][FINAL_TILING_CHUNK] {ident} seq={sequence} data="{data}"')
        yield self._line(emitter, function, f"[ATT][FINAL_TILING_END] {ident} {size}")

    def _line(self, emitter: str, function: str, message: str, level: str = "INFO") -> Line:
        return (self.tid, self._file(emitter), function, f"{level}\0[{self.operator.name}]{message}")

    def _file(self, emitter: str) -> str:
        stem = "".join(c if c.isalnum() else "_" for c in self.operator.name)
        return f"{stem}_tiling_func_{emitter}"


def _score(case: str) -> int:
    return 1 if case.startswith("R") else 0


def _mix64(data: bytes) -> int:
    """The hash att_mix64_v1 of FINAL_TILING."""
    h = 0x6D2B79F5
    for byte in data:
        h = (h ^ (byte + 0x9E3779B9 + (h << 6) + (h >> 2))) & (2**64 - 1)
        h = ((h << 13) | (h >> 51)) & (2**64 - 1)
    return h


def _interleave(queues: Dict[int, List[List[Line]]], draw: random.Random) -> List[Line]:
    streams = {tid: [line for call in calls for line in call] for tid, calls in queues.items()}
    merged: List[Line] = []
    while any(streams.values()):
        tid = draw.choice([tid for tid, lines in streams.items() if lines])
        count = draw.randint(1, 9)
        merged.extend(streams[tid][:count])
        del streams[tid][:count]
    return merged


NOISE = (
    "[INFO] RUNTIME({pid},train):{time} [stream.cc:{n}]{tid} StreamSync: stream {n} is idle",
    "[DEBUG] GE({pid},train):{time} [graph_cache.cc:{n}]{tid} Lookup:graph {n} found in the cache",
    "[INFO] HCCL({pid},train):{time} [op_base.cc:{n}] [{tid}]Entry-AllReduce: count[{n}]",
    "step {n}: loss 2.{n}",
    "[INFO] GE({pid},train):{time} [profiler.cc:{n}]{tid} Mark:[PERF_STAT] took {n} us",
)


def wrapped(lines: Sequence[Line]) -> Iterator[str]:
    """The lines of the log files, with what other modules and the application write between them."""
    draw = random.Random(5)
    microseconds = 0
    for tid, emitter, function, message in lines:
        microseconds += draw.randint(3, 40)
        time = _time(microseconds)
        if draw.random() < 0.12:
            noise = draw.choice(NOISE)
            yield noise.format(pid=PID, tid=tid, time=time, n=draw.randint(1, 999))
        level, _, text = message.partition("\0") if "\0" in message else ("ERROR", "", message)
        yield f"[{level}] GE({PID},train):{time} [{emitter}]{tid} {function}:{text}"


def _time(microseconds: int) -> str:
    seconds, rest = divmod(microseconds, 1_000_000)
    return f"2026-11-08-10:{15 + seconds // 60:02d}:{seconds % 60:02d}.{rest // 1000:03d}.{rest % 1000:03d}"


def write_runs(folder: Path) -> None:
    """Writes both runs below `folder`, in the layout of an ascend log folder, rotated as CANN does.

    The older file of `pgo` is compressed, as people keep them.
    """
    for name in ("default", "pgo"):
        plog = folder / name / "debug" / "plog"
        plog.mkdir(parents=True, exist_ok=True)
        lines = list(wrapped(Run(name).lines()))
        for part, begin in enumerate(range(0, len(lines), LINES_PER_FILE)):
            data = ("\n".join(lines[begin : begin + LINES_PER_FILE]) + "\n").encode()
            file = plog / f"plog-{PID}_202611081015{part:02d}123.log"
            if name == "pgo" and part == 0:
                file.with_name(file.name + ".gz").write_bytes(gzip.compress(data, mtime=0))
            else:
                file.write_bytes(data)


if __name__ == "__main__":
    write_runs(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "runs")
