"""Goes through everything a plugin offers and hands each object to the checks of its kind."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Iterator, List

from autofuse.conformance.check import Check, Failed, attempt
from autofuse.discovery import canonical
from autofuse.errors import AutofuseError
from autofuse.host import Host, Plugin
from autofuse.types import CommandSpec, LayoutSpec, ParserSpec, ReporterSpec, Spec

__all__ = ["Check", "check_plugin", "find_plugins"]

_LIGHT = {"autofuse", "pluggy", "click"}
"""What a plugin's module may import beside the standard library and its own package: `autofuse.types` needs them."""


def find_plugins(host: Host, name: str) -> List[Plugin]:
    """The plugins of a distribution, or those of that name; a name that is both means the distribution."""
    host.call_all()
    wanted = canonical(name)
    of_distribution = [plugin for plugin in host.plugins if canonical(plugin.distribution) == wanted]
    return of_distribution or [p for p in host.plugins if canonical(p.name) == wanted or p.module == name]


def check_plugin(host: Host, plugin: Plugin) -> Iterator[Check]:
    """All checks of one plugin."""
    host.call_all()
    subject = f"plugin {plugin.name}"
    for cause in plugin.causes:
        yield Check("failed", subject, cause)
    if not plugin.causes:
        yield Check("ok", subject, "loads and yields what its hooks ask for")
    if plugin.distribution and not plugin.module.endswith(".toml"):
        yield from attempt(subject, "its module is light", lambda: _is_light(plugin))
    yield from _names(host, plugin)
    for specs in list(plugin.specs.values()):
        for spec in specs:
            yield from _check_spec(host, plugin, spec)


def _names(host: Host, plugin: Plugin) -> Iterator[Check]:
    for clash in host.clashes:
        if plugin in clash.plugins:
            yield Check("note" if clash.winner is plugin else "failed", f"plugin {plugin.name}", str(clash))
    commands = [spec.name for spec in plugin.specs.get("autofuse_commands", ())]
    if plugin.name in commands and len(commands) > 1:
        text = f"`autofuse run {plugin.name}` is the command, so the others have their own names only"
        yield Check("note", f"plugin {plugin.name}", text)


def _check_spec(host: Host, plugin: Plugin, spec: Spec) -> Iterator[Check]:
    try:
        found = host.load(spec)
    except AutofuseError as error:
        yield Check("failed", spec.name, str(error))
        return
    if isinstance(spec, ParserSpec):
        from autofuse.conformance.parsers import check_parser

        yield from check_parser(spec, found)
    elif isinstance(spec, CommandSpec):
        from autofuse.conformance.commands import check_command

        yield from check_command(spec, found, plugin)
    elif isinstance(spec, (ReporterSpec, LayoutSpec)):
        from autofuse.conformance.rendering import check_layout, check_reporter

        yield from check_reporter(spec, found) if isinstance(spec, ReporterSpec) else check_layout(spec, found)
    else:
        from autofuse.conformance.others import check_other

        yield from check_other(spec, found)


def _is_light(plugin: Plugin) -> None:
    """Imports the module in an interpreter of its own and looks at what came with it."""
    module = plugin.module.partition(":")[0]
    script = f"import sys; before = set(sys.modules); import {module}; print(*set(sys.modules) - before, sep='\\n')"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, timeout=60, check=False
    )
    if done.returncode:
        raise Failed(f"it cannot be imported alone: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    heavy = {name.partition(".")[0] for name in done.stdout.split()} - _LIGHT - {module.partition(".")[0]}
    heavy = {name for name in heavy if not name.startswith("_") and name not in _standard_library()}
    if heavy:
        raise Failed(f"it imports {', '.join(sorted(heavy))}; put that behind a factory")


def _standard_library() -> frozenset[str]:
    if sys.version_info >= (3, 10):
        return sys.stdlib_module_names
    import sysconfig

    folder = sysconfig.get_paths()["stdlib"]
    names = {name.partition(".")[0] for place in (folder, f"{folder}/lib-dynload") for name in os.listdir(place)}
    return frozenset(names | set(sys.builtin_module_names))
