"""A plugin that is broken in any way is listed with its cause, and everything else works."""

from __future__ import annotations

import json
import os
import sys
import textwrap
import zipfile

import pytest
from autofuse.host import Host

GOOD = """
import click
from autofuse.types import CommandSpec, hookimpl

@hookimpl
def autofuse_commands():
    yield CommandSpec("hello", "Say hello.", "good:command", section="Examples")

@click.command("hello")
def command():
    click.echo("hello")
"""

HEAD = "from autofuse.types import *\n"

BROKEN = {
    "import error": ("import no_such_module_at_all", "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
    "syntax error": ("def (:", "SyntaxError"),
    "error at import": ("1 / 0", "ZeroDivisionError: division by zero"),
    "exit at import": ("import sys; sys.exit(7)", "it called sys.exit(7)"),
    "newer API": ("API_VERSION = 99", "needs API version 99"),
    "odd API": ("API_VERSION = 'one'", "needs API version 'one'"),
    "mistyped hook": (
        HEAD + "@hookimpl\ndef autofuse_comands():\n    yield",
        "unknown hook autofuse_comands; known hooks: autofuse_commands",
    ),
    "hook without mark": (HEAD + "def autofuse_commands():\n    yield", "autofuse_commands has no @hookimpl"),
    "hook wrapper": (
        HEAD + "@hookimpl(wrapper=True)\ndef autofuse_commands():\n    return (yield)",
        "is a hook wrapper, which autofuse does not call",
    ),
    "implemented twice": (
        HEAD
        + "@hookimpl\ndef autofuse_commands():\n    return []\n"
        + "@hookimpl(specname='autofuse_commands')\ndef more():\n    return []",
        "implements autofuse_commands twice",
    ),
    "unknown argument": (HEAD + "@hookimpl\ndef autofuse_commands(nonsense):\n    return []", "nonsense"),
    "error in the hook": (
        HEAD + "@hookimpl\ndef autofuse_commands():\n    yield from ()\n    raise KeyError('x')",
        "autofuse_commands failed: KeyError: 'x'",
    ),
    "exit in the hook": (
        HEAD + "@hookimpl\ndef autofuse_reporters():\n    raise SystemExit",
        "autofuse_reporters failed: it called sys.exit(None)",
    ),
    "nothing yielded": (
        HEAD + "@hookimpl\ndef autofuse_commands():\n    pass",
        "autofuse_commands gives NoneType where CommandSpec objects are expected",
    ),
    "returned spec": (
        HEAD + "@hookimpl\ndef autofuse_commands():\n    return CommandSpec('a', 'b', 'c:d')",
        "returns a CommandSpec; yield it instead",
    ),
    "text yielded": (HEAD + "@hookimpl\ndef autofuse_commands():\n    yield 'x'", "yields str where CommandSpec"),
    "wrong spec type": (
        HEAD + "@hookimpl\ndef autofuse_reporters():\n    yield CommandSpec('a', 'b', 'c:d')",
        "autofuse_reporters yields CommandSpec where ReporterSpec is expected",
    ),
    "odd name": (
        HEAD + "@hookimpl\ndef autofuse_commands():\n    yield CommandSpec('a b', 'b', 'c:d')",
        "with the name 'a b'; a name is a word",
    ),
    "odd factory": (
        HEAD + "@hookimpl\ndef autofuse_commands():\n    yield CommandSpec('a', 'b', 'c')",
        "with the factory 'c'; `package.module:object` is expected",
    ),
    "odd suffixes": (
        HEAD + "@hookimpl\ndef autofuse_reporters():\n    yield ReporterSpec('a', 'b', 'c:d', suffixes='.tsv')",
        "with the suffixes '.tsv'",
    ),
    "no markers": (
        HEAD + "@hookimpl\ndef autofuse_record_parsers():\n    yield ParserSpec('a', 'b', 'c:d')",
        "ParserSpec a with the markers ()",
    ),
    "no samples": (
        HEAD
        + "@hookimpl\ndef autofuse_record_parsers():\n"
        + "    yield ParserSpec('a', 'b', 'c:d', markers=(b'x',), records=(TilingValue,))",
        "with no samples",
    ),
    "name twice": (
        HEAD
        + "@hookimpl\ndef autofuse_commands():\n    for _ in range(2):\n        yield CommandSpec('a', 'b', 'c:d')",
        "yields two CommandSpec objects with the name 'a'",
    ),
    "exception without text": (
        "class Odd(Exception):\n    def __str__(self): raise ValueError\nraise Odd()",
        "import failed: Odd",
    ),
}


@pytest.fixture
def good(install_plugin):
    """A plugin with the command `hello`."""
    install_plugin("good", {"good.py": GOOD})


def listed(autofuse_cli, name):
    """What `plugins list --json` says of one plugin."""
    result = autofuse_cli("plugins", "list", "--json")
    assert result.exit_code == 0
    (found,) = [plugin for plugin in json.loads(result.stdout)["plugins"] if plugin["name"] == name]
    return found


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_plugin(kind, good, install_plugin, autofuse_cli):
    text, cause = BROKEN[kind]
    install_plugin("broken", {"broken.py": text}, version="3.2")
    found = listed(autofuse_cli, "broken")
    assert (found["status"], found["distribution"], found["version"]) == ("broken", "broken", "3.2")
    assert cause in found["cause"]
    assert "\n" not in found["cause"]
    hello = autofuse_cli("run", "hello")
    assert (hello.exit_code, hello.stdout) == (0, "hello\n")
    doctor = autofuse_cli("doctor")
    assert doctor.exit_code == 1
    assert "broken  plugin broken: broken 3.2: " in doctor.stdout
    assert "Traceback" not in doctor.stderr + hello.stderr


def test_other_hooks_of_a_broken_plugin_work(install_plugin, autofuse_cli):
    install_plugin("good", {"good.py": GOOD + "\n@hookimpl\ndef autofuse_reporters():\n    yield 3\n"})
    assert listed(autofuse_cli, "good")["status"] == "broken"
    result = autofuse_cli("run", "hello")
    assert (result.exit_code, result.stdout) == (0, "hello\n")


def test_breakage_found_while_a_command_runs_is_told(good, install_plugin, autofuse_cli):
    install_plugin("broken", {"broken.py": "1 / 0"})
    result = autofuse_cli("run", "hello")
    assert "plugin broken (broken 1.0) is broken: import failed: ZeroDivisionError" in result.stderr
    assert autofuse_cli("-q", "run", "hello").stderr == ""


@pytest.mark.parametrize("place", ["module", "hook", "factory"])
def test_keyboard_interrupt_is_not_a_broken_plugin(place, install_plugin, autofuse_cli):
    inside = {name: "raise KeyboardInterrupt" if name == place else "pass" for name in ("module", "hook", "factory")}
    text = f"""
    from autofuse.types import CommandSpec, hookimpl
    {inside["module"]}
    @hookimpl
    def autofuse_commands():
        {inside["hook"]}
        yield CommandSpec("stop", "Stops.", "stopping.command:command")
    """
    files = {"stopping/__init__.py": textwrap.dedent(text), "stopping/command.py": inside["factory"]}
    install_plugin("stopping", files)
    result = autofuse_cli("run", "stop")
    assert (result.exit_code, result.stderr) == (130, "autofuse: interrupted\n")


@pytest.mark.parametrize(
    "where",
    [
        "print('noise')\n" + GOOD,
        GOOD.replace("    yield", "    print('noise')\n    yield"),
    ],
)
def test_what_a_plugin_prints_is_no_result(where, install_plugin, autofuse_cli):
    install_plugin("good", {"good.py": where})
    result = autofuse_cli("run", "hello")
    assert (result.stdout, result.stderr) == ("hello\n", "noise\n")


def test_stream_kept_at_import_writes_results_later(install_plugin, autofuse_cli):
    text = GOOD.replace('click.echo("hello")', "OUT.write('kept\\n')") + "import sys\nOUT = sys.stdout\n"
    install_plugin("good", {"good.py": text})
    assert autofuse_cli("run", "hello").stdout == "kept\n"


@pytest.mark.parametrize(
    ("factory", "cause"),
    [
        ("no_such_module:command", "ModuleNotFoundError"),
        ("good:missing", "AttributeError"),
        ("leaving:command", "it called sys.exit('bye')"),
    ],
)
def test_broken_factory(factory, cause, install_plugin, autofuse_cli):
    install_plugin("good", {"good.py": GOOD.replace("good:command", factory), "leaving.py": "raise SystemExit('bye')"})
    assert autofuse_cli("run", "--help").exit_code == 0
    result = autofuse_cli("run", "hello")
    assert result.exit_code == 3
    assert result.stderr.count("\n") == 1
    assert "hello of plugin good (good 1.0) is broken" in result.stderr
    assert cause in result.stderr
    assert autofuse_cli("doctor").exit_code == 1


def test_factory_that_is_no_command(install_plugin, autofuse_cli):
    install_plugin("good", {"good.py": GOOD.replace("good:command", "good:CommandSpec")})
    result = autofuse_cli("run", "hello")
    assert (result.exit_code, result.stderr) == (
        3,
        "autofuse: good:CommandSpec: hello of plugin good is no click command\n",
    )


# --- what an entry point may name -------------------------------------------------------------------------------------


def test_entry_point_of_an_object(install_plugin, autofuse_cli):
    text = GOOD.replace(
        "@hookimpl\ndef autofuse_commands():", "class Plugin:\n  @hookimpl\n  def autofuse_commands(self):"
    )
    install_plugin("good", {"good.py": text + "\nplugin = Plugin()\n"}, entry_points={"good": "good:plugin"})
    assert autofuse_cli("run", "hello").stdout == "hello\n"


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        ("good:missing", "AttributeError"),
        ("", "malformed entry point 'point ='"),
        ("not a module!", "malformed entry point"),
        ("good:odd", "RuntimeError: nothing here"),
    ],
)
def test_odd_entry_point(value, cause, good, install_plugin, autofuse_cli):
    odd = "class Odd:\n    def __getattr__(self, name): raise RuntimeError('nothing here')\n"
    install_plugin("odd", {"odd.py": odd + "odd = Odd()"}, entry_points={"point": value.replace("good:odd", "odd:odd")})
    found = listed(autofuse_cli, "point")
    assert found["status"] == "broken"
    assert cause in found["cause"]
    assert autofuse_cli("run", "hello").exit_code == 0


