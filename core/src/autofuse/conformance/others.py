"""Checks of log sources, line wrappings, executors, doctor checks, and what is only called by one command."""

from __future__ import annotations

import concurrent.futures
from typing import Any, Iterator

from autofuse.conformance.check import Check, Failed, attempt
from autofuse.errors import AutofuseError
from autofuse.scan.lines import Wrapping
from autofuse.scan.source import Notices
from autofuse.types import DoctorSpec, ExecutorSpec, LogSourceSpec, RunnerSpec, Spec, WrappingSpec

__all__ = ["check_other"]

_LOCATIONS = ("", "/no/such/place.log", "-", "nul\0byte", "x" * 10_000, "s3://bucket/key", "*", "[", "\udc80")
_PREFIXES = (b"", b" ", b"[", b"[INFO] GE(7,app):", b"\xff\xfe\x00", b"\x1b[31m", b"[" * 100_000, b"1" * 100_000)


def check_other(spec: Spec, found: Any) -> Iterator[Check]:
    """All checks of an object that has no kind of checks of its own."""
    if isinstance(spec, LogSourceSpec):
        yield from _source(f"log source {spec.name}", found)
    elif isinstance(spec, WrappingSpec):
        yield from attempt(f"line wrapping {spec.name}", "takes any prefix", lambda: _wrapping(found))
    elif isinstance(spec, ExecutorSpec):
        yield from attempt(f"executor {spec.name}", "runs a task", lambda: _executor(found))
    elif isinstance(spec, RunnerSpec):
        yield from attempt(f"native runner {spec.name}", "says whether it can work here", lambda: _runner(found))
    elif isinstance(spec, DoctorSpec):
        yield from attempt(f"doctor check {spec.name}", "gives a status and a line", lambda: _doctor(found))
    else:
        kind = type(spec).__name__.replace("Spec", "").lower()
        yield from attempt(f"{kind} {spec.name}", "can be called", lambda: _callable(found))


def _source(subject: str, source: Any) -> Iterator[Check]:
    yield from attempt(subject, "answers whether it opens a location", lambda: _claims(source))
    yield from attempt(subject, "says of a missing location that it cannot be read", lambda: _missing(source))


def _claims(source: Any) -> None:
    for location in _LOCATIONS:
        answer = source.claims(location)
        if not isinstance(answer, bool):
            raise Failed(f"claims({location[:40]!r}) gives {answer!r}; a bool is expected")


def _missing(source: Any) -> None:
    location = "/no/such/folder/at all.log"
    if not source.claims(location):
        return
    try:
        found = list(source.streams(location, Notices()))
    except AutofuseError:
        return
    if found:
        raise Failed("it gives a stream")


def _wrapping(wrapping: Any) -> None:
    for prefix in _PREFIXES:
        found = wrapping(prefix)
        if found is not None and not isinstance(found, Wrapping):
            raise Failed(f"{prefix[:40]!r} gives {type(found).__name__}; a Wrapping or None is expected")


def _executor(executor: Any) -> object:
    try:
        made = executor(1)
    except AutofuseError as error:
        return f"not available here: {error}"
    if not isinstance(made, concurrent.futures.Executor):
        raise Failed(f"it is a {type(made).__name__}, no concurrent.futures.Executor")
    with made:
        if made.submit(int, "3").result(timeout=60) != 3:
            raise Failed("int('3') does not give 3")
    return None


def _runner(factory: Any) -> object:
    runner = factory()
    if not isinstance(runner.name, str) or not callable(runner.run):
        raise Failed("it has no name or no run()")
    problem = runner.problem()
    if problem is not None and not isinstance(problem, str):
        raise Failed(f"problem() gives {problem!r}; a text or None is expected")
    return f"not available here: {problem}" if problem else None


def _doctor(check: Any) -> None:
    status, text = check()
    if status not in ("ok", "note", "broken") or not isinstance(text, str):
        raise Failed(f"it gives {status!r} and {text!r}")


def _callable(found: Any) -> None:
    if not callable(found):
        raise Failed(f"it is a {type(found).__name__}")
