"""What a reader should make of the files that a run was written to: one `CallView` per call, with its lines.

Nothing here reads text: values come from the model, places from the entries that the lines were made of.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple

from logwriter.entries import Entry
from logwriter.files import LogFile
from logwriter.model import Call, Group, GroupKey, Run, Solution, TemplateKey

__all__ = ["CallView", "RowView", "TemplateView", "calls_of", "expected", "rows"]


@dataclass
class TemplateView:
    """One candidate: the last print of each value, and its line."""

    values: Dict[str, str] = field(default_factory=dict)
    objective: Optional[str] = None
    score: Optional[int] = None
    lines: Dict[str, int] = field(default_factory=dict)
    """The objective's line is under `objective`."""


@dataclass
class CallView:
    """One call as a reader sees it; pid and tid are None where the lines do not tell."""

    operator: str
    pid: Optional[int]
    tid: Optional[int]
    path: str
    line: int
    ordinal: int = 0
    total: int = 0
    shape: Dict[str, str] = field(default_factory=dict)
    group_shapes: Dict[GroupKey, Dict[str, str]] = field(default_factory=dict)
    hardware: Dict[str, str] = field(default_factory=dict)
    groups: Set[GroupKey] = field(default_factory=set)
    failed_groups: Set[GroupKey] = field(default_factory=set)
    templates: Dict[TemplateKey, TemplateView] = field(default_factory=dict)
    choices: Dict[GroupKey, TemplateKey] = field(default_factory=dict)
    results: Dict[int, int] = field(default_factory=dict)
    performances: Dict[Tuple[int, int], str] = field(default_factory=dict)
    incomplete: bool = False
    failed: bool = False
    """The call ended with nothing chosen."""
    finals: Tuple[str, ...] = ()
    """Texts of the FINAL_TILING lines, behind `[ATT]`."""


class RowView(NamedTuple):
    """One row of a summary."""

    graph: Optional[int]
    result: Optional[int]
    group: Optional[int]
    case: Optional[int]
    sub_case: str
    status: str
    performance: Optional[str]


def expected(run: Run, files: Sequence[LogFile], tells_process: bool = True) -> List[CallView]:
    """The calls, ordered by process, operator (as first seen) and first line.

    A call of which no line is left in the files is not there.
    """
    places = _places(files)
    views: List[Tuple[Tuple[int, int], CallView]] = []
    for number, (pid, tid, call) in enumerate(calls_of(run)):
        if number in places:
            view = _view(run, call, places[number], (pid, tid) if tells_process else (None, None))
            explicit = any(
                c.start or c.end for p, t, c in calls_of(run) if (p, t, c.operator) == (pid, tid, call.operator)
            )
            view.incomplete = not call.end and explicit
            views.append((places[number][0][0], view))
    views.sort(key=lambda item: item[0])
    ordered = [view for _, view in views]
    _number(ordered)
    return ordered


def calls_of(run: Run) -> List[Tuple[int, int, Call]]:
    """(pid, tid, call) in the order of the model, by which calls are numbered."""
    return [
        (process.pid, thread.tid, call)
        for process in run.processes
        for thread in process.threads
        for call in thread.calls
    ]


def rows(view: CallView, everything: bool = False) -> List[RowView]:
    """The rows that a summary shows of a call: the groups of the chosen result, or of every result that chose."""
    if (view.failed and not everything) or not (view.choices or view.results):
        return [RowView(None, None, None, None, "", _status(view, None, None, None), None)]
    found: List[RowView] = []
    for graph in sorted({key[0] for key in view.groups} | set(view.results)):
        found.extend(_rows_of_graph(view, graph, everything))
    return found


# --- calls ------------------------------------------------------------------------------------------------------------

Place = Tuple[Tuple[int, int], str, Entry]
"""(file, line), path, entry"""


def _places(files: Sequence[LogFile]) -> Dict[int, List[Place]]:
    """The entries of each call with where they stand; chatter is no sign of a call."""
    places: Dict[int, List[Place]] = {}
    for index, file in enumerate(files):
        for number, line in enumerate(file.lines, 1):
            entry = line.entry
            if entry is not None and entry.origin.call is not None and entry.kind not in ("chatter", "hardware"):
                places.setdefault(entry.origin.call, []).append(((index, number), file.name, entry))
    return places


