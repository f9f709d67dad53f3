"""Every hook has a section in the reference with a runnable example, and its docstring's example runs."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path

import pytest
from autofuse import hookspecs, records, types
from autofuse.checks import checked_specs
from autofuse.hookspecs import HOOKS

DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference"
SECTIONS = dict(re.findall(r"^## (autofuse_\w+)\n(.*?)(?=^## |\Z)", (DOCS / "hooks.md").read_text(), re.M | re.S))


def test_sections_are_those_of_the_hooks():
    assert list(SECTIONS) == list(HOOKS)


@pytest.mark.parametrize("hook", HOOKS)
def test_example_of_the_reference(hook):
    examples = re.findall(r"^```python\n(.*?)^```", SECTIONS[hook], re.M | re.S)
    namespace = {}
    exec(examples[0], namespace)
    (spec,) = checked_specs(hook, namespace[hook]())
    assert type(spec) is HOOKS[hook]


@pytest.mark.parametrize("hook", HOOKS)
def test_example_of_the_docstring(hook):
    function = getattr(hookspecs, hook)
    tests = doctest.DocTestFinder().find(function, hook, globs={})
    results = [doctest.DocTestRunner().run(test) for test in tests]
    assert sum(result.attempted for result in results) >= 3
    assert sum(result.failed for result in results) == 0


def test_every_hook_of_the_module_is_in_the_table():
    declared = {name for name, value in vars(hookspecs).items() if hasattr(value, "autofuse_spec")}
    assert declared == set(HOOKS)


def test_every_record_is_in_the_reference():
    text = (DOCS / "records.md").read_text()
    told = re.findall(r"\b([A-Z]\w+)\b", "\n".join(re.findall(r"^\| ([A-Z].*?) \|", text, re.M)))
    assert set(told) | {"Record", "Position", "TemplateId"} == set(records.__all__)


def test_fields_of_the_records_are_in_the_reference():
    import dataclasses

    rows = re.findall(r"^\| ([A-Z][\w, ]*) \|(.*?)\|", (DOCS / "records.md").read_text(), re.M)
    for names, told in rows:
        for name in names.split(", "):
            kind = getattr(records, name)
            own = [one.name for one in dataclasses.fields(kind) if one.name not in ("operator", "at")]
            assert re.findall(r"`(\w+)`", told) == own, name


def test_everything_public_is_documented():
    for module in (types, records):
        for name in module.__all__:
            assert name == "hookimpl" or inspect.getdoc(getattr(module, name)), name
