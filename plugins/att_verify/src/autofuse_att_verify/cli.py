"""The command verify-tiling: its options, the announcement of what it is about to do, and the exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

import click
from autofuse.cli.app import App
from autofuse.errors import EXIT_CHECK_FAILED, AutofuseError

from autofuse_att_verify.contract import presets
from autofuse_att_verify.scene import SCENES
from autofuse_att_verify.toolkits import CHOICES

__all__ = ["command"]

DEFAULT_FOLDER = "output/verify"


@click.command("verify-tiling")
@click.argument("source_dir", metavar="SOURCE_DIR")
@click.option("--scene", type=click.Choice(SCENES), help="Override what SOURCE_DIR looks like.")
@click.option("--graph", metavar="NAME", help="The graph, when output_code.py holds several.")
@click.option("--preset", type=click.Choice(sorted(presets())), help="A shipped input contract (default: A).")
@click.option("--input-json", metavar="FILE", help="An input contract of your own.")
@click.option("--aiv-num", type=int, metavar="N", help="Vector cores, in place of the contract's.")
@click.option(
    "--log", metavar="LOG", help="Take the inputs from a call in this ATT log and compare the result with it."
)
@click.option("--case", metavar="CASE", help="Template that must be chosen: r=0,g=1,c=R2.")
@click.option("--compile-config", metavar="FILE", help="TOML with [compile] flags, extra_includes, extra_links.")
@click.option(
    "--toolkit", type=click.Choice(CHOICES), default="auto", show_default=True, help="What to compile against."
)
@click.option("--timeout", type=float, default=60.0, show_default=True, metavar="S", help="Seconds for one call.")
@click.option("--keep-build", is_flag=True, help="Keep the build folder as DIR/build.")
@click.option(
    "--runner", default="auto", metavar="NAME", help="native, python or any installed runner (default: auto)."
)
@click.option("--sweep", metavar="SPEC", help='Many shapes: "s0=64:4096:*2 s1=1,7,512 aiv=24,48".')
@click.option(
    "--jobs", type=click.IntRange(1, 256), metavar="N", help="Parallel processes of a sweep (default: cores)."
)
@click.option(
    "-f", "--format", "output_format", metavar="FORMAT", help="Format of the table (default: console; sweep: csv)."
)
@click.option("-o", "--output", default=DEFAULT_FOLDER, show_default=True, metavar="DIR", help="Folder of the results.")
@click.pass_context
def command(ctx: click.Context, /, source_dir: str, **options: Any) -> None:
    """Compile the tiling code that Autofuse generated, call it in a process of its own, check the results.

    This compiles and runs native code from SOURCE_DIR. Exit codes: 0 all checks passed; 1 the code does not compile,
    the call fails or a check fails; 2 bad input.
    """
    app: App = ctx.obj
    _check_usage(ctx, app, options)
    if not _run(app, source_dir, options):
        ctx.exit(EXIT_CHECK_FAILED)


def _check_usage(ctx: click.Context, app: App, options: Any) -> None:
    from autofuse.report.emit import reporter_named

    from autofuse_att_verify.compare import parse_case

    if options["preset"] is not None and options["input_json"] is not None:
        raise click.UsageError("--preset and --input-json exclude each other", ctx)
    if not 0 < options["timeout"] <= 86400:
        raise click.UsageError("--timeout takes seconds, more than 0 and at most 86400", ctx)
    if not options["output"]:
        raise click.UsageError("-o needs a folder", ctx)
    if options["output_format"] is not None:
        reporter_named(app, options["output_format"])
    if options["case"] is not None:
        parse_case(options["case"])


def _run(app: App, source_dir: str, options: Any) -> bool:
    from autofuse_att_verify.inputs import Wanted
    from autofuse_att_verify.interrupts import interruptible
    from autofuse_att_verify.sweep import run_sweep
    from autofuse_att_verify.verify import Request, call_once, prepare, verify

    request = Request(
        source_dir=source_dir,
        output=Path(options["output"]),
        scene=options["scene"],
        graph=options["graph"],
        wanted=Wanted(options["preset"], options["input_json"], options["aiv_num"], options["sweep"]),
        case=options["case"],
        compile_config=options["compile_config"],
        toolkit=options["toolkit"],
        timeout=options["timeout"],
        keep_build=options["keep_build"],
    )
    runner = _runner(app, options["runner"])
    app.notice(f"this compiles and runs native code from {source_dir}")
    run = prepare(request, runner, lambda *fitting: _logged(app, options, *fitting), app.notice)
    with interruptible():
        if run.plan is not None:
            if options["case"] is not None:
                app.notice("--case is not checked at the points of a sweep; the table shows what each chose")
            return run_sweep(app, run, run.plan, options["output_format"], options["jobs"])
        result = verify(run, call_once, app.notice)
    _show(app, result, options["output_format"], request.output)
    return result.passed


def _show(app: App, result: Any, output_format: Optional[str], folder: Path) -> None:
    from autofuse.report.emit import emit

    from autofuse_att_verify.reports import headline, verify_report

    # On the console the tiling data of many groups would bury the answer; result.json and every file have it.
    report = verify_report(result, app.command_line, details=app.verbose or output_format not in (None, "console"))
    for path in emit(app, report, output_format, None, default_folder=str(folder), name="verify"):
        app.notice(f"wrote {path}")
    app.notice(f"wrote {folder / 'result.json'}")
    if not result.passed:
        # Whoever sends the table to a file, or asks for quiet, is still told what failed.
        click.echo(f"autofuse: {headline(result)}", err=True)


def _runner(app: App, name: str) -> Any:
    """The runner with this name; `auto` is the native one where it was built."""
    specs = app.host.specs("autofuse_native_runners")
    if name == "auto":
        native = app.host.load(specs["native"])()
        if native.problem() is None:
            return native
        app.notice("the native runner was not built; a Python process makes the calls")
        name = "python"
    if name not in specs:
        raise AutofuseError(f"unknown runner {name!r}", hint=f"installed: auto, {', '.join(specs)}")
    return app.host.load(specs[name])()


def _logged(app: App, options: Any, sources: Any, inputs: Any) -> Any:
    if options["log"] is None:
        return None
    from autofuse_att_verify.read_log import find_call

    return find_call(app, options["log"], options["case"], sources, inputs)
