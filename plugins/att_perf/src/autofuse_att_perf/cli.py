"""The command `perf-formula`: reads sources and logs, analyses, and hands the report to a reporter or draws it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import List, Optional, Sequence, Tuple

import click
from autofuse.cli.app import App
from autofuse.cli.options import report_options
from autofuse.errors import EXIT_CANNOT, EXIT_CHECK_FAILED, AutofuseError
from autofuse.files import atomic_open
from autofuse.report.emit import emit
from autofuse.report.model import Provenance, Report
from autofuse_att_summary.filters import CaseFilter, CaseFilterType
from autofuse_att_summary.notices import say_what_was_skipped
from autofuse_att_summary.reading import LogRun

from autofuse_att_perf.analysis import OperatorAnalysis, analyse_operator
from autofuse_att_perf.candidates import OperatorLog
from autofuse_att_perf.formulas import UnitFormulas, read_unit
from autofuse_att_perf.matching import match_sources
from autofuse_att_perf.report import build_report
from autofuse_att_perf.runs import Logs, operator_logs
from autofuse_att_perf.sources import Sources, read_sources

__all__ = ["command"]

_NAME = "perf_formula"
_FOLDER = "output/perf"
_SHOWN = 5


@click.command("perf-formula", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("source_dir", metavar="SOURCE_DIR")
@click.argument("logs", metavar="LOG...", nargs=-1, required=True)
@click.option("--case", "case_filter", type=CaseFilterType(), help="Only these results, groups, cases: r=0,1,g=2,c=R3.")
@report_options(default="svg", folder=_FOLDER)
@click.pass_context
def command(
    ctx: click.Context,
    source_dir: str,
    logs: Tuple[str, ...],
    case_filter: Optional[CaseFilter],
    output_format: Optional[str],
    output: Optional[str],
) -> None:
    """Which pipe bounds each operator, which term of its formula, and which tiling parameter moves it most.

    SOURCE_DIR holds the generated tiling sources (*tiling_func*.cpp, headers, or Inductor's output_code.py); nothing in
    it is executed. LOG is a file, a folder, an archive, a pattern, or - for standard input. Formulas come from the
    sources and from [PERF] lines; every value is checked against the log. Draws output/perf/perf_formula.svg.
    """
    app: App = ctx.obj
    sources = read_sources(source_dir)
    reader = Logs()
    run = reader.read(app, logs)
    say_what_was_skipped(app, run)
    found = operator_logs(reader, case_filter or CaseFilter())
    units = [unit for unit in map(read_unit, sources.units) if len(unit)]
    analyses = _analyse(app, found, units, sources)
    if not any(analysis.has_formulas for analysis in analyses):
        raise AutofuseError(_nothing(run, reader, sources, units, found), exit_code=EXIT_CHECK_FAILED)
    _say_what_is_missing(app, analyses)
    report = build_report(analyses, Provenance(app.command_line, _inputs(source_dir, run)), app.lang)
    for path in _write(app, report, output_format, output):
        app.notice(f"wrote {path}")
    if run.notices.failures:
        ctx.exit(EXIT_CANNOT)


def _analyse(
    app: App, found: Sequence[OperatorLog], units: Sequence[UnitFormulas], sources: Sources
) -> List[OperatorAnalysis]:
    matched, notices = match_sources(found, units)
    for notice in (*sources.notices, *notices):
        app.notice(notice)
    return [analyse_operator(log, matched.get(index)) for index, log in enumerate(found)]


def _inputs(source_dir: str, run: LogRun) -> Tuple[str, ...]:
    return (source_dir, *(stream.name for stream in run.streams))


def _say_what_is_missing(app: App, analyses: Sequence[OperatorAnalysis]) -> None:
    without = [analysis.log.name for analysis in analyses if not analysis.has_formulas]
    if without:
        more = f" and {len(without) - _SHOWN} more" if len(without) > _SHOWN else ""
        app.notice(f"skipped {len(without)} without formulas: {', '.join(without[:_SHOWN])}{more}")
    statuses: List[Tuple[str, str]] = [
        (check.status, f"{analysis.log.name} case {template.candidate.case} {check.quantity}: {check.note}")
        for analysis in analyses
        for group in analysis.groups
        for template in group.templates
        for check in template.checks
    ]
    for status, meaning in _BAD_STATUSES.items():
        places = [place for found, place in statuses if found == status]
        if places:
            first = places[0].rstrip(": ")
            app.notice(f"{len(places)} {meaning} (the first: {first})")


_BAD_STATUSES = {
    "mismatch": "values differ from the log: stale sources, or another operator's",
    "missing_symbol": "values cannot be computed for want of a symbol",
    "error": "values cannot be computed",
}


def _nothing(
    run: LogRun, reader: Logs, sources: Sources, units: Sequence[UnitFormulas], found: Sequence[OperatorLog]
) -> str:
    templates = sum(len(unit) for unit in units)
    operators = sorted({selection.run.operator for selection in reader.selections.values()})
    names = ", ".join(operators[:_SHOWN]) + (" …" if len(operators) > _SHOWN else "")
    text = (
        f"no operator has a formula: looked for [PERF] lines in {run.lines} log lines ({len(reader.formulas)} found) "
        f"and for GetPerfStatic, Get<PIPE> or GetPerf in {sources.files} source files of {sources.path} "
        f"({templates} templates found); operators in the log: {names or 'none'}"
    )
    if operators and not found:
        return text + "; none of their templates passes --case"
    ids = sorted({name for unit in units for name in unit.unit.op_names})
    return text + (f"; the sources are of {', '.join(ids[:_SHOWN])}" if ids and operators else "")


# --- output -----------------------------------------------------------------------------------------------------------


def _write(app: App, report: Report, output_format: Optional[str], output: Optional[str]) -> Tuple[Path, ...]:
    if not _draws(app, output_format, output):
        return emit(app, report, output_format, output, default="console", default_folder=_FOLDER, name=_NAME)
    if output == "-":
        return emit(app, replace(report, charts=()), "svg", output, default_folder=_FOLDER, name=_NAME)
    svg = report.figures[0].svg().encode("utf-8")
    path = _svg_path(output)
    with atomic_open(path) as out:
        out.write(svg)
    return (path,)


def _draws(app: App, output_format: Optional[str], output: Optional[str]) -> bool:
    """Whether the drawing itself is wanted: by -f svg, by the suffix of -o, or by default."""
    if output_format is not None:
        return output_format.lower() == "svg"
    if output is None or output == "-" or output.endswith(("/", os.sep)) or os.path.isdir(output):
        return True
    suffix = os.path.splitext(output)[1].lower()
    return suffix == ".svg" or suffix not in _suffixes(app)


def _suffixes(app: App) -> Tuple[str, ...]:
    specs = app.host.specs("autofuse_reporters").values()
    return tuple(suffix.lower() for spec in specs for suffix in getattr(spec, "suffixes", ()))


def _svg_path(output: Optional[str]) -> Path:
    path = Path(output or _FOLDER)
    if output and not output.endswith(("/", os.sep)) and not path.is_dir() and path.suffix.lower() == ".svg":
        return path
    return path / f"{_NAME}.svg"
