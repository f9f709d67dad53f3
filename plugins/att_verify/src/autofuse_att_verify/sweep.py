"""A sweep: one build, a call for every point of a grid, a row per point, a heat map for two varying inputs."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

import click
from autofuse.cli.app import App
from autofuse.report.emit import emit, reporters
from autofuse.report.model import Cell, Chart, Column, Number, Provenance, Report, Series, Table

from autofuse_att_verify import __version__
from autofuse_att_verify.build import Built
from autofuse_att_verify.checks import Limits, point_problem
from autofuse_att_verify.reports import headline, number
from autofuse_att_verify.result import RUNTIME_FAILED, SUCCEEDED, Result
from autofuse_att_verify.runner import Answer
from autofuse_att_verify.sweep_spec import Axis, Plan
from autofuse_att_verify.verify import Run, verify

__all__ = ["run_sweep", "sweep_report"]

_MOST_CELLS_AXIS = 64
_MOST_EXAMPLES = 5
_NO_PIPES: Dict[str, Number] = {}
_PIPES_FIRST = ("AIV_MTE2", "AIV_MTE3", "AIV_VEC")


class _Row(NamedTuple):
    """What a point came to; there are many of them."""

    error: Optional[str]
    block_dim: Optional[int]
    workspace: Optional[int]
    case: Optional[str]
    objective: Optional[Number]
    pipes: Dict[str, Number]
    us: Optional[float]


def run_sweep(app: App, run: Run, plan: Plan, output_format: Optional[str], jobs: Optional[int]) -> bool:
    """Builds, calls every point, writes DIR/sweep.* and result.json; True when every point passed."""
    sweep = _Sweep(app, plan, jobs or os.cpu_count() or 1)
    result = verify(run, sweep.call, app.notice)
    folder = run.request.output
    if sweep.rows:
        report = sweep_report(plan, sweep.rows, app.command_line, result.source_dir)
        if output_format not in ("console", "text"):
            emit(app, _summary_report(result, sweep.rows), None, None)
        for path in emit(app, report, output_format, None, default="csv", default_folder=str(folder), name="sweep"):
            app.notice(f"wrote {path}")
        _draw(app, report, folder, output_format)
    app.notice(f"wrote {folder / 'result.json'}")
    _say(app, result)
    return result.passed


def sweep_report(plan: Plan, rows: Sequence[_Row], command: str, source: str) -> Report:
    """The table of a sweep, in the order of the grid, and its heat map."""
    pipes = _pipe_names(rows)
    columns = (
        *(Column(axis.name, "int") for axis in plan.axes),
        Column("status"),
        Column("block_dim", "int"),
        Column("workspace", "int", "bytes"),
        Column("case", meaning="chosen templates, joined by ;"),
        Column("objective", "float", "cycles", "modelled cycles of the chosen result"),
        *(Column(pipe, "float", "cycles", "sum over the chosen groups") for pipe in pipes),
        Column("microseconds", "float", "µs", "time of the call"),
        Column("error"),
    )
    chart = _heat_map(plan, rows)
    return Report(
        title="verify-tiling sweep",
        tables=(Table("sweep", columns, _Rows(plan, rows, pipes)),),
        charts=(chart,) if chart else (),
        provenance=Provenance(command, (source,), {"autofuse-att-verify": __version__}),
    )


def _summary_report(result: Result, rows: Sequence[_Row]) -> Report:
    """What the console shows of a sweep."""
    summary = result.sweep or {}
    dims = [row.block_dim for row in rows if row.block_dim is not None]
    objectives = [row.objective for row in rows if row.objective is not None]
    columns = (
        Column("Status"),
        Column("Points", "int"),
        Column("Failed", "int"),
        Column("Seconds", "float"),
        Column("Points/s", "float"),
        Column("block_dim", meaning="least and most"),
        Column("Objective", unit="cycles", meaning="least and most"),
        Column("Templates", "int", meaning="how many choices occur"),
    )
    row: Tuple[Cell, ...] = (
        result.status,
        summary.get("points"),
        summary.get("failed"),
        summary.get("seconds"),
        summary.get("points_per_second"),
        _span(dims, int),
        _span(objectives, float),
        len({row.case for row in rows if row.case}),
    )
    return Report("verify-tiling sweep", (Table("sweep", columns, [row]),))


def _span(values: Sequence[Any], key: Callable[[Any], float]) -> Optional[str]:
    return f"{min(values, key=key)} .. {max(values, key=key)}" if values else None


class _Rows:
    """The rows of the table, made when they are read."""

    def __init__(self, plan: Plan, rows: Sequence[_Row], pipes: Sequence[str]) -> None:
        self.plan, self.rows, self.pipes = plan, rows, pipes

    def __iter__(self) -> Iterator[Tuple[Cell, ...]]:
        for point, row in zip(self.plan.points(), self.rows):
            yield (
                *point,
                "failed" if row.error else "ok",
                row.block_dim,
                row.workspace,
                row.case,
                row.objective,
                *(row.pipes.get(pipe) for pipe in self.pipes),
                row.us,
                row.error,
            )


class _Sweep:
    """The `work` of a sweep and what it gathers."""

    def __init__(self, app: App, plan: Plan, jobs: int) -> None:
        self.app = app
        self.plan = plan
        self.jobs = jobs
        self.rows: List[_Row] = []

    def call(self, run: Run, built: Built, folder: Path) -> None:
        """Calls every point and fills in the result."""
        count = self.plan.count
        job = run.job(built, folder, self.plan.packed(), single=False, jobs=min(self.jobs, count))
        rows: List[Optional[_Row]] = [None] * count
        begin = time.monotonic()
        fatal, left = self._gather(run, job, rows)
        seconds = time.monotonic() - begin
        lost = _Row(fatal or "no answer", None, None, None, None, _NO_PIPES, None)
        self.rows = [row or lost for row in rows]
        result = run.result
        result.run_seconds = round(seconds, 6)
        result.res_limit_passed = self.plan.passes_limit if run.contract.abi.kind == "inductor" else None
        failed = [index for index, row in enumerate(self.rows) if row.error]
        result.sweep = self._summary(failed, seconds, left)
        if failed or left:
            result.fail(RUNTIME_FAILED, fatal or self._complaint(failed, left))
        else:
            result.status = SUCCEEDED

    def _gather(self, run: Run, job: Any, rows: List[Optional[_Row]]) -> Tuple[Optional[str], int]:
        limits = _Limits(run, self.plan)
        fatal: Optional[str] = None
        left = 0
        with contextlib.closing(_as_generator(run.runner.run(job))) as lines, self._progress() as bar:
            for answer in lines:
                index = answer.get("i")
                if isinstance(index, int) and 0 <= index < len(rows):
                    # Code that runs wild could write answers itself: the first one for a point counts.
                    if rows[index] is None:
                        rows[index] = _row(limits.of(index), answer)
                        bar.update(1)
                elif "fatal" in answer:
                    fatal = fatal or str(answer["fatal"])
                elif isinstance(answer.get("left"), int):
                    left += answer["left"]
        return fatal, left

    def _progress(self) -> Any:
        shown = sys.stderr is not None and sys.stderr.isatty() and not self.app.quiet
        file = sys.stderr if shown else open(os.devnull, "w")  # noqa: SIM115 -- closed by the stack below
        stack = contextlib.ExitStack()
        if not shown:
            stack.callback(file.close)
        bar = stack.enter_context(
            click.progressbar(length=self.plan.count, label="sweep", file=file, update_min_steps=64)
        )
        return _Bar(stack, bar)

    def _summary(self, failed: List[int], seconds: float, left: int) -> Dict[str, Any]:
        count = self.plan.count
        return {
            "spec": self.plan.spec,
            "points": count,
            "failed": len(failed),
            "processes": self.jobs,
            "seconds": round(seconds, 3),
            "points_per_second": round(count / seconds, 1) if seconds > 0 else None,
            "left_processes": left,
            "failures": [{**self._named(i), "error": self.rows[i].error} for i in failed[:_MOST_EXAMPLES]],
        }

    def _named(self, index: int) -> Dict[str, int]:
        """Axis → value of the point with this number, the last axis fastest."""
        named: Dict[str, int] = {}
        for axis in reversed(self.plan.axes):
            index, at = divmod(index, len(axis.values))
            named[axis.name] = axis.values[at]
        return dict(reversed(named.items()))

    def _complaint(self, failed: List[int], left: int) -> str:
        if not failed:
            return f"left {left} processes running"
        first = self._named(failed[0])
        place = " ".join(f"{name}={value}" for name, value in first.items())
        return f"{len(failed)} of {self.plan.count} points failed, the first at {place}: {self.rows[failed[0]].error}"


class _Bar:
    """A progress bar that closes what it was opened with."""

    def __init__(self, stack: contextlib.ExitStack, bar: Any) -> None:
        self.stack, self.bar = stack, bar

    def __enter__(self) -> Any:
        return self.bar

    def __exit__(self, *_: object) -> None:
        self.stack.close()


class _Limits:
    """The limits that a point is measured by: its own number of cores, where that reaches the code."""

    def __init__(self, run: Run, plan: Plan) -> None:
        self.base = run.limits()
        at = [axis.name for axis in plan.axes].index("aiv")
        self.cores = plan.axes[at].values
        self.stride = math.prod(len(axis.values) for axis in plan.axes[at + 1 :])
        self.own = run.contract.abi.kind != "inductor" or plan.passes_limit
        self.made = {cores: replace(self.base, aiv_num=cores, aiv_source="aiv_num") for cores in self.cores}

    def of(self, index: int) -> Limits:
        """Those of the point with this number, the last axis fastest."""
        return self.made[self.cores[index // self.stride % len(self.cores)]] if self.own else self.base


def _as_generator(answers: Any) -> Any:
    return answers


def _row(limits: Limits, answer: Answer) -> _Row:
    """One row; what the code did not say is None."""
    came_back = answer.get("ret") == 0
    width = (1 << limits.block_dim_width) - 1
    templates = answer.get("templates", [])
    return _Row(
        error=point_problem(answer, limits),
        block_dim=answer["block_dim"] & width if came_back else None,
        workspace=answer["workspace"] & 0xFFFFFFFF if came_back else None,
        # Few choices occur at very many points.
        case=sys.intern(";".join(item["template"] for item in templates)) or None,
        objective=_objective(answer, templates),
        pipes=_pipes(templates) if templates else _NO_PIPES,
        us=round(answer["ns"] / 1000, 3) if "ns" in answer else None,
    )


def _objective(answer: Answer, templates: List[Dict[str, Any]]) -> Optional[Number]:
    results = list(answer.get("results", {}).values())
    if len(results) == 1:
        return number(results[0])
    if not results and len(templates) == 1:
        return number(templates[0].get("objective"))
    return _sum(results or [item.get("objective") for item in templates])


def _pipes(templates: List[Dict[str, Any]]) -> Dict[str, Number]:
    """Pipe → cycles; groups run one after the other, so theirs add up."""
    names = {name for item in templates for name in item.get("pipes", {})}
    values = {name: [item["pipes"][name] for item in templates if name in item.get("pipes", {})] for name in names}
    sums = {name: number(texts[0]) if len(texts) == 1 else _sum(texts) for name, texts in values.items()}
    return {name: value for name, value in sums.items() if value is not None}


def _sum(texts: Sequence[Optional[str]]) -> Optional[Number]:
    values = list(map(number, texts))
    if not values or None in values:
        return None
    return Number(f"{sum(map(float, filter(None, values))):.6f}")


def _pipe_names(rows: Sequence[_Row]) -> List[str]:
    names = {name for row in rows for name in row.pipes}
    return sorted(names, key=lambda name: (_PIPES_FIRST.index(name) if name in _PIPES_FIRST else 99, name))


def _heat_map(plan: Plan, rows: Sequence[_Row]) -> Optional[Chart]:
    """Objective (block_dim where no objective was logged) over two varying inputs; None for another number of them."""
    if len(plan.varying) != 2:
        return None
    down, across = plan.varying
    value = "objective" if any(row.objective is not None for row in rows) else "block_dim"
    shown_down, shown_across = _thinned(down), _thinned(across)
    width = len(across.values)
    series = tuple(
        Series(
            f"{down.name}={down.values[i]}", tuple(_number(getattr(rows[i * width + j], value)) for j in shown_across)
        )
        for i in shown_down
    )
    thinned = len(shown_down) < len(down.values) or len(shown_across) < width
    note = f"{len(shown_down)} x {len(shown_across)} of {len(down.values)} x {width} points are shown"
    return Chart(
        name="sweep_heatmap",
        kind="heatmap",
        title=f"{value} by {down.name} and {across.name}",
        categories=tuple(str(across.values[j]) for j in shown_across),
        series=series,
        unit="cycles" if value == "objective" else "blocks",
        x_title=across.name,
        y_title=value,
        notes=(note,) if thinned else (),
    )


def _thinned(axis: Axis) -> List[int]:
    """Indices of at most 64 values, evenly spread, the ends among them."""
    count = len(axis.values)
    if count <= _MOST_CELLS_AXIS:
        return list(range(count))
    return [round(step * (count - 1) / (_MOST_CELLS_AXIS - 1)) for step in range(_MOST_CELLS_AXIS)]


def _number(value: Any) -> Optional[float]:
    if value is None:
        return None
    return float(value)


def _draw(app: App, report: Report, folder: Path, output_format: Optional[str]) -> None:
    """The heat map as a picture of its own, with the first reporter that draws."""
    if not report.charts:
        return
    for name in ("svg", "html"):
        if name in reporters(app) and output_format != name:
            drawn = replace(report, tables=report.tables[:0] if name == "svg" else report.tables)
            for path in emit(app, drawn, name, None, default_folder=str(folder), name="sweep_heatmap"):
                app.notice(f"wrote {path}")
            return
        if output_format == name:
            return


def _say(app: App, result: Result) -> None:
    summary = result.sweep
    if summary is not None:
        rate = f"{summary['points_per_second']:g} points/s" if summary["points_per_second"] else "at once"
        app.notice(f"{summary['points']} points, {summary['failed']} failed, {summary['seconds']:g} s, {rate}")
    if not result.passed:
        click.echo(f"autofuse: {headline(result)}", err=True)
