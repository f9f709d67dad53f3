"""The installed layout converters by stored and plain layout, built-in ones and those of other plugins alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple, Union

from autofuse.types import LayoutSpec

from autofuse_nwa_precision.dumps.tensor import Array, Shape
from autofuse_nwa_precision.statuses import FORMAT_CONVERSION_ERROR, RowError

if TYPE_CHECKING:
    from autofuse.host import Host
    from autofuse.types import Spec

    from autofuse_nwa_precision.metrics import Tiled

__all__ = ["Converters", "View"]

View = Union[Array, "Tiled"]
"""A plain tensor: an array, or a tiled view of a stored one."""


class Converters:
    """Answers which plain layouts a stored layout can be converted to, and converts."""

    def __init__(self, specs: Dict[str, Spec], load: Callable[[Spec], object]) -> None:
        self._specs: Dict[Tuple[str, str], LayoutSpec] = {}
        self._load = load
        self._loaded: Dict[Tuple[str, str], Any] = {}
        for spec in specs.values():
            if isinstance(spec, LayoutSpec):
                self._specs[spec.stored, spec.plain] = spec

    @classmethod
    def of(cls, host: Host) -> Converters:
        """The converters of every plugin of the host."""
        return cls(host.specs("autofuse_layout_converters"), host.load)

    def plains(self, stored: str) -> List[str]:
        """Plain layouts that there is a converter to; empty for a stored layout that nobody knows."""
        return [plain for known, plain in self._specs if known == stored]

    def view(
        self, stored: str, plain: str, array: Array, shape: Shape, groups: int = 1, c0: Optional[int] = None
    ) -> View:
        """The plain tensor, without a copy where the converter can; RowError FORMAT_CONVERSION_ERROR says why not."""
        converter = self._get(stored, plain)
        convert = getattr(converter, "view", converter)
        try:
            view: View = convert(array, shape, groups=groups, c0=c0)
        except Exception as error:
            # A converter of another plugin may raise anything; the row ends here, the run does not.
            raise RowError(FORMAT_CONVERSION_ERROR, " ".join(str(error).split()) or type(error).__name__) from error
        if tuple(getattr(view, "shape", ())) != tuple(shape):
            found = getattr(view, "shape", type(view).__name__)
            raise RowError(
                FORMAT_CONVERSION_ERROR, f"the converter of {stored} to {plain} gave {found}, not {list(shape)}"
            )
        return view

    def fits(self, stored: str, plain: str, array: Array, shape: Shape, groups: int = 1) -> bool:
        """Whether the stored tensor can be one of the plain `shape`."""
        converter = self._get(stored, plain)
        fits = getattr(converter, "fits", None)
        if fits is not None:
            return bool(fits(array.shape, shape, groups=groups))
        try:
            self.view(stored, plain, array, shape, groups)
        except RowError:
            return False
        return True

    def padded_shape(self, stored: str, plain: str, array: Array) -> Optional[Shape]:
        """The plain shape with all padding; None where the stored shape does not tell it."""
        padded = getattr(self._get(stored, plain), "padded_shape", None)
        shape = padded(array.shape) if padded is not None else None
        return tuple(shape) if shape is not None else None

    def _get(self, stored: str, plain: str) -> Any:
        key = (stored, plain)
        if key not in self._loaded:
            self._loaded[key] = self._load(self._specs[key])
        return self._loaded[key]
