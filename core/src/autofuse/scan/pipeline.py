"""Runs work on items ahead of their consumer: a few threads, results in order, a bounded number alive.

It pays where the work releases the interpreter lock (reads, the native scanner, native parsers); what the work is, is
left to the caller.
"""

from __future__ import annotations

import threading
from typing import Any, Callable, Dict, Generator, Generic, Iterator, Tuple, TypeVar

__all__ = ["in_order"]

Item = TypeVar("Item")
Result = TypeVar("Result")

_NO_MORE = object()
_PATIENCE = 0.5
"""Seconds to wait at a stop for the thread that is taking an item."""


def in_order(items: Generator[Item, None, None], work: Callable[[Item], Result], workers: int = 2) -> Iterator[Result]:
    """Yields `work(item)` for each item in order; at most `workers + 1` results wait for the consumer.

    Items are taken one at a time, by whichever thread is free; errors of `items` and `work` are raised at their place.
    No thread is started for a single item or for `workers` 0. Closing the iterator ends the threads and closes `items`;
    a thread that is blocked in a read does not hold up the end of the program.
    """
    ahead = _Ahead(items, work, workers + 1)
    try:
        for item in items:
            result = work(item)
            del item
            yield result
            del result
            if workers > 0:
                break
        else:
            return
        ahead.start(workers)
        yield from ahead.results()
    finally:
        ahead.stop()


class _Ahead(Generic[Item, Result]):
    def __init__(self, items: Generator[Item, None, None], work: Callable[[Item], Result], limit: int) -> None:
        self._items = items
        self._work = work
        self._taking = threading.Lock()
        self._room = threading.Semaphore(limit)
        self._changed = threading.Condition()
        self._done: Dict[int, Tuple[Any, bool]] = {}
        self._taken = 0
        self._working = 0
        self._stopped = False
        self._closed = False

    def start(self, workers: int) -> None:
        for number in range(workers):
            # Daemons: a thread in a blocking read of a pipe must not keep an interrupted program alive.
            threading.Thread(target=self._run, name=f"autofuse-scan-{number}", daemon=True).start()

    def stop(self) -> None:
        self._stopped = True
        self._room.release()
        # A thread that waits for input keeps the items; then they are left to the end of the program.
        if self._taking.acquire(timeout=_PATIENCE):
            self._items.close()
            self._taking.release()
        # A thread that is in C++ code when the interpreter ends would take the whole process down (std::terminate).
        with self._changed:
            self._closed = True
            self._changed.wait_for(lambda: not self._working)

    def results(self) -> Iterator[Result]:
        index = 0
        while True:
            with self._changed:
                while index not in self._done:
                    self._changed.wait()
                result, failed = self._done.pop(index)
            if failed:
                raise result
            if result is _NO_MORE:
                return
            yield result
            del result
            index += 1
            self._room.release()

    def _run(self) -> None:
        going = True
        while going:
            self._room.acquire()
            with self._taking:
                if self._stopped:
                    break
                index, item, failed = self._take()
            result = item
            going = not failed and item is not _NO_MORE
            if going:
                with self._changed:
                    if self._closed:
                        break
                    self._working += 1
                result, failed = self._try(item)
            with self._changed:
                self._working -= going
                self._done[index] = (result, failed)
                self._changed.notify_all()
            del item, result
        # The next thread must wake up to see that there is nothing more.
        self._room.release()

    def _take(self) -> Tuple[int, Any, bool]:
        index = self._taken
        self._taken += 1
        try:
            return index, next(self._items, _NO_MORE), False
        except BaseException as error:
            self._stopped = True
            return index, error, True

    def _try(self, item: Item) -> Tuple[Any, bool]:
        try:
            return self._work(item), False
        except BaseException as error:
            return error, True
