"""How a run ends: one line on standard error, an exit code, and standard streams that may be closed, full or unread."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Optional, TextIO

import click

from autofuse.errors import EXIT_BROKEN, EXIT_CANNOT, EXIT_OK

__all__ = [
    "EXIT_BROKEN_PIPE",
    "EXIT_INTERRUPTED",
    "fail",
    "flush",
    "open_standard_streams",
    "system_exit",
    "unexpected",
    "usage",
]

EXIT_INTERRUPTED = 130
"""Ctrl-C, as shells report it."""
EXIT_BROKEN_PIPE = 141
"""The reader of standard output has gone (`| head`), as shells report it."""


def open_standard_streams() -> None:
    """Makes sure that there are standard streams, and that any name can be written to them.

    Where the caller closed one, the next file opened would get its number and receive what is printed.
    """
    if sys.stdout is None:
        sys.stdout = _stand_in(1, os.O_RDONLY)  # writing fails, and is reported, as it should be
    if sys.stderr is None:
        sys.stderr = _stand_in(2, os.O_WRONLY)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")


def fail(message: str, code: int, traceback: bool = False) -> int:
    """Prints the line and gives `code` back; a standard error that cannot be written to changes nothing."""
    with contextlib.suppress(OSError, ValueError):
        click.echo("autofuse: " + " ".join(message.split()), err=True)
        if traceback:
            from traceback import print_exc

            print_exc()
    return code


_GLOBAL_OPTIONS = frozenset({"-q", "--quiet", "-v", "--verbose", "--lang", "--config", "--no-plugins", "--version"})


def usage(error: click.ClickException) -> int:
    """A wrong command line: what is wrong, and where the right one is described."""
    if type(error).__name__ == "NoArgsIsHelpError":
        with contextlib.suppress(OSError):
            click.echo(error.format_message(), err=True)
        return EXIT_CANNOT
    context = getattr(error, "ctx", None)
    advice = f" (see `{context.command_path} -h`)" if context else ""
    if getattr(error, "option_name", None) in _GLOBAL_OPTIONS:
        advice = " (it is an option of autofuse itself: put it before the command, `autofuse -q run …`)"
    return fail(error.format_message().rstrip(".") + advice, EXIT_CANNOT)


def system_exit(error: SystemExit) -> int:
    """A command that called sys.exit: its code, or its text as the message."""
    if error.code is None:
        return EXIT_OK
    return error.code if isinstance(error.code, int) else fail(str(error.code), EXIT_CANNOT)


def unexpected(error: Exception, traceback: bool) -> int:
    """Whatever else a command raised: the machine's refusals are the user's matter, the rest is a bug."""
    if isinstance(error, BrokenPipeError):
        return EXIT_BROKEN_PIPE
    if isinstance(error, MemoryError):
        return fail("not enough memory", EXIT_CANNOT, traceback)
    if isinstance(error, OSError) and error.strerror:
        place = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else _output(error)
        return fail(f"{place}: {error.strerror}" if place else error.strerror, EXIT_CANNOT, traceback)
    text = f"{type(error).__name__}: {error} at {_place(error)} (please report it; -v shows the traceback)"
    return fail(f"internal error: {text}", EXIT_BROKEN, traceback)


def flush(code: int) -> int:
    """Writes out what is left for standard output; `code`, unless that fails."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = EXIT_BROKEN_PIPE
    except OSError as error:
        # A command that failed for this reason has said so.
        code = code or fail(f"standard output: {error.strerror}", EXIT_CANNOT)
    except ValueError:
        return code  # closed by the command itself
    else:
        return code
    _discard(sys.stdout)
    return code


def _stand_in(number: int, mode: int) -> TextIO:
    handle = os.open(os.devnull, mode)
    if handle != number:
        os.dup2(handle, number)
        os.close(handle)
    return open(number, "w", encoding="utf-8", errors="backslashreplace", closefd=False)


def _output(error: OSError) -> str:
    """`standard output` when that is what refused: the text is still in its buffer, or click was writing it."""
    from traceback import walk_tb

    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        return "standard output"
    printing = any(frame.f_code is click.echo.__code__ for frame, _ in walk_tb(error.__traceback__))
    return "standard output" if printing else ""


def _place(error: Exception) -> str:
    from traceback import extract_tb

    frames = extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "an unknown place"


def _discard(stream: Optional[TextIO]) -> None:
    """Points the stream to nowhere: what is left in its buffer would raise again when the interpreter ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        number = stream.fileno() if stream else -1
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, number)
        os.close(null)
