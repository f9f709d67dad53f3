"""Work done ahead of its consumer: in order, errors at their place, and nothing left running when it is closed."""

from __future__ import annotations

import threading
import time
from typing import Iterator, List

import pytest
from autofuse.scan.pipeline import in_order


@pytest.mark.parametrize("workers", [0, 1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_results_come_in_order(workers: int, count: int) -> None:
    def work(item: int) -> int:
        time.sleep(0.001 * (item % 3))
        return -item

    assert list(in_order((number for number in range(count)), work, workers)) == [-number for number in range(count)]


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("place", [0, 1, 7])
def test_an_error_is_raised_at_its_place(workers: int, place: int) -> None:
    def items() -> Iterator[int]:
        for number in range(20):
            if number == place:
                raise OSError("damaged")
            yield number

    def work(item: int) -> int:
        if item == place:
            raise ValueError("broken")
        return item

    for source, error in ((items(), OSError), (iter(range(20)), ValueError)):
        found: List[int] = []
        generator = (number for number in source)
        with pytest.raises(error):
            found.extend(_collected(generator, work, workers, found))
        assert found == list(range(place))


def _collected(generator: object, work: object, workers: int, found: List[int]) -> List[int]:
    for result in in_order(generator, work, workers):  # type: ignore[arg-type,var-annotated]
        found.append(result)
    return []


def test_closing_waits_for_work_that_has_begun() -> None:
    """Compiled code of a thread that is left behind would abort the process when the interpreter ends."""
    running: List[int] = []
    begun = threading.Event()

    def work(item: int) -> int:
        running.append(item)
        if item:
            begun.set()
            time.sleep(0.2)
        running.remove(item)
        return item

    results = in_order((number for number in range(1000)), work, 2)
    assert next(results) == 0
    thread = threading.Thread(target=lambda: next(results))
    thread.start()
    begun.wait(10)
    thread.join()
    results.close()  # type: ignore[attr-defined]
    assert running == []


def test_closing_does_not_wait_for_a_blocked_read() -> None:
    release = threading.Event()

    def items() -> Iterator[int]:
        yield from range(3)
        release.wait(60)
        yield 3

    results = in_order((number for number in items()), lambda item: item, 2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    results.close()  # type: ignore[attr-defined]
    release.set()
