"""`plugins check`: what conforms passes, and each way not to conform is found."""

from __future__ import annotations

import json

import pytest

HEAD = "from autofuse import types\nfrom autofuse.types import *\nfrom autofuse.types import hookimpl\n"


def plugin(hook, spec):
    """The text of a plugin module with one spec."""
    return f"{HEAD}@hookimpl\ndef {hook}():\n    yield {spec}\n"


PARSER = plugin(
    "autofuse_record_parsers",
    "ParserSpec('vend', 'x', 'pack.code:parse', markers=(b'VEND',), records=(types.InvocationEnd,),\n"
    "        samples=(FormatSample('VEND Add', {'operator': 'Add'}),))",
)
REPORTER = plugin("autofuse_reporters", "ReporterSpec('vend', 'x', 'pack.code:write', suffixes=('.vend',))")
LAYOUT = plugin(
    "autofuse_layout_converters",
    "LayoutSpec('vend', 'x', 'pack.code:convert', stored='VEND', plain='ND', samples=(LayoutSample((2, 3), (3, 2)),))",
)
COMMAND = plugin("autofuse_commands", "CommandSpec('vend', 'Does it.', 'pack.code:command')")
SOURCE = plugin("autofuse_log_sources", "LogSourceSpec('vend', 'x', 'pack.code:SOURCE')")
WRAPPING = plugin("autofuse_line_wrappings", "WrappingSpec('vend', 'x', 'pack.code:wrap')")
EXECUTOR = plugin("autofuse_executors", "ExecutorSpec('vend', 'x', 'pack.code:execute')")
DOCTOR = plugin("autofuse_doctor_checks", "DoctorSpec('vend', 'x', 'pack.code:check')")
RUNNER = plugin("autofuse_native_runners", "RunnerSpec('vend', 'x', 'pack.code:Runner')")
RULE = plugin("autofuse_rules", "RuleSpec('vend', 'x', 'pack.code:rule')")

PARSE = """
import re
from autofuse.types import InvocationBegin, InvocationEnd, Position
def parse(batch):
    for line in batch:
        name = line.text.partition("VEND ")[2]
        {body}
"""
GOOD_BODY = "yield InvocationEnd(name, Position(line.path, line.number))"
CONVERT = "def convert(stored, shape, *, groups=1, c0=None):\n"
FITS = "    if len(shape) != 2 or stored.size != shape[0] * shape[1]: raise ValueError('no')\n"
SOURCES = """
class Source:
    def claims(self, location): return {claims}
    def streams(self, location, notices): yield 3
SOURCE = Source()
"""
IGNORING = """
import click
@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("rest", nargs=-1)
def command(rest): pass
"""
CARELESS = """
def write(report, out, context):
    for row in report.tables[0].rows: out.write(str(row[0]).encode("utf-8", "replace"))
"""


@pytest.fixture
def check(install_plugin, autofuse_cli):
    """(exit code, lines that are not ok) of checking a plugin made of its module and the code behind its specs."""

    def run(module, code):
        install_plugin("vendor", {"pack/__init__.py": module, "pack/code.py": code}, {"vendor": "pack"})
        result = autofuse_cli("plugins", "check", "vendor", "--json")
        rows = [row for row in json.loads(result.stdout)["checks"] if row["status"] != "ok"]
        return result.exit_code, [f"{row['status']} {row['subject']}: {row['text']}" for row in rows]

    return run


@pytest.mark.parametrize(
    ("module", "code"),
    [
        (PARSER, PARSE.format(body=GOOD_BODY)),
        (REPORTER, "def write(report, out, context):\n    out.write(report.title.encode())"),
        (LAYOUT, CONVERT + FITS + "    return stored.reshape(shape)"),
        (COMMAND, "import click\n@click.command()\ndef command(): pass"),
        (WRAPPING, "def wrap(prefix): return None"),
        (
            EXECUTOR,
            "from concurrent.futures import ThreadPoolExecutor as Pool\ndef execute(jobs): return Pool(jobs)",
        ),
        (DOCTOR, "def check(): return 'note', 'no licence'"),
        (RULE, "def rule(): pass"),
        (
            RUNNER,
            "class Runner:\n    name = 'vend'\n    problem = lambda self: None\n    run = lambda self, job: iter(())",
        ),
        (SOURCE, SOURCES.format(claims="False")),
    ],
)
def test_what_conforms(module, code, check):
    if module == LAYOUT:
        pytest.importorskip("numpy")
    assert check(module, code) == (0, [])


