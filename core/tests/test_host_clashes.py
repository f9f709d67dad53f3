"""Two plugins with one name: both are named, the project's own wins, and the config decides between others."""

from __future__ import annotations

import json

import pytest
from autofuse.clashes import Offer, settle
from autofuse.config import Config
from autofuse.host import Host
from autofuse.plugin import Plugin
from autofuse.types import CommandSpec, LayoutSpec, ReporterSpec

HELLO = """
import click
from autofuse.types import CommandSpec, hookimpl

@hookimpl
def autofuse_commands():
    yield CommandSpec("hello", "Say hello.", "{module}:command")

@click.command("hello")
def command():
    click.echo("{module}")
"""


@pytest.fixture
def two(install_plugin):
    """The distributions `alpha-log` and `other-log`, each with a command `hello`."""
    for name in ("alpha", "other"):
        install_plugin(f"{name}-log", {f"{name}.py": HELLO.format(module=name)}, entry_points={name: name})


def configured(tmp_path, text):
    """A config file."""
    path = tmp_path / "config.toml"
    path.write_text(text)
    return path


def test_nobody_gets_the_name(two, autofuse_cli):
    result = autofuse_cli("run", "hello")
    assert result.exit_code == 2
    assert result.stderr == (
        "autofuse: autofuse_commands 'hello' comes from alpha-log 1.0 (plugin alpha) and other-log 1.0 (plugin other); "
        'none is used (set "hello" in [plugins.prefer] of the config)\n'
    )
    assert autofuse_cli("plugins", "list").exit_code == 0
    assert autofuse_cli("doctor").exit_code == 1


def test_both_are_reachable_by_plugin(two, autofuse_cli):
    assert autofuse_cli("run", "alpha", "hello").stdout == "alpha\n"
    assert autofuse_cli("run", "other").stdout == "other\n"


@pytest.mark.parametrize(("preferred", "winner"), [("alpha-log", "alpha"), ("Other_Log", "other"), ("other", "other")])
def test_the_config_decides(preferred, winner, two, autofuse_cli, tmp_path):
    path = configured(tmp_path, f'[plugins.prefer]\nhello = "{preferred}"\n')
    assert autofuse_cli("--config", path, "run", "hello").stdout == f"{winner}\n"
    doctor = autofuse_cli("--config", path, "doctor")
    assert "note    name clash: autofuse_commands 'hello'" in doctor.stdout


def test_a_preference_for_nobody_is_told(two, autofuse_cli, tmp_path):
    path = configured(tmp_path, '[plugins.prefer]\nhello = "nobody"\n')
    assert autofuse_cli("--config", path, "run", "hello").exit_code == 2
    assert "hello prefers nobody, and there is no such plugin" in autofuse_cli("--config", path, "doctor").stdout


def test_clash_in_json(two, autofuse_cli):
    (clash,) = json.loads(autofuse_cli("plugins", "list", "--json").stdout)["clashes"]
    assert clash.pop("text").startswith("autofuse_commands 'hello' comes from")
    assert clash == {
        "hook": "autofuse_commands",
        "name": "hello",
        "distributions": ["alpha-log", "other-log"],
        "winner": None,
    }


def test_the_projects_own_wins(install_plugin, autofuse_cli, tmp_path):
    text = """
    from autofuse.types import ExecutorSpec, hookimpl
    @hookimpl
    def autofuse_executors():
        yield ExecutorSpec("local", "Mine", "mine:executor")
    """
    import textwrap

    install_plugin("mine", {"mine.py": textwrap.dedent(text)})
    assert Host().specs("autofuse_executors")["local"].factory == "autofuse.executors:local"
    preferring = Host(Config(preferred={"local": "mine"}))
    assert preferring.specs("autofuse_executors")["local"].factory == "mine:executor"


