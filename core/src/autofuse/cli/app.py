"""What a running command knows of its surroundings: the host, the language, how talkative to be."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Optional, Tuple

import click

if TYPE_CHECKING:
    from autofuse.config import Config
    from autofuse.host import Host

__all__ = ["App"]


@dataclass
class App:
    """Given to every command as click's context object; the host is created when first used."""

    config_path: Optional[str] = None
    verbosity: int = 0
    """1 with -v, -1 with -q."""
    third_party: bool = True
    lang_option: Optional[str] = None
    arguments: Tuple[str, ...] = field(default_factory=lambda: tuple(sys.argv[1:]))

    @cached_property
    def config(self) -> Config:
        """The config file's content."""
        from autofuse.config import load_config

        return load_config(self.config_path)

    @cached_property
    def host(self) -> Host:
        """The plugin host of this run."""
        from autofuse.host import Host

        return Host(self.config, self.third_party)

    @property
    def verbose(self) -> bool:
        """True with -v: tracebacks and details."""
        return self.verbosity > 0

    @property
    def quiet(self) -> bool:
        """True with -q: notices are not printed; errors are."""
        return self.verbosity < 0

    @property
    def lang_explicit(self) -> Optional[str]:
        """The language that was asked for by option or config; None when it only follows from the locale."""
        return self.lang_option or self.config.lang

    @property
    def lang(self) -> str:
        """`en` or `zh`, for labels of human-readable output."""
        return self.lang_explicit or ("zh" if _locale().startswith("zh") else "en")

    @property
    def command_line(self) -> str:
        """The command as the user typed it, for provenance."""
        import shlex

        return " ".join(["autofuse", *(shlex.quote(argument) for argument in self.arguments)])

    def warn(self, text: str) -> None:
        """One line on standard error, with -q too: something that was asked for was not done."""
        click.echo("autofuse: " + " ".join(text.split()), err=True)

    def notice(self, text: str) -> None:
        """One line on standard error, unless -q."""
        if not self.quiet:
            click.echo("autofuse: " + " ".join(text.split()), err=True)


def _locale() -> str:
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(variable)
        if value:
            return value
    return ""
