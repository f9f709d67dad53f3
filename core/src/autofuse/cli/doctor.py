"""`autofuse doctor`: whether this installation and every plugin work, and what to do where they do not."""

from __future__ import annotations

import json
import platform
from typing import Iterator, NamedTuple

import click

from autofuse import API_VERSION, __version__
from autofuse.cli.app import App
from autofuse.errors import EXIT_CHECK_FAILED, AutofuseError
from autofuse.host import Host, interpreter

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
    yield Finding("ok", "python", f"{interpreter()} on {platform.system()} {platform.machine()}")
    yield _scanner()
    host.call_all()
    yield from _factories(host)
    for plugin in host.plugins:
        status = {"disabled": "note"}.get(plugin.status, plugin.status)
        offers = sum(len(specs) for specs in plugin.specs.values())
        text = plugin.cause or ("disabled" if plugin.disabled else f"{offers} specs")
        yield Finding(status, f"plugin {plugin.name}", f"{plugin.distribution} {plugin.version}: {text}")
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


def _factories(host: Host) -> Iterator[Finding]:
    """Imports what is behind every spec; a failure also marks the plugin as broken."""
    for plugin in host.plugins:
        for hook, specs in plugin.specs.items():
            for spec in specs:
                try:
                    host.load(spec)
                except AutofuseError as error:
                    yield Finding("broken", f"{hook} {spec.name}", str(error))


def _own_checks(host: Host) -> Iterator[Finding]:
    for spec in host.specs("autofuse_doctor_checks").values():
        try:
            status, text = host.load(spec)()
        except Exception as error:
            status, text = "broken", f"the check itself failed: {type(error).__name__}: {error}"
        yield Finding(status if status in ("ok", "note") else "broken", spec.name, " ".join(str(text).split()))
