"""One installed plugin: where it comes from, what it offers, and why it is broken if it is; filled by the host."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, List, Optional

from autofuse.types import Spec

__all__ = ["BUILT_IN", "Plugin"]

BUILT_IN = frozenset(
    {
        "autofuse",
        "autofuse-formats",
        "autofuse-att-summary",
        "autofuse-att-perf",
        "autofuse-att-verify",
        "autofuse-nwa-precision",
    }
)
"""Distributions that belong to the project; against them another plugin wins a name only when the config prefers it."""


@dataclass(eq=False)
class Plugin:
    """One entry point of the group `autofuse`, or one format file of a folder; loaded or not."""

    name: str
    distribution: str
    version: str
    module: str
    """The entry point's value; the path of a format file."""
    causes: List[str] = field(default_factory=list)
    """Why it is broken, one line each; empty when it works."""
    disabled: bool = False
    specs: Dict[str, List[Spec]] = field(default_factory=dict)
    """What each hook that was called so far yielded."""

    @property
    def cause(self) -> Optional[str]:
        """All causes in one line; None when it works."""
        return "; ".join(self.causes) or None

    @property
    def built_in(self) -> bool:
        """Whether it belongs to the project."""
        return self.distribution in BUILT_IN

    @property
    def status(self) -> str:
        """`ok`, `broken` or `disabled`."""
        if self.disabled:
            return "disabled"
        return "broken" if self.causes else "ok"

    @property
    def origin(self) -> str:
        """`distribution version`, for messages; a format file by its path."""
        return f"{self.distribution} {self.version or self.module}"

    def fail(self, cause: str) -> None:
        """Marks it as broken."""
        if cause not in self.causes:
            self.causes.append(cause)
