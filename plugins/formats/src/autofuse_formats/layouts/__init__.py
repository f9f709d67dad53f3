"""Layout converters: from a tensor as the chip stores it (NC1HWC0, FRACTAL_NZ …) to the plain tensor, padding cropped.

Reading dumps and comparing tensors are left to the commands; they reach the converters through the hook, and the pure
functions that say which plain layout an "ND" means are here.
"""

from __future__ import annotations

from .resolve import fits, is_plain, padded_shape, plain_or_nd, resolve_nd
from .tiled import TiledView

__all__ = ["TiledView", "fits", "is_plain", "padded_shape", "plain_or_nd", "resolve_nd"]
