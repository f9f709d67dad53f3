"""Puts the report of mode 1 together and hands it to the reporter that the options name."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import List, Mapping, Optional, Sequence, Tuple

from autofuse import __version__
from autofuse.cli.app import App
from autofuse.report.emit import emit
from autofuse.report.model import Provenance, Report, Table

from autofuse_nwa_precision.blame import ROOT, Flow
from autofuse_nwa_precision.cli import Options
from autofuse_nwa_precision.comparison import Comparer
from autofuse_nwa_precision.report.charts import charts_of, worst_rows
from autofuse_nwa_precision.report.columns import main_table, unrounded
from autofuse_nwa_precision.report.graph_figure import graph_figure
from autofuse_nwa_precision.report.lead import Context, lead_lines, note_lines
from autofuse_nwa_precision.report.worst import worst_table
from autofuse_nwa_precision.rows import Row, Summary

__all__ = ["Findings", "is_console", "is_csv", "publish", "shown_in"]

_CONSOLES = ("console", "text")
_MOST_ROWS_OF_ELEMENTS = 20


@dataclass(frozen=True)
class Findings:
    """What a comparison found."""

    rows: Sequence[Row]
    summary: Summary
    flow: Flow
    mappings: Mapping[str, int]
    comparer: Comparer


def publish(app: App, options: Options, findings: Findings) -> None:
    """Writes the report to where -f and -o say."""
    console = is_console(options.output_format, options.output)
    app = shown_in(app, console)
    rows = _sorted(findings.rows, options.sort)
    context = Context(
        rows,
        findings.summary,
        findings.flow,
        findings.mappings,
        (options.af_open_graph or "", options.af_close_graph or ""),
        options.compare_input,
        app.lang,
    )
    tables: List[Table] = [main_table(rows, app.lang if console else None)]
    if not console:
        tables.extend(worst_table(findings.comparer, worst_rows(rows, _MOST_ROWS_OF_ELEMENTS)))
    if is_csv(options.output_format, options.output):
        tables = [unrounded(table) for table in tables]
    report = Report(
        _title(rows),
        tuple(tables),
        () if console else charts_of(rows),
        () if console else (graph_figure(rows, findings.flow),),
        lead_lines(context),
        note_lines(context),
        Provenance(app.command_line, _inputs(options), {"autofuse": __version__}),
    )
    emit(app, report, options.output_format, options.output)


def is_console(output_format: Optional[str], output: Optional[str]) -> bool:
    """True when the report goes to a console table, which has its own words."""
    if output_format is not None:
        return output_format.lower() in _CONSOLES
    return output is None or output == "-" or output.lower().endswith(".txt")


def is_csv(output_format: Optional[str], output: Optional[str]) -> bool:
    """True when the report goes to a file of plain text that programs read."""
    if output_format is not None:
        return output_format.lower() == "csv"
    return output is not None and output.lower().endswith(".csv")


def shown_in(app: App, console: bool) -> App:
    """The app in the language of the output: the published console table is Chinese unless a language was asked for."""
    if not console or app.lang_explicit is not None:
        return app
    shown = copy.copy(app)
    shown.lang_option = "zh"
    return shown


def _sorted(rows: Sequence[Row], sort: str) -> Sequence[Row]:
    return sorted(rows, key=_worst_first) if sort == "worst" else rows


def _worst_first(row: Row) -> Tuple[int, float]:
    """Failing rows, then those that could not be compared, then the others by error."""
    error = row.rel_l2
    badness = -float("inf") if error is None or error != error else -error
    if row.verdict is None:
        return 1, 0.0
    return (0 if row.failed else 2), badness


def _title(rows: Sequence[Row]) -> str:
    roots = list(dict.fromkeys(row.pair.fused.name for row in rows if row.blame == ROOT))
    if not roots:
        return "precision"
    return "precision: " + ", ".join(roots[:3]) + (" …" if len(roots) > 3 else "")


def _inputs(options: Options) -> Tuple[str, ...]:
    given = (
        options.af_open_graph,
        options.af_close_graph,
        options.af_open_data,
        options.af_close_data,
        options.noise_data,
        options.reference_data,
    )
    return tuple(path for path in given if path)
