"""autofuse plugin: which term of which pipe bounds an operator, from the formulas of its generated sources."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
