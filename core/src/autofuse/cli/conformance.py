"""`autofuse plugins check`: runs the conformance kit on a plugin and prints a line per check."""

from __future__ import annotations

import json
import os
from typing import Dict, List

import click

from autofuse.cli.app import App
from autofuse.errors import EXIT_CHECK_FAILED, AutofuseError
from autofuse.formats import SUFFIX
from autofuse.host import Host, Plugin

__all__ = ["check"]


@click.command("check", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("dist")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_context
def check(ctx: click.Context, dist: str, as_json: bool) -> None:
    """Run the conformance kit on DIST: a distribution, a plugin, or a file NAME.format.toml.

    Exit code 1 when a check failed, 2 when there is no such plugin.
    """
    from autofuse.conformance import check_plugin

    app: App = ctx.obj
    counts: Dict[str, int] = {"ok": 0, "note": 0, "failed": 0}
    rows: List[Dict[str, str]] = []
    for plugin in _plugins(app, dist):
        for found in check_plugin(app.host, plugin):
            counts[found.status] += 1
            rows.append(found._asdict())
            if not as_json:
                click.echo(f"{found.status:6}  {found.subject}: {' '.join(found.text.split())}")
    if as_json:
        click.echo(json.dumps({"checks": rows, "counts": counts}, ensure_ascii=False, indent=2))
    if counts["failed"]:
        click.echo(f"autofuse: {counts['failed']} of {len(rows)} checks of {dist} failed", err=True)
        ctx.exit(EXIT_CHECK_FAILED)


def _plugins(app: App, name: str) -> List[Plugin]:
    from autofuse.conformance import find_plugins

    if name.endswith(SUFFIX) and os.path.isfile(name):
        return [app.host.add_format(name)]
    plugins = find_plugins(app.host, name)
    if not plugins:
        raise AutofuseError(f"no plugin or distribution {name!r}", hint=f"there are {_known(app.host)}")
    if all(plugin.disabled for plugin in plugins):
        raise AutofuseError(f"{name} is disabled", hint="see [plugins] in the config and AUTOFUSE_DISABLE_PLUGINS")
    return [plugin for plugin in plugins if not plugin.disabled]


def _known(host: Host) -> str:
    return ", ".join(dict.fromkeys(plugin.distribution for plugin in host.plugins)) or "none"
