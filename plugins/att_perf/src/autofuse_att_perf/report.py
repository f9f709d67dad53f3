"""The report of perf-formula: the answer in words, the tables, a few charts and the drawing."""

from __future__ import annotations

from typing import List, Sequence, Tuple

from autofuse.report.model import Chart, Figure, Provenance, Report, Series

from autofuse_att_perf.analysis import GroupAnalysis, OperatorAnalysis
from autofuse_att_perf.branches import plain_number
from autofuse_att_perf.tables import percent_of, runner_up, tables

__all__ = ["answer", "build_report", "report_title"]

_ANSWERS = 20
"""Groups told in words; the table has all."""
_CHART_ENTRIES = 40


def build_report(analyses: Sequence[OperatorAnalysis], provenance: Provenance, lang: str = "en") -> Report:
    """The report of every operator that has formulas."""
    shown = [analysis for analysis in analyses if analysis.has_formulas]
    title = report_title(len(shown), lang)
    answers = [answer(analysis, group) for analysis in shown for group in _groups_that_count(analysis)]
    more = [f"… and {len(answers) - _ANSWERS} more groups"] if len(answers) > _ANSWERS else []
    return Report(
        title,
        tables(analyses),
        charts=_charts(shown),
        figures=(Figure("perf_formula", title, lambda: _draw(shown, title)),),
        lead=(*answers[:_ANSWERS], *more),
        notes=_notes(shown),
        provenance=provenance,
    )


def _groups_that_count(analysis: OperatorAnalysis) -> Sequence[GroupAnalysis]:
    """The groups of the chosen result; all when nothing was chosen."""
    chosen = [group for group in analysis.groups if group.in_result]
    return chosen or analysis.groups


def report_title(operators: int, lang: str) -> str:
    """The title of report and drawing."""
    if lang == "zh":
        return f"{operators} 个算子的性能公式"
    return f"Performance formulas of {operators} operator{'' if operators == 1 else 's'}"


def answer(analysis: OperatorAnalysis, group: GroupAnalysis) -> str:
    """One line: what bounds the group, what moves it, and who lost by how much."""
    template = group.shown
    name = f"{analysis.log.name} {_group_name(group)}case {template.candidate.case or '-'}"
    pipe = template.bottleneck
    if pipe is None or pipe.shown is None:
        return f"{name}: no pipe has a value"
    words = [f"{name}: {pipe.name} bounds it with {plain_number(pipe.shown)}"]
    objective = template.shown_objective
    if objective is not None:
        words[0] += f" of {plain_number(objective)} cycles"
    terms = [term for term in pipe.terms if term.value is not None]
    if terms:
        largest = max(terms, key=lambda term: abs(term.value or 0.0))
        share = percent_of(largest.value, pipe.value)
        words.append(f"largest term {largest.label}" + (f" ({share:.0f} %)" if share is not None else ""))
    ranking = template.ranking
    if ranking:
        words.append(f"{ranking[0].parameter} moves it most (elasticity {ranking[0].elasticity:+.3f})")
    other = runner_up(group)
    if other is not None and other.shown_objective is not None and objective:
        gap = percent_of(other.shown_objective - objective, objective)
        words.append(f"runner-up case {other.candidate.case} {gap:+.1f} %")
    return "; ".join(words)


def _group_name(group: GroupAnalysis) -> str:
    return "" if group.id is None else "graph{}_result{}_g{} ".format(*group.id)


def _draw(analyses: Sequence[OperatorAnalysis], title: str) -> str:
    from autofuse_att_perf.drawing.figure import draw

    return draw(analyses, title)


def _notes(analyses: Sequence[OperatorAnalysis]) -> Tuple[str, ...]:
    mismatches = [
        f"{analysis.log.name} {_group_name(group)}case {template.candidate.case}: {check.quantity} is "
        f"{plain_number(check.formula)} by formula and {check.logged} in the log"
        for analysis in analyses
        for group in analysis.groups
        for template in group.templates
        for check in template.checks
        if check.status == "mismatch"
    ]
    if not mismatches:
        return ()
    more = [f"… and {len(mismatches) - _ANSWERS} more"] if len(mismatches) > _ANSWERS else []
    head = f"{len(mismatches)} values differ from the log (stale sources, or sources of another operator):"
    return (head, *mismatches[:_ANSWERS], *more)


# --- charts -----------------------------------------------------------------------------------------------------------


def _charts(analyses: Sequence[OperatorAnalysis]) -> Tuple[Chart, ...]:
    groups = [(analysis, group) for analysis in analyses for group in analysis.groups]
    groups = [pair for pair in groups if pair[1].shown.bottleneck is not None]
    groups.sort(key=lambda pair: -(pair[1].shown.shown_objective or 0.0))
    charts = [_objective_chart(groups), _pipe_chart(groups)]
    return tuple(chart for chart in charts if chart.categories)


def _label(pair: Tuple[OperatorAnalysis, GroupAnalysis]) -> str:
    analysis, group = pair
    return f"{analysis.log.name} {_group_name(group)}{group.shown.candidate.case}".strip()


def _cut_note(count: int) -> Tuple[str, ...]:
    return (f"the {_CHART_ENTRIES} largest of {count} groups",) if count > _CHART_ENTRIES else ()


def _objective_chart(groups: Sequence[Tuple[OperatorAnalysis, GroupAnalysis]]) -> Chart:
    shown = groups[:_CHART_ENTRIES]
    pipes = [group.shown.bottleneck for _, group in shown]
    return Chart(
        "objective",
        "stacked",
        "Objective of the chosen template: bottleneck pipe and head cost",
        tuple(_label(pair) for pair in shown),
        (
            Series("bottleneck pipe", tuple(pipe.shown if pipe else None for pipe in pipes)),
            Series("head cost", tuple(group.shown.head_cost for _, group in shown)),
        ),
        unit="cycles",
        notes=_cut_note(len(groups)),
    )


def _pipe_chart(groups: Sequence[Tuple[OperatorAnalysis, GroupAnalysis]]) -> Chart:
    shown = groups[:_CHART_ENTRIES]
    names: List[str] = sorted({pipe.name for _, group in shown for pipe in group.shown.pipes})
    by_group = [{pipe.name: pipe.shown for pipe in group.shown.pipes} for _, group in shown]
    return Chart(
        "pipes",
        "bar",
        "Pipe balance of the chosen template",
        tuple(_label(pair) for pair in shown),
        tuple(Series(name, tuple(pipes.get(name) for pipes in by_group)) for name in names),
        unit="cycles",
        notes=_cut_note(len(groups)),
    )
