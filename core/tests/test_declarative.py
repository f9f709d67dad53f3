"""Format files: every key is checked, samples hold or the file is broken, and records come out as from code."""

from __future__ import annotations

import json
import os
import pickle
import textwrap

import pytest
from autofuse.config import Config
from autofuse.declarative import read_format
from autofuse.errors import AutofuseError
from autofuse.host import Host
from autofuse.records import (
    FinalTiling,
    HardwareParams,
    InputShape,
    InvocationBegin,
    ModelInfoBegin,
    PipeFormula,
    Position,
    TemplateId,
    TilingFailure,
    TilingValue,
)
from autofuse.testing import batch_of

VALUE = r"""
summary = "Lines of ACME"
markers = ["ACME|"]

[[record]]
type = "TilingValue"
pattern = 'p(?P<pid>\d{1,9}) ACME\|(?P<operator>[^|]+)\|(?P<graph>\d+)\.(?P<case>\d+)(?P<sub_case>R?)\|(?P<name>\w+)=(?P<value>\S+)'
constants = { result = 0, group = 7 }

[[record.sample]]
text = "p12 ACME|Add|1.2R|q0_size=64"
fields = { operator = "Add", pid = 12, graph = 1, group = 7, sub_case = "R", name = "q0_size", value = "64" }
"""  # noqa: E501


def write(folder, text, name="vend"):
    """A format file."""
    path = folder / f"{name}.format.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return str(path)


def records(path, *lines):
    """What the format makes of the lines."""
    spec = read_format(path)
    return list(spec.load()(batch_of([line.encode() for line in lines], spec.markers, path="a.log")))


def rule(kind, pattern, sample, fields="operator = 'Add'", more=""):
    """A file with one rule."""
    return (
        f"markers = ['ACME']\n[[record]]\ntype = '{kind}'\npattern = '{pattern}'\n{more}\n"
        f"[[record.sample]]\ntext = '{sample}'\nfields = {{ {fields} }}\n"
    )


def test_value(tmp_path):
    found = records(write(tmp_path, VALUE), "noise", "7: p3 ACME|a b|0.1|x=-nan rest", "ACME|no prefix|0.1|x=1")
    assert found == [TilingValue("a b", Position("a.log", 2, 3), TemplateId(0, 0, 7, 1), "x", "-nan")]


def test_spec(tmp_path):
    spec = read_format(write(tmp_path, VALUE))
    assert (spec.name, spec.summary, spec.markers, spec.records) == (
        "vend",
        "Lines of ACME",
        (b"ACME|",),
        (TilingValue,),
    )
    assert [sample.record for sample in spec.samples] == ["TilingValue"]


def test_first_rule_that_matches_counts(tmp_path):
    text = rule("InvocationEnd", r"ACME (?P<operator>\w+) end", "ACME Add end")
    text += text[text.index("[[record]]") :].replace("InvocationEnd", "InvocationBegin").replace(" end", "")
    found = records(write(tmp_path, text), "ACME Mul end", "ACME Mul", "ACME")
    assert [type(record).__name__ for record in found] == ["InvocationEnd", "InvocationBegin"]


@pytest.mark.parametrize(
    ("text", "line", "record"),
    [
        (
            rule("InvocationBegin", r"ACME (?P<operator>\w+)(?: g(?P<graph>\d))?$", "ACME Add"),
            "ACME Add g3",
            InvocationBegin("Add", Position("a.log", 1), 3),
        ),
        (
            rule("TilingFailure", r"ACME t(?P<tid>\d) fail", "ACME t1 fail", "operator = ''"),
            "ACME t5 fail",
            TilingFailure("", Position("a.log", 1, None, 5)),
        ),
        (
            rule(
                "InputShape",
                r"ACME (?P<operator>\w+) (?P<symbols>.*)",
                "ACME Add a=1",
                more="pairs = '\\b(?P<key>\\w+)=(?P<value>\\d+)'\n"
                "constants = { graph = 0, result = 1, group = 2, case = 3, sub_case = 'R' }",
            ),
            "ACME Add s0=10, s1=20",
            InputShape("Add", Position("a.log", 1), TemplateId(0, 1, 2, 3, "R"), (("s0", "10"), ("s1", "20"))),
        ),
        (
            rule(
                "HardwareParams",
                r"ACME (?P<operator>\w+) (?P<values>.*)",
                "ACME Add ub=1",
                more="pairs = '\\b(?P<key>\\w+)=(?P<value>\\d+)'",
            ),
            "ACME Add ub=196608",
            HardwareParams("Add", Position("a.log", 1), (("ub", "196608"),)),
        ),
        (
            rule(
                "PipeFormula",
                r"ACME (?P<operator>\w+) (?P<node>\w+) (?P<pipe>\w+): (?P<terms>[^=:]+=[^=]*)=(?P<total>\d+)",
                "ACME Add n P: a=1 =2",
                more="pairs = '\\b(?P<key>\\w+)=(?P<value>\\d+)'\nconstants = { node_type = 'Load' }",
            ),
            "ACME Add Load_0 AIV_MTE2: base=17 =199",
            PipeFormula("Add", Position("a.log", 1), "Load_0", "Load", "AIV_MTE2", (("base", "17"),), "199"),
        ),
        (
            rule(
                "FinalTiling",
                r"ACME (?P<operator>\w+) key=(?P<tiling_key>\d+)",
                "ACME Add key=1",
                "tiling_key = '1', source = 'runtime', status = 'ok'",
                "constants = { source = 'runtime' }",
            ),
            "ACME Add key=5",
            FinalTiling("Add", Position("a.log", 1), {"tiling_key": "5", "source": "runtime"}),
        ),
        (
            rule("ModelInfoBegin", r"ACME begin (?P<graph_name>\w+)", "ACME begin g", "graph_name = 'g'"),
            "ACME begin AscGraph0",
            ModelInfoBegin("", Position("a.log", 1), "AscGraph0"),
        ),
    ],
)
def test_every_way_to_fill_a_record(text, line, record, tmp_path):
    assert records(write(tmp_path, text), line) == [record]