@pytest.mark.parametrize(
    ("module", "code", "finding"),
    [
        ("import wave, pluggy\n1 / 0", "", "failed plugin vendor: import failed: ZeroDivisionError"),
        (PARSER, "", "failed vend: pack.code:parse: vend of plugin vendor"),
        (PARSER, PARSE.format(body="yield from ()"), "sample 1 gives its record: 'VEND Add' gives no record"),
        (PARSER, PARSE.format(body="yield 3"), "it gives int; the spec names InvocationEnd"),
        (
            PARSER,
            PARSE.format(body=GOOD_BODY.replace("End", "Begin")),
            "it gives InvocationBegin; the spec names InvocationEnd",
        ),
        (
            PARSER,
            PARSE.format(body=GOOD_BODY.replace("line.number", "1")),
            "the record is said to stand at sample.log:1, it stands at sample.log:3",
        ),
        (
            PARSER,
            PARSE.format(body=GOOD_BODY.replace("(name", "('Mul'")),
            "gives InvocationEnd with operator = 'Mul' where 'Add' is expected",
        ),
        (
            PARSER,
            PARSE.format(body="assert '\\x00' not in name; " + GOOD_BODY),
            "lines with stray bytes do no harm: it raises AssertionError",
        ),
        (
            PARSER,
            PARSE.format(body="name[0]; " + GOOD_BODY),
            "cut lines do no harm: it raises IndexError",
        ),
        (
            PARSER,
            PARSE.format(body="if len(batch) == 1: " + GOOD_BODY),
            "the records of a line depend on the batch it stands in",
        ),
        (PARSER, "def parse(batch): return None", "it gives NoneType where records are expected"),
        (PARSER.replace("'VEND Add'", "'WEND Add'"), PARSE.format(body=GOOD_BODY), "sample 1 holds no marker"),
        (
            PARSER.replace("b'VEND',", "b'VEND', b'OTHER'"),
            PARSE.format(body=GOOD_BODY),
            "note record parser vend: no sample",
        ),
        (
            REPORTER,
            "def write(report, out, context):\n    '%d' % [r[2] for r in report.tables[0].rows][2]",
            "writes the standard report to a file: it raises",
        ),
        (
            REPORTER,
            "def write(report, out, context):\n    out.write(b'x'); next(iter(report.tables[-1].rows))",
            "it raises StopIteration",
        ),
        (REPORTER, "def write(report, out, context):\n    out.close()", "it closes the output"),
        (
            REPORTER,
            "import itertools\nn = itertools.count()\ndef write(report, out, context):\n    out.write(b'%d' % next(n))",
            "note reporter vend: two runs give different bytes",
        ),
        (
            REPORTER,
            CARELESS,
            "note reporter vend: an escape character out of a name reaches the output",
        ),
        (LAYOUT, CONVERT + "    return stored", "stored (3,) gives (3,) for the original shape (5, 7, 11, 13)"),
        (LAYOUT, CONVERT + "    raise KeyError", "refuses what does not fit with ValueError: it raises KeyError"),
        (LAYOUT, CONVERT + FITS + "    return stored", "converts (2, 3) to (3, 2): it gives the shape (2, 3)"),
        (
            LAYOUT,
            CONVERT + FITS + "    return stored.reshape(shape) * 0 + 1",
            "an element of the plain tensor is no element of the stored one, or is one twice",
        ),
        (
            LAYOUT,
            CONVERT + FITS + "    return stored.reshape(shape).astype('int64')",
            "the element type float16 is changed",
        ),
        (LAYOUT.replace("samples=", "# "), "def convert(): pass", "failed plugin vendor: import failed: SyntaxError"),
        (COMMAND, "command = 3", "failed command vend: is a click command: it is a int"),
        (
            COMMAND,
            "import click\n@click.command(add_help_option=False)\ndef command(): pass",
            "has help under -h and --help",
        ),
        (
            COMMAND,
            IGNORING,
            "ends with exit code 0, not 2",
        ),
        (COMMAND.replace("Does it.", ""), "import click\ncommand = click.Command('vend')", "must be one line of text"),
        (WRAPPING, "def wrap(prefix): return prefix", "gives bytes; a Wrapping or None is expected"),
        (WRAPPING, "def wrap(prefix): prefix.decode()", "it raises UnicodeDecodeError"),
        (EXECUTOR, "def execute(jobs): return 3", "it is a int, no concurrent.futures.Executor"),
        (DOCTOR, "def check(): return 'fine', ''", "it gives 'fine' and ''"),
        (RUNNER, "class Runner: pass", "it raises AttributeError"),
        (RULE, "rule = 3", "failed rule vend: can be called: it is a int"),
        (
            SOURCE,
            SOURCES.format(claims="open(location)"),
            "answers whether it opens a location: it raises FileNotFoundError",
        ),
        (SOURCE, SOURCES.format(claims="1"), "gives 1; a bool is expected"),
        (
            SOURCE,
            SOURCES.format(claims="True"),
            "says of a missing location that it cannot be read: it gives a stream",
        ),
    ],
)
def test_what_does_not(module, code, finding, check):
    if "layout" in module:
        pytest.importorskip("numpy")
    exit_code, findings = check(module, code)
    assert finding in "\n".join(findings)
    assert exit_code == (0 if all(line.startswith("note") for line in findings) else 1)


