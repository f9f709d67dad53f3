"""`plugins list`, `doctor` and `schema`: their lines, and the shapes of their JSON, which are a contract."""

from __future__ import annotations

import json

import pytest

PLUGIN = """
from autofuse.types import CommandSpec, DoctorSpec, ReporterSpec, hookimpl

@hookimpl
def autofuse_commands():
    yield CommandSpec("hello", "Say hello.", "json:loads")

@hookimpl
def autofuse_reporters():
    for number in range(11):
        yield ReporterSpec(f"form{number}", "x", "json:dumps")

@hookimpl
def autofuse_doctor_checks():
    yield DoctorSpec("licence", "x", "tools.checks:{check}")
"""
CHECKS = """
from autofuse.errors import AutofuseError
def fine(): return "ok", "the licence is there"
def limited(): return "note", "the licence ends\\nsoon"
def gone(): return "broken", "no licence"
def odd(): return "whatever", "text"
def refusing(): raise AutofuseError("no server", "licence.acme.example", "call us")
def raising(): raise KeyError("server")
def leaving(): raise SystemExit(3)
def shapeless(): return None
def talking():
    print("talk")
    return "ok", "done"
"""


@pytest.fixture
def tools(install_plugin):
    """Installs the plugin `tools` with the given doctor check."""

    def install(check="fine"):
        files = {"tools/__init__.py": PLUGIN.replace("{check}", check), "tools/checks.py": CHECKS}
        install_plugin("Acme.Tools", files, {"tools": "tools"}, version="2.1")

    return install


def test_list(tools, autofuse_cli):
    tools()
    for words in (["plugins", "list"], ["plugins"]):
        result = autofuse_cli(*words)
        assert (result.exit_code, result.stderr) == (0, "")
        (line,) = [line for line in result.stdout.splitlines() if line.startswith("tools ")]
        names = ", ".join(f"form{number}" for number in range(8))
        offers = f"commands: hello; reporters: {names} and 3 more; doctor checks: licence"
        assert line.split(None, 4) == ["tools", "acme-tools", "2.1", "ok", offers]


def test_list_json(tools, autofuse_cli):
    tools()
    result = autofuse_cli("plugins", "--json")
    data = json.loads(result.stdout)
    assert sorted(data) == ["api_version", "clashes", "plugins"]
    assert data["api_version"] == 1
    (found,) = [plugin for plugin in data["plugins"] if plugin["name"] == "tools"]
    assert found == {
        "name": "tools",
        "distribution": "acme-tools",
        "version": "2.1",
        "module": "tools",
        "status": "ok",
        "cause": None,
        "built_in": False,
        "hooks": {
            "autofuse_commands": ["hello"],
            "autofuse_reporters": [f"form{number}" for number in range(11)],
            "autofuse_doctor_checks": ["licence"],
        },
    }
    assert data["plugins"][0]["built_in"]


@pytest.mark.parametrize(
    ("check", "line", "exit_code"),
    [
        ("fine", "ok      licence: the licence is there", 0),
        ("limited", "note    licence: the licence ends soon", 0),
        ("talking", "ok      licence: done", 0),
        ("gone", "broken  licence: no licence", 1),
        ("odd", "broken  licence: text", 1),
        ("refusing", "broken  licence: licence.acme.example: no server (call us)", 1),
        ("raising", "broken  licence: the check itself failed: KeyError: 'server'", 1),
        ("leaving", "broken  licence: the check itself failed: it called sys.exit(3)", 1),
        ("shapeless", "broken  licence: the check itself failed: TypeError", 1),
        ("missing", "broken  plugin tools: acme-tools 2.1: tools.checks:missing: AttributeError", 1),
    ],
)
def test_doctor(check, line, exit_code, tools, autofuse_cli):
    tools(check)
    result = autofuse_cli("doctor")
    assert line in result.stdout
    # Another plugin that is installed here may be broken as well.
    others = [row for row in result.stdout.splitlines() if row.startswith("broken") and not row.startswith(line)]
    assert result.exit_code == (1 if others else exit_code)
    assert "note    plugin tools: acme-tools 2.1: disabled" in autofuse_cli("--no-plugins", "doctor").stdout


def test_doctor_json(tools, autofuse_cli):
    tools("gone")
    result = autofuse_cli("doctor", "--json")
    assert result.exit_code == 1
    findings = json.loads(result.stdout)["findings"]
    assert {"status": "broken", "subject": "licence", "text": "no licence"} in findings
    assert [finding["subject"] for finding in findings[:3]] == ["autofuse", "python", "line scanner"]


def test_schema(install_plugin, autofuse_cli):
    files = {"tools/__init__.py": "", "tools/schemas/acme.schema.json": '{"type": "object"}'}
    install_plugin("tools", files)
    assert "acme\n" in autofuse_cli("schema").stdout
    assert autofuse_cli("schema", "acme").stdout == '{"type": "object"}'
    for name in ("../acme", "acme.schema.json", ""):
        result = autofuse_cli("schema", name)
        assert (result.exit_code, result.stdout) == (2, "")


def test_schema_of_a_plugin_without_a_package(install_plugin, autofuse_cli):
    install_plugin("tools", {"tools.py": ""})
    assert autofuse_cli("schema").exit_code == 0


def test_language(install_plugin, autofuse_cli, monkeypatch, tmp_path):
    text = """
import click
from autofuse.types import CommandSpec, hookimpl

@hookimpl
def autofuse_commands():
    yield CommandSpec("tell", "Tells.", "telling:command")

@click.command()
@click.pass_obj
def command(app):
    click.echo(f"{app.lang} {app.lang_explicit} {app.command_line}")
    app.notice("two\\nlines")
"""
    install_plugin("telling", {"telling.py": text})
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(variable, raising=False)
    assert autofuse_cli("run", "tell").stdout == "en None autofuse run tell\n"
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert autofuse_cli("run", "tell").stdout == "zh None autofuse run tell\n"
    assert autofuse_cli("--lang", "en", "run", "tell").stdout == "en en autofuse --lang en run tell\n"
    monkeypatch.setenv("LC_ALL", "C")
    assert autofuse_cli("run", "tell").stdout.startswith("en None")
    config = tmp_path / "my config.toml"
    config.write_text('lang = "zh"')
    result = autofuse_cli("--config", config, "run", "tell")
    assert result.stdout == f"zh zh autofuse --config '{config}' run tell\n"
    assert result.stderr == "autofuse: two lines\n"
    assert autofuse_cli("-q", "run", "tell").stderr == ""
