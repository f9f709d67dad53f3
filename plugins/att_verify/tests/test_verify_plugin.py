"""What the plugin offers beyond its command: schemas, the doctor's check, runners of other plugins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

import autofuse_att_verify
import click
import pytest
from autofuse.testing import run_cli
from autofuse_att_verify import doctor
from autofuse_att_verify.cli import command
from tiling_operators import Verified, needs_compiler, operator

SCHEMAS = Path(autofuse_att_verify.__file__).with_name("schemas")

RUNNER = """
class Runner:
    name = "paper"

    def problem(self):
        return None

    def run(self, job):
        assert job.library.is_file() and list(job.points) == [48, 196608, 0]
        job.data_path.write_bytes(b"\\x05" + bytes(31))
        yield {"i": 0, "ret": 0, "workspace": 16 << 20, "block_dim": 5, "zero": False, "ns": 1, "same": True,
               "size": 32, "exports": ["AutofuseTiling"]}
"""
PLUGIN = """
from autofuse.types import RunnerSpec, hookimpl

@hookimpl
def autofuse_native_runners():
    yield RunnerSpec("paper", "Answers without calling anything.", "paper_runner:Runner")
"""


@needs_compiler
def test_a_runner_of_another_plugin(verify: Callable[..., Verified], install_plugin: Callable[..., Path]) -> None:
    files = {"paper.py": PLUGIN, "paper_runner.py": RUNNER}
    install_plugin("acme-paper", files, entry_points={"paper": "paper"})
    run = verify(operator(), "--runner", "paper")
    assert (run.code, run.result["runner"], run.result["block_dim"]) == (0, "paper", 5), run.stderr
    assert run.result["tiling_data_fields"]["block_dim"] == 5


@needs_compiler
def test_the_result_has_the_keys_of_its_schema(verify: Callable[..., Verified]) -> None:
    schema = json.loads((SCHEMAS / "verify-tiling.schema.json").read_text(encoding="utf-8"))
    for body, options in (("", ()), ("abort();", ()), ("int x = ;", ()), ("", ("--sweep", "aiv=2:3"))):
        result = verify(operator(body), *options).result
        assert list(result) == schema["required"]
        for key, value in result.items():
            _check_type(schema["properties"][key], value, key)


def _check_type(schema: Any, value: Any, key: str) -> None:
    names = {"null": type(None), "string": str, "integer": int, "number": (int, float), "boolean": bool}
    names |= {"array": list, "object": dict}
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds:
        assert any(isinstance(value, names[kind]) for kind in kinds), key
    assert value in schema.get("enum", [value]), key


def test_the_schema_of_the_contract_is_that_of_the_presets() -> None:
    schema = json.loads(run_cli("schema", "verify-contract").stdout)
    for preset in SCHEMAS.parent.glob("presets/*.json"):
        content = json.loads(preset.read_text())
        assert list(content) == schema["required"]
        assert list(content["abi"]) == schema["properties"]["abi"]["required"]


def test_the_doctor_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("autofuse_att_verify.runner.native_program", lambda: None)
    status, text = doctor.check()
    assert status == "note"
    assert all(part in text for part in ("no C++ compiler", "no CMake", "native runner was not built"))
    monkeypatch.undo()
    assert doctor.check()[0] in ("ok", "note")


@needs_compiler
def test_without_the_native_runner_python_makes_the_calls(
    verify: Callable[..., Verified], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autofuse_att_verify.runner.native_program", lambda: None)
    run = verify(operator())
    assert (run.code, run.result["runner"]) == (0, "python")
    assert "the native runner was not built; a Python process makes the calls" in run.stderr
    run = verify(operator(), "--runner", "native")
    assert (run.code, "the native runner cannot be used" in run.stderr) == (2, True)


def test_every_option_is_described() -> None:
    """In the README and, the same table, in the reference."""
    root = Path(__file__).resolve().parents[3]
    readme, page = root / "plugins" / "att_verify" / "README.md", root / "docs" / "reference" / "verify-tiling.md"
    if not page.is_file():
        pytest.skip("installed without the documentation")
    tables = [
        [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("| `-")]
        for path in (readme, page)
    ]
    assert tables[0] == tables[1]
    described = " ".join(tables[0])
    for option in command.params:
        if isinstance(option, click.Option):
            assert any(f"`{name}" in described for name in option.opts), option.opts
