"""The tables of the report: one row per group, candidate, term, check, branch, sensitivity, use of hardware, variation.

Rows are made when a reporter asks for them, so a run that only draws never computes what only tables show.
"""

from __future__ import annotations

from typing import Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from autofuse.report.model import Cell, Column, Number, Table

from autofuse_att_perf.analysis import GroupAnalysis, OperatorAnalysis, TemplateAnalysis
from autofuse_att_perf.candidates import OperatorLog
from autofuse_att_perf.checks import logged_number
from autofuse_att_perf.variation import variations

__all__ = ["percent_of", "runner_up", "tables"]

Row = Sequence[Cell]


class _Rows:
    """Makes its rows anew at every iteration."""

    def __init__(self, make: Callable[[], Iterator[Row]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Row]:
        return self._make()


_OPERATOR = (
    Column("Operator", label_zh="算子"),
    Column("Process", meaning="the log, where one operator comes from several processes", hidden=True),
)
_GROUP = (
    *_OPERATOR,
    Column("Graph", "int", label_zh="图"),
    Column("Result", "int", label_zh="结果"),
    Column("Group", "int", label_zh="组"),
)
_TEMPLATE = (
    *_GROUP,
    Column("Case", "int", label_zh="模板"),
    Column("Sub Case"),
    Column("Chosen", "any", meaning="the group chose this template", label_zh="选中"),
)
_CYCLES = "cycles"
_LOG = (
    Column("Source", meaning="log file", label_zh="来源", hidden=True),
    Column("Line", "int", meaning="line of the log", label_zh="行", hidden=True),
)


def tables(analyses: Sequence[OperatorAnalysis]) -> Tuple[Table, ...]:
    """All tables, the answer first."""
    shown = [analysis for analysis in analyses if analysis.has_formulas]
    return tuple(
        Table(name, columns, _Rows(lambda rows=rows: rows(shown)), title)  # type: ignore[misc]
        for name, title, columns, rows in (
            ("perf_formula", "What bounds each group", _OVERVIEW, _overview_rows),
            ("candidates", "How the candidates compare", _CANDIDATES, _candidate_rows),
            ("terms", "Terms of each pipe", _TERMS, _term_rows),
            ("checks", "Formula against log", _CHECKS, _check_rows),
            ("sensitivities", "What each tiling parameter moves", _SENSITIVITIES, _sensitivity_rows),
            ("branches", "Conditions and the way they went", _BRANCHES, _branch_rows),
            ("usage", "Use of UB and cores", _USAGE, _usage_rows),
            ("variation", "What varies between the cases of a group", _VARIATION, _variation_rows),
        )
    )


def percent_of(part: Optional[float], whole: Optional[float]) -> Optional[float]:
    """100 * part / whole; None when either is missing or the whole is 0."""
    return None if part is None or not whole else part / whole * 100


def runner_up(group: GroupAnalysis) -> Optional[TemplateAnalysis]:
    """Of the templates beside the shown one, the one with the smallest objective."""
    shown = group.shown
    others = [
        (objective, index)
        for index, template in enumerate(group.templates)
        for objective in (template.shown_objective,)
        if template is not shown and objective is not None and objective == objective
    ]
    return group.templates[min(others)[1]] if others else None


# --- ids --------------------------------------------------------------------------------------------------------------


def _operator_cells(log: OperatorLog) -> Tuple[Cell, ...]:
    return (log.name, log.source or None)


def _group_cells(log: OperatorLog, group: GroupAnalysis) -> Tuple[Cell, ...]:
    return (*_operator_cells(log), *(group.id or (None, None, None)))


def _template_cells(log: OperatorLog, group: GroupAnalysis, template: TemplateAnalysis) -> Tuple[Cell, ...]:
    identity = template.candidate.template
    case: Tuple[Cell, ...] = (None, None) if identity is None else (identity.case, identity.sub_case)
    return (*_group_cells(log, group), *case, template.candidate.chosen)


def _log_cells(template: TemplateAnalysis, name: Optional[str] = None) -> Tuple[Cell, Cell]:
    """Where the value `name` was logged, or else the template's first line."""
    candidate = template.candidate
    return candidate.path or None, candidate.line if name is None else candidate.line_of(name)


def _templates(
    analyses: Iterable[OperatorAnalysis],
) -> Iterator[Tuple[Tuple[Cell, ...], GroupAnalysis, TemplateAnalysis]]:
    for analysis in analyses:
        for group in analysis.groups:
            for template in group.templates:
                yield _template_cells(analysis.log, group, template), group, template


# --- overview ---------------------------------------------------------------------------------------------------------

_OVERVIEW = (
    *_TEMPLATE,
    Column("Origin", meaning="where the formulas come from: source, log ([PERF] lines) or both", hidden=True),
    Column("Objective", "float", _CYCLES, "by formula, else as logged", format="%.6f", label_zh="目标值"),
    Column("Bottleneck Pipe", meaning="the largest pipe", label_zh="瓶颈"),
    Column("Bottleneck", "float", _CYCLES, format="%.6f", label_zh="瓶颈值"),
    Column("Head Cost", "float", _CYCLES, "objective without the bottleneck", format="%.6f", label_zh="头开销"),
    Column("Largest Term", meaning="of the bottleneck pipe", label_zh="最大项"),
    Column("Term Share", "float", "%", "of the bottleneck pipe", format="%.1f", label_zh="占比"),
    Column("Most Sensitive", meaning="the tiling parameter that moves the objective most", label_zh="最敏感参数"),
    Column("Elasticity", "float", "", "relative change of the objective per relative change", format="%.4f"),
    Column("Runner-up", meaning="case of the best candidate that lost", label_zh="次优"),
    Column("Gap", "float", "%", "objective of the runner-up above that of this one", format="%.2f", label_zh="差距"),
    Column("Varies Most", meaning="the parameter with the largest variance between the cases", hidden=True),
    Column("Templates", "int", meaning="candidates of the group", hidden=True),
    Column("Checks", meaning="formula against log", label_zh="核对"),
    Column("Invocation", meaning="which call of the log is shown", hidden=True),
    Column("Input Shape", label_zh="形状", hidden=True),
    *_LOG,
    Column("Formulas", meaning="where the formulas stand", hidden=True),
)


def _overview_rows(analyses: Sequence[OperatorAnalysis]) -> Iterator[Row]:
    for analysis in analyses:
        for group in analysis.groups:
            yield _overview_row(analysis.log, group)


def _overview_row(log: OperatorLog, group: GroupAnalysis) -> Row:
    shown = group.shown
    pipe = shown.bottleneck
    terms = [term for term in pipe.terms if term.value is not None] if pipe else []
    largest = max(terms, key=lambda term: abs(term.value or 0.0), default=None)
    ranking = shown.ranking
    other = runner_up(group)
    gap = None
    if other is not None and other.shown_objective is not None and shown.shown_objective:
        gap = percent_of(other.shown_objective - shown.shown_objective, shown.shown_objective)
    varying = next((one for one in variations(group) if one.kind == "parameter" and one.variance > 0), None)
    return (
        *_template_cells(log, group, shown),
        shown.origin or None,
        shown.shown_objective,
        pipe.name if pipe else None,
        pipe.shown if pipe else None,
        shown.head_cost,
        largest.label if largest else None,
        percent_of(largest.value, pipe.shown) if largest and pipe else None,
        ranking[0].parameter if ranking else None,
        ranking[0].elasticity if ranking else None,
        other.candidate.case if other else None,
        gap,
        varying.name if varying else None,
        len(group.templates),
        _check_words(shown),
        log.invocation or None,
        " ".join(f"{name}={value}" for name, value in log.shape.items()) or None,
        *_log_cells(shown),
        shown.place or None,
    )


def _check_words(template: TemplateAnalysis) -> Optional[str]:
    counts: Dict[str, int] = {}
    for check in template.checks:
        counts[check.status] = counts.get(check.status, 0) + 1
    return ", ".join(f"{count} {status}" for status, count in counts.items()) or None


# --- candidates -------------------------------------------------------------------------------------------------------

_CANDIDATES = (
    *_TEMPLATE,
    Column("Objective", "float", _CYCLES, format="%.6f", label_zh="目标值"),
    Column("Against Shown", "float", "%", "objective against that of the chosen template", format="%.2f"),
    Column("Bottleneck Pipe", label_zh="瓶颈"),
    Column("Bottleneck", "float", _CYCLES, format="%.6f"),
    Column("Head Cost", "float", _CYCLES, format="%.6f"),
    Column("Pipes", meaning="every pipe, the largest first"),
    Column("Most Sensitive", label_zh="最敏感参数"),
    Column("Elasticity", "float", format="%.4f"),
    *_LOG,
)


def _candidate_rows(analyses: Sequence[OperatorAnalysis]) -> Iterator[Row]:
    for cells, group, template in _templates(analyses):
        pipe = template.bottleneck
        base, objective = group.shown.shown_objective, template.shown_objective
        difference = None if objective is None or base is None else objective - base
        ranking = template.ranking
        known = sorted(
            ((one.shown, one.name) for one in template.pipes if one.shown is not None), key=lambda one: -one[0]
        )
        yield (
            *cells,
            objective,
            percent_of(difference, base),
            pipe.name if pipe else None,
            pipe.shown if pipe else None,
            template.head_cost,
            " ".join(f"{name}={value:.6f}" for value, name in known) or None,
            ranking[0].parameter if ranking else None,
            ranking[0].elasticity if ranking else None,
            *_log_cells(template),
        )


# --- terms ------------------------------------------------------------------------------------------------------------

_TERMS = (
    *_TEMPLATE,
    Column("Origin", meaning="source or log ([PERF] lines)"),
    Column("Pipe", label_zh="流水"),
    Column("Bottleneck", "any", meaning="this is the largest pipe"),
    Column("Kind", meaning="node, fixed, per-block, term, or head (no pipe)"),
    Column("Node", label_zh="节点"),
    Column("Node Type", label_zh="类型"),
    Column("Term", label_zh="项"),
    Column("Value", "float", _CYCLES, format="%.6f", label_zh="值"),
    Column("Share of Pipe", "float", "%", "the terms of a pipe add up to 100", format="%.2f", label_zh="占流水"),
    Column(
        "Share of Objective",
        "float",
        "%",
        "of the objective; the bottleneck's terms and the head cost add up to 100",
        format="%.2f",
        label_zh="占目标",
    ),
    Column("Formula", hidden=True),
    Column("Place", meaning="where the formula stands", hidden=True),
    *_LOG,
)


def _term_rows(analyses: Sequence[OperatorAnalysis]) -> Iterator[Row]:
    for cells, _, template in _templates(analyses):
        objective, bottleneck = template.shown_objective, template.bottleneck
        for pipe in (*template.pipes, *template.perf_lines):
            whole = pipe.whole
            for term in pipe.terms:
                yield (
                    *cells,
                    pipe.origin,
                    pipe.name,
                    pipe is bottleneck,
                    term.kind,
                    term.node or None,
                    term.node_type or None,
                    term.label,
                    term.value,
                    percent_of(term.value, whole),
                    percent_of(term.value, objective),
                    term.formula,
                    term.place or None,
                    *(_log_cells(template, pipe.name) if term.at is None else (term.at.path, term.at.line)),
                )
        head = template.head_cost
        if head is not None and template.has_formulas:
            share = percent_of(head, objective)
            origin = template.origin or None
            spot = _log_cells(template, "objective")
            yield (*cells, origin, None, None, "head", None, None, "head cost", head, None, share, None, None, *spot)


# --- checks -----------------------------------------------------------------------------------------------------------

_CHECKS = (
    *_TEMPLATE,
    Column("Quantity", meaning="a pipe, objective, ub_size, block_dim, or NODE PIPE for the total of a [PERF] line"),
    Column("Origin"),
    Column("Formula", "float", format="%.6f", label_zh="公式"),
    Column("Logged", "float", label_zh="日志"),
    Column("Difference", "float", format="%.6f", label_zh="差"),
    Column("Relative", "float", format="%.3e", label_zh="相对差"),
    Column("Status", meaning="ok, mismatch, missing_symbol, error, not_logged, no_formula", label_zh="状态"),
    Column("Note", label_zh="说明"),
    *_LOG,
)


def _logged(text: Optional[str]) -> Cell:
    return text if logged_number(text) is None else Number(text)


_WHOLE = ("ub_size", "block_dim")


def _check_rows(analyses: Sequence[OperatorAnalysis]) -> Iterator[Row]:
    for cells, _, template in _templates(analyses):
        for check in template.checks:
            yield (
                *cells,
                check.quantity,
                check.origin,
                _whole(check.formula) if check.quantity in _WHOLE else check.formula,
                _logged(check.logged),
                check.difference,
                check.relative,
                check.status,
                check.note or None,
                *_log_cells(template, check.quantity),
            )


# --- sensitivities, branches, usage, variation ------------------------------------------------------------------------

_SENSITIVITIES = (
    *_TEMPLATE,
    Column("Target", meaning="objective or a pipe", label_zh="目标"),
    Column("Parameter", label_zh="参数"),
    Column("Value", "any", label_zh="值"),
    Column("Elasticity", "float", meaning="relative change per relative change", format="%.6f", label_zh="弹性"),
    Column("Half", "any", label_zh="减半"),
    Column("At Half", "float", _CYCLES, format="%.6f"),
    Column("Change at Half", "float", "%", format="%.2f"),
    Column("Double", "any", label_zh="加倍"),
    Column("At Double", "float", _CYCLES, format="%.6f"),
    Column("Change at Double", "float", "%", format="%.2f"),
    *_LOG,
)


def _sensitivity_rows(analyses: Sequence[OperatorAnalysis]) -> Iterator[Row]:
    for cells, _, template in _templates(analyses):
        for one in template.sensitivities:
            yield (
                *cells,
                one.target,
                one.parameter,
                one.value,
                one.elasticity,
                one.half,
                one.at_half,
                _change(one.at_half, one.base),
                one.double,
                one.at_double,
                _change(one.at_double, one.base),
                *_log_cells(template, one.target),
            )


def _change(value: Optional[float], base: float) -> Optional[float]:
    return None if value is None else percent_of(value - base, base)


_BRANCHES = (
    *_TEMPLATE,
    Column("Variable", label_zh="变量"),
    Column("Condition", label_zh="条件"),
    Column("Taken", "any", label_zh="成立"),
    Column("Value", "float", "", "what the side that was taken gives", format="%.6f"),
    Column("Other Value", "float", "", "what the other side gives", format="%.6f"),
    Column("In Words", label_zh="说明"),
    Column("Place", meaning="where the condition stands", hidden=True),
    *_LOG,
)


def _branch_rows(analyses: Sequence[OperatorAnalysis]) -> Iterator[Row]:
    for cells, _, template in _templates(analyses):
        for one in template.branches:
            found = (one.variable or None, one.condition, one.taken, one.value, one.other, one.words, one.place)
            yield (*cells, *found, *_log_cells(template))


_USAGE = (
    *_TEMPLATE,
    Column("What", meaning="ub (bytes) or blocks (cores)"),
    Column("Used", "float", label_zh="使用"),
    Column("Available", "float", label_zh="可用"),
    Column("Percent", "float", "%", format="%.1f", label_zh="占比"),
    Column("In Words", label_zh="说明"),
    Column("Origin", meaning="source: by the generated function; log: as logged"),
    *_LOG,
)


_QUANTITIES = {"ub": "ub_size", "blocks": "block_dim"}


def _usage_rows(analyses: Sequence[OperatorAnalysis]) -> Iterator[Row]:
    for cells, _, template in _templates(analyses):
        for one in template.usage:
            spot = _log_cells(template, _QUANTITIES[one.what])
            yield (*cells, one.what, _whole(one.used), _whole(one.available), one.percent, one.words, one.origin, *spot)


def _whole(value: Optional[float]) -> Cell:
    return int(value) if value is not None and value.is_integer() else value


_VARIATION = (
    *_GROUP,
    Column("Kind", meaning="parameter or term"),
    Column("Name", label_zh="名称"),
    Column("Variance", "float", format="%.6g", label_zh="方差"),
    Column("Smallest", "float", format="%.6f"),
    Column("Largest", "float", format="%.6f"),
    Column("Cases", "int", meaning="how many cases have it"),
    Column("By Case"),
)


def _variation_rows(analyses: Sequence[OperatorAnalysis]) -> Iterator[Row]:
    for analysis in analyses:
        for group in analysis.groups:
            cells = _group_cells(analysis.log, group)
            for one in variations(group):
                by_case: List[str] = [f"{case}={value:.6g}" for case, value in zip(one.cases, one.values)]
                yield (
                    *cells, one.kind, one.name, one.variance, min(one.values), max(one.values),
                    len(one.cases), " ".join(by_case),
                )  # fmt: skip
