"""Reading streams ahead of the consumer: order, statistics, notices, stages, early ends."""

from __future__ import annotations

import hashlib
import io
import os
import threading
import time
from typing import Any, BinaryIO, Callable, Generator, Iterator, List, cast

import pytest
from autofuse.errors import AutofuseError
from autofuse.host import Host
from autofuse.scan.lines import LineBatch
from autofuse.scan.locations import arrange, open_streams
from autofuse.scan.pipeline import in_order
from autofuse.scan.reader import ReadOptions, read_lines, read_streams
from autofuse.scan.source import ByteStream, Notices
from autofuse.types import LogSourceSpec, hookimpl


def stream(name: str, data: bytes, **more: Any) -> ByteStream:
    return ByteStream(name, lambda: io.BytesIO(data), more.pop("process", (name,)), **more)


def log_text(lines: int, every: int = 3) -> bytes:
    return b"".join(b"[PROF]hit %d\n" % n if n % every == 0 else b"nothing %d\n" % n for n in range(1, lines + 1))


@pytest.mark.parametrize("workers", [0, 1, 2, 4])
def test_lines_come_in_order_from_many_blocks_and_streams(workers: int) -> None:
    streams = [stream(f"{name}.log", log_text(1000)) for name in "abc"]
    options = ReadOptions(block_size=100, line_limit=100, workers=workers, digest=True)
    reader = read_streams(streams, [b"[PROF]"], Notices(), options=options)
    lines = [(line.path, line.number, line.text) for batch in reader for line in batch]
    assert lines == [(f"{name}.log", n, f"[PROF]hit {n}") for name in "abc" for n in range(3, 1001, 3)]
    assert [(stats.name, stats.lines) for stats in reader.streams] == [(f"{name}.log", 1000) for name in "abc"]
    assert reader.lines == 3000
    assert reader.bytes == 3 * len(log_text(1000))
    assert {stats.sha256 for stats in reader.streams} == {hashlib.sha256(log_text(1000)).hexdigest()}


def test_batches_that_are_kept_stay_valid() -> None:
    options = ReadOptions(block_size=64, line_limit=64)
    kept = list(read_streams([stream("a", log_text(3000))], [b"[PROF]"], Notices(), options=options))
    assert [line.text for batch in kept for line in batch] == [f"[PROF]hit {n}" for n in range(3, 3001, 3)]


def test_everything_gives_each_byte_once() -> None:
    data = log_text(50, every=100) + b"z" * 5000 + b"[PROF]\n" + b"end"
    options = ReadOptions(block_size=256, line_limit=512, everything=True)
    batches = list(read_streams([stream("a", data)], [b"[PROF]"], Notices(), options=options))
    assert b"".join(bytes(batch.block[batch.start : batch.end]) for batch in batches) == data
    assert [len(batch) for batch in batches if len(batch)] == []
    assert {batch.first_line for batch in batches if batch.continues} == {51}


def test_undecodable_bytes_are_counted_in_all_lines() -> None:
    data = "[PROF]算子\n".encode("gb18030") * 3 + "[PROF]算子\n".encode() + b"no marker \xff\n"
    reader = read_streams([stream("a", data)], [b"[PROF]"], Notices(), options=ReadOptions(block_size=3))
    texts = [line.text for batch in reader for line in batch]
    assert texts[3] == "[PROF]算子"
    assert "\ufffd" in texts[0]
    assert reader.undecodable == len(data) - len(data.decode("utf-8", "ignore").encode())


def test_the_stage_runs_beside_the_consumer_and_its_result_comes_with_the_batch() -> None:
    threads = set()

    def stage(batch: LineBatch) -> List[int]:
        threads.add(threading.get_ident())
        return [line.number for line in batch]

    options = ReadOptions(block_size=100, line_limit=100)
    reader = read_streams([stream("a", log_text(1000))], [b"[PROF]"], Notices(), stage, options)
    assert [number for batch in reader for number in batch.staged] == list(range(3, 1001, 3))
    assert threads - {threading.get_ident()}


def test_an_error_of_the_stage_is_raised_at_its_place() -> None:
    def stage(batch: LineBatch) -> None:
        if any(line.number == 600 for line in batch):
            raise RuntimeError("stage")

    options = ReadOptions(block_size=100, line_limit=100)
    seen: List[int] = []
    reader = read_streams([stream("a", log_text(1000))], [b"[PROF]"], Notices(), stage, options)
    with pytest.raises(RuntimeError, match="stage"):
        seen.extend(line.number for batch in reader for line in batch)
    assert 580 < seen[-1] < 600


def failing(data: bytes, error: Exception) -> Callable[[], BinaryIO]:
    class Failing(io.BytesIO):
        def readinto(self, buffer: Any) -> int:
            got = super().readinto(buffer)
            if not got:
                raise error
            return got

    return lambda: Failing(data)


