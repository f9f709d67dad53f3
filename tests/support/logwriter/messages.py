"""The messages of one call of `GetTiling` and of one compilation, in the order in which the generated code logs them.

Texts follow the emitters of graph-autofusion. FINAL_TILING lines are made in `final`, what stands around a message in
`wrap`.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Iterator, List, Optional, Tuple

from logwriter.entries import Entry, Origin
from logwriter.final import final_lines, summary_lines
from logwriter.model import (
    Call,
    Candidate,
    Compilation,
    Graph,
    Group,
    GroupKey,
    Producer,
    Result,
    Solution,
)

__all__ = ["call_messages", "compilation_messages"]

_EXPRESSION = (
    "((2 * Max((64 * Ceiling((Rational(1 , 8) * z0z1t_size))), (32 * Ceiling((Rational(1 , 8) * z2t_size))))) + 8192)"
)


def call_messages(call: Call, origin: Origin, producer: Producer, process_name: str = "python3") -> List[Entry]:
    """Everything that the call logs."""
    return list(_Call(call, origin, producer, process_name).entries())


def compilation_messages(compilation: Compilation, origin: Origin, process_name: str = "python3") -> List[Entry]:
    """The `[DFX]` blocks of one group's templates."""
    return list(_compilation(compilation, origin, process_name))


@dataclass(frozen=True)
class _Place:
    """The group being tiled, and how its files and ids are spelled."""

    key: GroupKey
    stem: str

    @property
    def snake(self) -> str:
        return "graph{}_result{}_g{}".format(*self.key)

    @property
    def camel(self) -> str:
        return "AscGraph{}ScheduleResult{}G{}".format(*self.key)

    @property
    def file(self) -> str:
        return "{}_tiling_func_asc_graph{}_schedule_result{}_g{}.cpp".format(self.stem, *self.key)


