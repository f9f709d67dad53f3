"""The command `perf-formula`: reads sources and logs, analyses, and hands the report to a reporter or draws it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Mapping, Optional, Sequence, Set, Tuple

import click
from autofuse.cli.app import App
from autofuse.cli.options import report_options
from autofuse.errors import EXIT_CANNOT, EXIT_CHECK_FAILED, AutofuseError
from autofuse.files import atomic_open
from autofuse.report.emit import emit
from autofuse.report.model import Figure, Provenance, Report
from autofuse_att_summary.filters import CaseFilter, CaseFilterType
from autofuse_att_summary.notices import say_what_was_skipped
from autofuse_att_summary.reading import LogRun

from autofuse_att_perf.analysis import OperatorAnalysis, analyse_operator
from autofuse_att_perf.candidates import OperatorLog
from autofuse_att_perf.drawing.figure import Section, assemble, draw_section, page_width
from autofuse_att_perf.facts import Facts, facts_of, say_what_is_missing
from autofuse_att_perf.formulas import UnitFormulas
from autofuse_att_perf.matching import match_sources
from autofuse_att_perf.parallel import for_each, without_collector
from autofuse_att_perf.report import build_report, report_title
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
    with without_collector():
        run = _run(ctx.obj, source_dir, logs, case_filter or CaseFilter(), output_format, output)
    if run.notices.failures:
        ctx.exit(EXIT_CANNOT)


def _run(
    app: App,
    source_dir: str,
    logs: Sequence[str],
    case_filter: CaseFilter,
    output_format: Optional[str],
    output: Optional[str],
) -> LogRun:
    sources = read_sources(source_dir)
    reader = Logs()
    run = reader.read(app, logs)
    say_what_was_skipped(app, run)
    found = operator_logs(reader, case_filter)
    units = [UnitFormulas(unit) for unit in sources.units if unit.texts]
    matched, notices = match_sources(found, units)
    for notice in (*sources.notices, *notices):
        app.notice(notice)
    work = _Work(found, matched, Provenance(app.command_line, (source_dir, *(stream.name for stream in run.streams))))
    write = _draw if _draws(app, output_format, output) else _report
    facts, paths = write(app, work, output_format, output)
    if not any(fact.has_formulas for fact in facts):
        raise AutofuseError(_nothing(run, reader, sources, units, found), exit_code=EXIT_CHECK_FAILED)
    say_what_is_missing(facts, app.notice)
    for path in paths:
        app.notice(f"wrote {path}")
    return run


@dataclass(frozen=True)
class _Work:
    """What is to be analysed."""

    logs: Sequence[OperatorLog]
    matched: Mapping[int, UnitFormulas]
    provenance: Provenance

    def analyse(self, index: int) -> OperatorAnalysis:
        """The analysis of one operator."""
        return analyse_operator(self.logs[index], self.matched.get(index))


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
    text += f"; the sources are of {', '.join(ids[:_SHOWN])}" if ids and operators else ""
    ours = {f"{sub_case}{case}" for unit in units for _, case, sub_case in unit.keys}
    logged = {candidate.case for log in found for candidate in log.candidates}
    if ours and logged and not ours & logged:
        text += f"; they have the cases {_some(ours)}, the log has {_some(logged)}"
    return text


def _some(names: Set[str]) -> str:
    ordered = sorted(names, key=lambda name: (len(name), name))
    return ", ".join(ordered[:_SHOWN]) + (" …" if len(names) > _SHOWN else "")


# --- output -----------------------------------------------------------------------------------------------------------


_Written = Tuple[Sequence[Facts], Tuple[Path, ...]]


def _report(app: App, work: _Work, output_format: Optional[str], output: Optional[str]) -> _Written:
    """The whole report by a reporter; nothing is written when no operator has a formula."""
    analyses = for_each(len(work.logs), work.analyse, fork=False)
    facts = [facts_of(analysis) for analysis in analyses]
    if not any(fact.has_formulas for fact in facts):
        return facts, ()
    report = build_report(analyses, work.provenance, app.lang)
    paths = emit(app, report, output_format, output, default="console", default_folder=_FOLDER, name=_NAME)
    return facts, paths


def _draw(app: App, work: _Work, output_format: Optional[str], output: Optional[str]) -> _Written:
    """The drawing alone: each operator is analysed, drawn and let go, on all cores where there are many."""
    page = page_width(work.logs)

    def draw_one(index: int) -> Tuple[Facts, Optional[Section]]:
        analysis = work.analyse(index)
        return facts_of(analysis), draw_section(analysis, index, page) if analysis.has_formulas else None

    drawn = for_each(len(work.logs), draw_one)
    facts = [fact for fact, _ in drawn]
    sections = [section for _, section in drawn if section is not None]
    if not sections:
        return facts, ()
    title = report_title(len(sections), app.lang)
    pieces = assemble(sections, title, page)
    if output == "-":
        svg = b"".join(pieces).decode("utf-8")
        figure = Figure(_NAME, title, lambda: svg)
        return facts, emit(app, Report(title, (), figures=(figure,)), "svg", output, default_folder=_FOLDER, name=_NAME)
    path = _svg_path(output)
    with atomic_open(path) as out:
        out.writelines(pieces)
    return facts, (path,)


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
