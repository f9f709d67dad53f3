"""Where a report goes and which reporter writes it: a file (atomically), a folder, or standard output.

The reporters themselves are plugins; this module finds the one that -f names or that the suffix of -o stands for, and
imports no other.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Dict, Iterator, List, Optional, Tuple

import click

from autofuse.cli.app import App
from autofuse.errors import AutofuseError
from autofuse.files import atomic_open
from autofuse.names import safe_name
from autofuse.report.model import Report, ReportContext
from autofuse.types import ReporterSpec

__all__ = ["emit", "reporter_named", "reporters"]


def emit(
    app: App,
    report: Report,
    output_format: Optional[str],
    output: Optional[str],
    *,
    default: str = "console",
    default_folder: Optional[str] = None,
    name: Optional[str] = None,
) -> Tuple[Path, ...]:
    """Writes the report and returns the files written; none when it went to standard output.

    `output_format` and `output` are the values of -f and -o. The reporter is the one named by -f, else by the suffix of
    -o, else `default`. `output` is a folder when it exists as one or ends in `/`, and, for a command with a
    `default_folder`, when it has no suffix of a reporter. In a folder single-table formats write one file per table,
    others the file `name` + suffix (default: the name of the main table). `-` is standard output. UsageError when a
    format needs a file and got none.
    """
    spec = _choose(app, output_format, output, default)
    folder = _folder(app, spec, output, default_folder)
    if folder is not None:
        return _write_folder(app, spec, report, folder, name)
    if output is None or output == "-":
        _write_stdout(app, spec, report, named=output is not None)
        return ()
    _write_file(app, spec, report, Path(output))
    return (Path(output),)


def reporters(app: App) -> Dict[str, ReporterSpec]:
    """Name → spec of every installed reporter."""
    specs = app.host.specs("autofuse_reporters")
    return {name: spec for name, spec in specs.items() if isinstance(spec, ReporterSpec)}


def reporter_named(app: App, name: str) -> ReporterSpec:
    """The reporter with this name or alias; AutofuseError that lists the installed ones when there is none."""
    specs = reporters(app)
    wanted = name.lower()
    if wanted in specs:
        return specs[wanted]
    for spec in specs.values():
        if name == spec.name or wanted in (alias.lower() for alias in spec.aliases):
            return spec
    known = ", ".join(sorted(specs)) or "none"
    raise AutofuseError(f"unknown format {name!r}", hint=f"installed: {known}")


def _choose(app: App, output_format: Optional[str], output: Optional[str], default: str) -> ReporterSpec:
    if output_format is not None:
        return reporter_named(app, output_format)
    return (output and _by_suffix(app, output)) or reporter_named(app, default)


def _by_suffix(app: App, output: str) -> Optional[ReporterSpec]:
    name = os.path.basename(output).lower()
    fitting = [
        (len(suffix), spec)
        for spec in reporters(app).values()
        for suffix in spec.suffixes
        if name.endswith(suffix.lower())
    ]
    return max(fitting, key=lambda pair: pair[0])[1] if fitting else None


def _folder(app: App, spec: ReporterSpec, output: Optional[str], default_folder: Optional[str]) -> Optional[Path]:
    if output is None:
        # A format without a suffix (console) is for reading on the spot.
        return Path(default_folder) if default_folder and spec.suffixes else None
    if output.endswith(("/", os.sep)) or os.path.isdir(output):
        return Path(output)
    if default_folder and output != "-" and _by_suffix(app, output) is None:
        return Path(output)
    return None


def _write_folder(app: App, spec: ReporterSpec, report: Report, folder: Path, name: Optional[str]) -> Tuple[Path, ...]:
    suffix = spec.suffixes[0] if spec.suffixes else ".txt"
    if not spec.single_table:
        main = report.tables[0].name if report.tables else "report"
        path = folder / f"{safe_name(name or main)}{suffix}"
        _write_file(app, spec, report, path)
        return (path,)
    paths: List[Path] = []
    for table in report.tables:
        path = _unused(folder, safe_name(table.name), suffix, paths)
        _write_file(app, spec, replace(report, tables=(table,)), path)
        paths.append(path)
    return tuple(paths)


def _unused(folder: Path, name: str, suffix: str, used: List[Path]) -> Path:
    path = folder / f"{name}{suffix}"
    number = 2
    while path in used:
        path = folder / f"{name}_{number}{suffix}"
        number += 1
    return path


def _write_file(app: App, spec: ReporterSpec, report: Report, path: Path) -> None:
    write = app.host.load(spec)
    context = ReportContext(to_file=True, lang=app.lang, notice=app.notice)
    with atomic_open(path) as out:
        write(report, out, context)


def _write_stdout(app: App, spec: ReporterSpec, report: Report, named: bool) -> None:
    terminal = _terminal()
    if spec.needs_file and (terminal.is_one or not named):
        raise click.UsageError(
            f"format {spec.name} needs a file: add -o FILE{(spec.suffixes or ('',))[0]}",
            click.get_current_context(silent=True),
        )
    write: Any = app.host.load(spec)
    context = ReportContext(colour=terminal.colour, width=terminal.width, lang=app.lang, notice=app.notice)
    with _stdout() as out:
        write(report, out, context)


@dataclass(frozen=True)
class _Terminal:
    is_one: bool
    colour: bool
    width: Optional[int]


def _terminal() -> _Terminal:
    if not (sys.stdout and sys.stdout.isatty()):
        return _Terminal(False, False, None)
    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return _Terminal(True, colour, shutil.get_terminal_size().columns)


@contextlib.contextmanager
def _stdout() -> Iterator[BinaryIO]:
    """Standard output as bytes; a reader that has gone (`| head`) ends the writing without a word."""
    if sys.stdout is None:
        raise AutofuseError("standard output is closed", hint="name a file with -o")
    try:
        sys.stdout.flush()
        out = sys.stdout.buffer
        yield out
        out.flush()
    except BrokenPipeError:
        _discard_the_rest()
    except OSError as error:
        _discard_the_rest()
        raise AutofuseError(f"cannot write to standard output: {error.strerror or error}") from error


def _discard_the_rest() -> None:
    # What is still in the buffer would raise again when the interpreter flushes it at exit.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
