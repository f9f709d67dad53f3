"""Runs a function for many numbers in a few forked processes: nothing is sent to them, they have it all already.

Where processes cannot be forked, or for little work, it runs here.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import gc
import multiprocessing
import os
import sys
from typing import Callable, Dict, Iterator, List, TypeVar

__all__ = ["for_each", "without_collector"]

Result = TypeVar("Result")

_LEAST = 64
"""Numbers below which a second process costs more than it saves."""
_MAX_JOBS = 8
_waiting: Dict[str, Callable[[int], object]] = {}
"""The function that forked processes find when they begin."""


def for_each(count: int, function: Callable[[int], Result], fork: bool = True) -> List[Result]:
    """`function(0) … function(count - 1)`, in this order; results of other processes are pickled."""
    jobs = min(_cores(), _MAX_JOBS, count // (_LEAST // 2)) if fork else 1
    if jobs < 2 or sys.platform != "linux":
        return [function(number) for number in range(count)]
    return _forked(count, function, jobs)


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Logs and analyses are trees that live until the end: the cycle collector would walk them again and again."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _forked(count: int, function: Callable[[int], Result], jobs: int) -> List[Result]:
    """This process takes its share too; a share whose process died is done here."""
    gc.freeze()
    _waiting["function"] = function
    context = multiprocessing.get_context("fork")
    shares = [range(share, count, jobs) for share in range(jobs)]
    results: Dict[int, Result] = {}
    with concurrent.futures.ProcessPoolExecutor(jobs - 1, mp_context=context) as pool:
        futures = [pool.submit(_share, share) for share in shares[1:]]
        results.update((number, function(number)) for number in shares[0])
        for share, future in zip(shares[1:], futures):
            try:
                found = future.result()
            except (concurrent.futures.BrokenExecutor, OSError):
                found = [function(number) for number in share]
            results.update(zip(share, found))  # type: ignore[arg-type]
    gc.unfreeze()
    del _waiting["function"]
    return [results[number] for number in range(count)]


def _share(numbers: range) -> List[object]:
    function = _waiting["function"]
    return [function(number) for number in numbers]
