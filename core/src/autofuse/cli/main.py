"""The entry point of the command `autofuse`: global options, and every error turned into one line and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from typing import List, Optional, Sequence

import click

from autofuse import __version__
from autofuse.cli.app import App
from autofuse.cli.lazy import LazyGroup
from autofuse.errors import EXIT_BROKEN, EXIT_CANNOT, EXIT_OK, AutofuseError

__all__ = ["main", "root"]

_INTERRUPTED = 130
_BROKEN_PIPE = 141


class _Root(LazyGroup):
    """The subcommands of the tool itself; each module is imported when its command is used."""

    members = {
        "doctor": ("autofuse.cli.doctor:doctor", "Check this installation and every plugin."),
        "plugins": ("autofuse.cli.plugins:plugins", "List, create and check plugins."),
        "run": ("autofuse.cli.run:run", "Run a command of a plugin."),
        "schema": ("autofuse.cli.schema:schema", "Print the JSON Schema of an output."),
    }


@click.command(cls=_Root, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="autofuse")
@click.option("--config", "config_path", metavar="FILE", help="Config file (default: ~/.config/autofuse/config.toml).")
@click.option("-v", "--verbose", is_flag=True, help="Details and, after an internal error, the traceback.")
@click.option("-q", "--quiet", is_flag=True, help="Errors only, no notices.")
@click.option("--no-plugins", is_flag=True, help="Only the plugins that belong to autofuse.")
@click.option("--lang", type=click.Choice(["en", "zh"]), help="Language of labels and messages.")
@click.pass_context
def root(
    ctx: click.Context, config_path: Optional[str], verbose: bool, quiet: bool, no_plugins: bool, lang: Optional[str]
) -> None:
    """The open toolbox for tuning and debugging automatic operator fusion on Ascend chips."""
    if verbose and quiet:
        raise click.UsageError("-v and -q exclude each other")
    app: App = ctx.obj
    app.config_path = config_path
    app.verbosity = int(verbose) - int(quiet)
    app.third_party = not no_plugins
    app.lang_option = lang


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line and returns its exit code; `arguments` without the program name, sys.argv by default."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    app = App(arguments=tuple(words))
    try:
        code = _run(app, words)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has gone (`| head`): as a shell tool, end without a word; nothing may be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = _BROKEN_PIPE
    return code


def _run(app: App, words: List[str]) -> int:
    try:
        result = root.main(args=words, prog_name="autofuse", standalone_mode=False, obj=app)
    except AutofuseError as error:
        return _fail(app, str(error), error.exit_code)
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        return _fail(app, _usage(error), EXIT_CANNOT)
    except (KeyboardInterrupt, click.Abort):
        click.echo("autofuse: interrupted", err=True)
        return _INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:
        return _bug(app, error)
    return result if isinstance(result, int) else EXIT_OK


def _usage(error: click.ClickException) -> str:
    message = " ".join(error.format_message().split())
    context = getattr(error, "ctx", None)
    return f"{message} (see `{context.command_path} -h`)" if context else message


def _fail(app: App, message: str, code: int) -> int:
    click.echo(f"autofuse: {message}", err=True)
    if app.verbose and code == EXIT_BROKEN:
        traceback.print_exc()
    return code


def _bug(app: App, error: Exception) -> int:
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return _fail(app, f"{place}{error.strerror}", EXIT_CANNOT)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    text = " ".join(f"{type(error).__name__}: {error}".split())
    click.echo(
        f"autofuse: internal error: {text} at {frame.filename}:{frame.lineno} (please report it; -v shows the traceback)",
        err=True,
    )
    if app.verbose:
        traceback.print_exc()
    return EXIT_BROKEN


if __name__ == "__main__":
    sys.exit(main())
