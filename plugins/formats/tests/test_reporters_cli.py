"""-f and -o through the command line: a plugin's command with a report, and a vendor's own reporter."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest
from report_sample import HOSTILE

PLUGIN = """
from autofuse.types import CommandSpec, ReporterSpec, hookimpl

@hookimpl
def autofuse_commands():
    yield CommandSpec("rep", "Say it", "acme_rep:command", section="Examples")
    yield CommandSpec("repdir", "Say it in a folder", "acme_rep:folder_command", section="Examples")

@hookimpl
def autofuse_reporters():
    factory = "acme_rep:write_tsv"
    yield ReporterSpec("tsv", "Tab separated", factory, suffixes=(".tsv",), aliases=("tabs",), single_table=True)
"""

MODULE = """
import sys
import click
from pathlib import Path
sys.path.insert(0, {tests!r})
from report_sample import sample_report
from autofuse.cli.options import report_options
from autofuse.report.emit import emit

@click.command("rep")
@report_options
@click.option("--fail", is_flag=True)
@click.pass_obj
def command(app, output_format, output, fail):
    Path("ran").touch()
    emit(app, sample_report(3), output_format, output)
    if fail:
        raise click.exceptions.Exit(1)

@click.command("repdir")
@report_options(default="svg", folder="out/perf")
@click.pass_obj
def folder_command(app, output_format, output):
    emit(app, sample_report(3), output_format, output, default="svg", default_folder="out/perf", name="picture")

def write_tsv(report, out, context):
    for row in report.tables[0].rows:
        out.write("\\t".join(str(cell) for cell in row).encode("utf-8", "replace") + b"\\n")
"""


@pytest.fixture
def run(autofuse_cli, install_plugin, tmp_path, monkeypatch):
    files = {"acme_plugin.py": PLUGIN, "acme_rep.py": MODULE.format(tests=os.path.dirname(__file__))}
    install_plugin("acme", files, entry_points={"acme": "acme_plugin"})
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: autofuse_cli("run", *arguments)


def test_default_is_the_console_table(run):
    result = run("rep")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("Slowest: <Add>")
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize("name", ["csv", "CSV", "text", "jsonl", "md", "markdown", "svg", "html", "tsv", "tabs"])
def test_every_text_format_goes_to_standard_output(run, name):
    result = run("rep", "-f", name)
    assert result.exit_code == 0
    assert len(result.stdout_bytes) > 1000
    assert not result.stdout_bytes.startswith(b"\xef\xbb\xbf")


@pytest.mark.parametrize(
    "name", ["a.csv", "a.TXT", "a.jsonl", "a.md", "a.xlsx", "a.svg", "a.html", "a.tsv", "new/folder/a.csv"]
)
def test_the_suffix_picks_the_reporter(run, tmp_path, name):
    result = run("rep", "-o", name)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert (tmp_path / name).stat().st_size > 500


def test_format_wins_over_the_suffix(run, tmp_path):
    assert run("rep", "--format", "csv", "--output", "a.html").exit_code == 0
    assert (tmp_path / "a.html").read_bytes().startswith(b"\xef\xbb\xbfOperator,")


def test_a_binary_format_needs_a_file_and_says_so_before_the_command_runs(run, tmp_path):
    for arguments in (["-f", "excel"], ["--format=xlsx"]):
        result = run("rep", *arguments)
        assert result.exit_code == 2
        assert "needs a file: add -o FILE.xlsx" in result.stderr
    assert not (tmp_path / "ran").exists()


def test_unknown_format_is_refused_before_the_command_runs(run, tmp_path):
    result = run("rep", "-f", "pdf", "-o", "a.pdf")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    # Other plugins may have reporters too.
    installed = re.search(r"unknown format 'pdf' \(installed: ([^()]*)\)", result.stderr)[1].split(", ")
    assert installed == sorted(installed)
    assert {"console", "csv", "html", "jsonl", "md", "svg", "text", "tsv", "xlsx"} <= set(installed)
    assert not (tmp_path / "ran").exists()


def test_empty_output_is_a_usage_error(run):
    assert run("rep", "-o", "").exit_code == 2


def test_exit_code_of_a_check_stays(run):
    assert run("rep", "--fail", "-f", "csv").exit_code == 1


def test_folder_of_a_command_that_writes_folders(run, tmp_path):
    assert run("repdir").exit_code == 0
    assert (tmp_path / "out/perf/picture.svg").is_file()
    assert run("repdir", "-f", "xlsx").exit_code == 0
    assert (tmp_path / "out/perf/picture.xlsx").is_file()
    assert run("repdir", "-o", "elsewhere", "-f", "jsonl").exit_code == 0
    assert sorted(os.listdir(tmp_path / "elsewhere")) == ["nothing.jsonl", "pipes.jsonl", "summary.jsonl"]
    assert run("repdir", "-f", "console").stdout.startswith("Slowest")


def test_output_that_cannot_be_written(run, tmp_path):
    (tmp_path / "file").write_text("")
    result = run("rep", "-f", "csv", "-o", "file/a.csv")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "file" in result.stderr


def test_help_names_the_formats(run):
    text = " ".join(run("rep", "--help").stdout.split())
    assert "console, text, csv, xlsx, jsonl, md, html, svg or any installed reporter (default: console)" in text
    assert "(default: out/perf)" in " ".join(run("repdir", "--help").stdout.split())


def test_chinese_labels(run, autofuse_cli):
    assert "目标值" in autofuse_cli("--lang", "zh", "run", "rep").stdout
    assert "Objective Value" in autofuse_cli("--lang", "zh", "run", "rep", "-f", "csv").stdout


def test_hostile_names_in_every_format(run):
    for name in ("console", "csv", "jsonl", "md", "svg", "html"):
        result = run("rep", "-f", name)
        assert result.exit_code == 0
        result.stdout_bytes.decode("utf-8")
        if name not in ("csv",):
            assert b"\x1b" not in result.stdout_bytes
    assert len(HOSTILE) > 10


TERMINAL = """
import sys
sys.path.insert(0, {tests!r})
from report_sample import sample_report
from autofuse.cli.app import App
from autofuse.report.emit import emit
emit(App(), sample_report(2), sys.argv[1], None)
"""


def on_terminal(tmp_path, name, **environment):
    """What a terminal of 50 columns is given."""
    script = tmp_path / "terminal.py"
    script.write_text(TERMINAL.format(tests=os.path.dirname(__file__)))
    ours, theirs = pty.openpty()
    variables = {**os.environ, "COLUMNS": "50", "TERM": "xterm", **environment}
    process = subprocess.Popen([sys.executable, str(script), name], stdout=theirs, env=variables)
    os.close(theirs)
    output = b""
    while True:
        try:
            block = os.read(ours, 65536)
        except OSError:
            break
        if not block:
            break
        output += block
    os.close(ours)
    assert process.wait() == 0
    return output.decode("utf-8")


def test_terminal_has_colour_and_its_width(tmp_path):
    text = on_terminal(tmp_path, "console")
    assert "\x1b[1m" in text
    table = text.split("Chosen templates")[1].split("1 operator has")[0]
    assert max(map(len, table.replace("\x1b[1m", "").replace("\x1b[0m", "").splitlines())) <= 50
    assert "\x1b" not in on_terminal(tmp_path, "console", NO_COLOR="1")
    assert "\x1b" not in on_terminal(tmp_path, "text")


def test_terminal_never_gets_raw_control_characters(tmp_path):
    for name in ("csv", "jsonl", "md"):
        text = on_terminal(tmp_path, name)
        assert not [char for char in text if (char < " " and char not in "\r\n") or "\x7f" <= char < "\xa0"]