def _view(run: Run, call: Call, places: List[Place], thread: Tuple[Optional[int], Optional[int]]) -> CallView:
    (_, number), path, _ = places[0]
    view = CallView(call.operator, thread[0], thread[1], path, number)
    for graph in call.graphs:
        for result in graph.results:
            for group in result.groups:
                _add_group(view, run, (graph.id, result.id, group.id), group)
            if result.performance is not None and result.feasible and not call.single:
                view.performances[(graph.id, result.id)] = result.performance
        if graph.chosen is not None and not call.single:
            view.results[graph.id] = graph.chosen
    if call.single:
        view.failed_groups.clear()
    view.finals = tuple(entry.text[len("[ATT]") :] for _, _, entry in places if entry.kind == "final")
    # A call that says it failed, and has no result, failed, though one of its groups may have chosen before.
    view.failed = call.fails and not (view.results or view.performances or view.finals)
    view.hardware = {"ub_size": "196608", "block_dim": "48"} if run.producer.hardware == "params" else view.hardware
    _add_lines(view, places)
    return view


def _add_group(view: CallView, run: Run, key: GroupKey, group: Group) -> None:
    view.groups.add(key)
    view.group_shapes[key] = dict(group.shape)
    if key[2] == 0:
        for name, value in group.shape:
            view.shape.setdefault(name, value)
    if group.winner is None:
        view.failed_groups.add(key)
    else:
        view.choices[key] = (*key, group.winner.case, group.winner.sub_case)
    for candidate in group.candidates:
        solutions = [candidate.solution, group.second if candidate is group.winner else None]
        solved = [solution for solution in solutions if solution is not None]
        if solved or run.producer.scores or candidate is group.winner:
            template = TemplateView()
            view.templates[key[0], key[1], key[2], candidate.case, candidate.sub_case] = template
            _fill(template, solved)
            template.score = candidate.score if run.producer.scores else None
        if solved and run.producer.hardware == "input":
            view.hardware = {"ub_size": "196608", "block_dim": "48"}


def _fill(template: TemplateView, solutions: Iterable[Solution]) -> None:
    for solution in solutions:
        template.values.update(solution.values)
        template.objective = template.objective if solution.objective is None else solution.objective


def _add_lines(view: CallView, places: List[Place]) -> None:
    for (_, number), _, entry in places:
        if entry.kind == "value" and entry.template is not None:
            view.templates[entry.template].lines[entry.name or "objective"] = number


def _number(views: Sequence[CallView]) -> None:
    counts: Dict[Tuple[Optional[int], str], int] = {}
    for view in views:
        key = (view.pid, view.operator)
        view.ordinal = counts[key] = counts.get(key, 0) + 1
    for view in views:
        view.total = counts[(view.pid, view.operator)]


# --- rows -------------------------------------------------------------------------------------------------------------


def _rows_of_graph(view: CallView, graph: int, everything: bool) -> List[RowView]:
    chosen = view.results.get(graph)
    wanted = {key for key in view.choices if key[0] == graph and (everything or chosen is None)}
    wanted |= {key for key in view.groups if key[:2] == (graph, chosen)}
    if not wanted:
        return [
            RowView(
                graph, chosen, None, None, "", _status(view, graph, chosen, None), _performance(view, graph, chosen)
            )
        ]
    return [_row(view, key) for key in sorted(wanted)]


def _row(view: CallView, key: GroupKey) -> RowView:
    choice = view.choices.get(key)
    case, sub_case = (choice[3], choice[4]) if choice else (None, "")
    return RowView(*key, case, sub_case, _status(view, *key), _performance(view, key[0], key[1]))


def _performance(view: CallView, graph: int, result: Optional[int]) -> Optional[str]:
    return None if result is None else view.performances.get((graph, result))


def _status(view: CallView, graph: Optional[int], result: Optional[int], group: Optional[int]) -> str:
    codes = ["tiling_failed"] if view.failed else _missing(view, graph, result, group)
    return ";".join(codes + ["incomplete_invocation"] * view.incomplete) or "ok"


def _missing(view: CallView, graph: Optional[int], result: Optional[int], group: Optional[int]) -> List[str]:
    if graph is None or result is None:
        return ["missing_graph_result"]
    template = view.choices.get((graph, result, -1 if group is None else group))
    codes = [] if graph in view.results else ["inferred_graph_result"]
    if template is None:
        codes.append("missing_group_case")
    if view.results.get(graph) == result and (graph, result) not in view.performances:
        codes.append("missing_result_performance")
    if template is not None and not (view.templates[template].values or view.templates[template].objective):
        codes.append("missing_tiling_values")
    return codes
