"""What stored bytes mean: every dtype of npy and raw dumps against exact values, layouts of raw dumps, `inspect`."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any, List, Optional

import ml_dtypes
import numpy as np
import pytest
from autofuse.testing import run_cli
from autofuse_nwa_precision.dumps.raw import read_raw
from autofuse_nwa_precision.dumps.wire import WireError, fields
from autofuse_nwa_precision.metrics.values import decode
from autofuse_nwa_precision.statuses import RowError
from hypothesis import given, settings
from hypothesis import strategies as st
from precision_twins import RawTensor, Runs, desc, dump_name, npy_bytes, raw_dump

VALUES = np.array([1.0, -2.5, 0.15625, 96.0, -0.0, 3.0], "f4")
"""Exact in bf16."""


def bf16(values: Any) -> Any:
    return values.astype(ml_dtypes.bfloat16)


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("form", ["float32", "V2", "uint16", "no graph"])
def test_bf16_in_each_form_is_the_same(runs: Runs, form: str, big: bool) -> None:
    bits = bf16(VALUES).view("u2")
    contents = {
        "float32": VALUES.astype(">f4" if big else "<f4"),
        "V2": npy_bytes(bits, "|V2"),
        "uint16": bits.astype(">u2" if big else "<u2"),
        "no graph": npy_bytes(bits, "<V2"),
    }
    dtype = "" if form == "no graph" else "DT_BF16"
    runs.pair(contents[form], npy_bytes(bits, "|V2"), open_desc=desc(dtype=dtype), close_desc=desc(dtype="DT_BF16"))
    row = runs.row(code=0)
    assert (row["status"], row["open_dtype"], row["close_dtype"]) == ("OK", "bfloat16", "bfloat16")
    assert (row["max_abs_error"], row["worst_index"]) == (0, None)
    if not big or form != "float32":
        assert (row["bit_equal"], row["max_ulp"]) == (True, 0)


def test_bf16_written_as_float32_with_more_digits_stays_float32(runs: Runs) -> None:
    """Someone computed with the values: they are no longer exact bf16, and nothing is rounded away."""
    runs.pair(VALUES + np.float32(1e-6), VALUES, open_desc=desc(dtype="DT_BF16"), close_desc=desc(dtype="DT_BF16"))
    assert runs.row(code=0)["max_abs_error"] > 0


EIGHT_BITS = {
    "DT_FLOAT8_E5M2": ml_dtypes.float8_e5m2,
    "DT_FLOAT8_E4M3FN": ml_dtypes.float8_e4m3fn,
    "DT_FLOAT8_E8M0": ml_dtypes.float8_e8m0fnu,
}


@pytest.mark.parametrize("descr", ["<f1", "|V1", "|u1", "|i1"])
@pytest.mark.parametrize("dtype", EIGHT_BITS)
def test_fp8_in_each_form(runs: Runs, dtype: str, descr: str) -> None:
    every = np.arange(256, dtype="u1")
    plain = every.view(EIGHT_BITS[dtype]).astype("f4")
    runs.pair(npy_bytes(every, descr), plain, open_desc=desc(dtype=dtype))
    row = runs.row(code=0)
    assert (row["status"], row["max_abs_error"], row["close_dtype"]) == ("DTYPE_CAST", 0, "float32")
    assert row["open_dtype"] == dtype[3:].lower()


def hifloat8(byte: int) -> Optional[Fraction]:
    """A value of HiFloat8 from the published table of its dot field; None for NaN and infinities."""
    if byte in (0x80, 0x6F, 0xEF):
        return None
    sign = -1 if byte & 0x80 else 1
    for prefix, width in (("11", 4), ("10", 3), ("01", 2), ("001", 1), ("0001", 0), ("0000", -1)):
        bits = format(byte & 0x7F, "07b")
        if not bits.startswith(prefix):
            continue
        rest = bits[len(prefix) :]
        if width < 0:
            return sign * (Fraction(2) ** (int(rest, 2) - 23) if int(rest, 2) else Fraction(0))
        exponent, mantissa = rest[:width], rest[width:]
        power = 0
        if width:
            magnitude = int("1" + exponent[1:], 2)
            power = -magnitude if exponent[0] == "1" else magnitude
        return sign * Fraction(2) ** power * (1 + Fraction(int(mantissa, 2), 2 ** len(mantissa)))
    raise AssertionError


def test_every_hifloat8_value(runs: Runs) -> None:
    every = np.arange(256, dtype="u1")
    exact = [hifloat8(byte) for byte in range(256)]
    plain = np.array([np.nan if value is None else float(value) for value in exact], "f8")
    plain[[0x6F, 0xEF]] = np.inf, -np.inf
    runs.pair(npy_bytes(every, "|u1"), plain, open_desc=desc(dtype="DT_HIFLOAT8"))
    row = runs.row(code=0)
    assert (row["open_dtype"], row["max_abs_error"], row["nan_equal"]) == ("hifloat8", 0, 1)
    assert (row["pos_inf_equal"], row["neg_inf_equal"], row["compared"]) == (1, 1, 253)


def bits_of(values: List[int], width: int) -> bytes:
    """Values packed from the low bit of the first byte up."""
    number = sum((value & ((1 << width) - 1)) << (width * place) for place, value in enumerate(values))
    return number.to_bytes((len(values) * width + 7) // 8, "little")


PACKED = {
    "int4": (28, 4, lambda v: v - 16 if v > 7 else v),
    "uint1": (29, 1, lambda v: v),
    "int2": (30, 2, lambda v: v - 4 if v > 1 else v),
    "uint2": (31, 2, lambda v: v),
    "float6_e3m2": (37, 6, lambda v: float(np.uint8(v).view(ml_dtypes.float6_e3m2fn))),
    "float6_e2m3": (38, 6, lambda v: float(np.uint8(v).view(ml_dtypes.float6_e2m3fn))),
    "float4_e2m1": (39, 4, lambda v: float(np.uint8(v).view(ml_dtypes.float4_e2m1fn))),
    "float4_e1m2": (40, 4, lambda v: (-1 if v & 8 else 1) * (v & 7) / 4),
}


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(sorted(PACKED)), st.lists(st.integers(0, 63), max_size=40))
def test_packed_types_are_exact(name: str, raw: List[int]) -> None:
    number, width, meaning = PACKED[name]
    codes = [value & ((1 << width) - 1) for value in raw]
    data = raw_dump([], [RawTensor(bits_of(codes, width), number, [len(codes)])])
    tensor = read_raw("x", data).tensor("output", 0)
    assert tensor.type.name == name
    assert decode(tensor.array).tolist() == [meaning(code) for code in codes]


def test_types_below_a_byte_may_be_stored_one_per_byte(runs: Runs) -> None:
    numbers = np.array([[-8, 7, 0], [-1, 3, 5]], "i1")
    four_bits = [int(value) & 15 for value in numbers.ravel()]
    packed = np.frombuffer(bits_of(four_bits, 4), "u1")
    described = desc(dtype="DT_INT4", shape=[2, 3])
    runs.pair(packed, numbers, open_desc=described, close_desc=described)
    runs.pair(np.array(four_bits, "u1").reshape(2, 3), numbers, name="af_1", origin="r1", open_desc=described)
    first, second = runs.rows(code=0)
    assert (first["status"], first["verdict"], first["open_shape"]) == ("OK", "pass", "[2, 3]")
    assert (second["status"], second["open_dtype"], second["max_abs_error"]) == ("DTYPE_CAST", "int4", 0)


def test_a_large_packed_tensor_is_unpacked_block_by_block() -> None:
    count = (1 << 20) * 2 + 5
    packed = np.resize(np.array([0x21, 0x43, 0x65, 0x87], "u1"), (count + 1) // 2)
    data = raw_dump([], [RawTensor(packed.tobytes(), 40, [count])])
    values = decode(read_raw("x", data).tensor("output", 0).array)
    pattern = np.array([0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, -0.0], "f4")
    assert np.array_equal(values, np.resize(pattern, count))


@pytest.mark.parametrize(
    "number,dtype",
    [(1, "<f4"), (2, "<f2"), (3, "i1"), (4, "u1"), (5, "<i2"), (6, "<u2"), (7, "<i4"), (8, "<i8"), (9, "<u4"),
     (10, "<u8"), (11, "?"), (12, "<f8"), (16, "<c8"), (17, "<c16")],
)  # fmt: skip
def test_plain_types_of_raw_dumps(number: int, dtype: str) -> None:
    values = np.array([0, 1, 1, 0, 1], dtype)
    data = raw_dump([RawTensor(b"\0" * 7, 4, [7])], [RawTensor(values.tobytes(), number, [5])])
    tensor = read_raw("x", data).tensor("output", 0)
    assert np.array_equal(tensor.array, values)
    assert tensor.array.dtype == np.dtype(dtype)


def test_complex32(runs: Runs) -> None:
    values = np.array([1 + 2j, -0.5j, 3], "c8")
    halves = values.view("f4").astype("<f2")
    runs.pair(None, values)
    runs.dump("open", dump_name("AscBackend", "af_0", ""), raw_dump([], [RawTensor(halves.tobytes(), 32, [3])]))
    row = runs.row(code=0)
    assert (row["open_dtype"], row["max_abs_error"], row["verdict"]) == ("complex32", 0, "pass")


def test_layout_groups_and_c0_of_the_format_word(runs: Runs) -> None:
    plain = np.arange(2 * 5 * 3 * 4, dtype="f4").reshape(2, 5, 3, 4)
    stored = np.full((2, 2, 3, 4, 4), -777, "f4")
    for channel in range(5):
        stored[:, channel // 4, :, :, channel % 4] = plain[:, channel]
    word = 3 | 1 << 8 | 3 << 24
    tensor = RawTensor(stored.tobytes(), 1, stored.shape, word, original_shape=plain.shape, origin=("relu_0", 0))
    runs.pair(None, plain, close_desc=desc(layout="NCHW"))
    path = runs.dump("open", dump_name("AscBackend", "af_0", ""), raw_dump([], [tensor], name="af_0"))
    row = runs.row(code=0)
    assert (row["status"], row["open_layout"], row["compared_shape"]) == ("FORMAT_CONVERTED", "NC1HWC0", "[2, 5, 3, 4]")
    shown = json.loads(run_cli("run", "precision", "inspect", path, "-f", "jsonl").stdout)
    assert (shown["c0"], shown["groups"], shown["origin"]) == (4, 1, "relu_0:0")


def test_payload_rules() -> None:
    """Buffers and spaces lie behind the tensors; address 0 leaves bytes out only where the sizes say so."""
    one, two = np.arange(4, dtype="f4"), np.arange(3, dtype="i4")
    for address in (0, 0x1000):
        tensors = [RawTensor(one.tobytes(), 1, [4], address=address), RawTensor(two.tobytes(), 7, [3])]
        dump = read_raw("x", raw_dump(tensors[:1], tensors[1:], buffers=[b"b" * 5], spaces=[b"s" * 6]))
        assert np.array_equal(dump.tensor("output", 0).array, two)
        if address:
            assert np.array_equal(dump.tensor("input", 0).array, one)
        else:
            with pytest.raises(RowError, match="NO_DATA"):
                dump.tensor("input", 0)
    # All sizes are there, though an address is 0: read all.
    data = raw_dump([], [RawTensor(one.tobytes(), 1, [4]), RawTensor(b"", 7, [3], size=12, address=0)]) + two.tobytes()
    assert np.array_equal(read_raw("x", data).tensor("output", 1).array, two)


@pytest.mark.parametrize("extra", [b"", b"x", b"x" * 100])
def test_a_payload_of_another_size_is_truncated(extra: bytes) -> None:
    data = raw_dump([], [RawTensor(b"\0" * 16, 1, [4], size=20)]) + extra
    with pytest.raises(RowError, match="TRUNCATED"):
        read_raw("x", data).tensor("output", 0)


def test_an_unknown_extent_follows_from_the_size() -> None:
    values = np.arange(12, dtype="f4")
    dump = read_raw("x", raw_dump([], [RawTensor(values.tobytes(), 1, [-1, 3]), RawTensor(b"\0" * 8, 1, [-1, -1])]))
    assert dump.tensor("output", 0).array.shape == (4, 3)
    with pytest.raises(RowError, match="is not known"):
        dump.tensor("output", 1)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_damaged_raw_dump_is_a_status(data: Any) -> None:
    """Whatever bytes change, the reader answers with a tensor or a status."""
    whole = bytearray(raw_dump([RawTensor(b"\0" * 8, 1, [2])], [RawTensor(b"\1" * 8, 2, [4], origin=("a", 1))]))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(whole)))
    statuses = set()
    try:
        dump = read_raw("x", bytes(whole[:cut]))
        for tensor in dump.tensors:
            dump.tensor(tensor.side, tensor.index)
    except RowError as error:
        statuses.add(error.status)
    assert statuses <= {"TRUNCATED", "NPY_LOAD_ERROR", "NO_DATA"}


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_a_message_or_a_wire_error(content: bytes) -> None:
    try:
        for number, _ in fields(memoryview(content)):
            assert number > 0
    except WireError:
        pass


def test_fortran_order_and_scalars(runs: Runs) -> None:
    values = np.arange(24, dtype="f4").reshape(4, 6)
    runs.pair(np.asfortranarray(values), values)
    runs.pair(np.float32(3), np.float32(3), name="af_1", origin="r1")
    runs.pair(np.asfortranarray(values), values.reshape(2, 12), name="af_2", origin="r2")
    first, scalar, third = runs.rows(code=1)
    assert (first["status"], first["max_abs_error"]) == ("OK", 0)
    assert (scalar["status"], scalar["open_shape"], scalar["verdict"]) == ("OK", "[]", "pass")
    assert third["status"] == "SHAPE_MISMATCH"


def test_integers_are_exact(runs: Runs) -> None:
    mine, theirs = np.array([2**63 + 1, 0], "u8"), np.array([2**62, -1], "i8")
    runs.pair(mine, theirs)
    row = runs.row(code=1)
    assert (row["max_abs_error"], row["verdict"]) == (2**63 + 1 - 2**62, "fail")


def test_a_permuted_shape_is_compared_both_ways_and_the_better_order_is_named(runs: Runs) -> None:
    values = np.arange(2 * 3 * 5, dtype="f4").reshape(2, 3, 5)
    runs.pair(values, values.transpose(2, 0, 1).copy())
    runs.pair(values, values.reshape(5, 2, 3), name="af_1", origin="r1")
    turned, stored = runs.rows(code=0)
    assert turned["status"] == "FORMAT_CONVERTED"
    assert "axes [2, 0, 1] of the open side fit best" in turned["reason"]
    assert stored["status"] == "SHAPE_FLATTENED"
    assert "the order as stored fits best" in stored["reason"]


def inspected(path: Any, code: int = 0) -> List[Any]:
    result = run_cli("run", "precision", "inspect", path, "-f", "jsonl")
    assert result.exit_code == code, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_inspect_raw(runs: Runs) -> None:
    values = np.array([[1, np.nan, -np.inf], [0, 2.5, 0]], "f4")
    tensors = [
        RawTensor(values.tobytes(), 1, [2, 3]),
        RawTensor(b"\0" * 4, 7, [1], address=0),
        RawTensor(b"ab", 13, [1]),
    ]
    path = runs.dump("open", "Relu.r.1.2.1700000000000000", raw_dump([], tensors, name="r"))
    first, absent, text = inspected(path)
    assert (first["tensor"], first["dtype"], first["layout"], first["shape"]) == ("output 0", "float32", "ND", "[2, 3]")
    assert (first["min"], first["max"], first["mean"]) == (0, 2.5, 0.875)
    assert (first["nan"], first["inf"], first["zeros"]) == (1, 1, 2)
    assert (absent["status"], text["status"], text["dtype"]) == ("NO_DATA", "NPY_LOAD_ERROR", "type 13")
    result = run_cli("--lang", "en", "run", "precision", "inspect", path)
    assert "raw dump of r, version 1.0" in result.stdout
    assert "task 1" in result.stdout


def test_inspect_npy_and_other_files(runs: Runs) -> None:
    path = runs.dump("open", dump_name("Relu", "r", layout="NCHW"), np.arange(12, dtype=">i4").reshape(3, 4))
    (row,) = inspected(path)
    assert (row["dtype"], row["layout"], row["min"], row["max"]) == ("int32 (big-endian)", "NCHW", 0, 11)
    (row,) = inspected(runs.dump("open", "fp8.npy", npy_bytes(np.zeros(3, "u1"), "|V1")))
    assert row["status"] == "NPY_LOAD_ERROR"
    (row,) = inspected(runs.dump("open", "empty.npy", np.zeros((0, 2))))
    assert (row["status"], row["min"], row["mean"]) == ("OK_EMPTY", None, None)
    for content in (b"", b"{}", b"plain text of a log", bytes(100)):
        bad = runs.dump("open", "bad", content)
        result = run_cli("run", "precision", "inspect", bad)
        if content != bytes(100):
            assert result.exit_code == 2
            assert str(bad) in result.stderr
    assert run_cli("run", "precision", "inspect", runs.root).exit_code == 2
    assert run_cli("run", "precision", "inspect", "/nowhere").exit_code == 2


def test_inspect_leaves_padding_out_of_the_statistics(runs: Runs) -> None:
    stored = np.full((1, 1, 2, 2, 16), -777, "f4")
    stored[..., :3] = 2
    path = runs.root / "dump"
    for original, smallest, words in (
        ((1, 3, 2, 2), 2, ""),
        (None, -777, "include padding"),
        ((9, 9), -777, "padding"),
    ):
        path.write_bytes(raw_dump([], [RawTensor(stored.tobytes(), 1, stored.shape, 3, original_shape=original)]))
        (row,) = inspected(path)
        assert (row["min"], row["max"]) == (smallest, 2)
        assert words in (row["reason"] or "")
