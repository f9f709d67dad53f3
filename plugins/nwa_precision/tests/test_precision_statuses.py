"""Every status of a row, produced through the command line, each with the reason and what it does to the exit code."""

from __future__ import annotations

import os
import zipfile
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from precision_twins import RawTensor, Runs, desc, dump_name, npy_bytes, op, raw_dump

VALUES = np.linspace(-2, 2, 24, dtype="f4").reshape(4, 6)
SKIPPED_KEYS = ("cosine_similarity", "max_abs_error", "cosine_scale_free", "verdict")


def skipped(row: Any, status: str, *words: str) -> None:
    """The row has the status, a reason with the words, and no measures."""
    assert row["status"] == status, row
    assert [row[key] for key in SKIPPED_KEYS] == [None] * 4
    for word in words:
        assert word in row["reason"], row["reason"]


def test_ok(runs: Runs) -> None:
    runs.pair(VALUES, VALUES)
    row = runs.row(code=0)
    assert (row["status"], row["verdict"], row["bit_equal"]) == ("OK", "pass", True)
    assert (row["side"], row["fused_op_name"], row["fused_index"]) == ("output", "af_0", 0)
    assert (row["origin_op_name"], row["origin_index"]) == ("relu_0", 0)


def nc1hwc0(plain: Any, c0: int = 16) -> Any:
    """The stored form of an NCHW tensor, with garbage in the padding."""
    n, c, h, w = plain.shape
    c1 = -(-c // c0)
    stored = np.full((n, c1, h, w, c0), 777, plain.dtype)
    for channel in range(c):
        stored[:, channel // c0, :, :, channel % c0] = plain[:, channel]
    return stored


def fractal_nz(plain: Any, w0: int = 16) -> Any:
    """The stored form of a matrix, with garbage in the padding."""
    height, width = plain.shape
    stored = np.full((-(-width // w0), -(-height // 16), 16, w0), -1e30, plain.dtype)
    for h in range(height):
        for w in range(width):
            stored[w // w0, h // 16, h % 16, w % w0] = plain[h, w]
    return stored


def test_format_converted(runs: Runs) -> None:
    plain = np.arange(2 * 5 * 3 * 4, dtype="f4").reshape(2, 5, 3, 4)
    runs.pair(nc1hwc0(plain), plain, open_desc=desc(layout="NC1HWC0"), close_desc=desc(layout="NCHW"))
    runs.pair(
        fractal_nz(plain.reshape(10, 12)),
        plain.reshape(10, 12),
        name="af_1",
        origin="r1",
        open_desc=desc(layout="FRACTAL_NZ"),
    )
    runs.pair(
        plain, plain.transpose(0, 2, 3, 1), name="af_2", origin="r2",
        open_desc=desc(layout="NCHW"), close_desc=desc(layout="NHWC"),
    )  # fmt: skip
    for row in runs.rows(code=0):
        assert (row["status"], row["verdict"], row["max_abs_error"]) == ("FORMAT_CONVERTED", "pass", 0)


def test_both_sides_stored_are_cropped(runs: Runs) -> None:
    plain = np.arange(2 * 5 * 3 * 4, dtype="f4").reshape(2, 5, 3, 4)
    other = nc1hwc0(plain)
    other[..., 5:] = -777
    shape = desc(layout="NC1HWC0", origin_shape=[2, 5, 3, 4], origin_format="NCHW")
    runs.pair(nc1hwc0(plain), other, open_desc=shape, close_desc=shape)
    row = runs.row(code=0)
    assert (row["status"], row["max_abs_error"], row["compared_shape"]) == ("FORMAT_CONVERTED", 0, "[2, 5, 3, 4]")


def test_without_an_original_shape_the_row_says_that_padding_is_compared(runs: Runs) -> None:
    stored = nc1hwc0(np.ones((1, 3, 2, 2), "f4"))
    runs.pair(stored, stored, open_desc=desc(layout="NC1HWC0"), close_desc=desc(layout="NC1HWC0"))
    row = runs.row(code=0)
    assert row["status"] == "OK"
    assert "nothing is cropped" in row["reason"]


def test_dtype_cast(runs: Runs) -> None:
    runs.pair(VALUES.astype("f2"), VALUES.astype("f2").astype("f4"))
    row = runs.row(code=0)
    assert (row["status"], row["open_dtype"], row["close_dtype"]) == ("DTYPE_CAST", "float16", "float32")


def test_byte_order_alone_is_no_cast(runs: Runs) -> None:
    runs.pair(VALUES.astype(">f4"), VALUES)
    row = runs.row(code=0)
    assert (row["status"], row["bit_equal"]) == ("OK", True)


def test_shape_flattened(runs: Runs) -> None:
    runs.pair(VALUES.reshape(1, 4, 6), VALUES.reshape(24))
    row = runs.row(code=0)
    assert (row["status"], row["max_abs_error"]) == ("SHAPE_FLATTENED", 0)


def test_several_are_joined_and_a_mismatch_comes_last(runs: Runs) -> None:
    plain = np.ones((1, 5, 2, 2), "f2")
    broken = plain.copy()
    broken[0, 4, 1, 1] = np.nan
    runs.pair(nc1hwc0(broken), plain, open_desc=desc(layout="NC1HWC0"), close_desc=desc(layout="NCHW"))
    runs.pair(
        nc1hwc0(broken), plain.reshape(1, 20).astype("f4"), name="af_1", origin="r1",
        open_desc=desc(layout="NC1HWC0", origin_shape=[1, 5, 2, 2], origin_format="NCHW"),
    )  # fmt: skip
    first, second = runs.rows(code=1)
    assert first["status"] == "FORMAT_CONVERTED_NAN_MISMATCH"
    assert first["first_nan_mismatch"] == "[0, 4, 1, 1]"
    assert second["status"] == "FORMAT_CONVERTED_DTYPE_CAST_SHAPE_FLATTENED_NAN_MISMATCH"


def test_file_not_found(runs: Runs) -> None:
    runs.pair(VALUES, VALUES)
    runs.pair(None, VALUES, name="af_1", origin="r1", open_desc=desc(shape=[4, 6]))
    runs.pair(VALUES, None, name="af_2", origin="r2")
    runs.pair(None, None, name="af_3", origin="r3")
    _, one, two, three = runs.rows(code=1)
    skipped(one, "FILE_NOT_FOUND", "the open run has no dump of it")
    assert (one["open_dtype"], one["open_shape"]) == ("float32", "[4, 6]")
    assert one["close_path"].endswith(".npy")
    skipped(two, "FILE_NOT_FOUND", "the close run has no dump of it")
    skipped(three, "FILE_NOT_FOUND", "neither run")


def structured() -> bytes:
    return npy_bytes(np.zeros(3, [("a", "f4"), ("b", "i4")]), "[('a', '<f4'), ('b', '<i4')]")


def npz() -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.npy", npy_bytes(VALUES))
    return out.getvalue()


@pytest.mark.parametrize(
    "content,words",
    [
        (npy_bytes(VALUES)[:-1], "truncated"),
        (npy_bytes(VALUES)[:40], "truncated"),
        (npy_bytes(VALUES)[:9], "unknown version"),
        (b"", "empty"),
        (b"not an npy file at all", "no npy file"),
        (npz(), "npz archive"),
        (structured(), "structured"),
        (npy_bytes(np.zeros(3), "|O"), "pickle"),
        (npy_bytes(np.zeros(3), "<U2"), "text or times"),
        (npy_bytes(np.zeros(3), "<M8[s]"), "unknown kind"),
        (npy_bytes(np.zeros(3), "<f16"), "which no tensor has"),
        (npy_bytes(np.zeros(4, "u1"), "|V1"), "no meaning of their own"),
        (npy_bytes(VALUES, shape="(2, -2)"), "not an npy header"),
        (npy_bytes(VALUES, shape="(2, x)"), "not an npy header"),
        (npy_bytes(VALUES, shape="(2, (((("), "not an npy header"),
        (npy_bytes(VALUES, shape="(2, True)"), "not an npy header"),
        (npy_bytes(VALUES, shape="(2, 99999999999999)"), "truncated"),
        (npy_bytes(VALUES, shape="(0, 9999999999999999999)"), "numpy cannot hold"),
    ],
)
def test_npy_load_error(runs: Runs, content: bytes, words: str) -> None:
    runs.pair(content, VALUES)
    runs.pair(VALUES, content, name="af_1", origin="r1")
    runs.pair(VALUES, VALUES, name="af_2", origin="r2")
    first, second, third = runs.rows(code=1)
    skipped(first, "NPY_LOAD_ERROR", "the open dump", words)
    skipped(second, "NPY_LOAD_ERROR", "the close dump", words)
    assert (first["close_shape"], third["verdict"]) == ("[4, 6]", "pass")


def test_a_dump_that_cannot_be_opened(runs: Runs) -> None:
    runs.pair(VALUES, VALUES)
    runs.pair(VALUES, VALUES, name="af_1", origin="r1")
    path = runs.dump("open", dump_name("AscBackend", "af_1"), VALUES)
    path.unlink()
    path.symlink_to(path.parent / "nowhere")
    os.mkfifo(runs.root / "open" / dump_name("AscBackend", "af_2"))
    _, row = runs.rows(code=1)
    skipped(row, "FILE_NOT_FOUND")


def test_format_unsupported(runs: Runs) -> None:
    runs.pair(VALUES, VALUES, open_desc=desc(layout="ACME_TILED", shape=[4, 6]))
    skipped(runs.row(code=2), "FORMAT_UNSUPPORTED", "ACME_TILED")


def test_format_conversion_error(runs: Runs) -> None:
    broken = desc(layout="NC1HWC0", origin_shape=[1, 40, 2, 2], origin_format="NCHW")
    runs.pair(
        np.ones((1, 1, 2, 2, 16), "f4"), np.ones((1, 40, 2, 2), "f4"), open_desc=broken, close_desc=desc(layout="NCHW")
    )
    skipped(runs.row(code=2), "FORMAT_CONVERSION_ERROR", "C = 40 needs 3")


def test_shape_mismatch(runs: Runs) -> None:
    runs.pair(VALUES, VALUES[:3])
    runs.pair(np.ones((2, 6)), np.ones((3, 4)), name="af_1", origin="r1")
    first, second = runs.rows(code=2)
    skipped(first, "SHAPE_MISMATCH", "4x6 against 3x6")
    skipped(second, "SHAPE_MISMATCH", "another order of axes")
    assert (first["open_shape"], first["close_shape"]) == ("[4, 6]", "[3, 6]")


@pytest.mark.parametrize("kind", ["Const", "Constant", "Data", "RefData", "Variable", "FileConstant"])
def test_skipped_const_data(runs: Runs, kind: str) -> None:
    runs.open_ops.append(op("source", kind))
    runs.pair(VALUES, VALUES, inputs=["source:0"])
    row, output = runs.rows("--compare-input", code=0)
    skipped(row, "SKIPPED_CONST_DATA", kind)
    assert (row["side"], row["origin_op_name"], output["verdict"]) == ("input", "source", "pass")


def test_no_mapping(runs: Runs) -> None:
    runs.pair(VALUES, VALUES)
    runs.open_ops.append(op("af_1", "FusedAscBackend", [], [desc(), desc(_datadump_origin_name="relu_0")]))
    runs.dump("open", dump_name("FusedAscBackend", "af_1"), VALUES)
    _, nameless, indexless = runs.rows(code=0)
    skipped(nameless, "NO_MAPPING", "_datadump_origin_name")
    skipped(indexless, "NO_MAPPING", "_datadump_origin_output_index")


def test_nothing_but_rows_without_a_mapping_is_nothing_compared(runs: Runs) -> None:
    runs.open_ops.append(op("af_1", "AscBackend", [], [desc()]))
    runs.close_ops.append(op("relu", "Relu"))
    for side in ("open", "close"):
        runs.dump(side, dump_name("Relu", "relu"), VALUES)
    result = runs.run()
    assert result.exit_code == 2
    assert "compared 0 of 1" in result.stderr


COMPUTE_PLUGIN = """
from autofuse.types import LayoutSpec, hookimpl
import numpy

@hookimpl
def autofuse_layout_converters():
    yield LayoutSpec("acme", "Text where numbers should be", "acme:convert", stored="ACME", plain="ND")
    yield LayoutSpec("acme-broken", "Raises", "acme:broken", stored="ACME_BROKEN", plain="ND")
    yield LayoutSpec("acme-tiled", "Reversed", "acme:turned", stored="ACME_TURNED", plain="ND")

def convert(stored, shape, *, groups=1, c0=None):
    return numpy.full(shape, "x")

def broken(stored, shape, *, groups=1, c0=None):
    raise RuntimeError("licence server is away")

def turned(stored, shape, *, groups=1, c0=None):
    return stored[::-1]
"""


def test_compute_error_and_converters_of_other_plugins(runs: Runs, install_plugin: Any) -> None:
    install_plugin("acme", {"acme.py": COMPUTE_PLUGIN})
    runs.pair(VALUES, VALUES, open_desc=desc(layout="ACME"))
    runs.pair(VALUES, VALUES, name="af_1", origin="r1", open_desc=desc(layout="ACME_BROKEN"))
    runs.pair(VALUES[::-1].copy(), VALUES, name="af_2", origin="r2", open_desc=desc(layout="ACME_TURNED"))
    text, broken, turned = runs.rows(code=1)
    skipped(text, "COMPUTE_ERROR")
    # A converter that raises does not fit; without a fit there is no shape to crop to.
    skipped(broken, "FORMAT_CONVERSION_ERROR")
    assert (turned["status"], turned["verdict"], turned["max_abs_error"]) == ("FORMAT_CONVERTED", "pass", 0)


def raw(values: Any, type_number: int = 1, **more: Any) -> RawTensor:
    return RawTensor(values.tobytes(), type_number, values.shape, **more)


def test_no_data(runs: Runs) -> None:
    outputs = [raw(VALUES, address=0), raw(VALUES)]
    runs.pair(None, VALUES)
    runs.pair(None, VALUES, name="af_1", origin="r1")
    runs.open_ops[0]["output_desc"].append(runs.open_ops[1]["output_desc"][0])
    del runs.open_ops[1]
    runs.dump("open", dump_name("AscBackend", "af_0", ""), raw_dump([raw(VALUES)], outputs))
    first, second = runs.rows(code=1)
    skipped(first, "NO_DATA", "address is 0")
    assert (second["verdict"], second["max_abs_error"]) == ("pass", 0)


def test_truncated(runs: Runs) -> None:
    runs.pair(raw_dump([], [raw(VALUES)]), VALUES)
    path = runs.dump("open", dump_name("AscBackend", "af_0", ""), raw_dump([], [raw(VALUES)])[:-4])
    (runs.root / "open" / dump_name("AscBackend", "af_0")).unlink()
    skipped(runs.row(code=2), "TRUNCATED", "holds 92 bytes of data, its header promises 96")
    path.write_bytes(raw_dump([], [raw(VALUES)])[:30])
    skipped(runs.row(code=2), "TRUNCATED", "inside its header")


def test_nan_mismatch(runs: Runs) -> None:
    broken = VALUES.copy()
    broken[2, 3] = np.nan
    runs.pair(broken, VALUES)
    runs.pair(broken, broken, name="af_1", origin="r1")
    row, equal = runs.rows(code=1)
    assert (row["status"], row["verdict"], row["nan_mismatches"]) == ("NAN_MISMATCH", "fail", 1)
    assert (row["first_nan_mismatch"], row["nan_open"], row["nan_close"]) == ("[2, 3]", 1, 0)
    assert (equal["status"], equal["verdict"], equal["nan_equal"], equal["compared"]) == ("OK", "pass", 1, 23)


@pytest.mark.parametrize("a,b", [(np.inf, 1.0), (1.0, -np.inf), (np.inf, -np.inf)])
def test_inf_mismatch(runs: Runs, a: float, b: float) -> None:
    ours, theirs = VALUES.copy(), VALUES.copy()
    ours[1, 0], theirs[1, 0] = a, b
    runs.pair(ours, theirs)
    row = runs.row(code=1)
    assert (row["status"], row["verdict"], row["first_inf_mismatch"]) == ("INF_MISMATCH", "fail", "[1, 0]")


def test_ok_empty(runs: Runs) -> None:
    runs.pair(np.zeros((0, 3), "f4"), np.zeros((0, 3), "f4"))
    runs.pair(VALUES, np.zeros((0, 3), "f4"), name="af_1", origin="r1")
    empty, one_sided = runs.rows(code=1)
    assert (empty["status"], empty["verdict"]) == ("OK_EMPTY", "pass")
    skipped(one_sided, "SHAPE_MISMATCH")


def test_format_ambiguous(runs: Runs) -> None:
    cube = np.arange(16**3, dtype="f4").reshape(1, 16, 16, 16)
    runs.pair(nc1hwc0(cube), cube, open_desc=desc(layout="NC1HWC0"))
    row = runs.row(code=2)
    skipped(row, "FORMAT_AMBIGUOUS", "NCHW or NHWC")
    runs.open_ops.clear()
    runs.pair(nc1hwc0(cube), cube, open_desc=desc(layout="NC1HWC0", origin_format="NCHW"))
    assert runs.row(code=0)["status"] == "FORMAT_CONVERTED"


def test_ambiguous_name(runs: Runs) -> None:
    """`a/b` and `a.b` are both `a_b` in names of files, whatever their types."""
    runs.pair(VALUES, VALUES, name="a/b", origin="x/y")
    runs.pair(VALUES, VALUES, name="a.b", origin="x.y")
    runs.pair(VALUES, VALUES, name="af_2", origin="x\\y")
    runs.pair(VALUES, VALUES, name="af_3", origin="u/v")
    runs.close_ops.append(op("u.v", "Add"))
    rows = runs.rows(code=2)
    for row in rows:
        skipped(row, "AMBIGUOUS_NAME")
    assert "a.b" in rows[0]["reason"]
    assert "u.v" in rows[3]["reason"]
