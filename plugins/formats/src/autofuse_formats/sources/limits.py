"""What reading a compressed file or an archive may cost; inputs are hostile, real logs stay far below all of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

__all__ = ["LIMITS", "Budget", "BudgetExceeded", "Limits", "check_expansion"]


@dataclass(frozen=True)
class Limits:
    """Limits of one archive or compressed file."""

    members: int = 100_000
    """Members of an archive that are looked at."""
    directory: int = 24 << 20
    """Bytes of a zip's directory, which is read as a whole (about 240 bytes for each of `members`)."""
    header: int = 1 << 20
    """Bytes of one extended tar header, which is read as a whole."""
    expanded: int = 64 << 30
    """Bytes after decompression, of all members together."""
    ratio: int = 500
    """Expanded bytes per byte on disk. gzip reaches 30 on logs and 1030 on zeros, xz 100 and 7000."""
    ratio_from: int = 256 << 20
    """Expanded bytes below which the ratio does not matter."""
    memory: int = 128 << 20
    """Bytes that the xz decoder may take (`xz -9` needs 65 MiB)."""


LIMITS = Limits()


class BudgetExceeded(OSError):
    """More comes out of an archive than a log has."""


class Budget:
    """Counts what one archive or compressed file has expanded to."""

    def __init__(self, size: Optional[int], limits: Limits) -> None:
        self._size = size
        self._limits = limits
        self._consumed = 0
        self._expanded = 0

    def spend(self, expanded: int, consumed: int) -> None:
        """Counts bytes that came out and went in; BudgetExceeded when that is more than a log does."""
        self._expanded += expanded
        self._consumed += consumed
        check_expansion(self._expanded, self._consumed if self._size is None else self._size, self._limits)


def check_expansion(expanded: int, size: int, limits: Limits) -> None:
    """BudgetExceeded when `size` bytes on disk must not become `expanded` bytes."""
    if expanded > limits.expanded:
        raise BudgetExceeded(f"it expands to more than {limits.expanded >> 30} GiB")
    if expanded > limits.ratio_from and expanded > limits.ratio * size:
        raise BudgetExceeded(f"it expands to more than {limits.ratio} times its size, like an archive bomb")
