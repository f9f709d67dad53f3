"""One finding of the conformance kit, and running a check so that nothing the plugin raises ends the run."""

from __future__ import annotations

from typing import Callable, Iterator, NamedTuple

from autofuse.errors import describe
from autofuse.streams import results_only

__all__ = ["Check", "Failed", "attempt"]


class Check(NamedTuple):
    """One line: `status` is `ok`, `note` (worth knowing, no failure) or `failed`."""

    status: str
    subject: str
    text: str


class Failed(Exception):
    """Raised inside a check that does not hold; the text says what was seen."""


def attempt(subject: str, text: str, check: Callable[[], object]) -> Iterator[Check]:
    """Runs the check: `ok` with the text, or `failed` with it and what went wrong.

    A check that returns a text is a `note` with that text.
    """
    try:
        with results_only():
            remark = check()
    except Failed as error:
        yield Check("failed", subject, f"{text}: {error}")
    except (Exception, SystemExit) as error:
        yield Check("failed", subject, f"{text}: it raises {describe(error)}")
    else:
        yield Check("note", subject, remark) if isinstance(remark, str) else Check("ok", subject, text)
