"""Shell completion: names and help lines without importing a command, and errors that never disturb the shell."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

PLUGIN = """
from autofuse.types import CommandSpec, hookimpl

@hookimpl
def autofuse_commands():
    for name in ("alpha-one", "alpha-two"):
        yield CommandSpec(name, "Does " + name + ".", "comp.command:command")
"""
SINGLE = PLUGIN.replace('("alpha-one", "alpha-two")', '("alone",)')
COMMAND = """
import click, sys
print("IMPORTED", file=sys.stderr)

@click.command()
@click.option("--depth", type=click.Choice(["deep", "flat"]))
def command(depth):
    pass
"""


@pytest.fixture
def installed(install_plugin):
    """The plugin `comp` with two commands."""
    return install_plugin("comp", {"comp/__init__.py": PLUGIN, "comp/command.py": COMMAND})


def complete(folder, words, shell="bash", **environment):
    """(completions, standard error) for the words typed so far; the last one is being typed."""
    done = subprocess.run(
        [sys.executable, "-m", "autofuse"],
        env={
            **os.environ,
            "PYTHONPATH": str(folder),
            "_AUTOFUSE_COMPLETE": f"{shell}_complete",
            "COMP_WORDS": " ".join(["autofuse", *words]),
            "COMP_CWORD": words[-1] if shell == "fish" else str(len(words)),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout, done.stderr


def names(output):
    """The names in what bash is told."""
    return [line.partition(",")[2] for line in output.splitlines() if line]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["r"], ["run"]),
        (["run", "alpha"], ["alpha-one", "alpha-two"]),
        (["run", "comp", ""], ["alpha-one", "alpha-two"]),
        (["run", "comp", "alpha-t"], ["alpha-two"]),
        (["--no-plugins", "run", "alpha"], []),
        (["plugins", ""], ["list", "new", "check"]),
        (["plugins", "new", "x", "--kind", "pa"], ["parser"]),
        (["--la"], ["--lang"]),
        (["--lang", ""], ["en", "zh"]),
    ],
)
def test_names_without_importing_a_command(words, expected, installed):
    out, err = complete(installed, words)
    assert names(out) == expected
    assert err == ""


def test_all_commands(installed):
    out, err = complete(installed, ["run", ""])
    assert {"alpha-one", "alpha-two", "comp"} <= set(names(out))
    assert err == ""


def test_options_of_a_command_import_that_command(installed):
    out, err = complete(installed, ["run", "alpha-one", "--d"])
    assert (names(out), err) == (["--depth"], "IMPORTED\n")
    assert names(complete(installed, ["run", "comp", "alpha-one", "--depth", "d"])[0]) == ["deep"]


def test_plugin_with_one_command(install_plugin):
    folder = install_plugin("comp", {"comp/__init__.py": SINGLE, "comp/command.py": COMMAND})
    assert complete(folder, ["run", "comp", ""]) == ("plain,alone\n", "")
    assert names(complete(folder, ["run", "comp", "--depth", "f"])[0]) == ["flat"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_help_lines(shell, installed):
    out, err = complete(installed, ["run", "alpha-o"], shell)
    assert "alpha-one" in out
    assert "Does alpha-one." in out
    assert err == ""


@pytest.mark.parametrize("variable", ["AUTOFUSE_CONFIG", "PYTHONPATH"])
def test_errors_do_not_disturb_the_shell(variable, installed, tmp_path):
    odd = tmp_path / "odd"
    (odd / "x-1.dist-info").mkdir(parents=True)
    (odd / "x-1.dist-info" / "entry_points.txt").write_text("[autofuse]\nx = x\n")
    (odd / "x.py").write_text("print('noise to standard output'); 1 / 0")
    value = "/no/such/config.toml" if variable == "AUTOFUSE_CONFIG" else f"{installed}{os.pathsep}{odd}"
    out, err = complete(installed, ["run", "alpha-o"], **{variable: value})
    assert names(out) == ([] if variable == "AUTOFUSE_CONFIG" else ["alpha-one"])
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("shell", "text"), [("bash", "complete -o"), ("zsh", "#compdef autofuse"), ("fish", "complete")]
)
def test_scripts(shell, text):
    done = subprocess.run(
        [sys.executable, "-m", "autofuse"],
        env={**os.environ, "_AUTOFUSE_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0
    assert text in done.stdout
    assert "_AUTOFUSE_COMPLETE" in done.stdout


def test_unknown_shell(autofuse_cli, monkeypatch):
    monkeypatch.setenv("_AUTOFUSE_COMPLETE", "tcsh_source")
    result = autofuse_cli()
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "known: bash_source, zsh_source, fish_source" in result.stderr


@pytest.mark.skipif(not (shutil.which("bash") and shutil.which("autofuse")), reason="needs bash and the program")
def test_bash_itself(installed):
    """The script of the program on PATH, evaluated and called as bash does when the tab key is pressed."""
    script = """
    eval "$(_AUTOFUSE_COMPLETE=bash_source autofuse)"
    COMP_WORDS=(autofuse run alpha-o) COMP_CWORD=2
    _autofuse_completion autofuse alpha-o run
    echo "${COMPREPLY[@]}"
    """
    done = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("alpha-one\n", "")
