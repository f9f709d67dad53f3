"""The command line of `precision`: options, what excludes what, and which job runs. No numpy before a job starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Tuple

import click
from autofuse.cli.app import App
from autofuse.cli.options import report_options
from autofuse.errors import AutofuseError

__all__ = ["Options", "command"]

_MODE1 = ("af_open_graph", "af_close_graph", "af_open_data", "af_close_data")
_MODE2 = ("npy_a", "npy_b")


@dataclass(frozen=True)
class Options:
    """The options as given; None for those that were not."""

    mode: str
    af_open_graph: Optional[str]
    af_close_graph: Optional[str]
    af_open_data: Optional[str]
    af_close_data: Optional[str]
    npy_a: Optional[str]
    npy_b: Optional[str]
    layout_a: Optional[str]
    layout_b: Optional[str]
    shape: Optional[Tuple[int, ...]]
    compare_input: bool
    noise_data: Optional[str]
    reference_data: Optional[str]
    tolerance: Optional[str]
    rtol: Optional[float]
    atol: Optional[float]
    cosine: Optional[float]
    show_tolerance: bool
    ops: Tuple[str, ...]
    measures: str
    sort: str
    jobs: Optional[int]
    output_format: Optional[str]
    output: Optional[str]


def _shape(ctx: click.Context, parameter: click.Parameter, value: Optional[str]) -> Optional[Tuple[int, ...]]:
    if value is None:
        return None
    words = [word for word in value.replace("x", ",").replace("[", "").replace("]", "").split(",") if word.strip()]
    try:
        shape = tuple(int(word) for word in words)
    except ValueError:
        shape = (-1,)
    if min(shape, default=0) < 0:
        raise click.BadParameter(f"{value!r} is no shape; write 1,3,224,224", ctx, parameter)
    return shape


@click.group("precision", invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--mode", type=click.Choice(["1", "2"]), default="1", show_default=True, help="1: two runs. 2: two npy files."
)
@click.option("--af-open-graph", metavar="FILE", help="Dump graph with fusion on: JSON or ge_proto_*.txt.")
@click.option("--af-close-graph", metavar="FILE", help="Dump graph with fusion off.")
@click.option("--af-open-data", metavar="DIR", help="Dumps of the run with fusion on.")
@click.option("--af-close-data", metavar="DIR", help="Dumps of the run with fusion off.")
@click.option("--compare-input", is_flag=True, help="Compare the inputs of fused operators too.")
@click.option("--tolerance", metavar="FILE", help="TOML file of [[tolerance]] entries.")
@click.option("--rtol", type=float, metavar="X", help="Every element: |a-b| <= atol + rtol*|b|.")
@click.option("--atol", type=float, metavar="Y", help="See --rtol.")
@click.option("--cosine", type=float, metavar="C", help="Smallest scale-free cosine of floating-point rows.")
@click.option("--show-tolerance", is_flag=True, help="Print the tolerances in force and stop.")
@click.option("--noise-data", metavar="DIR", help="Dumps of a second run with fusion off: its noise is not blamed.")
@click.option("--reference-data", metavar="DIR", help="Dumps of an fp64 run: what is closer to it does not fail.")
@click.option(
    "--op", "ops", multiple=True, metavar="PATTERN", help="Fused operators to compare (shell pattern; repeatable)."
)
@click.option(
    "--measures",
    type=click.Choice(["all", "basic"]),
    default="all",
    show_default=True,
    help="basic: the published ones.",
)
@click.option(
    "--sort", type=click.Choice(["graph", "worst"]), default="graph", show_default=True, help="Order of the rows."
)
@click.option("--jobs", type=click.IntRange(1, 256), metavar="N", help="Threads (default: one per core).")
@click.option("--npy-a", metavar="FILE", help="Mode 2: the file under test.")
@click.option("--npy-b", metavar="FILE", help="Mode 2: the file to compare with.")
@click.option("--layout-a", metavar="L", help="Mode 2: layout of A, such as NC1HWC0 (default: ND).")
@click.option("--layout-b", metavar="L", help="Mode 2: layout of B.")
@click.option("--shape", metavar="S", callback=_shape, help="Mode 2: original shape, to crop padding: 1,3,224,224.")
@report_options
@click.pass_context
def command(ctx: click.Context, /, **given: Any) -> None:
    """Find the fused operator that made the result worse.

    Compares the outputs of every fused operator of a run with automatic fusion to those of the original operators in a
    run without it, and names the first operator that is worse than its inputs explain.

    Exit code 0: all compared rows pass or warn. 1: some fail, or could not be compared. 2: nothing could be compared.
    """
    if ctx.invoked_subcommand is not None:
        return
    options = Options(**given)
    _check(ctx, options)
    app: App = ctx.obj
    ctx.exit(_run(app, options))


@command.command("inspect", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", metavar="FILE")
@report_options
@click.pass_obj
def inspect(app: App, file: str, output_format: Optional[str], output: Optional[str]) -> None:
    """Show what a dump file holds: tensors, dtype, layout, statistics."""
    from autofuse_nwa_precision.inspect import inspect_file

    inspect_file(app, file, output_format, output)


def _run(app: App, options: Options) -> int:
    if options.show_tolerance:
        from autofuse_nwa_precision.report.tolerances import show_tolerances

        return show_tolerances(app, options)
    if options.mode == "2":
        from autofuse_nwa_precision.mode2 import compare_files

        return compare_files(app, options)
    from autofuse_nwa_precision.mode1 import compare_runs

    return compare_runs(app, options)


def _check(ctx: click.Context, options: Options) -> None:
    if options.tolerance and (options.rtol, options.atol, options.cosine) != (None, None, None):
        raise click.UsageError("--tolerance excludes --rtol, --atol and --cosine", ctx)
    if options.show_tolerance:
        return
    needed, foreign = (_MODE1, _MODE2) if options.mode == "1" else (_MODE2, _MODE1)
    missing = [_option(name) for name in needed if not getattr(options, name)]
    if missing and options.mode == "1" and any(getattr(options, name) for name in _MODE2):
        raise click.UsageError(f"{_option(_MODE2[0])} and {_option(_MODE2[1])} belong to --mode 2", ctx)
    if missing:
        raise click.UsageError(f"mode {options.mode} needs {', '.join(missing)}", ctx)
    extra = [_option(name) for name in foreign if getattr(options, name)]
    if extra:
        raise click.UsageError(f"mode {options.mode} does not take {', '.join(extra)}", ctx)
    if options.mode == "1" and (options.layout_a or options.layout_b or options.shape is not None):
        raise click.UsageError("--layout-a, --layout-b and --shape belong to --mode 2", ctx)
    if options.mode == "2" and (options.noise_data or options.reference_data or options.ops or options.compare_input):
        raise click.UsageError("--noise-data, --reference-data, --op and --compare-input belong to --mode 1", ctx)
    if any(not pattern for pattern in options.ops):
        raise AutofuseError("--op needs a pattern")


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
