"""Both scanner engines against a description of the rule that is too simple to be wrong."""

from __future__ import annotations

import random
from typing import Any, List, Sequence, Tuple, cast

import pytest
from autofuse.errors import AutofuseError
from autofuse.scan.lines import rows
from autofuse.scan.meter import Meter, StdlibMeter, new_meter
from autofuse.scan.scanner import NativeScanner, Scanner, compile_markers, native_module
from hypothesis import given, settings
from hypothesis import strategies as st

NATIVE = native_module()
ENGINES = ["stdlib", *(NATIVE.kernels() if NATIVE else [])]


def scanner_of(engine: str, markers: Sequence[bytes]) -> Scanner:
    """The engine, each kernel of the native one on its own."""
    return compile_markers(markers, engine) if engine == "stdlib" else NativeScanner(NATIVE, tuple(markers), engine)


def meter_of(engine: str) -> Meter:
    return StdlibMeter() if engine == "stdlib" else cast(Any, NATIVE).Meter(engine)


Row = List[int]

ATT_MARKERS = (
    b"[PROF]",
    b"[ATT]",
    b"[PERF]",
    b"[DFX]",
    b"Start GetTiling.",
    b"End GetTiling.",
    b"GetTiling Failed.",
    b"Set input params for tiling case",
    b"The value of graph",
    b"score is",
    b"tiling case",
    b"ErrorNo: 4294967295()",
)


def expected_rows(data: bytes, markers: Sequence[bytes], first_line: int) -> List[Row]:
    result: List[Row] = []
    start = 0
    for offset, line in enumerate(data.split(b"\n")):
        text = line[:-1] if line.endswith(b"\r") else line
        found = [(line.find(marker), -len(marker), index) for index, marker in enumerate(markers) if marker in line]
        if found:
            result.append([start, start + len(text), min(found)[2], first_line + offset])
        start += len(line) + 1
    return result


def literal(text: str) -> st.SearchStrategy[bytes]:
    return st.text(text, min_size=1, max_size=9).map(str.encode)


# Few letters make overlaps and common beginnings likely; the wide alphabet reaches every byte class.
markers_of_few_letters = st.lists(literal("ab["), min_size=0, max_size=12)
markers_of_any_bytes = st.lists(
    st.binary(min_size=1, max_size=20).filter(lambda marker: b"\n" not in marker and b"\r" not in marker), max_size=40
)


@st.composite
def cases(draw: st.DrawFn) -> Tuple[Tuple[bytes, ...], bytes]:
    markers = tuple(draw(st.one_of(markers_of_few_letters, markers_of_any_bytes, st.just(list(ATT_MARKERS)))))
    pieces: List[st.SearchStrategy[bytes]] = [
        st.sampled_from(
            [b"\n", b"\r\n", b"\r", b"\0", b"a", b"[", b" " * 61, b"x" * 130, b"\xe4\xb8", b"[PRO", b"tiling "]
        ),
        st.text("ab[\n", max_size=20).map(str.encode),
        st.binary(max_size=12),
    ]
    if markers:
        pieces.append(st.sampled_from(markers))
    return markers, b"".join(draw(st.lists(st.one_of(pieces), max_size=60)))


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=150, deadline=None)
@given(cases(), st.integers(1, 1 << 40))
def test_rows_follow_the_rule(engine: str, case: Tuple[Tuple[bytes, ...], bytes], first_line: int) -> None:
    markers, data = case
    found = scanner_of(engine, markers).scan(data, 0, len(data), first_line)
    assert rows(found) == expected_rows(data, markers, first_line)
    assert found.shape == (len(found), 4)
    assert found.format == "q"


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=150, deadline=None)
@given(cases(), st.binary(max_size=70), st.binary(max_size=70))
def test_bytes_outside_the_range_do_not_matter(
    engine: str, case: Tuple[Tuple[bytes, ...], bytes], before: bytes, after: bytes
) -> None:
    markers, data = case
    block = bytearray(before + data + after)
    found = scanner_of(engine, markers).scan(block, len(before), len(before) + len(data), 1)
    shifted = [[s + len(before), e + len(before), m, n] for s, e, m, n in expected_rows(data, markers, 1)]
    assert rows(found) == shifted


@pytest.mark.parametrize("engine", ENGINES)
def test_the_marker_that_begins_first_wins_then_the_longest_then_the_first(engine: str) -> None:
    markers = (b"bc", b"abcd", b"ab", b"abcd", b"d")
    assert rows(scanner_of(engine, markers).scan(b"xxabcdxx", 0, 8, 7)) == [[0, 8, 1, 7]]


