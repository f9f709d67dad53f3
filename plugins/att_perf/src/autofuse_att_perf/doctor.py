"""What `autofuse doctor` says about the formula compiler of perf-formula."""

from __future__ import annotations

from typing import Tuple

from autofuse_att_perf import native

__all__ = ["check"]


def check() -> Tuple[str, str]:
    """`ok`, or a `note` where formulas are compiled and evaluated in Python."""
    if native.available():
        return "ok", "native"
    return "note", "pure Python (slower); install a C++ compiler and reinstall autofuse-att-perf for the native one"
