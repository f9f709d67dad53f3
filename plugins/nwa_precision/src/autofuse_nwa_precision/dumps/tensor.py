"""One tensor of a dump: its stored values and all that the dump says about how to read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Tuple

import numpy as np

from autofuse_nwa_precision.dtypes import ElementType

__all__ = ["Array", "Shape", "Tensor"]

Array = np.ndarray[Any, Any]
Shape = Tuple[int, ...]


@dataclass(frozen=True)
class Tensor:
    """`array` has the stored shape and, where the file allows it, lies in the page cache, not in memory of our own."""

    path: str
    array: Array
    type: ElementType
    layout: str = ""
    """Stored layout, `NC1HWC0`; "" when the dump does not say."""
    original_shape: Optional[Shape] = None
    groups: int = 1
    c0: Optional[int] = None
    origin_layout: str = ""
    """Layout of the original operator's output, where a raw dump tells it."""
