"""The specs of this distribution; nothing is imported but the spec types."""

from __future__ import annotations

from typing import Iterator

from autofuse.types import CommandSpec, hookimpl

__all__ = ["autofuse_commands"]


@hookimpl
def autofuse_commands() -> Iterator[CommandSpec]:
    """The command precision."""
    yield CommandSpec(
        "precision",
        "Find the fused operator that made the result worse.",
        "autofuse_nwa_precision.cli:command",
        section="Precision",
    )
