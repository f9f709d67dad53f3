"""Checks of commands, through the command line: they have help, and refuse what they do not know in one line."""

from __future__ import annotations

from typing import Any, Iterator

import click

from autofuse.conformance.check import Check, Failed, attempt
from autofuse.errors import EXIT_CANNOT, EXIT_OK
from autofuse.inprocess import run_cli
from autofuse.plugin import Plugin
from autofuse.types import CommandSpec

__all__ = ["check_command"]

_UNKNOWN = "--no-such-option-of-any-command"


def check_command(spec: CommandSpec, command: Any, plugin: Plugin) -> Iterator[Check]:
    """All checks of one command."""
    subject = f"command {spec.name}"
    yield from attempt(subject, "is a click command", lambda: _is_command(command))
    if isinstance(command, click.Command):
        words = ("run", plugin.name, spec.name)
        yield from attempt(subject, "has help under -h and --help", lambda: _has_help(*words))
        yield from attempt(subject, "refuses an unknown option", lambda: _refuses_unknown(*words))
    if not spec.summary.strip() or "\n" in spec.summary:
        yield Check("failed", subject, "the summary of the spec must be one line of text")


def _is_command(command: Any) -> None:
    if not isinstance(command, click.Command):
        raise Failed(f"it is a {type(command).__name__}")


def _has_help(*words: str) -> None:
    for option in ("-h", "--help"):
        outcome = run_cli(*words, option)
        if outcome.exit_code != EXIT_OK or not outcome.stdout.startswith("Usage:"):
            raise Failed(f"`autofuse {' '.join(words)} {option}` ends with {outcome.exit_code}: {outcome.stderr[:200]}")


def _refuses_unknown(*words: str) -> None:
    outcome = run_cli(*words, _UNKNOWN)
    if outcome.exit_code != EXIT_CANNOT:
        raise Failed(f"`{_UNKNOWN}` ends with exit code {outcome.exit_code}, not {EXIT_CANNOT}")
    if outcome.stdout or outcome.stderr.count("\n") != 1:
        raise Failed("the answer is not one line on standard error")
