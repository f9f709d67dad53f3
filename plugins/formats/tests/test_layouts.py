"""Layout converters against stored tensors built element by element from the index rules, with garbage as padding."""

from __future__ import annotations

import importlib
import itertools
import math

import numpy as np
import pytest
from autofuse_formats import plugin
from autofuse_formats.layouts import TiledView, fits, is_plain, padded_shape, plain_or_nd, resolve_nd
from hypothesis import given, settings
from hypothesis import strategies as st

SPECS = {(spec.stored, spec.plain): spec for spec in plugin.autofuse_layout_converters()}
FOUR = ("NCHW", "NHWC", "HWCN", "CHWN")
FIVE = ("NCDHW", "NDHWC", "DHWCN", "DHWNC")
extents = st.integers(1, 5)
channels = st.integers(1, 40)
c0s = st.sampled_from([4, 8, 16, 32])


def converter(stored, plain):
    module, _, name = SPECS[stored, plain].factory.partition(":")
    return getattr(importlib.import_module(module), name)


def up(a, b):
    return -(-a // b)


def garbage(shape):
    """What padding may hold: numbers that no plain tensor of these tests has, NaN among them."""
    filled = np.full(shape, -7.0, np.float32)
    filled.reshape(-1)[::3] = np.nan
    return filled


def plain_values(shape):
    return np.arange(1, math.prod(shape) + 1, dtype=np.float32).reshape(shape)


def store(sizes, shape, place):
    """The stored tensor of `shape` and its elements by letters: `place` gives the stored index of (n=…, c=…, …)."""
    letters = "".join(sizes)
    values = plain_values(tuple(sizes.values()))
    stored = garbage(shape)
    for index in itertools.product(*(range(extent) for extent in sizes.values())):
        stored[place(**dict(zip(letters.lower(), index)))] = values[index]
    return stored, values, letters


def check(layout, plain, stored, values, letters, **options):
    """The array, the lazy view, and a strided stored tensor all give the plain tensor."""
    order = [letters.index(letter) for letter in plain] if plain != "ND" else range(values.ndim)
    expected = values.transpose(order)
    convert = converter(layout, plain)
    np.testing.assert_array_equal(convert(stored, expected.shape, **options), expected)
    lazy = convert.view(stored, expected.shape, **options)
    assert lazy.shape == expected.shape
    assert lazy.dtype == expected.dtype
    np.testing.assert_array_equal(np.asarray(lazy), expected)
    np.testing.assert_array_equal(convert(np.asfortranarray(stored), expected.shape, **options), expected)
    np.testing.assert_array_equal(convert(stored[..., ::-1][..., ::-1], expected.shape, **options), expected)
    assert convert.fits(stored.shape, expected.shape, groups=options.get("groups", 1))
    if convert.fits((stored.size,), expected.shape, groups=options.get("groups", 1)):
        with_c0 = {**options, "c0": stored.shape[-1]}
        flat = stored.reshape(-1)
        np.testing.assert_array_equal(convert(flat, expected.shape, **with_c0), expected)
    else:
        assert stored.shape[-1] not in (16, 32) or values.ndim == 1


def nc1hwc0(n, c, h, w, c0):
    sizes = {"N": n, "C": c, "H": h, "W": w}
    return store(sizes, (n, up(c, c0), h, w, c0), lambda n, c, h, w: (n, c // c0, h, w, c % c0))


@settings(max_examples=40, deadline=None)
@given(extents, channels, extents, extents, c0s, st.sampled_from(FOUR))
def test_nc1hwc0(n, c, h, w, c0, plain):
    stored, values, letters = nc1hwc0(n, c, h, w, c0)
    check("NC1HWC0", plain, stored, values, letters)
    assert padded_shape("NC1HWC0", "NCHW", stored.shape) == (n, up(c, c0) * c0, h, w)


@pytest.mark.parametrize("plain", FOUR)
def test_nc1hwc0_c04(plain):
    stored, values, letters = nc1hwc0(2, 3, 3, 5, 4)
    check("NC1HWC0_C04", plain, stored, values, letters, c0=4)
    other, values, _ = nc1hwc0(2, 3, 3, 5, 16)
    with pytest.raises(ValueError, match="C0 is 4"):
        converter("NC1HWC0_C04", "NCHW")(other, (2, 3, 3, 5))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 3), st.integers(1, 3), channels, extents, extents, c0s, st.sampled_from(FIVE))
def test_ndc1hwc0(n, d, c, h, w, c0, plain):
    sizes = {"N": n, "D": d, "C": c, "H": h, "W": w}
    stored, values, letters = store(
        sizes, (n, d, up(c, c0), h, w, c0), lambda n, d, c, h, w: (n, d, c // c0, h, w, c % c0)
    )
    check("NDC1HWC0", plain, stored, values, letters)


@pytest.mark.parametrize("plain", ["NCHW", "NHWC"])
def test_ndc1hwc0_with_a_4d_original(plain):
    sizes = {"N": 2, "C": 19, "H": 3, "W": 5}
    stored, values, letters = store(sizes, (2, 1, 2, 3, 5, 16), lambda n, c, h, w: (n, 0, c // 16, h, w, c % 16))
    check("NDC1HWC0", plain, stored, values, letters)
    deep = np.zeros((2, 2, 2, 3, 5, 16), np.float32)
    with pytest.raises(ValueError, match="D = 1"):
        converter("NDC1HWC0", "NCHW")(deep, (2, 19, 3, 5))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 3), max_size=3),
    st.integers(1, 40),
    st.integers(1, 70),
    c0s,
    st.sampled_from(["FRACTAL_NZ", "FRACTAL_ZZ"]),
)
def test_fractal_matrices(batch, rows, columns, w0, layout):
    shape = (*batch, rows, columns)
    values = plain_values(shape)
    tiles = (up(columns, w0), up(rows, 16)) if layout == "FRACTAL_NZ" else (up(rows, 16), up(columns, w0))
    stored = garbage((*batch, *tiles, 16, w0))
    for index in itertools.product(*map(range, shape)):
        h, w = index[-2:]
        tile = (w // w0, h // 16) if layout == "FRACTAL_NZ" else (h // 16, w // w0)
        stored[(*index[:-2], *tile, h % 16, w % w0)] = values[index]
    check(layout, "ND", stored, values, "")
    assert padded_shape(layout, "ND", stored.shape) == (*batch, up(rows, 16) * 16, up(columns, w0) * w0)


@pytest.mark.parametrize("w0", [16, 32])
def test_fractal_nz_with_c0_in_its_name(w0):
    stored = garbage((3, 1, 16, w0))
    values = plain_values((5, 2 * w0 + 1))
    for h, w in itertools.product(range(5), range(2 * w0 + 1)):
        stored[w // w0, 0, h, w % w0] = values[h, w]
    check(f"FRACTAL_NZ_C0_{w0}", "ND", stored, values, "", c0=w0)
    with pytest.raises(ValueError, match="C0 is"):
        converter(f"FRACTAL_NZ_C0_{48 - w0}", "ND")(stored, values.shape)


@pytest.mark.parametrize("extent", [1, 7, 16, 17, 50])
def test_fractal_nz_of_a_vector(extent):
    row, column = garbage((up(extent, 16), 1, 16, 16)), garbage((1, up(extent, 16), 16, 16))
    values = plain_values((extent,))
    for k in range(extent):
        row[k // 16, 0, 0, k % 16] = values[k]
        column[0, k // 16, k % 16, 0] = values[k]
    check("FRACTAL_NZ", "ND", row, values, "")
    if extent > 16:
        check("FRACTAL_NZ", "ND", column, values, "")


@settings(max_examples=30, deadline=None)
@given(channels, channels, st.integers(1, 3), st.integers(1, 3), c0s, st.sampled_from(FOUR))
def test_fractal_z(n, c, h, w, c0, plain):
    height, width = h, w
    stored, values, letters = store(
        {"N": n, "C": c, "H": h, "W": w},
        (up(c, c0) * h * w, up(n, 16), 16, c0),
        lambda n, c, h, w: ((c // c0) * height * width + h * width + w, n // 16, n % 16, c % c0),
    )
    check("FRACTAL_Z", plain, stored, values, letters)
    if c0 == 4:
        check("FRACTAL_Z_C04", plain, stored, values, letters)
    assert padded_shape("FRACTAL_Z", plain, stored.shape) is None


@settings(max_examples=30, deadline=None)
@given(
    channels, st.integers(1, 3), channels, st.integers(1, 2), st.integers(1, 3), c0s, st.sampled_from(FIVE),
    st.booleans(),
)  # fmt: skip
def test_fractal_z_3d(n, d, c, h, w, c0, plain, transposed):
    height, width = h, w
    tiles = up(n if transposed else c, c0)

    def place(n, d, c, h, w):
        tiled, rows = (n, c) if transposed else (c, n)
        return (d * tiles + tiled // c0) * height * width + h * width + w, rows // 16, rows % 16, tiled % c0

    shape = (d * tiles * h * w, up(c if transposed else n, 16), 16, c0)
    stored, values, letters = store({"N": n, "D": d, "C": c, "H": h, "W": w}, shape, place)
    check("FRACTAL_Z_3D_TRANSPOSE" if transposed else "FRACTAL_Z_3D", plain, stored, values, letters)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(2, 12), st.integers(1, 12), st.integers(1, 20), st.integers(1, 3), st.integers(1, 2), c0s,
    st.sampled_from(FOUR),
)  # fmt: skip
def test_fractal_z_of_a_grouped_convolution(groups, outputs, c, h, w, c0, plain):
    height, width, channels_of_group = h, w, c
    shared = min(math.lcm(math.lcm(c, c0) // c, math.lcm(outputs, 16) // outputs), groups)
    row_tiles, blocks = up(shared * c, c0), up(groups, shared)

    def place(n, c, h, w):
        group, output = divmod(n, outputs)
        row, column = group % shared * channels_of_group + c, group % shared * outputs + output
        first = (group // shared * row_tiles + row // c0) * height * width + h * width + w
        return first, column // 16, column % 16, row % c0

    shape = (blocks * row_tiles * h * w, up(shared * outputs, 16), 16, c0)
    stored, values, letters = store({"N": groups * outputs, "C": c, "H": h, "W": w}, shape, place)
    check("FRACTAL_Z", plain, stored, values, letters, groups=groups)


@settings(max_examples=20, deadline=None)
@given(channels, extents, extents, extents, st.sampled_from([4, 8, 16]), st.sampled_from(FOUR))
def test_c1hwncoc0(c, h, w, n, c0, plain):
    stored, values, letters = store(
        {"N": n, "C": c, "H": h, "W": w},
        (up(c, c0), h, w, n, c0, c0),
        lambda n, c, h, w: (c // c0, h, w, n, c % c0, c % c0),
    )
    check("C1HWNCoC0", plain, stored, values, letters)


@pytest.mark.parametrize("stored, plain", [pair for pair in SPECS if is_plain(pair[0])])
def test_plain_permutations_are_views(stored, plain):
    shape = tuple(range(2, 2 + len(stored)))
    values = plain_values(shape)
    result = converter(stored, plain)(values, tuple(shape[stored.index(letter)] for letter in plain))
    assert np.shares_memory(result, values)
    index = dict(zip(stored, (1, 2, 3, 4, 5)))
    assert result[tuple(index[letter] for letter in plain)] == values[tuple(index[letter] for letter in stored)]


@pytest.mark.parametrize(
    "layout, plain, shape, dtype, c0",
    [
        ("NC1HWC0", "NCHW", (2, 35, 3, 5), np.float16, 16),
        ("NC1HWC0", "NHWC", (2, 3, 5, 35), np.int8, 32),
        ("NC1HWC0_C04", "NCHW", (2, 3, 3, 5), np.float16, 4),
        ("FRACTAL_NZ", "ND", (3, 20, 50), np.float32, 16),
        ("FRACTAL_NZ_C0_32", "ND", (20, 50), np.float16, 32),
        ("FRACTAL_ZZ", "ND", (20, 50), np.int8, 32),
    ],
)
def test_one_row_of_elements_has_the_usual_c0(layout, plain, shape, dtype, c0):
    sizes = dict(zip(plain, shape))
    if plain == "ND":
        rows, columns = (1, *shape)[-2:]
        tiles = (up(columns, c0), up(rows, 16))
        stored_shape = (*shape[:-2], *(tiles[::-1] if layout == "FRACTAL_ZZ" else tiles), 16, c0)
    else:
        stored_shape = (sizes["N"], up(sizes["C"], c0), sizes["H"], sizes["W"], c0)
    stored = np.random.default_rng(0).integers(0, 100, stored_shape).astype(dtype)
    convert = converter(layout, plain)
    np.testing.assert_array_equal(convert(stored.reshape(-1), shape), convert(stored, shape))
    with pytest.raises(ValueError, match="does not hold"):
        convert(stored.reshape(-1)[1:], shape)


def test_every_plain_pair_of_one_rank_is_registered():
    for names in (FOUR, FIVE):
        assert {(x, y) for x in names for y in names if x != y} <= set(SPECS)
    assert ("C1HWNC0", "ND") not in SPECS  # the format list names it, no rule is published


def test_views_share_the_stored_memory():
    stored, _, _ = nc1hwc0(2, 35, 3, 5, 16)
    lazy = converter("NC1HWC0", "NHWC").view(stored, (2, 3, 5, 35))
    assert isinstance(lazy, TiledView)
    assert np.shares_memory(lazy.blocks, stored)
    assert (lazy.ndim, lazy.size) == (4, 2 * 3 * 5 * 35)
    one_tile, _, _ = nc1hwc0(2, 11, 3, 5, 16)
    plain = converter("NC1HWC0", "NCHW")(one_tile, (2, 11, 3, 5))
    assert np.shares_memory(plain, one_tile)


@pytest.mark.parametrize("size", [0, 3])
def test_empty_extents(size):
    assert converter("NC1HWC0", "NCHW")(np.zeros((0, 2, 3, size, 16)), (0, 20, 3, size)).shape == (0, 20, 3, size)
    assert converter("FRACTAL_NZ", "ND")(np.zeros((size, 0, 16, 16)), (0, 16 * size)).shape == (0, 16 * size)


@pytest.mark.parametrize(
    "layout, plain, stored, shape, options, words",
    [
        ("NC1HWC0", "NCHW", (1, 2, 3, 4, 16), (1, 40, 3, 4), {}, "C = 40 needs 3 tiles of 16, stored are 2"),
        ("NC1HWC0", "NCHW", (1, 2, 3, 4, 16), (1, 16, 3, 4), {}, "C = 16 needs 1 tiles of 16"),
        ("NC1HWC0", "NHWC", (1, 2, 3, 4, 16), (1, 3, 5, 20), {}, "W = 5 needs 5, stored are 4"),
        ("NC1HWC0", "NCHW", (1, 2, 3, 16), (1, 20, 3, 4), {}, "4 axes instead of 5"),
        ("NC1HWC0", "NCHW", (1, 2, 3, 4, 16), (20, 3, 4), {}, "NCHW has 4 axes"),
        ("NC1HWC0", "NCHW", (), (), {}, "0 axes instead of 5"),
        ("NC1HWC0", "NCHW", (1, 2, 3, 4, 16), (1, 20, 3, -4), {}, "negative"),
        ("NC1HWC0", "NCHW", (1, 2, 3, 4, 0), (1, 20, 3, 4), {}, "extent is 0"),
        ("NC1HWC0", "NCHW", (1, 2, 3, 4, 16), (1, 20, 3, 4), {"c0": 32}, "C0 is 32"),
        ("NC1HWC0", "NCHW", (1, 2, 3, 4, 16), (1, 20, 3, 4), {"groups": 2}, "only FRACTAL_Z"),
        ("FRACTAL_NZ", "ND", (2, 2, 16, 16), (20, 50), {}, "W = 50 needs 4 tiles"),
        ("FRACTAL_NZ", "ND", (2, 2, 8, 16), (20, 30), {}, "16, not 8"),
        ("FRACTAL_NZ", "ND", (2, 2, 16, 16), (3, 20, 30), {}, "4 axes instead of 5"),
        ("FRACTAL_NZ", "ND", (2, 16, 16), (20,), {}, "3 axes instead of 4"),
        ("FRACTAL_NZ", "ND", (2, 2, 16, 16), (), {}, "at least 2 axes"),
        ("FRACTAL_NZ", "ND", (2, 2, 16, 16), (100,), {}, "100"),
        ("FRACTAL_ZZ", "ND", (2, 2, 16, 16), (30,), {}, "at least 2 axes"),
        ("FRACTAL_Z", "NCHW", (5, 2, 16, 16), (20, 30, 1, 2), {}, "2*1*2 = 4"),
        ("FRACTAL_Z", "NCHW", (4, 2, 8, 16), (20, 30, 1, 2), {}, "16, not 8"),
        ("FRACTAL_Z", "NCHW", (4, 2, 16, 16), (21, 30, 1, 2), {"groups": 2}, "no multiple of 2 groups"),
        ("FRACTAL_Z", "NCHW", (4, 2, 16, 16), (20, 0, 1, 2), {"groups": 2}, "extent is 0"),
        ("FRACTAL_Z", "NCHW", (4, 2, 16, 16), (20, 30, 1, 2), {"groups": 2}, "need"),
        ("C1HWNCoC0", "HWCN", (1, 2, 3, 4, 16, 8), (2, 3, 8, 4), {}, "are equal"),
        ("NCHW", "NHWC", (2, 3, 4, 5), (2, 3, 4, 5), {}, "2x4x5x3"),
        ("NCHW", "NHWC", (2, 3, 4), (2, 3, 4, 5), {}, "3 axes instead of 4"),
        ("NC1HWC0", "ND", (2, 1, 16, 16, 16), (9, 9, 9, 9), {}, "no order"),
        ("NC1HWC0", "ND", (16, 1, 16, 16, 16), (16, 16, 16, 16), {}, "ambiguous: NCHW and NHWC"),
    ],
)  # fmt: skip
def test_a_stored_shape_that_does_not_fit_is_named(layout, plain, stored, shape, options, words):
    convert = converter(layout, plain)
    with pytest.raises(ValueError) as caught:
        convert(np.zeros(stored, np.int8), shape, **options)
    assert words in str(caught.value)
    assert layout in str(caught.value)
    if "c0" not in options:
        assert not convert.fits(stored, shape, groups=options.get("groups", 1))


def test_a_converter_to_nd_finds_the_only_order():
    stored, values, _ = nc1hwc0(2, 19, 3, 5, 16)
    np.testing.assert_array_equal(converter("NC1HWC0", "ND")(stored, (2, 3, 5, 19)), values.transpose(0, 2, 3, 1))


@pytest.mark.parametrize(
    "stored, stored_shape, shape, origin, expected",
    [
        ("NC1HWC0", (2, 2, 3, 5, 16), (2, 19, 3, 5), None, "NCHW"),
        ("NC1HWC0", (2, 2, 3, 5, 16), (2, 3, 5, 19), "NCHW", "NHWC"),
        ("NC1HWC0", (16, 1, 16, 16, 16), (16, 16, 16, 16), None, None),
        ("NC1HWC0", (16, 1, 16, 16, 16), (16, 16, 16, 16), "NHWC", "NHWC"),
        ("NC1HWC0", (16, 1, 16, 16, 16), (16, 16, 16, 16), "ND", None),
        ("NC1HWC0", (7, 1, 1, 1, 16), (7, 1, 1, 1), None, "NCHW"),
        ("NC1HWC0", (2, 2, 3, 5, 16), (3, 5, 19, 2), None, "HWCN"),
        ("NDC1HWC0", (2, 4, 2, 3, 5, 16), (2, 4, 3, 5, 19), None, "NDHWC"),
        ("NDC1HWC0", (2, 1, 2, 3, 5, 16), (2, 3, 5, 19), None, "NHWC"),
        ("FRACTAL_NZ", (2, 2, 16, 16), (20, 30), None, "ND"),
        ("FRACTAL_Z", (4, 2, 16, 16), (20, 30, 1, 2), None, "NCHW"),
        ("NCHW", (2, 3, 4, 5), (2, 3, 4, 5), None, "ND"),
        ("NCHW", (2, 3, 4, 5), (2, 4, 5, 3), None, "NHWC"),
        ("ND", (2, 3), (2, 3), None, "ND"),
    ],
)
def test_resolve_nd(stored, stored_shape, shape, origin, expected):
    assert resolve_nd(stored, stored_shape, shape, origin) == expected


@pytest.mark.parametrize("stored, stored_shape", [("NC1HWC0", (2, 2, 3, 5, 16)), ("NCHW", (2, 3)), ("SECRET", (2, 3))])
def test_resolve_nd_without_an_order(stored, stored_shape):
    with pytest.raises(ValueError, match="in any order"):
        resolve_nd(stored, stored_shape, (9, 9, 9, 9))


def test_names_and_ranks():
    assert plain_or_nd("NCHW", 4) == "NCHW"
    assert plain_or_nd("NCHW", 2) == "ND"
    assert plain_or_nd("FRACTAL_NZ", 2) == "FRACTAL_NZ"
    assert is_plain("ND")
    assert not is_plain("NC1HWC0")
    assert fits("ND", "ND", (2, 3), (2, 3))
    assert fits("NC1HWC0", "NCHW", (2, 2, 3, 5, 16), (2, 19, 3, 5))
    assert fits("FRACTAL_Z", "NCHW", (2, 1, 16, 16), (16, 4, 1, 2), groups=4)
    assert not fits("NC1HWC0", "NCHW", (2, 2, 3, 5, 16), (2, 16, 3, 5))
    assert not fits("NC1HWC0", "NC", (2, 2, 3, 5, 16), (2, 19))
    assert not fits("NC1HWC0", "NCHW", (2**62, 2**62, 3, 5, 16), (2, 19, 3, 5))


def test_padded_shapes():
    assert padded_shape("NDC1HWC0", "NDHWC", (1, 2, 3, 4, 5, 16)) == (1, 2, 4, 5, 48)
    assert padded_shape("NDC1HWC0", "NHWC", (1, 1, 3, 4, 5, 16)) == (1, 4, 5, 48)
    assert padded_shape("NDC1HWC0", "NHWC", (1, 2, 3, 4, 5, 16)) is None
    assert padded_shape("C1HWNCoC0", "HWCN", (2, 3, 3, 5, 16, 16)) == (3, 3, 32, 5)
    assert padded_shape("C1HWNCoC0", "HWCN", (2, 3, 3, 5, 16, 8)) is None
    assert padded_shape("NCHW", "NHWC", (2, 3, 4, 5)) == (2, 4, 5, 3)
    assert padded_shape("NCHW", "NHWC", (2, 3)) is None
    assert padded_shape("ND", "ND", (2, 3)) == (2, 3)
    assert padded_shape("NC1HWC0", "ND", (1, 2, 3, 4, 16)) is None
    assert padded_shape("FRACTAL_NZ", "ND", (1, 2)) is None
    assert padded_shape("SECRET", "ND", (1, 2)) is None
