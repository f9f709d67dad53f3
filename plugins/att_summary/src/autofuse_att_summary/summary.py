"""The command `summary`: which template each operator chose, with its values, from logs."""

from __future__ import annotations

from typing import Dict, List, Sequence, Tuple

import click
from autofuse.cli.app import App
from autofuse.cli.options import report_options
from autofuse.errors import EXIT_CANNOT, EXIT_CHECK_FAILED, AutofuseError
from autofuse.report.emit import emit
from autofuse.report.model import Provenance, Report

from autofuse_att_summary.explain import charts_of, explain_table
from autofuse_att_summary.filters import (
    CaseFilter,
    CaseFilterType,
    InvocationChoice,
    InvocationsType,
    Selection,
    matches_any,
)
from autofuse_att_summary.model import Invocation, OperatorRun
from autofuse_att_summary.notices import say_what_was_skipped
from autofuse_att_summary.reading import LogRun, read_logs
from autofuse_att_summary.rows import Row, build_table, rows_of_invocation

__all__ = ["Summary", "command", "summarize"]

_LINES_OF_COUNTS = 10
"""Operators whose invocations are told one by one on standard error; more are told together."""


@click.command("summary", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("logs", metavar="LOG...", nargs=-1, required=True)
@click.option("-a", "--all", "everything", is_flag=True, help="Every result and group that chose a template.")
@click.option(
    "--invocations",
    type=InvocationsType(),
    default="last",
    show_default=True,
    help="Which calls of each operator and process; an integer counts from 1, negative from the end.",
)
@click.option(
    "--op", "patterns", metavar="PATTERN", multiple=True, help="Only operators whose name matches (shell style)."
)
@click.option("--case", "case_filter", type=CaseFilterType(), help="Only these results, groups, cases: r=0,1,g=2,c=R3.")
@click.option("--explain", is_flag=True, help="Also why: what bounds it, and the candidate that came second.")
@report_options
@click.pass_context
def command(
    ctx: click.Context,
    logs: Tuple[str, ...],
    everything: bool,
    invocations: InvocationChoice,
    patterns: Tuple[str, ...],
    case_filter: CaseFilter,
    explain: bool,
    output_format: str,
    output: str,
) -> None:
    """Which template each operator chose, with its modelled cycles and tiling values.

    LOG is a file, a folder, an archive, a pattern, or - for standard input. Reads each log once.
    """
    app: App = ctx.obj
    summary = Summary(invocations, patterns, case_filter or CaseFilter(), everything)
    run = read_logs(app, logs, summary.add)
    say_what_was_skipped(app, run)
    rows = summary.rows()
    if not rows:
        raise AutofuseError(_nothing(run, summary), exit_code=EXIT_CHECK_FAILED)
    for line in summary.counts():
        app.notice(line)
    emit(app, summarize(app, run, rows, explain), output_format, output)
    if run.notices.failures:
        ctx.exit(EXIT_CANNOT)


class Summary:
    """Collects the rows to show while the log is read; keeps nothing of the other invocations."""

    def __init__(
        self,
        invocations: InvocationChoice = InvocationChoice("all"),  # noqa: B008 (frozen)
        patterns: Sequence[str] = (),
        case_filter: CaseFilter = CaseFilter(),  # noqa: B008 (frozen)
        everything: bool = False,
    ) -> None:
        self.choice = invocations
        self.patterns = patterns
        self.case_filter = case_filter
        self.everything = everything
        self.selections: Dict[int, Selection] = {}
        self.seen: Dict[str, int] = {}
        """Operator → number of first appearance, whether wanted or not."""
        self._wanted: Dict[int, bool] = {}
        self._rows: List[Row] = []

    def add(self, invocation: Invocation) -> None:
        """The sink of the reading."""
        run = invocation.run
        if not self._wants(run):
            return
        selection = self.selections.get(run.number)
        if selection is None:
            selection = self.selections[run.number] = Selection(run, self.choice)
        if self.choice.mode == "all":
            selection.count(invocation)
            self._rows.extend(self._rows_of(invocation))
        else:
            selection.add(invocation)

    def rows(self) -> List[Row]:
        """All rows in their order: operator, process, invocation, graph, result, group."""
        rows = list(self._rows)
        for selection in self.selections.values():
            for invocation in selection.chosen():
                rows.extend(self._rows_of(invocation))
        first_seen: Dict[str, int] = {}
        for number in sorted(self.selections):
            first_seen.setdefault(self.selections[number].run.operator, number)
        rows.sort(key=lambda row: (first_seen[row.run.operator], row.run.number, row.ordinal, row.order))
        return rows

    def counts(self) -> List[str]:
        """Lines for standard error: how many invocations there were, and how many failed or are incomplete."""
        everything = [selection for _, selection in sorted(self.selections.items())]
        several = [s for s in everything if s.run.count > 1 or s.failed or s.incomplete]
        missing = [s.run.operator for s in everything if self.choice.mode == "number" and not s.chosen()]
        if len(several) <= _LINES_OF_COUNTS:
            lines = [f"{s.run.operator}: {_count(s.run.count, s.failed, s.incomplete)}" for s in several]
        else:
            total = sum(s.run.count for s in several)
            counted = _count(total, sum(s.failed for s in several), sum(s.incomplete for s in several))
            lines = [f"{len(several)} operators: {counted}"]
        if several and self.choice.mode in ("last", "first"):
            lines[-1] += f"; the {self.choice.mode} that chose something is shown (--invocations all shows every one)"
        if missing:
            names = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
            lines.append(f"no invocation {self.choice.number} of {names}")
        return lines

    def _wants(self, run: OperatorRun) -> bool:
        wanted = self._wanted.get(run.number)
        if wanted is None:
            self.seen.setdefault(run.operator, run.number)
            wanted = self._wanted[run.number] = matches_any(run.operator, self.patterns)
        return wanted

    def _rows_of(self, invocation: Invocation) -> List[Row]:
        rows = rows_of_invocation(invocation, self.everything)
        return [row for row in rows if self.case_filter.wants(row.result, row.group, row.case, row.sub_case)]


def summarize(app: App, run: LogRun, rows: Sequence[Row], explain: bool = False) -> Report:
    """The report of the rows."""
    operators = len({row.run.operator for row in rows})
    title = (
        f"{_plural(operators, 'operator')}, {_plural(len(rows), 'row')}"
        if app.lang == "en"
        else f"{operators} 个算子，{len(rows)} 行"
    )
    inputs = tuple(stream.name for stream in run.streams)
    return Report(
        title,
        (build_table(rows, title), explain_table(rows, detail=not explain)),
        charts=charts_of(rows),
        provenance=Provenance(app.command_line, inputs),
    )


def _plural(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _count(total: int, failed: int, incomplete: int) -> str:
    details = [f"{failed} failed"] if failed else []
    details += [f"{incomplete} incomplete"] if incomplete else []
    suffix = f" ({', '.join(details)})" if details else ""
    return _plural(total, "invocation") + suffix


def _nothing(run: LogRun, summary: Summary) -> str:
    if not summary.seen:
        return (
            f"no tiling messages in {run.lines} lines of {len(run.streams)} files: looked for [PROF] values, "
            "template choices and Start GetTiling (INFO level of module GE)"
        )
    there = ", ".join(sorted(summary.seen)[:20]) + (" …" if len(summary.seen) > 20 else "")
    if not summary.selections:
        return f"no operator matches {' or '.join(summary.patterns)}; there are: {there}"
    if summary.choice.mode == "number":
        most = max(s.run.count for s in summary.selections.values())
        if most < abs(summary.choice.number):
            return f"no invocation {summary.choice.number}; the operators have at most {most}: {there}"
    return f"no row passes --case; operators read: {there}"
