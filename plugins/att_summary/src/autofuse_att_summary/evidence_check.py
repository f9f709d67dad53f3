"""`evidence --check`: whether an evidence folder is what its manifest says, record by record against the schemas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List

import click
from autofuse.cli.app import App
from autofuse.errors import EXIT_CANNOT, EXIT_CHECK_FAILED, EXIT_OK, AutofuseError

from autofuse_att_summary.evidence import MANIFEST, RECORDS, sha256_of

__all__ = ["check_folder"]

_SHOWN = 20


def check_folder(app: App, name: str) -> int:
    """Prints what is wrong and returns the exit code: 0 when nothing is, 1 else; AutofuseError without a folder."""
    folder = Path(name)
    if not folder.is_dir():
        raise AutofuseError("no such folder", name, "name the folder that evidence -o wrote", EXIT_CANNOT)
    problems: List[str] = []
    for problem in _problems(folder):
        problems.append(problem)
        if len(problems) <= _SHOWN:
            click.echo(problem)
    if not problems:
        click.echo(f"{folder}: the evidence is what its manifest says")
        return EXIT_OK
    more = f" (the first {_SHOWN} are shown)" if len(problems) > _SHOWN else ""
    app.warn(f"{folder}: {len(problems)} problems{more}")
    return EXIT_CHECK_FAILED


def _problems(folder: Path) -> Iterator[str]:
    for name in (MANIFEST, RECORDS):
        if not (folder / name).is_file():
            yield f"{folder / name}: is missing"
    if not (folder / MANIFEST).is_file():
        return
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"), parse_constant=_reject)
    except (OSError, ValueError, RecursionError) as error:
        yield f"{folder / MANIFEST}: is no JSON: {error}"
        return
    wrong = _validator("tool-manifest")(manifest)
    if wrong:
        yield f"{folder / MANIFEST}: {wrong}"
        return
    yield from _artifact_problems(folder, manifest)
    if (folder / RECORDS).is_file():
        yield from _record_problems(folder / RECORDS, manifest["record_count"])


def _artifact_problems(folder: Path, manifest: Dict[str, Any]) -> Iterator[str]:
    listed = {artifact["path"]: artifact["sha256"] for artifact in manifest["artifacts"]}
    if RECORDS not in listed:
        yield f"{folder / MANIFEST}: does not list {RECORDS}"
    for name, digest in listed.items():
        if Path(name).name != name or name in ("", ".."):
            yield f"{folder / MANIFEST}: the artifact {name!r} is no file of this folder"
        elif (folder / name).is_file():
            if sha256_of(folder / name) != digest:
                yield f"{folder / name}: differs from the SHA-256 in the manifest"
        elif name != RECORDS:
            yield f"{folder / name}: is missing"


def _record_problems(path: Path, expected: int) -> Iterator[str]:
    validate = _validator("att-evidence")
    count = 0
    with path.open("rb") as source:
        for number, line in enumerate(source, 1):
            count += 1
            try:
                record = json.loads(line, parse_constant=_reject)
            except (ValueError, RecursionError) as error:
                yield f"{path}:{number}: is no JSON: {error}"
                continue
            wrong = validate(record)
            if wrong:
                yield f"{path}:{number}: {wrong}"
    if count != expected:
        yield f"{path}: has {count} records, the manifest says {expected}"


def _validator(name: str) -> Callable[[Any], str]:
    """Gives "" for a valid object and what is wrong with another one."""
    import fastjsonschema

    schema = json.loads(Path(__file__).with_name("schemas").joinpath(f"{name}.schema.json").read_text("utf-8"))
    compiled = fastjsonschema.compile(schema)

    def validate(value: Any) -> str:
        try:
            compiled(value)
        except fastjsonschema.JsonSchemaException as error:
            return " ".join(str(error).split())[:300]
        return ""

    return validate


def _reject(constant: str) -> Any:
    raise ValueError(f"{constant} is not allowed")
