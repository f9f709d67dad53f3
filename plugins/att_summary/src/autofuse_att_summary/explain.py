"""Why an objective is what it is: bottleneck pipe, share of the head cost, and the candidate that came second."""

from __future__ import annotations

import math
from typing import Iterator, List, Optional, Sequence, Tuple

from autofuse.report.model import Cell, Chart, Column, Number, Series, Table

from autofuse_att_summary.ladder import share
from autofuse_att_summary.model import PIPES
from autofuse_att_summary.rows import Row, bottleneck, head_cost

__all__ = ["charts_of", "explain_table"]

_BARS = 20
"""Operators of a chart; the heaviest are shown."""
_LADDERS = 6

_COLUMNS = (
    Column("Operator", key="operator", label_zh="算子"),
    Column("Graph", "int", key="graph", label_zh="图"),
    Column("Result", "int", key="result", label_zh="结果"),
    Column("Group", "int", key="group", label_zh="组"),
    Column("Invocation", "int", key="invocation", label_zh="调用"),
    Column("Template", meaning="case with its sub-case tag", key="template", label_zh="模板"),
    Column("Objective Value", "float", "cycles", key="objective", label_zh="目标值"),
    Column("Bottleneck Pipe", meaning="largest modelled pipe", key="bottleneck_pipe", label_zh="瓶颈"),
    Column(
        "Bottleneck Share", "float", "%", "of the objective", key="bottleneck_share", format="%.2f", label_zh="瓶颈占比"
    ),
    Column(
        "Head Cost Share", "float", "%", "of the objective", key="head_cost_share", format="%.2f", label_zh="头开销占比"
    ),
    Column(
        "Candidates", "int", meaning="templates of the group with an objective", key="candidates", label_zh="候选数"
    ),
    Column("Runner-up", meaning="best template that was not chosen", key="runner_up", label_zh="次优模板"),
    Column(
        "Gap",
        "float",
        "cycles",
        "runner-up minus chosen; negative: not the objective decided",
        key="gap",
        label_zh="差距",
    ),
    Column(
        "Gap Percent", "float", "%", "of the chosen objective", key="gap_percent", format="%.2f", label_zh="差距占比"
    ),
    Column("Source", meaning="log file", key="source", label_zh="来源", hidden=True),
    Column("Line", "int", meaning="line of the log", key="line", label_zh="行", hidden=True),
)


def explain_table(rows: Sequence[Row], detail: bool = True) -> Table:
    """One row per chosen template: what bounds it, and how close the next candidate was."""
    return Table("explain", _COLUMNS, [_explained(row) for row in rows if row.template], "Why", detail=detail)


def charts_of(rows: Sequence[Row]) -> Tuple[Chart, ...]:
    """Objective by operator, pipe balance, and the candidate ladder of the groups with the most to gain."""
    heavy = sorted((row for row in rows if math.isfinite(_objective(row))), key=lambda row: -_objective(row))
    if not heavy:
        return ()
    return (_objectives(heavy[:_BARS], len(heavy)), *_balance(heavy[:_BARS]), *_ladders(heavy))


def _explained(row: Row) -> List[Cell]:
    template = row.template
    pipe = bottleneck(template)
    objective = template.objective if template else None
    runner_up, gap = row.ladder.runner_up, row.ladder.gap
    gap_text = None if gap is None else format(gap, "f")
    return [
        row.run.operator,
        row.graph,
        row.result,
        row.group,
        row.ordinal,
        f"{row.sub_case}{row.case}",
        objective,
        pipe,
        share(template.pipes[pipe], objective) if template and pipe else None,
        share(head_cost(template), objective),
        len(row.ladder.rungs),
        None if runner_up is None else runner_up.case,
        None if gap_text is None else Number(gap_text),
        share(gap_text, objective),
        row.path,
        row.line,
    ]


def _objective(row: Row) -> float:
    objective = row.template.objective if row.template else None
    return math.nan if objective is None else float(objective.value)


def _name(row: Row) -> str:
    call = f" #{row.ordinal}" if row.run.count > 1 else ""
    return f"{row.run.operator} r{row.result}g{row.group}{call}"


def _objectives(rows: Sequence[Row], total: int) -> Chart:
    notes = (f"the {len(rows)} heaviest of {total}",) if total > len(rows) else ()
    values = tuple(_objective(row) for row in rows)
    names = tuple(_name(row) for row in rows)
    return Chart(
        "objective", "bar", "Objective by operator", names, (Series("objective", values),), "cycles", notes=notes
    )


def _balance(rows: Sequence[Row]) -> Iterator[Chart]:
    """Each pipe next to the others: how even the work of an operator is spread."""
    pipes = [row.template.pipes if row.template else {} for row in rows]
    series = [
        Series(name, tuple(float(own[name].value) if name in own else None for own in pipes))
        for name in PIPES
        if any(name in own for own in pipes)
    ]
    if series:
        yield Chart("pipes", "bar", "Pipe balance", tuple(_name(row) for row in rows), tuple(series), "cycles")


def _ladders(rows: Sequence[Row]) -> Iterator[Chart]:
    """Groups with several candidates; those whose chosen one is beaten on the objective first, then the heaviest."""
    several = [row for row in rows if row.ladder.runner_up is not None]
    several.sort(key=lambda row: _gap(row.ladder.gap) >= 0)
    for number, row in enumerate(several[:_LADDERS], 1):
        rungs = row.ladder.rungs
        yield Chart(
            f"ladder-{number}",
            "bar",
            f"Candidates of {_name(row)}",
            tuple(f"case {rung.case}" for rung in rungs),
            (Series("objective", tuple(float(rung.objective) for rung in rungs)),),
            "cycles",
            marked=tuple(index for index, rung in enumerate(rungs) if rung.chosen),
        )


def _gap(gap: Optional[object]) -> float:
    return float(str(gap)) if gap is not None else 0.0
