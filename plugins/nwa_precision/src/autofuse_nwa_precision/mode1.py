"""Mode 1: reads two graphs and two dump folders, compares every pair of the plan, blames, and reports."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Dict, Iterable, Iterator, List, Optional, Sequence

import click
from autofuse.cli.app import App
from autofuse.errors import AutofuseError

from autofuse_nwa_precision.blame import Flow, assign_blame
from autofuse_nwa_precision.cli import Options
from autofuse_nwa_precision.comparison import Comparer
from autofuse_nwa_precision.converters import Converters
from autofuse_nwa_precision.dumps.index import DumpIndex, index_folder
from autofuse_nwa_precision.further import OtherRun
from autofuse_nwa_precision.graphs import FUSED_TYPES, read_graphs
from autofuse_nwa_precision.pairing import Operators, Pair, Planner, Run
from autofuse_nwa_precision.report.output import Findings, publish
from autofuse_nwa_precision.rows import Row, summarize
from autofuse_nwa_precision.tolerance import Tolerances

__all__ = ["compare_runs", "tolerances_of"]

_CHUNK = 32
"""Pairs that a thread takes at a time: handing over one by one costs more than a small pair."""

_LONGEST_REASON = 400
"""Characters of a reason in an error: it may hold any name."""


def compare_runs(app: App, options: Options) -> int:
    """Runs the comparison, writes the report and gives the exit code."""
    tolerances = tolerances_of(options)
    open_graphs = read_graphs(options.af_open_graph or "")
    close_graphs = read_graphs(options.af_close_graph or "")
    open_run = Run(Operators(open_graphs), _indexed(app, options.af_open_data or ""), "open")
    close_run = Run(Operators(close_graphs), _indexed(app, options.af_close_data or ""), "close")
    planner = Planner(open_graphs, open_run, close_run, options.compare_input, options.ops)
    pairs = _planned(planner, options)
    jobs = options.jobs or cores()
    comparer = Comparer(Converters.of(app.host), tolerances, options.measures, jobs)
    comparer.noise = _other_run(app, options.noise_data, close_run, "noise")
    comparer.reference = _other_run(app, options.reference_data, close_run, "reference")
    rows = list(_progress(_compared(comparer, pairs, jobs), len(pairs), app.quiet))
    _tell_unused(app, comparer.noise, comparer.reference)
    flow = Flow.of(open_graphs)
    assign_blame(rows, flow)
    summary = summarize(rows)
    publish(app, options, Findings(rows, summary, flow, planner.mappings, comparer))
    if not summary.compared:
        raise AutofuseError(f"compared 0 of {summary.rows} rows", hint=_why_nothing(rows))
    return summary.exit_code


def tolerances_of(options: Options) -> Tolerances:
    """The tolerances in force."""
    if options.tolerance:
        return Tolerances.read(options.tolerance)
    return Tolerances.of_options(options.rtol, options.atol, options.cosine)


def cores() -> int:
    """The cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _indexed(app: App, folder: str) -> DumpIndex:
    index = index_folder(folder)
    for notice in index.notices:
        app.notice(notice)
    return index


def _other_run(app: App, folder: Optional[str], close: Run, label: str) -> Optional[OtherRun]:
    """A further run without fusion has the operators of the close graph."""
    return OtherRun(Run(close.operators, _indexed(app, folder), label), close) if folder else None


def _tell_unused(app: App, *others: Optional[OtherRun]) -> None:
    """A run that excuses nothing because it is another model's must not look like one that found no excuse."""
    for other in others:
        if other is not None and not other.used:
            app.warn(f"{other.run.index.root}: holds no dump of any original output that was compared")


def _planned(planner: Planner, options: Options) -> List[Pair]:
    pairs = list(planner.pairs())
    if pairs:
        return pairs
    if options.ops:
        raise AutofuseError(f"no fused operator matches {', '.join(options.ops)}", options.af_open_graph)
    types = " or ".join(sorted(FUSED_TYPES))
    raise AutofuseError(
        f"holds no fused operator with outputs (type {types})", options.af_open_graph, "is it the graph with fusion on?"
    )


def _compared(comparer: Comparer, pairs: Sequence[Pair], jobs: int) -> Iterator[Row]:
    if jobs == 1 or len(pairs) < 2:
        yield from map(comparer.row, pairs)
        return
    chunks = [pairs[start : start + _chunk(pairs, jobs)] for start in range(0, len(pairs), _chunk(pairs, jobs))]
    pool = ThreadPoolExecutor(jobs)
    try:
        for rows in pool.map(lambda chunk: [comparer.row(pair) for pair in chunk], chunks):
            yield from rows
    finally:
        # After Ctrl-C only what has begun is finished.
        pool.shutdown(cancel_futures=True)


def _chunk(pairs: Sequence[Pair], jobs: int) -> int:
    return max(1, min(_CHUNK, len(pairs) // (4 * jobs)))


def _progress(rows: Iterable[Row], total: int, quiet: bool) -> Iterator[Row]:
    """A progress bar on standard error, on a terminal only."""
    if quiet or not (sys.stderr and sys.stderr.isatty()):
        yield from rows
        return
    with click.progressbar(rows, length=total, label="precision", file=sys.stderr) as bar:
        yield from bar


def _why_nothing(rows: Sequence[Row]) -> str:
    counts: Dict[str, int] = {}
    for row in rows:
        counts[row.status] = counts.get(row.status, 0) + 1
    told = ", ".join(f"{status} {count}" for status, count in sorted(counts.items(), key=lambda item: -item[1]))
    first = next((row.reason for row in rows if row.reason), "")
    first = first if len(first) <= _LONGEST_REASON else first[:_LONGEST_REASON] + "…"
    return f"{told}; {first}" if first else told
