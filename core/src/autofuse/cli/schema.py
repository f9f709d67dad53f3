"""`autofuse schema`: prints the JSON Schemas that plugins ship for their outputs."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Dict, Optional

import click

from autofuse.cli.app import App
from autofuse.errors import AutofuseError
from autofuse.host import Host

__all__ = ["find_schemas", "schema"]

_SUFFIX = ".schema.json"


@click.command("schema")
@click.argument("name", required=False)
@click.pass_obj
def schema(app: App, name: Optional[str]) -> None:
    """Print the JSON Schema NAME; without NAME list what there is."""
    found = find_schemas(app.host)
    if name is None:
        for known in sorted(found):
            click.echo(known)
        return
    if name not in found:
        raise AutofuseError(f"no schema {name!r}", hint="there are: " + (", ".join(sorted(found)) or "none"))
    click.echo(found[name].read_text(encoding="utf-8"), nl=False)


def find_schemas(host: Host) -> Dict[str, Path]:
    """Name → file of every `schemas/NAME.schema.json` beside a working plugin's module."""
    found: Dict[str, Path] = {}
    for plugin in host.plugins:
        if plugin.status == "ok":
            for path in _shipped(plugin.module):
                found.setdefault(path.name[: -len(_SUFFIX)], path)
    return found


def _shipped(module: str) -> list[Path]:
    spec = importlib.util.find_spec(module.partition(":")[0].partition(".")[0])
    places = list(spec.submodule_search_locations or []) if spec else []
    return [path for place in places for path in sorted(Path(place, "schemas").glob("*" + _SUFFIX))]
