"""From the run model of the tiling logs to the `OperatorLog`s that the analysis works on."""

from __future__ import annotations

from functools import cache
from typing import Dict, List, Optional, Sequence, Tuple

from autofuse.cli.app import App
from autofuse.types import PipeFormula, Record, TemplateId
from autofuse_att_summary.filters import CaseFilter, InvocationChoice, Selection
from autofuse_att_summary.model import Invocation, OperatorRun, Template
from autofuse_att_summary.reading import LogRun, read_logs

from autofuse_att_perf.candidates import Candidate, OperatorLog
from autofuse_att_perf.formulas import is_pipe
from autofuse_att_perf.perf_lines import parser

__all__ = ["Logs", "operator_logs"]


class Logs:
    """Collects the last invocation that chose something of each operator and process, and all [PERF] lines."""

    def __init__(self) -> None:
        self.selections: Dict[int, Selection] = {}
        self.formulas: List[PipeFormula] = []
        self.run: Optional[LogRun] = None

    def read(self, app: App, locations: Sequence[str]) -> LogRun:
        """Reads the logs once. AutofuseError when nothing can be read."""
        parser.unread.clear()
        self.run = read_logs(app, locations, self._add, other=self._add_record)
        if parser.unread:
            path, line = min(parser.unread)
            count = len(parser.unread)
            app.notice(f"{count} [PERF] line{'' if count == 1 else 's'} with terms that cannot be read ({path}:{line})")
        return self.run

    def _add(self, invocation: Invocation) -> None:
        run = invocation.run
        if run.number not in self.selections:
            self.selections[run.number] = Selection(run, InvocationChoice("last"))
        self.selections[run.number].add(invocation)

    def _add_record(self, record: Record) -> None:
        if isinstance(record, PipeFormula):
            self.formulas.append(record)


def operator_logs(logs: Logs, case_filter: CaseFilter) -> List[OperatorLog]:
    """One per operator and process, in the order of the log; templates that the filter does not want are left out."""
    by_run: Dict[int, OperatorLog] = {}
    for number in sorted(logs.selections):
        selection = logs.selections[number]
        for invocation in selection.chosen():
            by_run[number] = _operator_log(selection.run, invocation, case_filter)
    found = list(by_run.values())
    _several_processes(found)
    places = {number: selection.run for number, selection in logs.selections.items()}
    found.extend(_add_formulas(logs.formulas, places, by_run, case_filter))
    return [log for log in found if log.candidates or log.formulas]


def _operator_log(run: OperatorRun, invocation: Invocation, case_filter: CaseFilter) -> OperatorLog:
    count = f"{invocation.ordinal} of {run.count}" if run.count > 1 else ""
    shape = invocation.shape
    log = OperatorLog(run.operator, hardware=invocation.hardware, source=invocation.path, invocation=count, shape=shape)
    for template in invocation.templates.values():
        _, result, group, case, sub_case = template.key
        if template.chunks and case_filter.wants(result, group, case, sub_case):
            log.candidates.append(_candidate(invocation, template, shape))
    return log


def _candidate(invocation: Invocation, template: Template, shape: Dict[str, str]) -> Candidate:
    graph, result, group, case, sub_case = template.key
    values: Dict[str, str] = {}
    pipes: Dict[str, str] = {}
    for name, value in template.values.items():
        (pipes if is_pipe(name) else values)[name] = value
    chosen = invocation.results.get(graph)
    return Candidate(
        TemplateId(graph, result, group, case, sub_case),
        values,
        pipes,
        template.objective,
        {**shape, **invocation.group_shapes.get((graph, result, group), {})},
        chosen=invocation.choices.get((graph, result, group)) == template.key,
        in_result=chosen == result if chosen is not None else (graph, result, group) in invocation.choices,
        path=template.path,
        line=template.first_line,
        lines=cache(lambda: template.lines),
    )


def _several_processes(found: List[OperatorLog]) -> None:
    """The log is named only where one operator comes from several processes."""
    count: Dict[str, int] = {}
    for log in found:
        count[log.name] = count.get(log.name, 0) + 1
    for log in found:
        if count[log.name] == 1:
            log.source = ""


# --- [PERF] lines -----------------------------------------------------------------------------------------------------


def _add_formulas(
    formulas: Sequence[PipeFormula],
    runs: Dict[int, OperatorRun],
    by_run: Dict[int, OperatorLog],
    case_filter: CaseFilter,
) -> List[OperatorLog]:
    """Gives [PERF] lines to their operators; the operators that have nothing else are new."""
    numbers: Dict[str, List[int]] = {}
    for number, run in runs.items():
        numbers.setdefault(run.operator, []).append(number)
    new: Dict[Tuple[str, Optional[int]], OperatorLog] = {}
    for formula in formulas:
        template = formula.template
        if template and not case_filter.wants(template.result, template.group, template.case, template.sub_case):
            continue
        number = _number_of(formula, numbers.get(formula.operator, ()), runs)
        if number in by_run:
            by_run[number].formulas.append(formula)
        else:
            key = (formula.operator, formula.at.pid)
            new.setdefault(key, OperatorLog(formula.operator, source=formula.at.path)).formulas.append(formula)
    fresh = list(new.values())
    _several_processes(fresh)
    return fresh


def _number_of(formula: PipeFormula, numbers: Sequence[int], runs: Dict[int, OperatorRun]) -> int:
    """The process of a line: the one with its pid, else the only one, else the first."""
    fitting = [number for number in numbers if runs[number].process.pid == formula.at.pid]
    return fitting[0] if fitting else numbers[0] if numbers else -1
