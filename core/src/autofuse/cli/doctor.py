"""`autofuse doctor`: whether this installation and every plugin work, and what to do where they do not."""

from __future__ import annotations

import contextlib
import json
import platform
from typing import Iterator, NamedTuple

import click

from autofuse import API_VERSION, __version__
from autofuse.cli.app import App
from autofuse.discovery import canonical
from autofuse.errors import EXIT_CHECK_FAILED, AutofuseError, describe
from autofuse.host import Host, Plugin
from autofuse.streams import results_only

__all__ = ["doctor"]


class Finding(NamedTuple):
    """One line of the doctor: `status` is `ok`, `note` or `broken`."""

    status: str
    subject: str
    text: str


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Check this installation and every plugin; exit code 1 when anything is broken."""
    app: App = ctx.obj
    findings = list(_examine(app.host))
    if as_json:
        click.echo(json.dumps({"findings": [finding._asdict() for finding in findings]}, ensure_ascii=False, indent=2))
    else:
        for finding in findings:
            click.echo(f"{finding.status:6}  {finding.subject}: {finding.text}")
    broken = sum(finding.status == "broken" for finding in findings)
    if broken:
        click.echo(f"autofuse: {broken} of {len(findings)} checks are broken", err=True)
        ctx.exit(EXIT_CHECK_FAILED)


def _examine(host: Host) -> Iterator[Finding]:
    yield Finding("ok", "autofuse", f"{__version__}, API version {API_VERSION}")
    yield Finding("ok", "python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    yield _scanner()
    host.call_all()
    _import_factories(host)
    for plugin in host.plugins:
        status = {"disabled": "note"}.get(plugin.status, plugin.status)
        for text in plugin.causes or [_condition(plugin)]:
            yield Finding(status, f"plugin {plugin.name}", f"{plugin.origin}: {text}")
    yield from _unknown_names(host)
    for clash in host.clashes:
        yield Finding("note" if clash.winner else "broken", "name clash", str(clash))
    yield from _own_checks(host)


def _scanner() -> Finding:
    try:
        import autofuse._scan  # noqa: F401
    except ImportError:
        return Finding(
            "note",
            "line scanner",
            "pure Python (slower); install a C++ compiler and reinstall autofuse for the native one",
        )
    return Finding("ok", "line scanner", "native")


def _import_factories(host: Host) -> None:
    """Imports what is behind every spec; a failure marks the plugin as broken."""
    for plugin in host.plugins:
        for spec in [spec for specs in plugin.specs.values() for spec in specs]:
            with contextlib.suppress(AutofuseError):
                host.load(spec)


def _condition(plugin: Plugin) -> str:
    if plugin.disabled:
        return "disabled"
    offers = sum(len(specs) for specs in plugin.specs.values())
    return f"offers {offers} spec{'' if offers == 1 else 's'}"


def _unknown_names(host: Host) -> Iterator[Finding]:
    """Names in the settings that no plugin has: most likely mistyped."""
    known = {canonical(name) for plugin in host.plugins for name in (plugin.name, plugin.distribution)}
    for name in sorted(host.disabled - known):
        yield Finding("note", "disabled plugins", f"there is no plugin {name}")
    for word, name in host.config.preferred.items():
        if canonical(name) not in known:
            yield Finding("note", "[plugins.prefer]", f"{word} prefers {name}, and there is no such plugin")


def _own_checks(host: Host) -> Iterator[Finding]:
    for spec in host.specs("autofuse_doctor_checks").values():
        try:
            with results_only():
                status, text = host.load(spec)()
        except AutofuseError as error:
            status, text = "broken", str(error)
        except (Exception, SystemExit) as error:
            status, text = "broken", f"the check itself failed: {describe(error)}"
        yield Finding(status if status in ("ok", "note") else "broken", spec.name, " ".join(str(text).split()))