def test_two_entry_points_of_one_module(install_plugin, autofuse_cli):
    install_plugin("good", {"good.py": GOOD}, entry_points={"one": "good", "two": "good"})
    assert listed(autofuse_cli, "one")["status"] == "ok"
    assert listed(autofuse_cli, "two")["cause"] == "is the same module as the plugin one"


# --- unusual metadata -------------------------------------------------------------------------------------------------


def test_metadata_without_a_name(install_plugin, autofuse_cli):
    install_plugin("good", {"good.py": GOOD}, metadata="Metadata-Version: 2.1\n\nName: not a header\n")
    assert listed(autofuse_cli, "good")["distribution"] == "good"


def test_metadata_that_is_no_text(install_plugin, autofuse_cli):
    folder = install_plugin("good", {"good.py": GOOD})
    (folder / "good-1.0.dist-info" / "METADATA").write_bytes(b"\xff\xfe\x00Name\n" * 9)
    assert (listed(autofuse_cli, "good")["distribution"], listed(autofuse_cli, "good")["version"]) == ("good", "1.0")


def test_metadata_that_is_missing(install_plugin, autofuse_cli):
    folder = install_plugin("good", {"good.py": GOOD})
    (folder / "good-1.0.dist-info" / "METADATA").unlink()
    assert listed(autofuse_cli, "good")["version"] == "1.0"