def test_heavy_module(check):
    pytest.importorskip("hypothesis")
    exit_code, findings = check("import hypothesis\n" + RULE, "def rule(): pass")
    assert exit_code == 1
    assert "its module is light: it imports" in findings[0]
    assert "hypothesis" in findings[0]


def test_name_clash_is_a_failure(install_plugin, autofuse_cli):
    for name in ("one", "two"):
        install_plugin(name, {f"{name}.py": RULE.replace("pack.code:rule", "json:loads")})
    result = autofuse_cli("plugins", "check", "one")
    assert result.exit_code == 1
    assert "failed  plugin one: autofuse_rules 'vend' comes from one 1.0" in result.stdout


def test_lines_and_summary(install_plugin, autofuse_cli):
    install_plugin("vendor", {"vendor.py": RULE.replace("pack.code:rule", "json:loads")})
    result = autofuse_cli("plugins", "check", "Vendor")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "ok      plugin vendor: loads and yields what its hooks ask for",
        "ok      plugin vendor: its module is light",
        "ok      rule vend: can be called",
    ]
    install_plugin("vendor", {"vendor.py": RULE.replace("pack.code:rule", "json:decoder")})


def test_json(install_plugin, autofuse_cli):
    install_plugin("vendor", {"vendor.py": RULE.replace("pack.code:rule", "json:decoder")})
    result = autofuse_cli("plugins", "check", "vendor", "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["counts"] == {"ok": 2, "note": 0, "failed": 1}
    assert found["checks"][-1] == {
        "status": "failed",
        "subject": "rule vend",
        "text": "can be called: it is a module",
    }
    assert result.stderr == "autofuse: 1 of 3 checks of vendor failed\n"


def test_unknown_distribution(autofuse_cli):
    result = autofuse_cli("plugins", "check", "no-such-dist")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("autofuse: no plugin or distribution 'no-such-dist' (there are autofuse")


def test_disabled(install_plugin, autofuse_cli, monkeypatch):
    install_plugin("vendor", {"vendor.py": RULE})
    monkeypatch.setenv("AUTOFUSE_DISABLE_PLUGINS", "vendor")
    result = autofuse_cli("plugins", "check", "vendor")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


def test_the_projects_own(autofuse_cli):
    """What is installed of the project conforms; a format whose library is missing here may fail."""
    result = autofuse_cli("plugins", "check", "autofuse")
    assert result.exit_code == 0, result.stdout