class _Call:
    def __init__(self, call: Call, origin: Origin, producer: Producer, process_name: str) -> None:
        self.call = call
        self.producer = producer
        self.stem = re.sub(r"[^0-9A-Za-z]+", "_", call.operator)
        self.tail = f"{self.stem}_tiling_func_schedule_group_tail.cpp"
        self.base = Entry(origin, call.operator, "", "chatter", process_name=process_name, file=self.tail)

    def entries(self) -> Iterator[Entry]:
        for graph in self.call.graphs:
            if self.call.start:
                yield self._say("start", "Start GetTiling.", file=self._start_file(graph), line=142)
            yield from self._graph(graph)
        if not self.call.finals_after_end:
            yield from self._finals()
        if self.call.end:
            yield self._say("end", "End GetTiling.", file=self._start_file(self.call.graphs[-1]), line=295)
        if self.call.finals_after_end:
            yield from self._finals()

    def _say(self, kind: str, text: str, **fields: object) -> Entry:
        return dataclasses.replace(self.base, kind=kind, text=text, **fields)  # type: ignore[arg-type]

    def _start_file(self, graph: Graph) -> str:
        if self.call.single or self.producer.starts_name_graph:
            result = graph.results[0]
            return _Place((graph.id, result.id, result.groups[0].id), self.stem).file
        return self.tail

    def _finals(self) -> Iterator[Entry]:
        lines = [final_lines(record, self.call.operator, self.producer) for record in self.call.finals]
        lines += [summary_lines(summary, self.call.operator, self.producer) for summary in self.call.summaries]
        for text in (text for texts in lines for text in texts):
            yield self._say("final", text, function="EmitFinalTilingLines", line=412)

    # --- results -------------------------------------------------------------------------------------------------

    def _graph(self, graph: Graph) -> Iterator[Entry]:
        for result in graph.results:
            yield from self._result(graph, result)
        if graph.chosen is not None and not self.call.single:
            text = f"[PROF]Among all schedule results, graph{graph.id}_result{graph.chosen} is the best choice."
            yield self._say("result", text, function="GetResultSummary", line=34)
        elif not any(result.feasible for result in graph.results):
            yield from self._failure()

    def _result(self, graph: Graph, result: Result) -> Iterator[Entry]:
        for group in result.groups:
            place = _Place((graph.id, result.id, group.id), self.stem)
            for _ in range(group.times):
                yield from self._bracketed(place, self._group(place, group))
        if any(group.second for group in result.groups):
            text = f"Begin to second tiling for result{result.id} core_usage_ratio=0.500000, adjusted_ratio=1.000000."
            yield self._say("chatter", text, level="DEBUG", function=f"GetScheduleResult{result.id}")
        for group in result.groups:
            place = _Place((graph.id, result.id, group.id), self.stem)
            if group.second is not None and group.winner is not None:
                yield from self._bracketed(place, self._second(place, group))
        if result.performance is not None and result.feasible and not self.call.single:
            yield from self._performance(graph, result, result.performance)

    def _performance(self, graph: Graph, result: Result, value: str) -> Iterator[Entry]:
        function = f"GetScheduleResult{result.id}"
        text = f"The value of graph{graph.id}_result{result.id} is {value}{self.producer.performance_tail}"
        group = (graph.id, result.id, 0)
        yield self._say("performance", text, function=function, line=212, group=group)
        if self.producer.update_best:
            text = f"Update best perf to {value}, tiling key = {result.id}, block dim = 8"
            yield self._say("chatter", text, function=function, line=219)

    def _failure(self) -> Iterator[Entry]:
        """The call fails: the newest producers print an empty ERROR, older ones the reason."""
        if self.producer.failure_level == "ERROR":
            yield self._say("chatter", "Failed to execute tiling func.", level="ERROR", function="GetTilingKey")
            yield self._say("failed", "GetTiling Failed.", level="ERROR", line=728)
        else:
            function = "GetTiling" if self.call.single else "GetResultSummary"
            entry = self._say("empty_error", "", level="ERROR", function=function, line=40)
            yield dataclasses.replace(entry, operator=None)

    # --- groups --------------------------------------------------------------------------------------------------

    def _bracketed(self, place: _Place, entries: Iterator[Entry]) -> Iterator[Entry]:
        if self.call.single:
            yield from entries
            return
        text = f"Start tiling for sched group {place.camel}."
        yield self._say("group_begin", text, file=place.file, line=1582, group=place.key)
        yield from entries
        yield self._say("group_end", "End tiling for sched group.", file=place.file, line=1587, group=place.key)

    def _group(self, place: _Place, group: Group) -> Iterator[Entry]:
        text = "The user didn't specify tiling_case_id, iterate all templates."
        yield self._say("chatter", text, file=place.file, function="GetTilingKey")
        best = None
        for candidate in group.candidates:
            if self.producer.scores:
                yield self._score(place, candidate)
            yield from self._solve(place, group, candidate, candidate.solution)
            if candidate.solution is not None and (best is None or candidate is group.winner):
                best = candidate
            if best is not None and self.producer.score_map:
                yield self._score_map(place, candidate, best)
        if group.winner is None:
            yield from self._group_failure(place, group)
        else:
            yield self._choice(place, group.winner)

    def _second(self, place: _Place, group: Group) -> Iterator[Entry]:
        if group.winner is not None:
            yield from self._solve(place, group, group.winner, group.second)

    def _score(self, place: _Place, candidate: Candidate) -> Entry:
        name = f"{candidate.sub_case}{candidate.case}"
        where = "asc_graph{}_schedule_result{}_g{}".format(*place.key)
        text = f"tiling case{name} of {where} score is {candidate.score}"
        return self._of(place, candidate, "score", text, "GetTilingKey", 1547)

    def _score_map(self, place: _Place, candidate: Candidate, best: Candidate) -> Entry:
        name = f"{best.sub_case}{best.case}"
        text = (
            f"[PROF]The score_map[{candidate.score}] has been processed, "
            f"tiling case {name} of {place.snake} is the best choice."
        )
        return self._say("chatter", text, file=place.file, function="GetTilingCaseScoreFunc", line=1524)

    def _choice(self, place: _Place, winner: Candidate) -> Entry:
        name = f"{winner.sub_case}{winner.case}"
        where = f"{place.snake}_{name}" if self.producer.case_in_id else place.snake
        case = winner.case if self.producer.case_in_id else name
        text = f"[PROF]Among the templates, tiling case {case} of {where} is the best choice."
        return self._of(place, winner, "choice", text, "GetTilingKey", 1559)

    def _of(self, place: _Place, candidate: Candidate, kind: str, text: str, function: str, line: int) -> Entry:
        template = (*place.key, candidate.case, candidate.sub_case)
        fields = {"file": place.file, "function": function, "line": line, "group": place.key, "template": template}
        return self._say(kind, text, **fields)

    def _group_failure(self, place: _Place, group: Group) -> Iterator[Entry]:
        for candidate in group.candidates:
            yield self._input(place, group, candidate, "GetTilingKey")
        text = "Failed to execute tiling func."
        yield self._say("chatter", text, level="WARNING", file=place.file, function="GetTilingKey")
        if not self.call.single:
            fields = {"level": self.producer.failure_level, "file": place.file, "line": 1584, "group": place.key}
            yield self._say("group_failed", "GetTiling Failed.", **fields)

    # --- candidates ----------------------------------------------------------------------------------------------

    def _solve(
        self, place: _Place, group: Group, candidate: Candidate, solution: Optional[Solution]
    ) -> Iterator[Entry]:
        yield self._input(place, group, candidate, "DoTiling")
        yield from self._sizes(place, candidate)
        yield from self._solver(place, candidate, solution)
        if solution is None:
            return
        template = (*place.key, candidate.case, candidate.sub_case)
        where = f"{place.snake}_{candidate.sub_case}{candidate.case}"
        fields = {"file": place.file, "function": "TilingSummary", "group": place.key, "template": template}
        for number, (name, value) in enumerate(solution.values):
            text = f"[PROF]The value of {name} is {value} in {where}."
            yield self._say("value", text, name=name, line=716 + number, **fields)
        if solution.objective is not None:
            text = f"[PROF]The objective value of the tiling data is {solution.objective} in {where}."
            yield self._say("value", text, line=716 + len(solution.values), **fields)

    def _input(self, place: _Place, group: Group, candidate: Candidate, function: str) -> Entry:
        """The only line with the shape; it never shows the tag of a sub-case."""
        symbols = "".join(f" {name} = {value}." for name, value in group.shape)
        text = f"Set input params for tiling case {candidate.case} of {place.camel}. {symbols}"
        return self._say("input", text, file=place.file, function=function, line=562, group=place.key)

    def _sizes(self, place: _Place, candidate: Candidate) -> Iterator[Entry]:
        text = f"Set ub_size for tiling case {candidate.case} of {place.camel} to {_EXPRESSION[:70]}"
        yield self._say("chatter", text, file=place.file, function="DoTiling", line=563)
        if self.producer.expressions:
            for piece in (_EXPRESSION[70:], " * " + _EXPRESSION * 20):
                yield self._say("chatter", piece, file=place.file, function="DoTiling", line=564)
        if self.producer.hardware == "params":
            text = "Set hardware params. ub_size = 196608. block_dim = 48."
            yield self._say("hardware", text, file=place.file, function="DoTiling", line=570)

    def _solver(self, place: _Place, candidate: Candidate, solution: Optional[Solution]) -> Iterator[Entry]:
        file = f"{self.stem}_tiling_func_solver_func.cpp"
        if self.producer.debug:
            text = f"Calculating the tiling data for tiling_case_id {candidate.case} of score[{candidate.score}]"
            yield self._say("chatter", text, level="DEBUG", file=place.file, function="GetTilingCaseScoreFunc")
        if solution is None:
            text = f"Failed to execute axes reorder solver for tilingCaseId case{candidate.sub_case}{candidate.case}."
            yield self._say("chatter", text, level="WARNING", file=place.file, function="DoTiling")
            return
        if self.producer.hardware == "input":
            text = "local buffer tiling success, input: core_num: 48, ub_size: 196608, input_vars[0]: 128,"
            yield self._say("hardware", text, file=file, line=457)
        elif self.producer.debug:
            group, result = place.key[2], place.key[1]
            text = (
                f"local buffer tiling success, input: result_id: {result}, group_id: {group}, "
                f"case_id: {candidate.case}, sub_case_id: 0core_num: 48, ub_size: 196608"
            )
            yield self._say("chatter", text, file=file, line=723)


