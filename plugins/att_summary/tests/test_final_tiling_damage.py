"""A FINAL_TILING frame is whole or it is nothing: no damage to its lines ever shows another representation."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import List, Sequence

import pytest
from autofuse_att_summary import final_tiling
from autofuse_att_summary.columns import native_available
from autofuse_att_summary.final_tiling import FinalRecord, decode_finals, mix64, unescape
from autofuse_att_summary.model import FinalLine
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from logwriter.final import escape, final_lines, summary_lines
from logwriter.final import mix64 as written_hash
from logwriter.model import FinalTiling, FinalTilingSummary, Producer

OPERATOR = "Fusion_0"
PAYLOADS = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=60),
    st.dictionaries(st.text(max_size=4), st.one_of(st.integers(), st.text(max_size=4), st.none()), max_size=6).map(
        lambda value: json.dumps(value, ensure_ascii=False)
    ),
    st.lists(st.sampled_from(["\\", '"', "\n", "\r", "\t", "n", "\\n", "=", " ", "x", "é"]), max_size=20).map("".join),
)
CHUNK = st.integers(1, 12)
ALGORITHMS = st.sampled_from(["att_mix64_v1", "sha256", None])


def frame(payload: str, chunk: int = 8, algorithm: object = "att_mix64_v1", summary: bool = False) -> List[bytes]:
    """The lines of a framed record, from `[FINAL_TILING` on."""
    producer = Producer(frame_limit=0, chunk_size=chunk, hash_algorithm=algorithm)  # type: ignore[arg-type]
    record = FinalTiling(0, 1, 2, 3, 4, "R", -5, representation=payload, pipe_estimates=(("M2", "1.500000"),))
    lines = (
        summary_lines(FinalTilingSummary(0, 1, (record,)), OPERATOR, producer)
        if summary
        else final_lines(record, OPERATOR, producer)
    )
    return [line[len("[ATT]") :].encode() for line in lines]


def decoded(lines: Sequence[bytes], cut: bool = False) -> List[FinalRecord]:
    return decode_finals([FinalLine("a.log", number, line, cut) for number, line in enumerate(lines, 1)], OPERATOR)


def assert_nothing_shown(records: Sequence[FinalRecord]) -> None:
    assert records
    for record in records:
        assert record.status in ("incomplete_final_tiling", "incomplete_final_tiling_summary"), record
        assert record.payload is None


def assert_whole_or_nothing(records: Sequence[FinalRecord], payload: str) -> None:
    for record in records:
        if record.status == "ok":
            assert record.payload == payload
        else:
            assert record.payload is None
            assert record.status.startswith(("incomplete_final", "invalid_final"))


@examples(60)
@given(PAYLOADS, CHUNK, ALGORITHMS)
def test_a_whole_frame(payload: str, chunk: int, algorithm: object) -> None:
    (record,) = decoded(frame(payload, chunk, algorithm))
    assert (record.status, record.payload, record.ids["score"]) == ("ok", payload, -5)
    assert record.pipe_estimates == {"AIV_MTE2": "1.500000"}


@examples(120)
@given(PAYLOADS, CHUNK, ALGORITHMS, st.data())
def test_a_lost_line(payload: str, chunk: int, algorithm: object, data: st.DataObject) -> None:
    lines = frame(payload, chunk, algorithm)
    lost = data.draw(st.integers(0, len(lines) - 1))
    assert_nothing_shown(decoded(lines[:lost] + lines[lost + 1 :]))


@examples(120)
@given(PAYLOADS, CHUNK, ALGORITHMS, st.data())
def test_a_doubled_chunk(payload: str, chunk: int, algorithm: object, data: st.DataObject) -> None:
    lines = frame(payload, chunk, algorithm)
    doubled = data.draw(st.integers(1, len(lines) - 2))
    where = data.draw(st.integers(1, len(lines) - 1))
    assert_nothing_shown(decoded([*lines[:where], lines[doubled], *lines[where:]]))


@examples(120)
@given(PAYLOADS.filter(lambda payload: len(payload) > 1), ALGORITHMS, st.data())
def test_two_swapped_lines(payload: str, algorithm: object, data: st.DataObject) -> None:
    lines = frame(payload, 1, algorithm)
    one, other = sorted(data.draw(st.lists(st.integers(0, len(lines) - 1), min_size=2, max_size=2, unique=True)))
    lines[one], lines[other] = lines[other], lines[one]
    assert_nothing_shown(decoded(lines))


@examples(120)
@given(PAYLOADS.filter(bool), CHUNK, ALGORITHMS, st.data())
def test_a_line_cut_anywhere(payload: str, chunk: int, algorithm: object, data: st.DataObject) -> None:
    lines = frame(payload, chunk, algorithm)
    which = data.draw(st.integers(0, len(lines) - 1))
    lines[which] = lines[which][: data.draw(st.integers(0, len(lines[which]) - 1))]
    assert_nothing_shown(decoded(lines, cut=True))


@examples(150)
@given(PAYLOADS, CHUNK, ALGORITHMS, st.booleans(), st.data())
def test_any_changed_byte(payload: str, chunk: int, algorithm: object, summary: bool, data: st.DataObject) -> None:
    lines = frame(payload, chunk, algorithm, summary)
    which = data.draw(st.integers(0, len(lines) - 1))
    where = data.draw(st.integers(0, len(lines[which]) - 1))
    byte = data.draw(st.one_of(st.sampled_from(list(b'"\\ =1{}nx')), st.integers(0, 255)))
    lines[which] = lines[which][:where] + bytes([byte]) + lines[which][where + 1 :]
    whole = decoded(frame(payload, chunk, algorithm, summary))[0].payload
    assert whole is not None
    assert_whole_or_nothing(decoded(lines), whole)


def test_every_byte_of_a_small_frame_changed_to_many_others() -> None:
    """The same without chance: a dozen other bytes at every place of a frame with escapes."""
    payload = '{"tile_m":64,"note":"a\\\\b"}\n'
    lines = frame(payload, 9)
    others = [*b'"\\ =09fnt{|', 0, 0xFF]
    for which, line in enumerate(lines):
        data = line.find(b'data="') + 6 if b"_CHUNK]" in line else len(line)
        for where, now in enumerate(line):
            for byte in others:
                if byte != now:
                    changed = line[:where] + bytes([byte]) + line[where + 1 :]
                    records = decoded([*lines[:which], changed, *lines[which + 1 :]])
                    assert_whole_or_nothing(records, payload)
                    if where >= data:
                        assert not any(record.status == "ok" for record in records), (where, bytes([byte]))


@pytest.mark.parametrize("key", ["chunks", "len", "hash", "hash_alg", "id"])
@pytest.mark.parametrize("place", [0, -1])
def test_each_check_of_both_ends(key: str, place: int) -> None:
    payload = '{"a":1}'
    for other in ("", "0", "9", "x", '"att_mix64_v2"', "none"):
        lines = frame(payload)
        before = lines[place]
        start = before.index(f" {key}=".encode()) + len(key) + 2
        end = before.find(b" ", start)
        lines[place] = before[:start] + other.encode() + (b"" if end < 0 else before[end:])
        assert_nothing_shown(decoded(lines))


def test_an_unknown_algorithm_on_both_ends_is_incomplete() -> None:
    lines = [line.replace(b"att_mix64_v1", b"att_mix64_v9") for line in frame('{"a":1}')]
    assert_nothing_shown(decoded(lines))


def test_a_wrong_hash_on_both_ends_is_incomplete() -> None:
    digest = written_hash(b'{"a":1}').encode()
    assert_nothing_shown(decoded([line.replace(digest, digest[::-1]) for line in frame('{"a":1}')]))


def test_chunks_that_change_places_with_their_numbers() -> None:
    """Data swapped under the right numbers: only the hash can tell."""
    lines = frame("abcdefgh", 4)
    lines[1], lines[2] = lines[1].replace(b"abcd", b"efgh"), lines[2].replace(b"efgh", b"abcd")
    assert_nothing_shown(decoded(lines))


def test_doubled_ends_of_a_frame_say_nothing_new() -> None:
    """A writer that repeats BEGIN or END (two sinks of one log) loses nothing."""
    begin, *chunks, end = frame("abcdefgh", 4)
    for lines in ([begin, begin, *chunks, end], [begin, *chunks, end, end]):
        (record,) = decoded(lines)
        assert (record.status, record.payload) == ("ok", "abcdefgh")


def test_what_is_left_of_a_frame_keeps_its_identity() -> None:
    begin, *chunks, end = frame("abcdefgh", 4)
    (record,) = decoded([begin, *chunks])
    assert record.ids == {"graph": 0, "result": 1, "group": 2, "case_id": 3, "tiling_key": 4, "score": -5}
    (record,) = decoded([*chunks, end])
    assert (record.ids, record.operator) == ({}, OPERATOR)
    (record,) = decoded([begin[: begin.index(b" id=")], *chunks, end])
    assert (record.ids["case_id"], record.sub_case, record.payload) == (3, "R", None)


def test_a_frame_after_a_damaged_one_of_the_same_id() -> None:
    """The id comes back for the next shape: what was lost before spoils nothing that follows."""
    lines = frame("abcdefgh", 4)
    again = frame("ijklmnop", 4)
    for damaged in (lines[:-1], lines[:2], lines[:1], lines[1:], lines[2:], lines[-1:]):
        records = decoded([*damaged, *again])
        assert [record.payload for record in records if record.status == "ok"] == ["ijklmnop"]
        assert sum(record.status == "incomplete_final_tiling" for record in records) == 1


def test_frames_of_two_ids_interleave() -> None:
    one = frame("abcdefgh", 2)
    other = [line.replace(b"8:Fusion_0|", b"9:Other|").replace(b"group=2", b"group=7") for line in frame("ABCDEFGH", 2)]
    records = decoded([line for pair in zip(one, other) for line in pair])
    assert [(record.status, record.payload) for record in records] == [("ok", "abcdefgh"), ("ok", "ABCDEFGH")]


@examples(100)
@given(PAYLOADS, st.booleans(), st.data())
def test_a_single_line_cut_anywhere(payload: str, quoted: bool, data: st.DataObject) -> None:
    """Before the end of its representation a line is incomplete; unquoted values may end anywhere."""
    producer = Producer(frame_limit=1 << 20, quoted=quoted)
    record = FinalTiling(0, 1, 2, 3, 4, representation=payload)
    line = final_lines(record, OPERATOR, producer)[0][len("[ATT]") :].encode()
    size = data.draw(st.integers(0, len(line) - 1))
    (found,) = decoded([line[:size]], cut=True)
    assert (found.status, found.payload) == ("incomplete_final_tiling", None)


@pytest.mark.parametrize("last", ["tiling_repr={a:12345}", 'tiling_repr="{}" score=12345', "tiling_repr=nan"])
def test_a_cut_value_without_quotes_may_have_lost_its_end(last: str) -> None:
    head = 'schema=1 source="runtime" operator="Op" graph=0 result=0 group=0 case_id=1 tiling_key=1 '
    line = f"[FINAL_TILING] {head}{last}".encode()
    assert decoded([line])[0].status == "ok"
    (record,) = decoded([line], cut=True)
    assert (record.status, record.payload) == ("incomplete_final_tiling", None)


# --- hashes and escapes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "digest"),
    [(b"", "000000006d2b79f5"), (b"{}", "f41025c6e346c01c"), (b'{"tiling_key":7}', "c492b5720c079792")],
)
def test_published_hashes(data: bytes, digest: str) -> None:
    assert mix64(data) == written_hash(data) == digest
    assert f"{final_tiling._mix64(data):016x}" == digest


@examples(100)
@given(st.binary(max_size=300))
def test_the_hashes_of_the_twins_are_equal(data: bytes) -> None:
    assert f"{final_tiling._mix64(data):016x}" == written_hash(data)
    assert mix64(data) == written_hash(data)


@pytest.mark.skipif(not native_available(), reason="no compiled parser")
@examples(100)
@given(st.binary(max_size=300))
def test_the_compiled_hash_is_the_same(data: bytes) -> None:
    from autofuse_att_summary import _att

    assert f"{_att.mix64(data):016x}" == f"{final_tiling._mix64(data):016x}"


def test_sha256_is_what_others_call_so() -> None:
    payload = '{"a":1}'
    end = frame(payload, algorithm=None)[-1].decode()
    assert end.endswith(f"hash={hashlib.sha256(payload.encode()).hexdigest()}")
    assert "hash_alg" not in end


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"a\\n", "a\\n"),
        (r"a\n", "a\n"),
        (r"\\\"", '\\"'),
        (r"\t\r", "\t\r"),
        (r"\x41\u0041\0", r"\x41\u0041\0"),
        (r"\\\\n", r"\\n"),
        ("", ""),
    ],
)
def test_escapes_are_decoded_once_from_left_to_right(text: str, value: str) -> None:
    assert unescape(text.encode()).decode() == value


@examples(200)
@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_what_the_writer_escapes_comes_back(text: str) -> None:
    assert unescape(escape(text).encode()).decode() == text


def test_records_have_no_state_in_common() -> None:
    """Two decodings of the same lines are equal and independent."""
    lines = frame('{"a":1}')
    first, second = decoded(lines)[0], decoded(lines)[0]
    assert dataclasses.asdict(first) == dataclasses.asdict(second)
    assert first.ids is not second.ids