def test_numbers_that_are_none(tmp_path):
    text = rule("InvocationBegin", r"ACME (?P<operator>\w+) (?P<graph>\S+)", "ACME Add 1")
    assert records(write(tmp_path, text), "ACME Add x", "ACME Add " + "9" * 10_000, "ACME Add -1")[-1].graph == -1


def test_parser_goes_to_other_processes(tmp_path):
    spec = read_format(write(tmp_path, VALUE))
    again = pickle.loads(pickle.dumps(spec.load()))
    batch = batch_of([b"p3 ACME|Add|0.1|x=1"], spec.markers)
    assert list(again(batch)) == list(spec.load()(batch))


WRONG = {
    "no TOML": ("summary =", "is no valid TOML"),
    "unknown key": (VALUE.replace("summary", "sumary"), "unknown key sumary; known: summary, markers, record"),
    "unknown key of a record": (VALUE.replace("constants", "consts"), "record 1: unknown key consts"),
    "no markers": (VALUE.replace('["ACME|"]', "[]"), "markers must be a list of texts, at least one"),
    "empty marker": (VALUE.replace('["ACME|"]', '[" "]'), "markers must be a list of texts, at least one"),
    "no record": ("markers = ['x']", "at least one [[record]] is needed"),
    "no sample": (VALUE[: VALUE.index("[[record.sample]]")], "record 1: at least one [[record.sample]] is needed"),
    "no expected fields": (VALUE[: VALUE.index("fields =")], "record 1: sample: fields is missing"),
    "no type": (VALUE.replace('type = "TilingValue"', ""), "record 1: type is missing"),
    "unknown type": (VALUE.replace("TilingValue", "TilingValu"), "unknown record type 'TilingValu'; known: Candi"),
    "no record type": (VALUE.replace('"TilingValue"', '"Position"'), "unknown record type 'Position'"),
    "no pattern": (VALUE.replace("pattern", "#"), "record 1: pattern is missing"),
    "pattern that is none": (VALUE.replace("[^|]+", "[^|+"), "pattern is no regular expression"),
    "pattern that is slow": (VALUE.replace("[^|]+", "(?:[^|]+)+"), "pattern: a repeat inside a repeat"),
    "field that is none": (VALUE.replace("(?P<name>", "(?P<nome>"), "TilingValue has no field nome"),
    "field that is missing": (VALUE.replace("(?P<name>", "("), "nothing fills the field name of TilingValue"),
    "part of the template": (VALUE.replace(", group = 7", ""), "the template needs group"),
    "text for a number": (VALUE.replace("group = 7", "group = '7'"), "the constant group must be a whole number"),
    "number for a text": (
        VALUE.replace("group = 7 }", "group = 7, name = 1 }"),
        "the constant name must be a text",
    ),
    "truth for a number": (VALUE.replace("group = 7", "group = true"), "the constant group must be a whole number"),
    "pairs without need": (
        VALUE.replace("constants", "pairs = '\\b(?P<key>\\w+)=(?P<value>\\w+)'\nconstants"),
        "pairs is needed to take a field of names and texts apart, and only then",
    ),
    "pairs without groups": (
        VALUE.replace("constants", "pairs = 'x'\nconstants"),
        "pairs must have the groups key and",
    ),
    "sample without marker": (VALUE.replace('["ACME|"]', '["ACNE|"]'), "holds no marker"),
    "sample of another line": (VALUE.replace("p12 ACME", "ACME"), "gives no record"),
    "sample with another value": (
        VALUE.replace('value = "64"', 'value = "65"'),
        "gives TilingValue with value = '64' where '65' is expected",
    ),
    "sample with another type": (
        VALUE.replace("graph = 1,", 'graph = "1",'),
        "gives TilingValue with graph = 1 where '1' is expected",
    ),
    "sample with an unknown field": (VALUE.replace("pid = 12", "pod = 12"), "gives TilingValue without a field pod"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_file(kind, tmp_path):
    text, message = WRONG[kind]
    path = write(tmp_path, text)
    with pytest.raises(AutofuseError) as caught:
        read_format(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")


# --- where files are found --------------------------------------------------------------------------------------------


@pytest.fixture
def user_folder(tmp_path, monkeypatch):
    """The folder `formats` of a user's config folder."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("AUTOFUSE_CONFIG", raising=False)
    return tmp_path / "xdg" / "autofuse" / "formats"


def parsers(host):
    """Names of the record parsers that came from files."""
    return [name for name, spec in host.specs("autofuse_record_parsers").items() if getattr(spec, "path", "")]


def test_folder_of_the_user(user_folder):
    write(user_folder, VALUE, "mine")
    host = Host()
    assert "mine" in parsers(host)
    assert host.load(host.specs("autofuse_record_parsers")["mine"]).path == str(user_folder / "mine.format.toml")
    assert "mine" not in parsers(Host(third_party=False))
    assert "mine" not in parsers(Host(Config(disabled=("mine",))))


def test_folders_of_the_config(user_folder, tmp_path, autofuse_cli):
    write(tmp_path / "here", VALUE, "mine")
    config = tmp_path / "config.toml"
    config.write_text('[formats]\nfolders = ["here", "gone", "here"]\n')
    result = autofuse_cli("--config", config, "plugins", "list", "--json")
    found = {plugin["name"]: plugin for plugin in json.loads(result.stdout)["plugins"]}
    assert found["mine"]["hooks"] == {"autofuse_record_parsers": ["mine"]}
    assert (found["gone"]["status"], found["gone"]["cause"]) == ("broken", "there is no such folder")
    assert autofuse_cli("--config", config, "doctor").exit_code == 1


@pytest.mark.parametrize("place", ["pack/vend.format.toml", "pack/formats/vend.format.toml", "single.format.toml"])
def test_inside_a_plugin(place, user_folder, install_plugin, autofuse_cli):
    module = "single" if place.startswith("single") else "pack"
    code = {"single.py": ""} if module == "single" else {"pack/__init__.py": ""}
    install_plugin("vendor", {**code, place: VALUE}, entry_points={"vendor": module})
    result = autofuse_cli("plugins", "list", "--json")
    (found,) = [plugin for plugin in json.loads(result.stdout)["plugins"] if plugin["name"] == "vendor"]
    assert found["hooks"]["autofuse_record_parsers"] == [os.path.basename(place)[: -len(".format.toml")]]
    check = autofuse_cli("plugins", "check", "vendor")
    assert check.exit_code == 0, check.stdout
    assert "sample 1 gives its record" in check.stdout


def test_files_of_others_beside_a_single_module(user_folder, install_plugin):
    install_plugin("vendor", {"single.py": "", "other.format.toml": VALUE}, entry_points={"vendor": "single"})
    assert "other" not in parsers(Host())


def test_broken_file_is_listed_and_the_rest_works(user_folder, autofuse_cli):
    write(user_folder, VALUE, "good")
    path = write(user_folder, VALUE.replace('"64" }', '"65" }'), "bad")
    assert "good" in parsers(Host())
    listing = autofuse_cli("plugins", "list")
    assert listing.exit_code == 0
    (line,) = [line for line in listing.stdout.splitlines() if line.startswith("bad ")]
    assert f"{path}: the sample 'p12 ACME|Add|1.2R|q0_size=64' gives TilingValue with value = '64'" in line
    doctor = autofuse_cli("doctor")
    assert doctor.exit_code == 1
    assert f"broken  plugin bad: format file {path}: {path}: the sample" in doctor.stdout


def test_broken_file_of_a_plugin(user_folder, install_plugin, autofuse_cli):
    install_plugin("vendor", {"pack/__init__.py": "", "pack/vend.format.toml": "x = 1"}, {"vendor": "pack"})
    check = autofuse_cli("plugins", "check", "vendor")
    assert check.exit_code == 1
    assert "vend.format.toml: unknown key x" in check.stdout


def test_check_of_a_file(user_folder, tmp_path, autofuse_cli):
    path = write(tmp_path, VALUE, "mine")
    check = autofuse_cli("plugins", "check", path)
    assert (check.exit_code, "failed" in check.stdout) == (0, False)
    bad = autofuse_cli("plugins", "check", write(tmp_path, "x = 1", "bad"))
    assert bad.exit_code == 1
    assert "failed  plugin bad: " in bad.stdout


@pytest.mark.parametrize("name", ["two words", "-x", ".hidden"])
def test_name_that_is_no_word(name, tmp_path):
    with pytest.raises(AutofuseError, match="name is no word"):
        read_format(write(tmp_path, VALUE, name))


def test_what_is_no_file(user_folder, tmp_path):
    (user_folder / "folder.format.toml").mkdir(parents=True)
    os.mkfifo(user_folder / "pipe.format.toml")
    host = Host()
    host.call_all()
    causes = {plugin.name: plugin.cause for plugin in host.plugins}
    assert "is no file" in causes["folder"]
    assert "is no file" in causes["pipe"]
