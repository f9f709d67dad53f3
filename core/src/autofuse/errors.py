"""The one exception that means "tell the user one line and stop"; everything else that escapes is a bug."""

from __future__ import annotations

from typing import Optional

__all__ = ["EXIT_BROKEN", "EXIT_CANNOT", "EXIT_CHECK_FAILED", "EXIT_OK", "AutofuseError", "describe"]

EXIT_OK = 0
"""Done."""
EXIT_CHECK_FAILED = 1
"""Done, and what the command checks failed."""
EXIT_CANNOT = 2
"""Cannot do it: usage, input or environment."""
EXIT_BROKEN = 3
"""A bug, or a broken plugin."""


class AutofuseError(Exception):
    """A failure the user can act on: what happened, where, and what to do about it.

    The host prints it as one line on standard error and exits with `exit_code`.
    """

    def __init__(
        self, what: str, where: Optional[str] = None, hint: Optional[str] = None, exit_code: int = EXIT_CANNOT
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint
        self.exit_code = exit_code

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f" ({self.hint})" if self.hint else ""
        # Names from hostile input may hold line breaks; the message stays one line all the same.
        return " ".join(f"{place}{self.what}{advice}".split())


def describe(error: BaseException) -> str:
    """Any exception in one line: its type and text. An AutofuseError has its own."""
    if isinstance(error, SystemExit):
        return f"it called sys.exit({error.code!r})"
    try:
        text = " ".join(str(error).split())
    except Exception:  # an exception of somebody else, whose __str__ fails
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
