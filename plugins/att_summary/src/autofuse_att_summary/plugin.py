"""The plugin module: what att_summary offers to the host."""

from __future__ import annotations

from typing import Iterator

from autofuse.types import CommandSpec, hookimpl

__all__ = ["autofuse_commands"]

_SECTION = "Tiling logs"


@hookimpl
def autofuse_commands() -> Iterator[CommandSpec]:
    """Four views of one run model."""
    yield CommandSpec(
        "summary", "Which template each operator chose, with its values.", "autofuse_att_summary.summary:command", _SECTION
    )