def test_unreadable_entry_points(good, install_plugin, autofuse_cli):
    folder = install_plugin("odd", {"odd.py": ""})
    points = folder / "odd-1.0.dist-info" / "entry_points.txt"
    points.unlink()
    points.mkdir()
    assert autofuse_cli("run", "hello").exit_code == 0


def test_entry_points_that_are_no_text(good, install_plugin, autofuse_cli):
    folder = install_plugin("odd", {"odd.py": ""})
    (folder / "odd-1.0.dist-info" / "entry_points.txt").write_bytes(b"[autofuse]\n\xff\x00 = \xfe\n[other\nx")
    assert autofuse_cli("plugins", "list").exit_code == 0
    assert autofuse_cli("run", "hello").exit_code == 0


def test_leftover_of_an_uninstallation(install_plugin, autofuse_cli):
    folder = install_plugin("good", {"good.py": GOOD})
    os.rename(folder / "good-1.0.dist-info", folder / "~ood-1.0.dist-info")
    assert autofuse_cli("run", "hello").exit_code == 2


def test_first_distribution_of_a_name_on_the_path_counts(install_plugin, autofuse_cli, tmp_path, monkeypatch):
    install_plugin("good", {"good.py": "1 / 0"}, version="1.0")
    other = tmp_path / "other"
    (other / "good-2.0.dist-info").mkdir(parents=True)
    (other / "good.py").write_text(GOOD)
    (other / "good-2.0.dist-info" / "entry_points.txt").write_text("[autofuse]\ngood = good\n")
    monkeypatch.syspath_prepend(str(other))
    assert (listed(autofuse_cli, "good")["version"], listed(autofuse_cli, "good")["status"]) == ("2.0", "ok")


