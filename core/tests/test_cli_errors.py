"""Every kind of failure: one line on standard error, nothing on standard output, and the right exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

COMMANDS = """
import click, os, sys
from autofuse.errors import AutofuseError
from autofuse.types import CommandSpec, hookimpl

@hookimpl
def autofuse_commands():
    yield CommandSpec("act", "Acts.", "acting:command")

@click.command("act")
@click.argument("what")
@click.option("--count", type=int, default=1)
def command(what, count):
    exec(what)
"""


@pytest.fixture
def act(install_plugin, autofuse_cli):
    """Runs a command whose body is the given text."""
    install_plugin("acting", {"acting.py": COMMANDS})

    def run(text, *options):
        return autofuse_cli(*options, "run", "act", text)

    return run


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("raise AutofuseError('cannot', 'a.log:3', 'do this')", 2, "a.log:3: cannot (do this)"),
        ("raise AutofuseError('broken', exit_code=3)", 3, "broken"),
        ("raise AutofuseError('two\\nlines\\r', 'odd\\nname')", 2, "odd name: two lines"),
        ("raise click.UsageError('no such thing.')", 2, "no such thing (see `autofuse run act -h`)"),
        ("raise click.BadParameter('is odd')", 2, "Invalid value: is odd (see `autofuse run act -h`)"),
        ("raise click.FileError('a.txt', 'gone')", 2, "Could not open file 'a.txt': gone"),
        ("open('/no/such/file')", 2, "/no/such/file: No such file or directory"),
        ("os.listdir(b'/no/such')", 2, "/no/such: No such file or directory"),
        ("raise MemoryError", 2, "not enough memory"),
        ("raise KeyboardInterrupt", 130, "interrupted"),
        ("raise click.Abort", 130, "interrupted"),
        ("sys.exit('leaving')", 2, "leaving"),
    ],
)
def test_one_line(text, code, line, act):
    result = act(text)
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", f"autofuse: {line}\n")


@pytest.mark.parametrize(
    "text", ["1 / 0", "raise EOFError", "raise RecursionError('deep\\ndown')", "raise ValueError()"]
)
def test_bug(text, act):
    result = act(text)
    assert result.exit_code == 3
    assert result.stdout == ""
    assert result.stderr.startswith("autofuse: internal error: ")
    assert result.stderr.endswith("(please report it; -v shows the traceback)\n")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("text", ["1 / 0", "open('/no/such/file')", "raise AutofuseError('x', exit_code=3)"])
def test_traceback_with_v_only(text, act):
    assert "Traceback" not in act(text).stderr
    assert "Traceback (most recent call last)" in act(text, "-v").stderr


def test_no_traceback_for_bad_input_even_with_v(act):
    assert act("raise AutofuseError('bad', 'a.log')", "-v").stderr == "autofuse: a.log: bad\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("raise click.exceptions.Exit(1)", 1),
        ("raise click.exceptions.Exit(0)", 0),
        ("sys.exit(5)", 5),
        ("sys.exit()", 0),
        ("pass", 0),
    ],
)
def test_codes_of_commands(text, code, act):
    result = act(text)
    assert (result.exit_code, result.stderr) == (code, "")


def test_what_a_command_returns_is_no_exit_code(install_plugin, autofuse_cli):
    install_plugin("acting", {"acting.py": COMMANDS.replace("exec(what)", "return 7")})
    assert autofuse_cli("run", "act", "x").exit_code == 0


# --- usage ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--nonsense"], "No such option"),
        (["rnu"], "no command 'rnu'; did you mean run? (see `autofuse -h`)"),
        (["act"], "no command 'act'; did you mean `autofuse run act`? (see `autofuse -h`)"),
        (["run", "nonsense"], "no command 'nonsense'"),
        (["run", "atc"], "did you mean act? (see `autofuse run -h`)"),
        (["run", "act"], "Missing argument 'WHAT' (see `autofuse run act -h`)"),
        (["run", "act", "pass", "--count", "x"], "'x' is not a valid integer (see `autofuse run act -h`)"),
        (["run", "act", "pass", "--nonsense"], "No such option"),
        (["run", "--nonsense"], "No such option"),
        (["--lang", "fr", "run"], "'fr' is not one of"),
        (["-v", "-q", "doctor"], "-v and -q exclude each other"),
        (["--config", "/no/such.toml", "doctor"], "/no/such.toml: cannot be read: No such file or directory"),
        (["plugins", "nonsense"], "no command 'nonsense'; there are list, new, check"),
        (["plugins", "list", "more"], "Got unexpected extra argument (more)"),
        (["schema", "nonsense"], "no schema 'nonsense'"),
    ],
)
def test_usage(words, line, act, autofuse_cli):
    result = autofuse_cli(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert line in result.stderr
    assert result.stderr.count("\n") == 1


def test_broken_plugins_are_named_where_a_command_is_missing(install_plugin, autofuse_cli):
    install_plugin("acting", {"acting.py": COMMANDS})
    install_plugin("gone", {"gone.py": "1 / 0"})
    result = autofuse_cli("run", "gone")
    assert "broken plugins: gone (see `autofuse doctor`)" in result.stderr


@pytest.mark.parametrize("words", [[], ["run"], ["-h"], ["run", "-h"], ["run", "--help"], ["doctor", "-h"]])
def test_help(words, act, autofuse_cli):
    result = autofuse_cli(*words)
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: autofuse")
    assert result.stderr == ""


@pytest.mark.parametrize(
    "words", [["plugins", "list"], ["plugins", "new"], ["plugins", "check"], ["schema"], ["plugins"]]
)
def test_h_everywhere(words, autofuse_cli):
    assert autofuse_cli(*words, "-h").stdout.startswith(f"Usage: autofuse {' '.join(words)}")


def test_help_of_a_plugins_command(act, autofuse_cli):
    for words in (["run", "act", "-h"], ["run", "acting", "act", "-h"], ["run", "acting", "-h"]):
        result = autofuse_cli(*words)
        assert (result.exit_code, "--count" in result.stdout) == (0, True)


def test_version(autofuse_cli):
    from autofuse import __version__

    assert autofuse_cli("--version").stdout == f"autofuse, version {__version__}\n"


def test_names_that_no_encoding_holds(act):
    result = act("click.echo('\\udc80 \\u878d')")
    assert (result.exit_code, result.stdout) == (0, "\\udc80 融\n")


# --- the process ------------------------------------------------------------------------------------------------------


def start(words, *, unbuffered=False, folder=None, **options):
    """The program as the shell starts it."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    if unbuffered:
        environment["PYTHONUNBUFFERED"] = "1"
    if folder is not None:
        environment["PYTHONPATH"] = str(folder)
    return subprocess.Popen([sys.executable, "-m", "autofuse", *words], env=environment, text=True, **options)


