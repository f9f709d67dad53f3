"""The options -f and -o that every command with a report has, checked before the command starts to work."""

from __future__ import annotations

import os
import re
from typing import Any, Callable, List, Optional, TypeVar, Union, overload

import click
from click.shell_completion import CompletionItem

from autofuse.cli.app import App

__all__ = ["report_options"]

F = TypeVar("F", bound=Callable[..., Any])


@overload
def report_options(function: F) -> F: ...


@overload
def report_options(*, default: str = ..., folder: Optional[str] = ...) -> Callable[[F], F]: ...


def report_options(
    function: Optional[F] = None, *, default: str = "console", folder: Optional[str] = None
) -> Union[F, Callable[[F], F]]:
    """Adds `-f/--format` (parameter `output_format`) and `-o/--output` (parameter `output`) to a command.

    Used as `@report_options`, or as `@report_options(default="svg", folder="output/perf")` for a command whose -o is a
    folder; give `emit` the same values. An unknown format, or one that needs a file and got none, is refused before the
    command runs.
    """

    def decorate(command: F) -> F:
        where = f"Folder to write to (default: {folder}), or a file." if folder else "File or folder to write to."
        with_output = click.option(
            "-o",
            "--output",
            metavar="PATH",
            callback=_check_output(folder),
            help=f"{where} A suffix selects the format.",
        )
        with_format = click.option(
            "-f",
            "--format",
            "output_format",
            metavar="FORMAT",
            callback=_check_format,
            shell_complete=_complete_format,
            help=f"console, text, csv, xlsx, jsonl, md, html, svg or any installed reporter (default: {default}).",
        )
        return with_format(with_output(command))

    return decorate if function is None else decorate(function)


def _check_format(ctx: click.Context, parameter: click.Parameter, value: Optional[str]) -> Optional[str]:
    from autofuse.report.emit import reporter_named

    app = ctx.find_object(App)
    if value is not None and app is not None and not ctx.resilient_parsing:
        reporter_named(app, value)
    return value


def _check_output(
    folder: Optional[str],
) -> Callable[[click.Context, click.Parameter, Optional[str]], Optional[str]]:
    def check(ctx: click.Context, parameter: click.Parameter, value: Optional[str]) -> Optional[str]:
        from autofuse.report.emit import reporter_named

        # click calls back for options that were given before those that were not, so -f is known here.
        named = ctx.params.get("output_format")
        app = ctx.find_object(App)
        if value == "":
            raise click.UsageError("-o needs a path", ctx)
        if value is None and folder is None and named and app is not None and not ctx.resilient_parsing:
            spec = reporter_named(app, named)
            if spec.needs_file:
                raise click.UsageError(f"format {named} needs a file: add -o FILE{(spec.suffixes or ('',))[0]}", ctx)
        if value is not None and folder is None and not named and app is not None and not ctx.resilient_parsing:
            _check_suffix(ctx, app, value)
        return value

    return check


def _check_suffix(ctx: click.Context, app: App, path: str) -> None:
    """Refuses a suffix that looks like a format and is none: `-o table.json` would hold a console table."""
    from autofuse.report.emit import reporters

    suffix = os.path.splitext(path)[1].lower()
    known = sorted({own for spec in reporters(app).values() for own in spec.suffixes})
    if not re.fullmatch(r"\.[a-z][a-z0-9]{1,5}", suffix) or suffix in (*known, ".log", ".out") or os.path.exists(path):
        return
    raise click.UsageError(
        f"no reporter writes {suffix} files: name the format with -f, or use {', '.join(known)}", ctx
    )


def _complete_format(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> List[CompletionItem]:
    from autofuse.report.emit import reporters

    app = ctx.find_object(App) or App()
    return [
        CompletionItem(name, help=spec.summary) for name, spec in reporters(app).items() if name.startswith(incomplete)
    ]
