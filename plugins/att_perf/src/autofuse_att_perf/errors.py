"""What is wrong with a formula, and where; analysis turns it into a row or a notice, never into the end of the run."""

from __future__ import annotations

__all__ = ["FormulaError"]


class FormulaError(Exception):
    """A formula that cannot be read or evaluated: `what` it is and `where` (`path:line`)."""

    def __init__(self, what: str, where: str) -> None:
        super().__init__(f"{where}: {what}")
        self.what = what
        self.where = where
