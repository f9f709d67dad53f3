"""The engines against each other: types, strides, layouts, threads and instruction sets; and their memory."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from autofuse_formats.layouts.catalog import converter
from autofuse_nwa_precision.metrics import compare, native_engine
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics_exact import ALL, INTS, assert_same, engines, needs_native, pair_of

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of numpy, on the tests' own extreme values


@needs_native
@pytest.mark.parametrize("dtype_a", ALL)
def test_engines_agree_for_every_pair_of_types(dtype_a):
    rng = np.random.default_rng(7)
    for dtype_b in ALL:
        a, b = pair_of(rng, dtype_a, dtype_b, (7, 331))
        for options in ({}, {"measures": "basic"}, {"rtol": 0.1, "atol": 0.01}, {"measures": "basic", "rtol": 0.1}):
            assert_same(compare(a, b, engine="native", **options), compare(a, b, engine="numpy", **options))


@needs_native
def test_integers_are_equal_in_both_engines_to_the_last_bit():
    rng = np.random.default_rng(8)
    for dtype_a in INTS:
        for dtype_b in INTS:
            a, b = pair_of(rng, dtype_a, dtype_b, (5000,))
            assert compare(a, b, engine="native") == compare(a, b, engine="numpy")


def strided_views(a):
    """Views of one array that have its shape, each with another memory order."""
    yield a
    yield np.asfortranarray(a)
    yield np.ascontiguousarray(a[::-1, :, ::-1])[::-1, :, ::-1]
    yield np.ascontiguousarray(a.transpose(2, 0, 1)).transpose(1, 2, 0)
    yield np.ascontiguousarray(a.transpose(1, 2, 0)).transpose(2, 0, 1)
    wide = np.zeros((a.shape[0], a.shape[1] * 2, a.shape[2] + 3), a.dtype)
    wide[:, ::2, 1:-2] = a
    yield wide[:, ::2, 1:-2]
    if a.dtype.names is None and a.dtype.kind in "iufcb":
        yield a.astype(a.dtype.newbyteorder())
    raw = np.zeros(a.nbytes + 1, np.uint8)
    unaligned = raw[1:].view(a.dtype).reshape(a.shape)
    unaligned[...] = a
    yield unaligned


@engines
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.int64, np.complex64, np.complex128, np.bool_])
@pytest.mark.parametrize("shape", [(5, 7, 3), (3, 40, 70), (1, 200, 33)])
def test_strides_do_not_matter(engine, dtype, shape):
    rng = np.random.default_rng(9)
    a, b = pair_of(rng, dtype, dtype, shape)
    expected = compare(a, b, engine=engine)
    others = list(strided_views(b))
    for index, view in enumerate(strided_views(a)):
        for other in (b, others[index], others[(index + 3) % len(others)]):
            assert_same(compare(view, other, engine=engine), expected)


@engines
def test_views_that_repeat_or_have_no_axes(engine):
    row = np.arange(5.0)
    assert compare(np.broadcast_to(row, (4, 5)), np.tile(row, (4, 1)), engine=engine).bit_equal
    assert compare(np.broadcast_to(np.float32(2), (3, 3)), np.full((3, 3), 2.0), engine=engine).max_abs == 0
    scalar = compare(np.array(2.0), np.array(3.0), engine=engine)
    assert (scalar.max_abs, scalar.worst.index) == (1, ())
    assert compare(np.zeros((2, 0, 3)), np.zeros((2, 0, 3)), engine=engine).elements == 0


@needs_native
@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.randoms(use_true_random=False), st.integers(0, 2**32))
def test_random_views(shape, random, seed):
    rng = np.random.default_rng(seed)

    def view(order):
        storage = rng.integers(-3, 4, [shape[axis] + 2 for axis in order]).astype(
            random.choice(["f4", "f2", "f8", "i2"])
        )
        steps = [random.choice([slice(2, None), slice(None, -2), slice(-1, 1, -1)]) for _ in shape]
        return storage[tuple(steps)].transpose(np.argsort(order))

    orders = [random.sample(range(len(shape)), len(shape)) for _ in range(2)]
    a, b = (view(order) for order in orders)
    plain = compare(np.ascontiguousarray(a), np.ascontiguousarray(b), engine="numpy", rtol=0.5)
    for engine in ("numpy", "native"):
        assert_same(compare(a, b, engine=engine, rtol=0.5), plain)


@needs_native
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32, np.complex64])
def test_the_number_of_threads_changes_no_bit(dtype):
    rng = np.random.default_rng(10)
    a = (rng.standard_normal((700, 1901)) * 100).astype(dtype)
    b = (a * (1 + 1e-3 * rng.standard_normal(a.shape))).astype(dtype)
    for x, y in ((a, b), (a.T, np.ascontiguousarray(b.T))):
        first = compare(x, y, threads=1, engine="native")
        assert all(compare(x, y, threads=threads, engine="native") == first for threads in (2, 3, 8))


@needs_native
def test_large_tensors_agree():
    rng = np.random.default_rng(11)
    a = rng.standard_normal((1 << 20) + 77)
    b = a + 1e-9 * rng.standard_normal(a.shape)
    a[12345], b[12345], a[999_999], b[70_000] = np.nan, np.nan, 1e170, -1e-170
    assert_same(compare(a, b, engine="native"), compare(a, b, engine="numpy"))


@engines
def test_worst_is_the_first_of_equals_in_the_plain_order(engine):
    a = np.zeros((300, 400), np.float32)
    b = a.copy()
    b[7, 300] = b[200, 5] = b[7, 301] = 1
    assert compare(np.asfortranarray(a), np.asfortranarray(b), engine=engine).worst.index == (7, 300)
    b[7, 300] = b[299, 0] = np.nan
    metrics = compare(np.asfortranarray(a), b, engine=engine)
    assert metrics.first_nan_mismatch == (7, 300)


# --- stored layouts ---------------------------------------------------------------------------------------------------


def stored_and_plain(layout, plain, shape, c0, dtype, rng):
    """A stored tensor of random elements, padding included, and its plain tensor as a lazy view and as an array."""
    convert = converter(layout, plain)
    stored = rng.integers(-9, 10, stored_shape(layout, dict(zip(plain, shape)), shape, c0)).astype(dtype)
    return convert.view(stored, shape), convert(stored, shape)


def stored_shape(layout, sizes, shape, c0):
    up = lambda extent, tile: -(-extent // tile)  # noqa: E731
    if layout == "FRACTAL_NZ":
        return (*shape[:-2], up(shape[-1], c0), up(shape[-2], 16), 16, c0)
    n, c, h, w = (sizes[letter] for letter in "NCHW")
    return {
        "NC1HWC0": (n, up(c, c0), h, w, c0),
        "FRACTAL_Z": (up(c, c0) * h * w, up(n, 16), 16, c0),
        "C1HWNCoC0": (up(c, c0), h, w, n, c0, c0),
    }[layout]


LAYOUTS = [
    ("NC1HWC0", "NCHW"),
    ("NC1HWC0", "NHWC"),
    ("FRACTAL_Z", "NCHW"),
    ("FRACTAL_Z", "HWCN"),
    ("C1HWNCoC0", "HWCN"),
]


@engines
@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(LAYOUTS), st.tuples(*[st.integers(1, 40)] * 2, *[st.integers(1, 6)] * 2).flatmap(st.permutations),
    st.sampled_from([4, 7, 8, 16, 32]), st.sampled_from([4, 6, 8, 16]), st.integers(0, 2**32),
)  # fmt: skip
def test_tiled_views_are_compared_like_plain_arrays(engine, pair, shape, c0, other_c0, seed):
    rng = np.random.default_rng(seed)
    layout, plain = pair
    shape = tuple(shape)
    tiled, array = stored_and_plain(layout, plain, shape, c0, np.float16, rng)
    other = rng.integers(-9, 10, shape).astype(np.float32)
    expected = compare(array, other, engine="numpy", rtol=0.5)
    assert_same(compare(tiled, other, engine=engine, rtol=0.5), expected)
    assert_same(compare(tiled, np.asfortranarray(other), engine=engine, rtol=0.5), expected)
    swapped = compare(other, tiled, engine=engine)
    assert (swapped.worst is None) == (expected.worst is None)
    assert swapped.worst is None or swapped.worst.index == expected.worst.index
    second, second_array = stored_and_plain("NC1HWC0", plain, shape, other_c0, np.float16, rng)
    assert_same(compare(tiled, second, engine=engine), compare(array, second_array, engine="numpy"))


@engines
@settings(max_examples=40, deadline=None)
@given(st.integers(1, 3), st.integers(1, 70), st.integers(1, 70), st.sampled_from([8, 16, 32]), st.integers(0, 2**32))
def test_fractal_matrices_are_compared_like_plain_arrays(engine, batch, rows, columns, w0, seed):
    rng = np.random.default_rng(seed)
    shape = (batch, rows, columns)
    tiled, array = stored_and_plain("FRACTAL_NZ", "ND", shape, w0, np.float32, rng)
    second, second_array = stored_and_plain("FRACTAL_NZ", "ND", shape, 16, np.float32, rng)
    assert_same(compare(tiled, second, engine=engine), compare(array, second_array, engine="numpy"))


@engines
def test_a_mismatch_in_a_tiled_view_has_its_plain_index(engine):
    for index in itertools.product((0, 1), (0, 15, 16, 34), (0, 2), (0, 4)):
        tiled, array = stored_and_plain("NC1HWC0", "NCHW", (2, 35, 3, 5), 16, np.float32, np.random.default_rng(1))
        other = array.copy()
        other[index] = np.nan
        metrics = compare(tiled, other, engine=engine)
        assert metrics.first_nan_mismatch == metrics.worst.index == index
        assert metrics.worst.a == array[index]


def test_tiled_views_of_unequal_shape():
    tiled, _ = stored_and_plain("NC1HWC0", "NCHW", (2, 35, 3, 5), 16, np.float32, np.random.default_rng(1))
    with pytest.raises(ValueError, match="shapes differ: 2x35x3x5 and 2x35x5x3"):
        compare(tiled, np.zeros((2, 35, 5, 3)))


# --- builds, memory ---------------------------------------------------------------------------------------------------


@needs_native
@pytest.mark.parametrize("instructions", ["baseline", "avx2", "avx512"])
def test_every_instruction_set_agrees_with_numpy(instructions):
    """In a process of its own, since the choice is made once; a set that the processor lacks falls back to another."""
    code = "import numpy, metrics_exact as m, sys; m.check_engines(sys.argv[1])"
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    environment = {**os.environ, "AUTOFUSE_KERNEL_ISA": instructions, "PYTHONPATH": path}
    result = subprocess.run(
        [sys.executable, "-c", code, instructions], env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() in (instructions, "baseline")


def test_the_numpy_engine_prints_no_warning():
    extreme = np.array([np.nan, np.inf, 1e308, -1e308, 0, 5e-324])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compare(extreme, extreme[::-1], engine="numpy", rtol=0.1)
        compare(extreme.astype(complex), extreme[::-1], engine="numpy", rtol=0.1)


def test_without_the_kernel_numpy_is_used(monkeypatch):
    package = "autofuse_nwa_precision.metrics"
    monkeypatch.setitem(sys.modules, f"{package}._kernel", None)
    monkeypatch.delitem(sys.modules, f"{package}.native", raising=False)
    monkeypatch.delattr(f"{package}._kernel", raising=False)
    assert native_engine() is None
    assert compare(np.ones(3), np.zeros(3)).max_abs == 1
    with pytest.raises(ImportError, match="C\\+\\+ compiler"):
        compare(np.ones(3), np.zeros(3), engine="native")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@needs_native
@pytest.mark.parametrize("measures", ["all", "basic"])
def test_memory_does_not_grow_with_the_tensor(tmp_path, measures):
    files = []
    for name in "ab":
        path = tmp_path / name
        with path.open("wb") as file:
            file.truncate(256 << 20)
        files.append(np.memmap(path, np.float32, "r"))
    compare(files[0][:1000], files[1][:1000], measures=measures)
    before = anonymous_memory()
    compare(*files, measures=measures)
    assert anonymous_memory() - before < 50 << 20


def anonymous_memory():
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) * 1024


def test_doctor_names_the_engine(autofuse_cli):
    result = autofuse_cli("doctor")
    line = next(line for line in result.stdout.splitlines() if "metric-kernel" in line)
    assert ("native" if native_engine() else "reinstall") in line
