"""Whatever order and layout the two sides have, a row compares the right elements or says that nothing tells them."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np
import pytest
from autofuse.cli.app import App
from autofuse_nwa_precision.alignment import align
from autofuse_nwa_precision.comparison import measure
from autofuse_nwa_precision.converters import Converters
from autofuse_nwa_precision.dtypes import element_type
from autofuse_nwa_precision.dumps.tensor import Tensor
from autofuse_nwa_precision.shapes import common_refinement
from autofuse_nwa_precision.statuses import RowError
from autofuse_nwa_precision.tolerance import Limits
from hypothesis import given, settings
from hypothesis import strategies as st

CONVERTERS = Converters.of(App().host)
FLOAT = element_type("float32")
EXTENTS = st.integers(1, 6)


def tensor(
    array: Any, layout: str, original: Optional[Tuple[int, ...]] = None, origin: str = "", groups: int = 1
) -> Tensor:
    assert FLOAT is not None
    return Tensor("file", array, FLOAT, layout, original, groups, None, origin)


def distinct(shape: Tuple[int, ...]) -> Any:
    """Every element is another number, so that a wrong order shows."""
    return np.arange(1, int(np.prod(shape)) + 1, dtype="f4").reshape(shape)


def ordered(values: Any, letters: str, order: str) -> Any:
    """The tensor with axes `letters` in another order."""
    return np.ascontiguousarray(values.transpose([letters.index(letter) for letter in order]))


def stored_as(layout: str, plain: Any, c0: int) -> Any:
    """The stored form of an NCHW tensor by the index rule, with garbage in the padding."""
    n, c, h, w = plain.shape
    c1, n1 = -(-c // c0), -(-n // 16)
    shape = {
        "NC1HWC0": (n, c1, h, w, c0),
        "NDC1HWC0": (n, 1, c1, h, w, c0),
        "FRACTAL_Z": (c1 * h * w, n1, 16, c0),
        "C1HWNCoC0": (c1, h, w, n, c0, c0),
    }[layout]
    stored = np.full(shape, -7e7, "f4")
    for i, channel, y, x in np.ndindex(n, c, h, w):
        tile, place = divmod(channel, c0)
        index: Tuple[int, ...] = {
            "NC1HWC0": (i, tile, y, x, place),
            "NDC1HWC0": (i, 0, tile, y, x, place),
            "FRACTAL_Z": (tile * h * w + y * w + x, i // 16, i % 16, place),
            "C1HWNCoC0": (tile, y, x, i, place, place),
        }[layout]
        stored[index] = plain[i, channel, y, x]
    return stored


def error(a: Tensor, b: Tensor) -> Optional[float]:
    """The largest error, or None when the row says that it cannot tell."""
    try:
        aligned = align(a, b, CONVERTERS)
    except RowError as caught:
        if caught.status != "FORMAT_AMBIGUOUS":
            raise
        return None
    found = measure(aligned.a, aligned.b, Limits(), "basic", 1).max_abs
    return float(found or 0)


LAYOUTS = st.sampled_from(["NC1HWC0", "NDC1HWC0", "FRACTAL_Z", "C1HWNCoC0"])
ORDERS = st.sampled_from(["NCHW", "NHWC", "HWCN", "CHWN"])


@settings(max_examples=300, deadline=None)
@given(LAYOUTS, st.tuples(EXTENTS, EXTENTS, EXTENTS, EXTENTS), st.sampled_from([4, 8, 16]), ORDERS, ORDERS, st.data())
def test_stored_against_plain(layout: str, shape: Tuple[int, ...], c0: int, order: str, origin: str, data: Any) -> None:
    """The other side has a name or is ND; the original shape and its order are known or not."""
    if layout in ("NC1HWC0", "NDC1HWC0"):
        order, origin = data.draw(st.sampled_from([("NCHW", "NHWC"), ("NHWC", "NCHW"), ("NCHW", "NCHW")]))
    plain = distinct(shape)
    other = ordered(plain, "NCHW", order)
    named = data.draw(st.booleans())
    told = data.draw(st.sampled_from(["nothing", "shape", "shape and order"]))
    # "ND" of the other side is in the original order where that is told.
    origin = origin if named else order
    original = ordered(plain, "NCHW", origin).shape if told != "nothing" else None
    stored = tensor(stored_as(layout, plain, c0), layout, original, origin if told == "shape and order" else "")
    against = tensor(other, order if named else "ND")
    for found in (error(stored, against), error(against, stored)):
        assert found in (0, None)
        assert found == 0 or not (named or told == "shape and order")


@settings(max_examples=200, deadline=None)
@given(LAYOUTS, LAYOUTS, st.tuples(EXTENTS, EXTENTS, EXTENTS, EXTENTS), ORDERS, st.data())
def test_stored_against_stored(first: str, second: str, shape: Tuple[int, ...], origin: str, data: Any) -> None:
    """One of the sides knows the original shape, or both do, each in its own order."""
    if "NDC1HWC0" in (first, second):
        origin = data.draw(st.sampled_from(["NCHW", "NHWC"]))
    other = "NCHW" if "NDC1HWC0" in (first, second) else data.draw(ORDERS)
    plain = distinct(shape)
    a = tensor(stored_as(first, plain, 16), first, ordered(plain, "NCHW", origin).shape, origin)
    known = data.draw(st.booleans())
    b = tensor(
        stored_as(second, plain, 8),
        second,
        ordered(plain, "NCHW", other).shape if known else None,
        other if known else "",
    )
    assert error(a, b) == 0


@settings(max_examples=200, deadline=None)
@given(
    st.lists(EXTENTS, min_size=0, max_size=2),
    st.integers(1, 40),
    st.integers(1, 40),
    st.sampled_from([8, 16, 32]),
    st.data(),
)
def test_matrices(batch: Any, height: int, width: int, w0: int, data: Any) -> None:
    """FRACTAL_NZ and FRACTAL_ZZ of any rank, against the plain tensor, its flattening, or the other fractal."""
    plain = distinct((*batch, height, width))
    tiles = (-(-width // w0), -(-height // 16))
    nz = np.full((*batch, *tiles, 16, w0), -7e7, "f4")
    zz = np.full((*batch, tiles[1], tiles[0], 16, w0), -7e7, "f4")
    for index in np.ndindex(*plain.shape):
        *lead, h, w = index
        nz[(*lead, w // w0, h // 16, h % 16, w % w0)] = plain[index]
        zz[(*lead, h // 16, w // w0, h % 16, w % w0)] = plain[index]
    told = data.draw(st.booleans())
    original = plain.shape if told else None
    assert error(tensor(nz, "FRACTAL_NZ", original), tensor(plain, "ND")) == 0
    assert error(tensor(plain, "NCHW"), tensor(zz, "FRACTAL_ZZ", original)) == 0
    assert error(tensor(nz, "FRACTAL_NZ", plain.shape), tensor(plain.reshape(-1), "ND")) == 0
    assert error(tensor(nz, "FRACTAL_NZ", plain.shape), tensor(zz, "FRACTAL_ZZ")) == 0


@settings(max_examples=200, deadline=None)
@given(st.tuples(EXTENTS, EXTENTS, EXTENTS, EXTENTS), ORDERS, ORDERS, st.data())
def test_plain_orders(shape: Tuple[int, ...], first: str, second: str, data: Any) -> None:
    plain = distinct(shape)
    a, b = ordered(plain, "NCHW", first), ordered(plain, "NCHW", second)
    assert error(tensor(a, first), tensor(b, second)) == 0
    # "ND" with the order told by the original format, where the shape alone does not tell it.
    told = error(tensor(a, first), tensor(b, "ND", None, second))
    assert told == 0 or a.shape == b.shape


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(1, 5), max_size=5), st.lists(st.integers(1, 5), max_size=5))
def test_flattening_keeps_the_order(a: Any, b: Any) -> None:
    """A common refinement exists only when both split into it by splitting axes; then reshaping keeps every element."""
    refined = common_refinement(a, b)
    if int(np.prod(a)) != int(np.prod(b)):
        return
    longer = [x for x in a if x != 1], [x for x in b if x != 1]
    if longer[0] == longer[1]:
        assert refined == tuple(longer[0])
    if refined is not None:
        assert int(np.prod(refined)) == int(np.prod(a))


@pytest.mark.parametrize(
    "a,b,refined",
    [
        ((2, 3, 4), (6, 4), (2, 3, 4)),
        ((24,), (2, 3, 4), (2, 3, 4)),
        ((1, 6, 1), (6,), (6,)),
        ((6, 2, 2), (2, 3, 4), (2, 3, 2, 2)),
        ((), (1, 1), ()),
        ((2, 6), (3, 4), None),
        ((4, 6), (6, 4), None),
    ],
)
def test_which_shapes_are_flattened(a: Any, b: Any, refined: Any) -> None:
    assert common_refinement(a, b) == refined