def _compilation(compilation: Compilation, origin: Origin, process_name: str) -> Iterator[Entry]:
    file, name = "tiling_code_generator.cpp", compilation.graph_name
    base = Entry(origin, None, "", "dfx", process_name=process_name, file=file, function="GenModelInfo")
    ids: Tuple[int, int, int] = (compilation.graph, compilation.result, compilation.group)
    size = len(compilation.cases)
    where = "asc graph {}, schedule result {}, schedule group {}".format(*ids)
    text = f"[DFX]Begin to gen model info for {where}, tiling_case size {size}, graph name {name}."
    yield dataclasses.replace(base, text=text)
    for case in compilation.cases:
        text = f"[DFX]Begin to generate model info for graph {name} of tiling case id {case}"
        yield dataclasses.replace(base, text=text)
        for content in compilation.content:
            yield dataclasses.replace(base, text=content)
        if compilation.ends or case != compilation.cases[-1]:
            text = f"[DFX]End to generate model info for graph {name} of tiling case id {case}"
            yield dataclasses.replace(base, text=text)
    if compilation.ends:
        text = "[DFX]End to gen model info for graph{}_result{}_g{} tiling_case size {}, graph name {}.".format(
            *ids, size, name
        )
        yield dataclasses.replace(base, text=text)
