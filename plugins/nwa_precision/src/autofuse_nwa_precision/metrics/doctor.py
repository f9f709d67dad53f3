"""What `autofuse doctor` says about the metric kernel of precision."""

from __future__ import annotations

from typing import Tuple

from .comparison import native_engine

__all__ = ["check"]


def check() -> Tuple[str, str]:
    """`ok` with the instruction set in use, or a `note` where the kernel was not built."""
    native = native_engine()
    if native is None:
        return "note", "numpy (slower); install a C++ compiler and reinstall autofuse-nwa-precision for the native one"
    return "ok", f"native, {native.instruction_set()}"
