"""The measures of both engines against exact arithmetic."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest
from autofuse_nwa_precision.metrics import (
    COMPLEX32,
    FLOAT4_E1M2,
    HIFLOAT8,
    PERCENTILE_ERROR,
    PERCENTILE_FLOOR,
    Counts,
    compare,
    is_supported,
)
from autofuse_nwa_precision.metrics.values import decode
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics_exact import FLOATS, INTS, SMALL_FLOATS, Exact, engines, near, pair_of, random_bits, ulp_distance

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of numpy, on the tests' own extreme values

values = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-2, 2),
    st.sampled_from([0.0, -0.0, 1e-300, -1e-300, 5e-324, 1e200, -1e200, 1.7e308, -1.7e308, 1e-8, 1.0, -1.0]),
)


def pairs_of(elements, max_size=40):
    return st.lists(st.tuples(elements, elements), min_size=1, max_size=max_size)


# --- against exact arithmetic -----------------------------------------------------------------------------------------


def assert_exact(metrics, exact):
    cosine, room = exact.cosine()
    assert abs(float(cosine) - metrics.cosine) <= float(room) + 1e-15 * abs(float(cosine)) + 1e-300
    if exact.square_a and exact.square_b:
        cosine, room = exact.cosine(epsilon=exact.dot * 0)
        assert abs(float(cosine) - metrics.cosine_scale_free) <= float(room) + 1e-15 + 1e-300
    else:
        assert metrics.cosine_scale_free == float(exact.square_a == exact.square_b)
    assert near(metrics.mean_abs, exact.mean_abs())
    assert near(metrics.rmse, exact.rmse())
    if exact.square_b:
        assert near(metrics.rel_l2, exact.relative_l2())
    else:
        assert metrics.rel_l2 == (math.inf if exact.square_diff else 0.0)
    errors = exact.relative_errors()
    assert near(metrics.max_rel, max(errors))
    assert near(float(metrics.max_abs), exact.max_abs())
    assert metrics.compared == len(exact.pairs)
    assert metrics.over_1_permille * len(errors) == pytest.approx(sum(error > 1e-3 for error in errors), abs=1)


@engines
@settings(max_examples=150, deadline=None)
@given(pairs_of(values))
def test_float64_is_exact_from_the_smallest_to_the_largest(engine, pairs):
    a, b = np.array(pairs).T
    metrics = compare(a, b, engine=engine)
    exact = Exact(a.tolist(), b.tolist())
    assert_exact(metrics, exact)
    diffs = np.array([float(x - y) if math.isfinite(x - y) else math.inf for x, y in pairs])
    assert metrics.max_abs == np.abs(diffs).max()
    if metrics.worst is not None:
        assert metrics.worst.index == (int(np.argmax(np.abs(diffs))),)
        assert (metrics.worst.a, metrics.worst.b) == pairs[metrics.worst.index[0]]
    assert metrics.equal == sum(x == y for x, y in pairs)
    assert metrics.zeros_in_reference == sum(y == 0 for _, y in pairs)


@engines
@settings(max_examples=60, deadline=None)
@given(st.sampled_from([*FLOATS, *SMALL_FLOATS]), st.data())
def test_narrow_floats_are_exact(engine, dtype, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    a, b = pair_of(rng, dtype, dtype, (data.draw(st.integers(1, 50)),))
    keep = np.isfinite(decode(a).astype(np.float64)) & np.isfinite(decode(b).astype(np.float64))
    if keep.any():
        a, b = a[keep], b[keep]
        assert_exact(compare(a, b, engine=engine), Exact(decode(a).tolist(), decode(b).tolist()))


@engines
@settings(max_examples=60, deadline=None)
@given(pairs_of(st.tuples(values, values).map(lambda pair: complex(*pair)), max_size=15))
def test_complex_numbers_by_modulus(engine, pairs):
    a, b = np.array(pairs).T
    metrics = compare(a, b, engine=engine)
    exact = Exact(a.tolist(), b.tolist())
    assert_exact(metrics, exact)


@engines
@settings(max_examples=80, deadline=None)
@given(st.sampled_from(INTS), st.sampled_from(INTS), st.data())
def test_integers_are_exact(engine, dtype_a, dtype_b, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    a, b = pair_of(rng, dtype_a, dtype_b, (data.draw(st.integers(1, 60)),))
    metrics = compare(a, b, engine=engine)
    x, y = [int(v) for v in decode(a).tolist()], [int(v) for v in decode(b).tolist()]
    diffs = [abs(u - v) for u, v in zip(x, y)]
    assert metrics.max_abs == max(diffs)
    assert isinstance(metrics.max_abs, int)
    assert metrics.mean_abs == pytest.approx(sum(diffs) / len(diffs), rel=1e-15)
    assert metrics.worst is None if not max(diffs) else metrics.worst.index == (diffs.index(max(diffs)),)
    assert_exact(metrics, Exact(x, y))


@engines
def test_the_widest_integers(engine):
    a = np.array([-(2**63), 0, 2**63 - 1], np.int64)
    b = np.array([2**64 - 1, 2**64 - 1, 0], np.uint64)
    metrics = compare(a, b, engine=engine)
    assert metrics.max_abs == 2**63 + 2**64 - 1
    assert (metrics.worst.a, metrics.worst.b) == (-(2**63), 2**64 - 1)
    assert compare(b, a, engine=engine).max_abs == metrics.max_abs
    one = compare(np.array([2**63 + 1], np.uint64), np.array([2**63], np.uint64), engine=engine)
    assert (one.max_abs, one.equal, one.bit_equal) == (1, 0, False)


@engines
@pytest.mark.parametrize("dtype", FLOATS)
def test_ulp_distance(engine, dtype):
    rng = np.random.default_rng(1)
    a, b = random_bits(rng, dtype, (3001,)), random_bits(rng, dtype, (3001,))
    finite = np.isfinite(a.astype(np.float64)) & np.isfinite(b.astype(np.float64))
    a, b = a[finite], b[finite]
    for size in (1, 2, 17, len(a)):
        expected = max(ulp_distance(x, y) for x, y in zip(a[:size], b[:size]))
        assert compare(a[:size], b[:size], engine=engine).max_ulp == expected
    zeros = np.zeros(5, dtype)
    assert compare(-zeros, zeros, engine=engine).max_ulp == 0
    assert compare(-zeros, zeros, engine=engine).bit_equal is False


@engines
def test_ulp_distance_needs_one_type(engine):
    ones = np.ones(4, np.float32)
    assert compare(ones, ones.astype(np.float64), engine=engine).max_ulp is None
    assert compare(ones, ones.astype(">f4"), engine=engine).max_ulp == 0
    assert compare(ones.astype(np.int32), ones.astype(np.int32), engine=engine).max_ulp is None
    assert compare(ones, np.array([1, 1, 1, np.nan], np.float32), engine=engine).max_ulp is None


@engines
@pytest.mark.parametrize("seed", range(5))
def test_percentiles_keep_their_stated_error(engine, seed):
    rng = np.random.default_rng(seed)
    b = rng.standard_normal(5000) * 10.0 ** rng.integers(-12, 12, 5000)
    a = b * (1 + rng.standard_normal(5000) * 10.0 ** rng.integers(-18, 0, 5000))
    metrics = compare(a, b, engine=engine)
    errors = np.sort(np.abs(a - b) / (np.maximum(np.abs(a), np.abs(b)) + 1e-8))
    for percent, estimate in ((50, metrics.p50_rel), (99, metrics.p99_rel)):
        true = errors[math.ceil(len(errors) * percent / 100) - 1]
        assert abs(estimate - true) <= PERCENTILE_ERROR * true + PERCENTILE_FLOOR
    histogram = metrics.histogram
    assert sum(histogram.counts) + histogram.below + histogram.equal == 5000
    counts, _ = np.histogram(errors, histogram.edges)
    # numpy closes the last bin at its upper edge; none of these errors lies on it.
    assert tuple(counts) == histogram.counts


@engines
@settings(max_examples=100, deadline=None)
@given(pairs_of(values, max_size=20), st.sampled_from([None, 0.0, 1e-6, 1.0, 1e300]))
def test_the_smallest_rtol_that_passes(engine, pairs, atol):
    a, b = np.array(pairs).T
    rtol = compare(a, b, atol=atol, engine=engine).rtol_needed
    if math.isinf(rtol):
        assert compare(a, b, rtol=1e308, atol=atol, engine=engine).violations > 0
        return
    assert compare(a, b, rtol=rtol, atol=atol, engine=engine).violations == 0
    if rtol:
        assert compare(a, b, rtol=math.nextafter(rtol, 0), atol=atol, engine=engine).violations > 0


@engines
def test_the_elementwise_rule(engine):
    a, b = np.array([1.0, 2.0, 0.0, -1.0]), np.array([1.0, 2.2, 0.1, 1.0])
    assert compare(a, b, engine=engine).violations is None
    assert compare(a, b, rtol=0.1, engine=engine).violations == 2
    assert compare(a, b, atol=0.1, engine=engine).violations == 2
    assert compare(a, b, rtol=0.1, atol=0.1, engine=engine, measures="basic").violations == 1
    assert compare(np.array([np.nan, np.inf]), np.array([1.0, 2.0]), rtol=1, engine=engine).violations == 2
    assert compare(np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), rtol=1, engine=engine).violations == 0
    assert compare(np.array([5], np.int32), np.array([3], np.uint8), atol=2, engine=engine).violations == 0
    assert compare(np.array([1.0]), np.array([0.0]), engine=engine).rtol_needed == math.inf


# --- values that are no numbers ---------------------------------------------------------------------------------------


@engines
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
@pytest.mark.parametrize("place", [0, 1, 1500, 2999])
def test_a_nan_anywhere_is_seen(engine, dtype, place):
    b = np.linspace(-1, 1, 3000).astype(dtype)
    a = b.copy()
    a[place] = np.nan
    metrics = compare(a, b, engine=engine)
    assert metrics.nan_mismatches == 1
    assert metrics.first_nan_mismatch == metrics.worst.index == (place,)
    assert math.isnan(metrics.worst.a)
    assert metrics.nonfinite_a == Counts(nan=1)
    for measure in (metrics.cosine, metrics.cosine_scale_free, metrics.max_abs, metrics.max_rel, metrics.rel_l2,
                    metrics.mean_abs, metrics.rmse, metrics.norm_ratio):  # fmt: skip
        assert math.isnan(measure)
    assert (metrics.max_ulp, metrics.rtol_needed, metrics.bit_equal) == (None, math.inf, False)
    assert metrics.over_5_permille == 1 / 3000
    a[:] = b
    b = b.copy()
    a[place] = b[place] = np.nan
    metrics = compare(a, b, engine=engine)
    assert (metrics.mismatches, metrics.compared, metrics.nonfinite_equal) == (0, 2999, Counts(nan=1))
    assert (metrics.max_abs, metrics.rel_l2, metrics.cosine_scale_free) == (0, 0, 1)


@engines
def test_infinities(engine):
    inf = np.inf
    a = np.array([inf, -inf, inf, 1.0, inf, np.nan, 3.0])
    b = np.array([inf, -inf, -inf, inf, 2.0, inf, 3.0])
    metrics = compare(a, b, engine=engine)
    assert metrics.nonfinite_a == Counts(nan=1, pos_inf=3, neg_inf=1)
    assert metrics.nonfinite_b == Counts(nan=0, pos_inf=3, neg_inf=2)
    assert metrics.nonfinite_equal == Counts(pos_inf=1, neg_inf=1)
    assert (metrics.nan_mismatches, metrics.first_nan_mismatch) == (1, (5,))
    assert (metrics.inf_mismatches, metrics.first_inf_mismatch) == (3, (2,))
    assert (metrics.compared, metrics.nonfinite_a.total) == (1, 5)
    without_nan = compare(a[:5], b[:5], engine=engine)
    assert (without_nan.max_abs, without_nan.mean_abs, without_nan.rmse) == (inf, inf, inf)
    assert math.isnan(without_nan.cosine)
    assert without_nan.worst.index == (2,)
    one_side = compare(np.array([inf, 1.0]), np.array([1.0, 1.0]), engine=engine)
    assert (one_side.rel_l2, one_side.norm_ratio) == (inf, inf)
    assert compare(np.array([1.0, 1.0]), np.array([inf, 1.0]), engine=engine).norm_ratio == 0


@engines
def test_overflow_of_a_narrow_type_is_an_inf_mismatch(engine):
    metrics = compare(
        np.array([70000.0], np.float32).astype(np.float16), np.array([70000.0], np.float32), engine=engine
    )
    assert (metrics.inf_mismatches, metrics.nan_mismatches) == (1, 0)


@engines
def test_complex_infinities_have_no_sign(engine):
    a = np.array([complex(np.inf, 1), complex(-np.inf, 1), complex(np.nan, np.inf), complex(np.inf, 1)])
    b = np.array([complex(np.inf, 1), complex(np.inf, 1), complex(np.nan, 0), complex(np.inf, 2)])
    metrics = compare(a, b, engine=engine)
    assert metrics.nonfinite_a == Counts(nan=1, pos_inf=3)
    assert metrics.nonfinite_equal == Counts(nan=1, pos_inf=1)
    assert (metrics.inf_mismatches, metrics.first_inf_mismatch) == (2, (1,))


@engines
def test_nothing_to_compare(engine):
    for a, b in [(np.zeros((0, 3)), np.ones((0, 3))), (np.full(3, np.nan), np.full(3, np.nan))]:
        metrics = compare(a, b, rtol=0, engine=engine)
        assert metrics.compared == 0
        assert (metrics.cosine, metrics.cosine_scale_free, metrics.rel_l2) == (0, 1, 0)
        for name in ("max_abs", "max_rel", "mean_abs", "rmse", "norm_ratio", "worst", "p50_rel", "p99_rel",
                     "rtol_needed", "over_1_permille", "max_ulp"):  # fmt: skip
            assert getattr(metrics, name) is None, name
        assert (metrics.violations, metrics.equal, metrics.histogram.counts) == (0, 0, ())


@engines
def test_zeros_and_tiny_tensors(engine):
    zero, tiny = np.zeros(4), np.full(4, 1e-6)
    both = compare(zero, zero, engine=engine)
    assert (both.cosine, both.cosine_scale_free, both.rel_l2, both.norm_ratio) == (0, 1, 0, None)
    assert both.worst is None
    one = compare(tiny, zero, engine=engine)
    assert (one.cosine_scale_free, one.rel_l2, one.norm_ratio) == (0, math.inf, math.inf)
    assert compare(zero, tiny, engine=engine).norm_ratio == 0
    equal = compare(tiny, tiny, engine=engine)
    assert equal.cosine == pytest.approx(4e-12 / (4e-12 + 1e-8))
    assert equal.cosine_scale_free == 1
    assert equal.zeros_in_reference == 0


@engines
@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e200, 1e308])
def test_finite_where_the_result_is(engine, size):
    a, b = np.array([1.0, -0.5, 0.25]) * size, np.array([1.0, -0.5, 0.5]) * size
    metrics = compare(a, b, engine=engine)
    assert metrics.cosine_scale_free == pytest.approx(1.375 / math.sqrt(1.3125 * 1.5), rel=1e-14)
    assert metrics.rel_l2 == pytest.approx(0.25 / math.sqrt(1.5), rel=1e-14)
    assert metrics.norm_ratio == pytest.approx(math.sqrt(1.3125 / 1.5), rel=1e-14)
    assert metrics.rmse == pytest.approx(0.25 * size / math.sqrt(3), rel=1e-12)
    assert metrics.max_abs == b[2] - a[2]
    expected = 1.375 / math.sqrt(1.3125 * 1.5) if size > 1 else 1.375 * size * (size / 1e-8)
    assert metrics.cosine == pytest.approx(expected, rel=1e-12, abs=1e-320)


@engines
def test_a_difference_beyond_float64(engine):
    metrics = compare(np.array([1.5e308, 1.0]), np.array([-1.5e308, 1.0]), rtol=2, engine=engine)
    assert (metrics.max_abs, metrics.max_rel, metrics.rel_l2) == (math.inf, 2, 2)
    assert (metrics.rtol_needed, metrics.violations) == (2, 0)
    assert metrics.mean_abs == 1.5e308


# --- arguments --------------------------------------------------------------------------------------------------------


def test_basic_measures_leave_the_rest_out():
    metrics = compare(np.ones(3), np.zeros(3), measures="basic")
    assert (metrics.max_abs, metrics.rel_l2) == (1, math.inf)
    assert metrics.histogram is None
    assert metrics.bit_equal is None
    assert metrics.p50_rel is None


@pytest.mark.parametrize(
    "options, words",
    [
        ({"measures": "most"}, "measures 'most'"),
        ({"engine": "gpu"}, "engine 'gpu'"),
        ({"rtol": -1.0}, "rtol -1.0"),
        ({"atol": float("nan")}, "atol nan"),
    ],
)
def test_unknown_options(options, words):
    with pytest.raises(ValueError, match=words):
        compare(np.ones(2), np.ones(2), **options)


def test_shapes_and_types_that_cannot_be_compared():
    with pytest.raises(ValueError, match="shapes differ: 2x3 and 3x2"):
        compare(np.ones((2, 3)), np.ones((3, 2)))
    for array in (np.array(["x"]), np.array([None]), np.zeros(1, "V3"), np.zeros(1, [("x", "f4"), ("y", "i4")])):
        with pytest.raises(TypeError, match="dtype"):
            compare(array, array)
        assert not is_supported(array.dtype)
    assert is_supported(np.dtype(ml_dtypes.float8_e8m0fnu))


def test_booleans_of_a_hostile_file_are_true_or_false():
    odd = np.array([2, 0, 255], np.uint8).view(bool)
    for engine in ("numpy", "auto"):
        metrics = compare(odd, np.array([True, False, True]), engine=engine)
        assert (metrics.max_abs, metrics.bit_equal) == (0, False)


def test_the_marker_types():
    assert decode(np.array([0x08, 0x88, 0x6E, 0x01, 0x7F], np.uint8).view(HIFLOAT8)).tolist() == [
        1.0, -1.0, 32768.0, 2.0**-22, 1.5 * 2.0**-15,
    ]  # fmt: skip
    special = decode(np.array([0x80, 0x6F, 0xEF], np.uint8).view(HIFLOAT8))
    assert math.isnan(special[0]) and special[1:].tolist() == [math.inf, -math.inf]
    assert decode(np.array([0, 7, 0xF7, 0x0F], np.uint8).view(FLOAT4_E1M2)).tolist() == [0, 1.75, 1.75, -1.75]
    assert decode(np.array([1.5, -2], np.float16).view(COMPLEX32)).tolist() == [1.5 - 2j]