@pytest.mark.parametrize("engine", ENGINES)
def test_no_markers_find_nothing(engine: str) -> None:
    assert scanner_of(engine, ()).scan(b"abc\n", 0, 4, 1).tolist() == []


@pytest.mark.parametrize("engine", ENGINES)
def test_many_lines_with_a_marker_at_every_offset(engine: str) -> None:
    data = b"".join(b" " * pad + b"[PROF]" + b"y" * (200 - pad) + b"\n" for pad in range(200)) * 20
    found = rows(scanner_of(engine, ATT_MARKERS).scan(data, 0, len(data), 1))
    assert [row[3] for row in found] == list(range(1, 4001))
    assert all(data[start:end].strip(b" y") == b"[PROF]" for start, end, _, _ in found)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_range_outside_the_block_is_refused_or_cut(engine: str) -> None:
    scanner = scanner_of(engine, [b"a"])
    assert scanner.scan(b"", 0, 0, 1).tolist() == []
    assert scanner.scan(b"xa", 2, 2, 1).tolist() == []


@pytest.mark.parametrize("marker", [b"", b"a\n", b"\r"])
def test_a_marker_is_never_empty_and_holds_no_line_end(marker: bytes) -> None:
    with pytest.raises(ValueError, match="a marker is"):
        compile_markers([b"x", marker])


def test_the_environment_forces_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOFUSE_SCANNER", "stdlib")
    assert compile_markers([b"x"]).engine == "stdlib"
    monkeypatch.setenv("AUTOFUSE_SCANNER", "fast")
    with pytest.raises(AutofuseError, match="unknown scanner engine 'fast'"):
        compile_markers([b"x"])


def test_the_native_engine_is_missed_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autofuse.scan.scanner.native_module", lambda: None)
    assert compile_markers([b"x"]).engine == "stdlib"
    with pytest.raises(AutofuseError, match="was not built"):
        compile_markers([b"x"], "native")


# --- the count of bytes that are not UTF-8 ----------------------------------------------------------------------------


def expected_undecodable(data: bytes) -> int:
    return len(data) - len(data.decode("utf-8", "ignore").encode())


def metered(meter: Meter, data: bytes, sizes: Sequence[int]) -> Tuple[int, int]:
    newlines, start = 0, 0
    for size in [*sizes, len(data)]:
        end = min(start + size, len(data))
        newlines += meter.feed(bytearray(data), start, end)
        start = end
    meter.finish()
    return newlines, meter.undecodable


text_pieces = st.one_of(
    st.text(max_size=8).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.text("融合算子日志", max_size=8).map(lambda text: text.encode("gb18030")),
    st.binary(max_size=8),
    st.sampled_from(
        [
            b"plain text " * 20,
            b"\n",
            b"\xf4\x8f\xbf\xbf",
            b"\xf4\x90\x80\x80",
            b"\xed\xa0\x80",
            b"\xe0\x80\x80",
            b"\xc0",
        ]
    ),
)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=150, deadline=None)
@given(st.lists(text_pieces, max_size=30).map(b"".join), st.lists(st.integers(0, 40), max_size=20))
def test_undecodable_bytes_are_counted_whatever_the_pieces(engine: str, data: bytes, sizes: List[int]) -> None:
    assert metered(meter_of(engine), data, sizes) == (data.count(b"\n"), expected_undecodable(data))


def test_the_meter_belongs_to_the_engine() -> None:
    assert isinstance(new_meter("stdlib"), StdlibMeter)
    if NATIVE:
        assert isinstance(new_meter(compile_markers([], "native").engine), NATIVE.Meter)


@pytest.mark.skipif(NATIVE is None, reason="the native scanner was not built")
def test_the_native_engine_agrees_on_long_text_of_changing_kinds() -> None:
    """Long enough for the scanner to choose its fragments anew, for text that holds most of a marker very often."""
    chance = random.Random(7)
    words = [
        b"tiling case",
        b"tiling",
        b"GetTiling",
        b"Start ",
        b"score",
        b" is",
        b"[PRO",
        b"[INFO]",
        b"\n",
        b" ",
        b"value",
    ]
    pieces: List[bytes] = []
    for kind in range(12):
        weights = [chance.random() ** 3 for _ in words]
        pieces.append(b"".join(chance.choices(words, weights, k=60_000)))
        pieces.append(b"x" * (kind * 7) + b"[PROF]")
    data = b"".join(pieces)
    scanners = [scanner_of(engine, ATT_MARKERS) for engine in ENGINES]
    half = data.rfind(b"\n", 0, len(data) // 2) + 1
    for start, end in ((0, half), (half, len(data)), (0, len(data))):
        results = [rows(scanner.scan(data, start, end, 1)) for scanner in scanners]
        assert all(result == results[0] for result in results[1:])