def test_egg_info(install_plugin, autofuse_cli):
    folder = install_plugin("good", {"good.py": GOOD})
    info = folder / "good-1.0.dist-info"
    (info / "METADATA").rename(info / "PKG-INFO")
    info.rename(folder / "good.egg-info")
    assert listed(autofuse_cli, "good")["version"] == "1.0"


def test_plugin_in_a_zip_file(tmp_path, monkeypatch, autofuse_cli):
    path = tmp_path / "plugins.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("zipped.py", GOOD.replace("good:command", "zipped:command"))
        archive.writestr("zipped-1.5.dist-info/METADATA", "Metadata-Version: 2.1\nName: Zipped\nVersion: 1.5\n")
        archive.writestr("zipped-1.5.dist-info/entry_points.txt", "[autofuse]\nzipped = zipped\n")
    monkeypatch.syspath_prepend(str(path))
    try:
        assert listed(autofuse_cli, "zipped")["version"] == "1.5"
        assert autofuse_cli("run", "hello").stdout == "hello\n"
    finally:
        sys.modules.pop("zipped", None)


def test_distributions_of_another_finder(install_plugin, autofuse_cli, monkeypatch):
    folder = install_plugin("good", {"good.py": GOOD})
    points = (folder / "good-1.0.dist-info" / "entry_points.txt").read_text()
    (folder / "good-1.0.dist-info" / "entry_points.txt").unlink()

    class Distribution:
        metadata = {"Name": "frozen"}  # noqa: RUF012
        version = "9"

        def read_text(self, name):
            return points

    class Finder:
        def find_spec(self, *_):
            return None

        def find_distributions(self, *_):
            return [Distribution()]

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    assert listed(autofuse_cli, "good")["distribution"] == "frozen"


# --- switching off ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["good", "Good_Tools", "good-tools"])
def test_disabled_by_the_environment(name, install_plugin, autofuse_cli, monkeypatch):
    install_plugin("good-tools", {"good.py": GOOD}, entry_points={"good": "good"})
    monkeypatch.setenv("AUTOFUSE_DISABLE_PLUGINS", f" x,{name} ")
    assert listed(autofuse_cli, "good")["status"] == "disabled"
    assert autofuse_cli("run", "hello").exit_code == 2
    doctor = autofuse_cli("doctor")
    assert "note    plugin good: good-tools 1.0: disabled" in doctor.stdout
    assert "note    disabled plugins: there is no plugin x" in doctor.stdout


def test_disabled_plugin_is_not_imported(install_plugin, autofuse_cli, monkeypatch):
    install_plugin("good", {"good.py": "raise RuntimeError"})
    monkeypatch.setenv("AUTOFUSE_DISABLE_PLUGINS", "good")
    assert listed(autofuse_cli, "good")["status"] == "disabled"
    assert "good" not in sys.modules


def test_disabled_by_the_config(good, autofuse_cli, tmp_path):
    config = tmp_path / "config.toml"
    config.write_text('[plugins]\ndisable = ["good"]\n')
    assert autofuse_cli("--config", config, "run", "hello").exit_code == 2


def test_no_plugins(good, autofuse_cli):
    result = autofuse_cli("--no-plugins", "plugins", "list", "--json")
    status = {plugin["name"]: plugin["status"] for plugin in json.loads(result.stdout)["plugins"]}
    assert (status["good"], status["autofuse"]) == ("disabled", "ok")
    assert autofuse_cli("--no-plugins", "run", "hello").exit_code == 2


def test_module_registered_by_hand(install_plugin):
    import types

    module = types.ModuleType("by_hand")
    exec(GOOD.replace("good:command", "by_hand:command"), module.__dict__)
    host = Host()
    plugin = host.add(module, "by-hand")
    assert host.owner(host.specs("autofuse_commands")["hello"]) is plugin
