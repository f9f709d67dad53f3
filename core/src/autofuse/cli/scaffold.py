"""`autofuse plugins new`: writes an installable plugin package with a passing test, from the templates in scaffold/."""

from __future__ import annotations

import importlib.util
import keyword
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Dict, Iterator, Tuple

import click

from autofuse.cli.app import App
from autofuse.errors import AutofuseError
from autofuse.files import make_folder
from autofuse.plugin import BUILT_IN

__all__ = ["KINDS", "new", "write_plugin"]

KINDS = {
    "parser": "records out of lines of a log format",
    "reporter": "an output format for reports",
    "layout": "a tensor layout of dumps",
    "source": "a place to read logs from",
    "runner": "a place to call compiled tiling code",
    "command": "a command of its own",
}
"""Kind → what such a plugin gives, in words."""

_DEPENDENCIES = {
    "layout": ["autofuse>=0.1", "numpy>=1.21"],
    "command": ["autofuse>=0.1", "autofuse-formats>=0.1", "click>=8.1"],
}
_TEMPLATES = Path(__file__).resolve().parent.parent / "scaffold"
_NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")


@click.command("new", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name")
@click.option("--kind", type=click.Choice(list(KINDS)), default="parser", show_default=True, help="What it offers.")
@click.option(
    "-o", "--output", metavar="DIR", default=".", help="Folder to make the package's folder in (default: here)."
)
@click.pass_obj
def new(app: App, name: str, kind: str, output: str) -> None:
    """Write an installable plugin package NAME with a passing test.

    NAME is made of lower-case words joined by `-` or `_`: it becomes the distribution, the package and the folder.
    """
    folder = write_plugin(name, kind, Path(output))
    click.echo(str(folder))
    app.notice(f"next: pip install -e {folder} && autofuse plugins check {_distribution(name)}")


def write_plugin(name: str, kind: str, parent: Path) -> Path:
    """Writes the package and gives its folder; AutofuseError when the name is unfit or the folder is there already."""
    _check_name(name)
    distribution, package = _distribution(name), name.replace("-", "_")
    target = make_folder(parent) / distribution
    if os.path.lexists(target):
        raise AutofuseError("is there already, and nothing is overwritten", str(target), "name another folder with -o")
    words = {
        "NAME": distribution,
        "DIST": distribution,
        "PACKAGE": package,
        "KIND": kind,
        "TAG": package.upper(),
        "TITLE": package.replace("_", " ").capitalize(),
        "SUMMARY": KINDS[kind],
        "DEPENDENCIES": ", ".join(f'"{one}"' for one in _DEPENDENCIES.get(kind, ["autofuse>=0.1"])),
    }
    try:
        _write_all(target, words)
    except OSError as error:
        raise AutofuseError(f"cannot be written: {error.strerror}", str(target)) from error
    return target


def _distribution(name: str) -> str:
    return name.replace("_", "-")


def _check_name(name: str) -> None:
    package = name.replace("-", "_")
    if not _NAME.fullmatch(name) or len(name) > 60:
        raise AutofuseError(
            f"{name!r} is no name for a plugin", hint="lower-case words joined by `-`, such as acme-log"
        )
    if keyword.iskeyword(package) or _distribution(name) in BUILT_IN:
        raise AutofuseError(f"the name {name} is taken", hint="choose another one")
    if importlib.util.find_spec(package) is not None:
        raise AutofuseError(
            f"there is a module {package} already, which the plugin would hide", hint="choose another name"
        )


def _write_all(target: Path, words: Dict[str, str]) -> None:
    """All files or none: they are written beside the target, which then gets its name."""
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        temporary.chmod(0o755)
        for path, template in _files(words["KIND"], words["PACKAGE"]):
            text = template.read_text(encoding="utf-8") if template.suffix == ".in" else ""
            for word, value in words.items():
                text = text.replace(f"@{word}@", value)
            (temporary / path).parent.mkdir(parents=True, exist_ok=True)
            (temporary / path).write_text(text, encoding="utf-8")
        os.rename(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _files(kind: str, package: str) -> Iterator[Tuple[str, Path]]:
    """Path in the package → template; a module takes its name from the template's."""
    common = _TEMPLATES / "common"
    yield "pyproject.toml", common / "pyproject.toml.in"
    yield "README.md", common / "README.md.in"
    yield f"src/{package}/__init__.py", common / "init.py.in"
    yield f"src/{package}/py.typed", common / "py.typed"
    for template in sorted((_TEMPLATES / kind).glob("*.in")):
        name = template.name[: -len(".in")]
        yield (f"tests/test_{package}.py" if name == "test.py" else f"src/{package}/{name}"), template
