"""`autofuse plugins`: what is installed, and the way to a plugin of one's own."""

from __future__ import annotations

import json
from typing import Any, ClassVar, Dict, List, Tuple

import click

from autofuse import API_VERSION
from autofuse.cli.app import App
from autofuse.cli.lazy import LazyGroup
from autofuse.host import Clash, Host, Plugin

__all__ = ["list_plugins", "plugins"]

_SHOWN = 8
"""How many names of one kind a line of the listing shows; --json has them all."""


class _Plugins(LazyGroup):
    """Listing is the default."""

    members: ClassVar[Dict[str, Tuple[str, str]]] = {
        "list": ("autofuse.cli.plugins:list_plugins", "List every plugin, broken ones with the cause."),
        "new": ("autofuse.cli.scaffold:new", "Write an installable plugin package with a passing test."),
        "check": ("autofuse.cli.conformance:check", "Run the conformance kit on an installed plugin."),
    }

    def parse_args(self, ctx: click.Context, args: List[str]) -> List[str]:
        """`autofuse plugins` and `autofuse plugins --json` list."""
        listing = not args or (args[0].startswith("-") and args[0] not in ("-h", "--help"))
        if listing and not ctx.resilient_parsing:
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.command(cls=_Plugins)
def plugins() -> None:
    """List, create and check plugins."""


@click.command("list", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_obj
def list_plugins(app: App, as_json: bool) -> None:
    """List every plugin with what it offers; broken ones stay visible with their cause."""
    host = app.host
    host.call_all()
    if as_json:
        data = {
            "api_version": API_VERSION,
            "plugins": [_as_dict(plugin) for plugin in host.plugins],
            "clashes": [_clash_as_dict(clash) for clash in host.clashes],
        }
        click.echo(json.dumps(data, ensure_ascii=False, indent=2))
        return
    for line in _lines(host):
        click.echo(line)


def _as_dict(plugin: Plugin) -> Dict[str, Any]:
    return {
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "module": plugin.module,
        "status": plugin.status,
        "cause": plugin.cause,
        "built_in": plugin.built_in,
        "hooks": {hook: [spec.name for spec in specs] for hook, specs in plugin.specs.items()},
    }


def _clash_as_dict(clash: Clash) -> Dict[str, Any]:
    return {
        "hook": clash.hook,
        "name": clash.name,
        "distributions": [plugin.distribution for plugin in clash.plugins],
        "winner": clash.winner.distribution if clash.winner else None,
        "text": str(clash),
    }


def _lines(host: Host) -> List[str]:
    rows: List[Tuple[str, str, str]] = []
    details: List[str] = []
    for plugin in host.plugins:
        rows.append((plugin.name, plugin.origin, plugin.status))
        details.append(plugin.cause or _offers(plugin))
    widths = [max([len(row[i]) for row in rows] or [0]) for i in range(3)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(row, widths)) + f"  {detail}".rstrip()
        for row, detail in zip(rows, details)
    ]
    return lines + [f"clash: {clash}" for clash in host.clashes] or ["no plugins are installed"]


def _offers(plugin: Plugin) -> str:
    parts = []
    for hook, specs in plugin.specs.items():
        if specs:
            kind = hook.replace("autofuse_", "").replace("_", " ")
            names = [spec.name for spec in specs]
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            parts.append(f"{kind}: {', '.join(names[:_SHOWN])}{more}")
    return "; ".join(parts)