@pytest.mark.parametrize("error", [OSError("bad block"), EOFError("ended in the middle")])
def test_damage_is_a_notice_and_the_rest_is_read(error: Exception) -> None:
    damaged = ByteStream("a", failing(b"[PROF]1\n[PROF]2", error), ("a",))
    notices = Notices()
    reader = read_streams([damaged, stream("b", b"[PROF]3\n")], [b"[PROF]"], notices)
    assert [line.text for batch in reader for line in batch] == ["[PROF]1", "[PROF]2", "[PROF]3"]
    assert notices.skipped == [("a", f"only the first 15 bytes were read, the rest is lost: {error}")]
    assert [stats.damage for stats in reader.streams] == [str(error), None]


def test_a_stream_that_does_not_open_is_a_notice() -> None:
    def refuse() -> BinaryIO:
        raise PermissionError(13, "Permission denied")

    notices = Notices()
    reader = read_streams([ByteStream("a", refuse, ("a",)), stream("b", b"[PROF]\n")], [b"[PROF]"], notices)
    assert [line.path for batch in reader for line in batch] == ["b"]
    assert notices.skipped == [("a", "cannot be read: Permission denied")]


def test_leaving_early_closes_the_stream_and_ends_the_threads() -> None:
    opened: List[io.BytesIO] = []

    def open_it() -> BinaryIO:
        opened.append(io.BytesIO(log_text(10000)))
        return opened[-1]

    options = ReadOptions(block_size=100, line_limit=100)
    batches = iter(read_streams([ByteStream("a", open_it, ("a",))], [b"[PROF]"], Notices(), options=options))
    for _ in range(5):
        next(batches)
    batches.close()  # type: ignore[attr-defined]
    assert opened[0].closed
    until = time.monotonic() + 10
    while _scan_threads() and time.monotonic() < until:
        time.sleep(0.01)
    assert not _scan_threads()


def test_a_blocked_pipe_does_not_hold_up_the_consumer_that_leaves() -> None:
    ours, theirs = os.pipe()
    os.write(theirs, log_text(1000))
    options = ReadOptions(block_size=100, line_limit=100)
    pipe = ByteStream("-", lambda: cast(BinaryIO, io.FileIO(ours)), ("-",), once=True)
    batches = iter(read_streams([pipe], [b"[PROF]"], Notices(), options=options))
    for _ in range(3):
        next(batches)
    batches.close()  # type: ignore[attr-defined]
    assert next(batches, None) is None
    os.close(theirs)


def _scan_threads() -> List[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("autofuse-scan")]


def test_only_a_few_results_wait_for_the_consumer() -> None:
    made: List[int] = []

    def work(item: int) -> int:
        made.append(item)
        return item

    def items() -> Generator[int, None, None]:
        yield from range(1000)

    results = in_order(items(), work, workers=2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    time.sleep(0.05)
    assert len(made) <= 3 + 4
    results.close()  # type: ignore[attr-defined]


# --- locations --------------------------------------------------------------------------------------------------------


class WordSource:
    """Locations `word:TEXT`; `word:` has nothing."""

    def claims(self, location: str) -> bool:
        return location.startswith("word:")

    def streams(self, location: str, notices: Notices) -> Iterator[ByteStream]:
        word = location[5:]
        if not word:
            raise AutofuseError("no word", location)
        yield stream(word, word.encode(), process=(word[0],), order=(word,), identity=("word", word))


WORDS = WordSource()


class Plugin:
    @hookimpl
    def autofuse_log_sources(self) -> Iterator[LogSourceSpec]:
        yield LogSourceSpec("word", "a word", f"{__name__}:WORDS")


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    monkeypatch.setenv("AUTOFUSE_DISABLE_PLUGINS", "autofuse-formats")
    result = Host()
    result.add(Plugin(), "words")
    monkeypatch.setattr(result, "load", lambda spec: WORDS)
    return result


def names(streams: List[ByteStream]) -> List[str]:
    return [found.name for found in streams]


def test_processes_stay_together_in_their_order_and_nothing_is_read_twice(host: Host) -> None:
    given = ["word:b2", "word:a2", "word:b1", "word:a1", "word:b2"]
    assert names(open_streams(host, given, Notices())) == ["b1", "b2", "a1", "a2"]
    assert names(arrange([*open_streams(host, given, Notices()), *open_streams(host, given, Notices())])) == [
        "b1",
        "b2",
        "a1",
        "a2",
    ]


def test_one_bad_location_is_counted_when_another_can_be_read(host: Host) -> None:
    notices = Notices()
    reader = read_lines(host, ["/no/such/file", "word:[PROF]", "word:"], [b"[PROF]"], notices)
    assert sum(len(batch) for batch in reader) == 1
    assert [str(error) for error in notices.failures] == [
        "/no/such/file: no such file or folder (check the path; `-` reads standard input)",
        "word:: no word",
    ]


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("/no/such/file", "no such file or folder"),
        ("/dev/null/x", "no such file or folder"),
        ("x" * 5000, "cannot be reached: File name too long"),
        ("nul\0", "cannot be reached: embedded null byte"),
        ("/", "no log source can open this"),
    ],
)
def test_no_readable_location_is_an_error(host: Host, location: str, message: str) -> None:
    with pytest.raises(AutofuseError, match=message) as caught:
        open_streams(host, [location, "word:"], Notices())
    assert caught.value.exit_code == 2
