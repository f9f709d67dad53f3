"""The entry point of the command `autofuse`: global options, and every error turned into one line and an exit code.

What that needs where a standard stream is closed, full or read by nobody is in `autofuse.cli.ending`.
"""

from __future__ import annotations

import os
import sys
from typing import ClassVar, Dict, List, Optional, Sequence, Tuple

import click

from autofuse import __version__
from autofuse.cli import ending
from autofuse.cli.app import App
from autofuse.cli.lazy import LazyGroup
from autofuse.errors import EXIT_BROKEN, EXIT_CANNOT, EXIT_OK, AutofuseError

__all__ = ["main", "root"]

COMPLETE_VARIABLE = "_AUTOFUSE_COMPLETE"
"""Set by the shell's completion script; `_AUTOFUSE_COMPLETE=bash_source autofuse` prints that script."""


class _Root(LazyGroup):
    """The subcommands of the tool itself; each module is imported when its command is used."""

    members: ClassVar[Dict[str, Tuple[str, str]]] = {
        "doctor": ("autofuse.cli.doctor:doctor", "Check this installation and every plugin."),
        "plugins": ("autofuse.cli.plugins:plugins", "List, create and check plugins."),
        "run": ("autofuse.cli.run:run", "Run a command of a plugin."),
        "schema": ("autofuse.cli.schema:schema", "Print the JSON Schema of an output."),
    }

    def parse_args(self, ctx: click.Context, args: List[str]) -> List[str]:
        """Hands the global options to the app at once: completion needs them too, and it calls no command."""
        rest = super().parse_args(ctx, args)
        app, given = ctx.obj, ctx.params
        app.config_path = given["config_path"]
        app.verbosity = int(bool(given["verbose"])) - int(bool(given["quiet"]))
        app.third_party = not given["no_plugins"]
        app.lang_option = given["lang"]
        return rest

    def hint(self, ctx: click.Context, name: str) -> str:
        """`autofuse summary` is meant as `autofuse run summary`."""
        if name in ctx.obj.host.specs("autofuse_commands"):
            return f"did you mean `autofuse run {name}`?"
        return super().hint(ctx, name)


@click.command(cls=_Root)
@click.version_option(__version__, prog_name="autofuse")
@click.option("--config", "config_path", metavar="FILE", help="Config file (default: ~/.config/autofuse/config.toml).")
@click.option("-v", "--verbose", is_flag=True, help="Details and, after an internal error, the traceback.")
@click.option("-q", "--quiet", is_flag=True, help="Errors only, no notices.")
@click.option("--no-plugins", is_flag=True, help="Only the plugins that belong to autofuse.")
@click.option("--lang", type=click.Choice(["en", "zh"]), help="Language of labels and messages.")
@click.pass_context
def root(ctx: click.Context, /, verbose: bool, quiet: bool, **_: object) -> None:
    """The open toolbox for tuning and debugging automatic operator fusion on Ascend chips."""
    if verbose and quiet:
        raise click.UsageError("-v and -q exclude each other", ctx)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line and returns its exit code; `arguments` without the program name, sys.argv by default."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    app = App(arguments=tuple(words))
    ending.open_standard_streams()
    return ending.flush(_run(app, words))


def _run(app: App, words: List[str]) -> int:
    try:
        instruction = os.environ.get(COMPLETE_VARIABLE)
        if instruction:
            return _complete(app, instruction)
        with root.make_context("autofuse", words, obj=app) as context:
            root.invoke(context)
        return EXIT_OK
    except click.exceptions.Exit as error:
        return error.exit_code
    except AutofuseError as error:
        return ending.fail(str(error), error.exit_code, traceback=app.verbose and error.exit_code == EXIT_BROKEN)
    except click.ClickException as error:
        return ending.usage(error)
    except SystemExit as error:
        return ending.system_exit(error)
    except (KeyboardInterrupt, click.Abort):
        return ending.fail("interrupted", ending.EXIT_INTERRUPTED)
    except Exception as error:
        return ending.unexpected(error, traceback=app.verbose)


def _complete(app: App, instruction: str) -> int:
    """Prints the completion script of a shell, or answers it; a failure must not disturb the line being typed."""
    from click.shell_completion import get_completion_class, shell_complete

    shell, _, task = instruction.partition("_")
    if get_completion_class(shell) is None or task not in ("source", "complete"):
        raise AutofuseError(
            f"cannot complete for {instruction!r}", COMPLETE_VARIABLE, "known: bash_source, zsh_source, fish_source"
        )
    try:
        return shell_complete(root, {"obj": app}, "autofuse", COMPLETE_VARIABLE, instruction)
    except Exception:
        if task == "source":
            raise
        return EXIT_CANNOT
