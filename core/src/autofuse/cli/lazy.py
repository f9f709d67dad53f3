"""A click group whose commands are known by name and help line, and imported only when one is used."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, ClassVar, Dict, List, Optional, Tuple

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["LazyGroup", "ListedGroup"]


class ListedGroup(click.Group):
    """Shows help and completes names from `listing()`, without importing a single command."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        settings = {"help_option_names": ["-h", "--help"], **(kwargs.pop("context_settings", None) or {})}
        super().__init__(*args, context_settings=settings, **kwargs)

    def listing(self, ctx: click.Context) -> Dict[str, List[Tuple[str, str]]]:
        """Heading → (name, help line) of the commands under it."""
        raise NotImplementedError

    def hint(self, ctx: click.Context, name: str) -> str:
        """What to say of a name that is no command: near names, else all names."""
        import difflib

        known = self.list_commands(ctx)
        near = difflib.get_close_matches(name, known, n=3)
        return f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"

    def list_commands(self, ctx: click.Context) -> List[str]:
        """All names, in the order of the help."""
        return [name for rows in self.listing(ctx).values() for name, _ in rows]

    def parse_args(self, ctx: click.Context, args: List[str]) -> List[str]:
        """Without any word the help is the answer."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: List[str]
    ) -> Tuple[Optional[str], Optional[click.Command], List[str]]:
        """As click does, with a better answer to a name that is no command."""
        name = args[0]
        command = self.get_command(ctx, name)
        if command is None and not ctx.resilient_parsing:
            raise click.UsageError(f"no command {name!r}; {self.hint(ctx, name)}", ctx)
        return (name if command else None), command, args[1:]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The help's list of commands."""
        for heading, rows in self.listing(ctx).items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> List[CompletionItem]:
        """Names that begin with `incomplete`, with their help lines, then the group's own options."""
        from click.shell_completion import CompletionItem

        rows = [row for rows in self.listing(ctx).values() for row in rows]
        found = [
            CompletionItem(name, help=" ".join(text.split())) for name, text in rows if name.startswith(incomplete)
        ]
        return found + click.Command.shell_complete(self, ctx, incomplete)


class LazyGroup(ListedGroup):
    """A group with a fixed table of members."""

    members: ClassVar[Dict[str, Tuple[str, str]]] = {}
    """Name → (`module:object`, help line)."""

    def listing(self, ctx: click.Context) -> Dict[str, List[Tuple[str, str]]]:
        """One heading for all members."""
        return {"Commands": [(name, text) for name, (_, text) in self.members.items()]}

    def get_command(self, ctx: click.Context, cmd_name: str) -> Optional[click.Command]:
        """Imports the member."""
        if cmd_name not in self.members:
            return None
        module, _, attribute = self.members[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command