def test_two_plugins_of_one_name(install_plugin, autofuse_cli, tmp_path):
    install_plugin("one", {"one.py": HELLO.format(module="one")}, entry_points={"shared": "one"})
    install_plugin("two", {"two.py": HELLO.format(module="two").replace('"hello"', '"bye"')}, {"shared": "two"})
    assert autofuse_cli("run", "hello").stdout == "one\n"
    assert autofuse_cli("run", "bye").stdout == "two\n"
    result = autofuse_cli("run", "shared", "hello")
    assert result.exit_code == 2
    assert "plugin 'shared' comes from one 1.0 (plugin shared) and two 1.0 (plugin shared)" in result.stderr
    path = configured(tmp_path, '[plugins.prefer]\nshared = "two"\n')
    assert autofuse_cli("--config", path, "run", "shared", "bye").stdout == "two\n"
    # The plugin has one command, so the word is its argument.
    assert autofuse_cli("--config", path, "run", "shared", "hello").exit_code == 2


def offers(*specs):
    """Each spec from a plugin of its own, called after its number; number 0 belongs to the project."""
    names = ["autofuse-formats", *(f"vendor-{number}" for number in range(1, len(specs)))]
    return [Offer(Plugin(name, name, "1.0", name), spec) for name, spec in zip(names, specs)]


def reporter(name, *, aliases=(), suffixes=()):
    """A reporter spec."""
    return ReporterSpec(name, "text", "module:write", suffixes=suffixes, aliases=aliases)


def test_alias_and_suffix_go_to_the_projects_own():
    kept, clashes = settle(
        "autofuse_reporters",
        offers(
            reporter("xlsx", aliases=("excel",), suffixes=(".xlsx",)),
            reporter("sheets", aliases=("Excel", "sheet"), suffixes=(".XLSX", ".ods")),
        ),
        {},
    )
    assert [offer.spec.aliases for offer in kept] == [("excel",), ("sheet",)]
    assert [offer.spec.suffixes for offer in kept] == [(".xlsx",), (".ods",)]
    assert [(clash.name, clash.winner.name) for clash in clashes] == [
        ("excel", "autofuse-formats"),
        (".xlsx", "autofuse-formats"),
    ]


def test_alias_of_one_is_the_name_of_another():
    first, second = reporter("xlsx", aliases=("excel",)), reporter("excel")
    kept, _ = settle("autofuse_reporters", offers(first, second), {})
    assert [offer.spec for offer in kept] == [first]
    kept, _ = settle("autofuse_reporters", offers(first, second), {"excel": "vendor-1"})
    assert [(offer.spec.name, offer.spec.aliases) for offer in kept] == [("xlsx", ()), ("excel", ())]


def test_suffix_of_two_vendors_is_nobodys():
    kept, (clash,) = settle(
        "autofuse_reporters",
        offers(reporter("csv"), reporter("a", suffixes=(".tsv",)), reporter("b", suffixes=(".tsv", ".b"))),
        {},
    )
    assert [offer.spec.suffixes for offer in kept] == [(), (), (".b",)]
    assert clash.winner is None


def test_one_pair_of_layouts_under_two_names():
    first = LayoutSpec("one", "text", "m:f", stored="TILED", plain="ND")
    second = LayoutSpec("two", "text", "m:f", stored="TILED", plain="ND")
    kept, (clash,) = settle("autofuse_layout_converters", offers(first, second), {})
    assert [offer.spec for offer in kept] == [first]
    assert clash.name == "TILED->ND"


def test_order_is_kept_and_equal_names_of_other_hooks_do_not_matter():
    specs = [CommandSpec(name, "text", "m:f") for name in ("b", "a", "c")]
    kept, clashes = settle("autofuse_commands", offers(*specs), {})
    assert ([offer.spec for offer in kept], clashes) == (specs, [])


def test_vendor_suffix_of_the_project_is_not_used_by_emit(install_plugin, autofuse_cli, tmp_path):
    """A plugin cannot take `.csv` from the project by being installed."""
    text = "from autofuse.types import *\n@hookimpl\ndef autofuse_reporters():\n"
    text += "    yield ReporterSpec('evil', 'x', 'evil:write', suffixes=('.csv',))\n"
    install_plugin("evil", {"evil.py": text})
    specs = Host().specs("autofuse_reporters")
    if "csv" not in specs:
        pytest.skip("the reporters of autofuse-formats are not installed")
    assert specs["evil"].suffixes == ()
    assert specs["csv"].suffixes == (".csv",)
