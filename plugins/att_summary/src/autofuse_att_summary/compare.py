"""The command `compare`: what changed between two runs, what got slower, and a gate for it."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Iterator, List, Optional, Sequence, Set, Tuple

import click
from autofuse.cli.app import App
from autofuse.cli.options import report_options
from autofuse.errors import EXIT_CANNOT, EXIT_CHECK_FAILED
from autofuse.report.emit import emit
from autofuse.report.model import Cell, Chart, Column, Number, Provenance, Report, Series, Table

from autofuse_att_summary.compare_model import Comparison, Difference, Pair, compare_sides, is_metric, percent_of
from autofuse_att_summary.compare_sides import Side, SideRow, open_side
from autofuse_att_summary.exact import exact, fixed
from autofuse_att_summary.explain_change import explain_change
from autofuse_att_summary.filters import InvocationChoice, InvocationsType

__all__ = ["command"]

_BARS = 20


@click.command("compare", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("base", metavar="BASE")
@click.argument("candidate", metavar="CANDIDATE")
@click.option(
    "--fail-on-regression",
    "limit",
    metavar="PCT",
    type=click.FloatRange(min=0),
    help="Exit code 1 when a metric got more than PCT percent slower, or cannot be compared any more.",
)
@click.option("--metric", "metrics", metavar="NAME", multiple=True, help="Metric of the gate (default: Result Perf).")
@click.option(
    "--match",
    type=click.Choice(["exact", "name"]),
    default="exact",
    show_default=True,
    help="name: also pair operators whose names differ only in running numbers.",
)
@click.option(
    "--invocations", type=InvocationsType(), default="last", show_default=True, help="As in summary, for logs."
)
@report_options
@click.pass_context
def command(
    ctx: click.Context,
    base: str,
    candidate: str,
    limit: Optional[float],
    metrics: Tuple[str, ...],
    match: str,
    invocations: InvocationChoice,
    output_format: str,
    output: str,
) -> None:
    """What changed from BASE to CANDIDATE: templates first, then metrics and tiling, by impact.

    BASE and CANDIDATE are summary CSVs of this or an earlier tool, or logs (file, folder, archive).
    """
    app: App = ctx.obj
    if limit is not None and not math.isfinite(limit):
        raise click.BadParameter("must be a finite number", ctx, param_hint="--fail-on-regression")
    asked = ctx.get_parameter_source("invocations") is not click.core.ParameterSource.DEFAULT
    sides = _read_sides(app, (base, candidate), invocations, asked)
    for note in (*sides[0].notes, *sides[1].notes):
        app.notice(note)
    _check_metrics(ctx, metrics, sides)
    comparison = compare_sides(*sides, by_name=match == "name", metrics=metrics)
    problems = gate(comparison, limit, metrics) if limit is not None else []
    emit(app, build_report(app, comparison, limit, problems), output_format, output)
    if not comparison.pairs:
        app.warn("nothing matched: no operator, graph, result and group is on both sides")
        ctx.exit(EXIT_CHECK_FAILED)
    if problems:
        app.warn(f"{_plural(len(problems), 'regression')} by --fail-on-regression {limit:g}; the first: {problems[0]}")
        ctx.exit(EXIT_CHECK_FAILED)
    if sides[0].failed or sides[1].failed:
        ctx.exit(EXIT_CANNOT)


def _read_sides(app: App, locations: Tuple[str, str], invocations: InvocationChoice, asked: bool) -> Tuple[Side, Side]:
    """Both sides; logs beside a CSV of several calls show all of theirs, unless the user asked for some."""
    opened = [open_side(app, location) for location in locations]
    if not asked and any(isinstance(side, Side) and side.has_several_calls for side in opened):
        invocations = InvocationChoice("all")
    first, second = (side if isinstance(side, Side) else side.read(app, invocations) for side in opened)
    return first, second


def gate(comparison: Comparison, limit: float, metrics: Sequence[str]) -> List[str]:
    """One line per reason not to pass: slower rows, lost metrics, what is gone, nothing compared."""
    problems = [text for pair in comparison.pairs for text in _slower(pair, limit, metrics or (pair.metric,))]
    gone = set(comparison.operators_base)
    problems += [f"{name}: is gone from the candidate" for name in comparison.operators_base]
    problems += [
        f"{_place(row)}: is gone from the candidate" for row in comparison.only_base if row.operator not in gone
    ]
    if not any(_comparable(pair, metrics or (pair.metric,)) for pair in comparison.pairs):
        problems.append("no metric could be compared")
    return problems


def build_report(app: App, comparison: Comparison, limit: Optional[float], problems: Sequence[str]) -> Report:
    """The report; the offenders of the gate stand last."""
    notes = [f"{old} is compared with {new} (only running numbers differ)" for old, new in comparison.renamed]
    for name, count in comparison.duplicates.items():
        notes.append(
            f"{name}: {count} rows repeat a key (Operator, Graph, Result, Group, Input Shape); the first is "
            "used, or all in their order where both sides have as many"
        )
    other_shapes = sum(_other_shape(pair) for pair in comparison.pairs)
    if other_shapes:
        notes.append(
            f"{_plural(other_shapes, 'row')}: the input shapes of the two calls differ; "
            "compare all calls with --invocations all"
        )
    if limit is not None:
        judged = sum(_comparable(pair, (pair.metric,)) for pair in comparison.pairs)
        verdict = (
            f"{_plural(len(problems), 'regression')}" if problems else f"passed ({_plural(judged, 'row')} compared)"
        )
        notes += [f"gate of {limit:g} %: {verdict}", *(f"  {problem}" for problem in problems)]
    details = {"base": comparison.base.name, "candidate": comparison.candidate.name}
    return Report(
        f"{comparison.base.name} → {comparison.candidate.name}",
        (_differences_table(comparison), _performance_table(comparison), _overview_table(comparison)),
        charts=tuple(_charts(comparison)),
        lead=tuple(f"{name}: {value}" for name, value in _overview(comparison) if value not in ("none", "0")),
        notes=tuple(notes),
        provenance=Provenance(app.command_line, (comparison.base.name, comparison.candidate.name), details=details),
    )


def _check_metrics(ctx: click.Context, metrics: Sequence[str], sides: Sequence[Side]) -> None:
    known = {name for side in sides for name in side.columns}
    for metric in metrics:
        if metric not in known or not is_metric(metric):
            there = ", ".join(sorted(name for name in known if is_metric(name))) or "none"
            raise click.BadParameter(
                f"no metric {metric!r} on either side; there are: {there}", ctx, param_hint="--metric"
            )


def _slower(pair: Pair, limit: float, metrics: Sequence[Optional[str]]) -> Iterator[str]:
    for metric in metrics:
        base, candidate = pair.values(metric) if metric else (None, None)
        if metric is None or base is None:
            continue
        old, new = pair.texts(metric)
        if candidate is None:
            yield f"{_place(pair.row)}: {metric} is lost (base {old})"
        elif candidate > base:
            percent = percent_of(base, candidate)
            if percent is None or percent > limit:
                by = "" if percent is None else f" ({percent:+.2f} %)"
                shapes = f", but the base has [{pair.base.shape}]" if pair.base and _other_shape(pair) else ""
                yield f"{_place(pair.row)}: {metric} {old} → {new}{by}{shapes}"


def _comparable(pair: Pair, metrics: Sequence[Optional[str]]) -> bool:
    return any(metric is not None and None not in pair.values(metric) for metric in metrics)


def _other_shape(pair: Pair) -> bool:
    return pair.base is not None and pair.candidate is not None and pair.base.shape != pair.candidate.shape


def _plural(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _place(row: SideRow) -> str:
    shape = f" [{row.shape}]" if row.shape else ""
    return f"{row.operator} graph{row.graph or '?'}_result{row.result or '?'}_g{row.group or '?'}{shape}"


def _result_place(row: SideRow) -> str:
    shape = f" [{row.shape}]" if row.shape else ""
    return f"{row.operator} graph{row.graph or '?'}_result{row.result or '?'}{shape}"


def _overview(comparison: Comparison) -> Iterator[Tuple[str, str]]:
    ours, theirs = comparison.base.columns, comparison.candidate.columns
    yield "base", f"{comparison.base.name} ({len(comparison.base.rows)} rows)"
    yield "candidate", f"{comparison.candidate.name} ({len(comparison.candidate.rows)} rows)"
    yield "columns only in base", ", ".join(name for name in ours if name not in theirs) or "none"
    yield "columns only in candidate", ", ".join(name for name in theirs if name not in ours) or "none"
    yield "operators matched", str(len(comparison.operators_matched))
    yield "operators only in base", ", ".join(comparison.operators_base) or "none"
    yield "operators only in candidate", ", ".join(comparison.operators_candidate) or "none"
    yield "rows matched", str(len(comparison.pairs))
    yield "rows only in base", str(len(comparison.only_base))
    yield "rows only in candidate", str(len(comparison.only_candidate))
    yield "templates changed", str(sum(pair.template_changed for pair in comparison.pairs))
    counts = ", ".join(f"{comparison.count(verdict)} {verdict}" for verdict in ("faster", "slower", "equal"))
    lost = comparison.count("lost") + comparison.count("new") + comparison.count("-")
    yield "rows", counts + (f", {lost} without the metric on both sides" if lost else "")
    mean = comparison.geometric_mean
    yield "geometric mean of candidate / base", "-" if mean is None else f"{mean:.6f}"


_KEY = (
    Column("Operator", key="operator"),
    Column("Graph", "int", key="graph"),
    Column("Result", "int", key="result"),
    Column("Group", "int", key="group"),
    Column("Input Shape", key="input_shape"),
)
_SPOTS = (
    Column("Base Source", meaning="log file", key="base_source", hidden=True),
    Column("Base Line", "int", meaning="line of the log", key="base_line", hidden=True),
    Column("Candidate Source", meaning="log file", key="candidate_source", hidden=True),
    Column("Candidate Line", "int", meaning="line of the log", key="candidate_line", hidden=True),
)
_DIFFERENCES = (
    *_KEY,
    Column("Kind", meaning="template, metric, tiling or other", key="kind"),
    Column("Field", key="field"),
    Column("Base", "any", key="base"),
    Column("Candidate", "any", key="candidate"),
    Column("Difference", "float", meaning="candidate minus base; negative cycles are faster", key="difference"),
    Column("Percent", "float", "%", "of the base; empty where the base is 0", key="percent", format="%.4f"),
)
_PERFORMANCE = (
    *_KEY,
    Column("Metric", key="metric"),
    Column("Base", "float", "cycles", key="base"),
    Column("Candidate", "float", "cycles", key="candidate"),
    Column("Difference", "float", "cycles", "negative: the candidate is faster", key="difference"),
    Column("Percent", "float", "%", key="percent", format="%.4f"),
    Column("Verdict", meaning="faster, slower, equal, lost or new", key="verdict"),
    Column("Base Template", meaning="case with its sub-case tag", key="base_template"),
    Column("Candidate Template", key="candidate_template"),
    Column("Explanation", meaning="the objective's change by pipe and head cost", key="explanation"),
    *_SPOTS,
)


def _differences_table(comparison: Comparison) -> Table:
    rows = [
        [*_key_cells(pair), *_difference_cells(difference)]
        for pair in comparison.pairs
        for difference in pair.differences
    ]
    return Table("differences", _DIFFERENCES, rows, "Differences")


def _performance_table(comparison: Comparison) -> Table:
    return Table("performance", _PERFORMANCE, [_performance(pair) for pair in comparison.pairs], "Performance")


def _overview_table(comparison: Comparison) -> Table:
    columns = (Column("Item", key="item"), Column("Value", key="value"))
    return Table("overview", columns, [list(pair) for pair in _overview(comparison)], "Overview", detail=True)


def _key_cells(pair: Pair) -> List[Cell]:
    row = pair.row
    ids = [
        Number(text) if text.lstrip("-").isdigit() else (text or None) for text in (row.graph, row.result, row.group)
    ]
    return [row.operator, *ids, row.shape or None]


def _difference_cells(difference: Difference) -> List[Cell]:
    values = (_cell(difference, difference.base), _cell(difference, difference.candidate))
    return [difference.kind, difference.field, *values, _decimal_cell(difference.difference), difference.percent]


def _cell(difference: Difference, text: Optional[str]) -> Cell:
    numeric = difference.kind in ("metric", "tiling")
    return _number_cell(text) if numeric else text


def _number_cell(text: Optional[str]) -> Cell:
    return text if text is None or exact(text) is None else Number(text.strip())


def _decimal_cell(value: Optional[Decimal]) -> Cell:
    return None if value is None else Number(fixed(value))


def _performance(pair: Pair) -> List[Cell]:
    base, candidate = pair.values(pair.metric) if pair.metric else (None, None)
    both = base is not None and candidate is not None
    moved = next((item for item in pair.differences if item.field == pair.metric), None)
    percent = percent_of(base, candidate) if base is not None and candidate is not None else None
    return [
        *_key_cells(pair),
        pair.metric,
        *(_number_cell(text) for text in pair.texts(pair.metric)),
        _decimal_cell(moved.difference if moved else Decimal(0)) if both else None,
        percent,
        pair.verdict,
        pair.base.template or None,
        pair.candidate.template or None,
        explain_change(pair.base, pair.candidate) or None,
        *_spots(pair),
    ]


def _spots(pair: Pair) -> List[Cell]:
    """Log and line of either side; absent in the CSVs of earlier tools."""
    cells: List[Cell] = []
    for row in (pair.base, pair.candidate):
        source, line = (row.cells.get(name) if row else None for name in ("Source", "Line"))
        cells += [source, Number(line) if line and line.isdecimal() else None]
    return cells


def _charts(comparison: Comparison) -> Iterator[Chart]:
    moved: List[Tuple[str, float]] = []
    results: Set[Tuple[str, ...]] = set()
    for pair in comparison.pairs:
        base, candidate = pair.values(pair.metric) if pair.metric else (None, None)
        if base is not None and candidate is not None and base != candidate:
            name = _place(pair.row)
            if pair.metric == "Result Perf":
                # Every group of a result repeats what the whole result costs.
                result = _result_key(pair.row)
                if result in results:
                    continue
                results.add(result)
                name = _result_place(pair.row)
            moved.append((name, float(candidate - base)))
    moved = sorted((item for item in moved if math.isfinite(item[1])), key=lambda item: -abs(item[1]))
    if not moved:
        return
    shown, rest = moved[:_BARS], moved[_BARS:]
    if rest:
        shown.append((f"{len(rest)} more", math.fsum(value for _, value in rest)))
    yield Chart(
        "waterfall",
        "waterfall",
        "Modelled cycles, candidate minus base",
        tuple(name for name, _ in shown),
        (Series("difference", tuple(value for _, value in shown)),),
        unit="cycles",
    )


def _result_key(row: SideRow) -> Tuple[str, ...]:
    call = (row.cells.get(name, "") for name in ("Source", "Invocation"))
    return (row.operator, row.graph, row.result, row.shape, *call)
