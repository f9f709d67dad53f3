"""`autofuse run`: the commands of the plugins, by name or grouped by plugin, found without importing any of them."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

import click

from autofuse.cli.app import App
from autofuse.cli.lazy import ListedGroup
from autofuse.errors import EXIT_BROKEN, AutofuseError
from autofuse.host import Host
from autofuse.types import CommandSpec, Spec

__all__ = ["run"]


class _Run(ListedGroup):
    """Every command of every plugin; a plugin's name is a group of its commands."""

    def listing(self, ctx: click.Context) -> Dict[str, List[Tuple[str, str]]]:
        """Commands under their sections, then the plugins that have any."""
        host = _host(ctx)
        rows: Dict[str, List[Tuple[str, str]]] = {}
        for spec in _commands(host).values():
            rows.setdefault(spec.section, []).append((spec.name, spec.summary))
        rows["Plugins (autofuse run PLUGIN COMMAND)"] = [
            (name, ", ".join(spec.name for spec in specs)) for name, specs in _grouped(host).items()
        ]
        return rows

    def get_command(self, ctx: click.Context, cmd_name: str) -> Optional[click.Command]:
        """A command by its own name, or a plugin's group of commands."""
        host = _host(ctx)
        spec = _commands(host).get(cmd_name)
        if spec is not None:
            return _load(host, spec)
        grouped = _grouped(host).get(cmd_name)
        if grouped is not None:
            return _PluginGroup(cmd_name, grouped)
        _explain_clash(host, cmd_name)
        return None

    def hint(self, ctx: click.Context, name: str) -> str:
        """A plugin that is broken or not there may be the reason."""
        host = _host(ctx)
        if not _commands(host):
            return "no plugin with commands is installed"
        broken = ", ".join(plugin.name for plugin in host.plugins if plugin.status == "broken")
        return super().hint(ctx, name) + (f"; broken plugins: {broken} (see `autofuse doctor`)" if broken else "")


class _PluginGroup(ListedGroup):
    """The commands of one plugin; the only command needs no word of its own."""

    def __init__(self, name: str, specs: Sequence[CommandSpec]) -> None:
        super().__init__(name, help=f"Commands of the plugin {name}.")
        self.specs = {spec.name: spec for spec in specs}

    def listing(self, ctx: click.Context) -> Dict[str, List[Tuple[str, str]]]:
        """The commands of this plugin."""
        return {"Commands": [(spec.name, spec.summary) for spec in self.specs.values()]}

    def get_command(self, ctx: click.Context, cmd_name: str) -> Optional[click.Command]:
        """Imports the command."""
        spec = self.specs.get(cmd_name)
        return _load(_host(ctx), spec) if spec else None

    def parse_args(self, ctx: click.Context, args: List[str]) -> List[str]:
        """With one command only, its name may be left out."""
        completing_the_name = ctx.resilient_parsing and not args
        if len(self.specs) == 1 and not (args and args[0] in self.specs) and not completing_the_name:
            args = [next(iter(self.specs)), *args]
        return super().parse_args(ctx, args)


@click.command(cls=_Run)
@click.pass_obj
def run(app: App) -> None:
    """Run a command of a plugin: `autofuse run COMMAND …` or `autofuse run PLUGIN COMMAND …`."""
    app.host.announce(app.notice)


def _host(ctx: click.Context) -> Host:
    app = ctx.find_object(App)
    assert app is not None, "the root command sets it"
    return app.host


def _commands(host: Host) -> Dict[str, CommandSpec]:
    return {name: spec for name, spec in host.specs("autofuse_commands").items() if isinstance(spec, CommandSpec)}


def _grouped(host: Host) -> Dict[str, List[CommandSpec]]:
    """Plugin name → its commands, those included that lost their own name to another plugin."""
    host.specs("autofuse_commands")
    groups: Dict[str, List[CommandSpec]] = {}
    for plugin in host.plugins:
        own = [spec for spec in plugin.specs.get("autofuse_commands", []) if isinstance(spec, CommandSpec)]
        if own and host.plugin_named(plugin.name) is plugin:
            groups[plugin.name] = own
    return groups


def _load(host: Host, spec: Spec) -> click.Command:
    command: Any = host.load(spec)
    if not isinstance(command, click.Command):
        raise AutofuseError(
            f"{spec.name} of plugin {host.owner(spec).name} is no click command", spec.factory, exit_code=EXIT_BROKEN
        )
    return command


def _explain_clash(host: Host, name: str) -> None:
    clash = host.clash("autofuse_commands", name) or host.clash("plugin", name)
    if clash:
        raise AutofuseError(str(clash))