@pytest.fixture
def installed(install_plugin):
    """The folder of the plugin, for another process."""
    return install_plugin("acting", {"acting.py": COMMANDS})


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["plugins", "list"], ["run", "act", "print('x' * 99999)"]]
)
def test_full_disk(words, unbuffered, installed):
    with open("/dev/full", "w") as full:
        process = start(words, unbuffered=unbuffered, folder=installed, stdout=full, stderr=subprocess.PIPE)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err in ("autofuse: standard output: No space left on device\n", "autofuse: No space left on device\n")


@pytest.mark.parametrize("text", ["for i in range(99999): print(i)", "[click.echo(i) for i in range(99999)]"])
def test_reader_that_has_gone(text, installed):
    process = start(["run", "act", text], folder=installed, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == "0\n"
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(timeout=60) == 141


def test_closed_standard_output(installed):
    script = f"{sys.executable} -m autofuse run act 'click.echo(1)' >&-"
    done = subprocess.run(
        ["sh", "-c", script],
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (2, "autofuse: standard output: Bad file descriptor\n")


def test_closed_standard_error(installed):
    script = f"{sys.executable} -m autofuse nonsense 2>&-; echo $?"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout == "2\n"


def test_ctrl_c(install_plugin, tmp_path):
    ready = tmp_path / "ready"
    body = "open(what, 'w').close(); import time; time.sleep(60)"
    folder = install_plugin("acting", {"acting.py": COMMANDS.replace("exec(what)", body)})
    process = start(["run", "act", str(ready)], folder=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while not ready.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "autofuse: interrupted\n")


def test_python_m():
    done = subprocess.run([sys.executable, "-m", "autofuse", "--version"], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("autofuse, version")


def test_other_base_exceptions_are_not_swallowed(install_plugin, autofuse_cli):
    install_plugin("acting", {"acting.py": textwrap.dedent(COMMANDS) + "\nclass Stop(BaseException): pass\n"})
    with pytest.raises(BaseException, match="really"):
        autofuse_cli("run", "act", "from acting import Stop; raise Stop('really')")
