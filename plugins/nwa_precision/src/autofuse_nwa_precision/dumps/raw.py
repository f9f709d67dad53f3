"""Raw dump files as the runtime writes them: a DumpData header in protobuf and the bytes of all tensors behind it.

Read directly, without msaccucmp or CANN. Which bytes belong to which tensor follows from the sizes in the header; what
they mean is left to `dumps.values`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, List, Optional, Union

from autofuse_nwa_precision.dtypes import BY_NUMBER, MOST_AXES, ElementType
from autofuse_nwa_precision.dumps.content import Content
from autofuse_nwa_precision.dumps.tensor import Array, Shape, Tensor
from autofuse_nwa_precision.dumps.values import elements, from_bytes
from autofuse_nwa_precision.dumps.wire import WireError, fields, varints
from autofuse_nwa_precision.statuses import FILE_NOT_FOUND, NO_DATA, NPY_LOAD_ERROR, TRUNCATED, RowError

__all__ = ["RawDump", "RawOrigin", "RawTensor", "layout_name", "read_raw"]

_LONGEST_HEADER = 1 << 24
"""A longer header than this in a file that cannot hold it: the file is something else, not a dump cut short."""

_LAYOUTS = {
    0: "NCHW", 1: "NHWC", 2: "ND", 3: "NC1HWC0", 4: "FRACTAL_Z", 9: "C1HWNC0", 12: "NC1HWC0_C04", 13: "FRACTAL_Z_C04",
    14: "CHWN", 16: "HWCN", 25: "C1HWNCoC0", 27: "NDHWC", 28: "FRACTAL_ZZ", 29: "FRACTAL_NZ", 30: "NCDHW", 31: "DHWCN",
    32: "NDC1HWC0", 33: "FRACTAL_Z_3D", 34: "CN", 35: "NC", 36: "DHWNC", 37: "FRACTAL_Z_3D_TRANSPOSE",
    50: "FRACTAL_NZ_C0_16", 51: "FRACTAL_NZ_C0_32",
}  # fmt: skip
_UNSET_INDEX = 0xFFFFFFFF
_UNSET_DIM = (1 << 64) - 1


@dataclass(frozen=True)
class RawOrigin:
    """`original_op` of an output: the operator and output it stands for."""

    name: str
    output_index: Optional[int]
    layout: str


@dataclass
class RawTensor:
    """One tensor of the header; `start` is the place of its bytes in the file, None when it has none there."""

    side: str
    index: int
    type_number: int = 0
    format_word: int = 0
    shape: Shape = ()
    original_shape: Optional[Shape] = None
    size: int = 0
    address: int = 0
    sub_format: int = 0
    origin: Optional[RawOrigin] = None
    inline: Optional[memoryview] = None
    start: Optional[int] = None
    shapeless: bool = False
    """Its shape claims more extents than any tensor has, and is not kept."""

    @property
    def layout(self) -> str:
        """The stored layout's name."""
        return layout_name(self.format_word)

    @property
    def type(self) -> Optional[ElementType]:
        """The element type; None for a number that stands for no tensor data."""
        return BY_NUMBER.get(self.type_number)

    @property
    def groups(self) -> int:
        """Groups of a grouped convolution's weight; 1 elsewhere."""
        return (self.format_word >> 8 & 0xFFFF) or self.sub_format or 1

    @property
    def c0(self) -> Optional[int]:
        """C0 as the format word gives it; None when it does not."""
        code = self.format_word >> 24 & 0xF
        return 1 << (code - 1) if code else None


@dataclass
class RawDump:
    """A dump file: its tensors and, when its payload fits no rule, what is wrong with it."""

    path: str
    data: Content
    operator: str = ""
    version: str = ""
    time: int = 0
    tensors: List[RawTensor] = field(default_factory=list)
    extra: List[int] = field(default_factory=list)
    """Sizes of buffers and spaces, which lie behind the tensors."""
    damage: str = ""

    def find(self, side: str, index: int) -> RawTensor:
        """The tensor; RowError FILE_NOT_FOUND when the file has no such one."""
        for tensor in self.tensors:
            if tensor.side == side and tensor.index == index:
                return tensor
        held = sum(tensor.side == side for tensor in self.tensors)
        raise RowError(FILE_NOT_FOUND, f"{self.path} holds {held} {side}s, none with the index {index}")

    def tensor(self, side: str, index: int) -> Tensor:
        """The tensor with its values; RowError with the status of the row when there are none."""
        header = self.find(side, index)
        kind = header.type
        if kind is None:
            raise RowError(NPY_LOAD_ERROR, f"data type {header.type_number} holds no tensor that can be compared")
        if header.shapeless:
            raise RowError(NPY_LOAD_ERROR, f"its shape has more than {MOST_AXES} extents, which no tensor has")
        array = self.values(header, kind)
        return Tensor(
            self.path,
            array,
            kind,
            header.layout,
            header.original_shape,
            header.groups,
            header.c0,
            header.origin.layout if header.origin else "",
        )

    def values(self, header: RawTensor, kind: ElementType) -> Array:
        """The stored values of one tensor."""
        if header.inline is not None:
            shape = _resolved(header.shape, len(header.inline), kind)
            return from_bytes(header.inline, 0, len(header.inline), kind, shape)
        if self.damage:
            raise RowError(TRUNCATED, self.damage)
        shape = _resolved(header.shape, header.size, kind)
        if elements(shape) == 0:
            return from_bytes(b"", 0, 0, kind, shape)
        if header.start is None:
            why = "its size is 0" if not header.size else "its address is 0"
            raise RowError(NO_DATA, f"the dump has no bytes for {header.side} {header.index}: {why}")
        return from_bytes(self.data, header.start, header.size, kind, shape)


def read_raw(path: str, data: Content) -> RawDump:
    """Reads the header and places the payload; RowError when the bytes are no dump file."""
    dump = RawDump(path, data)
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > len(data) - 8:
        if len(data) < 8 or size > _LONGEST_HEADER:
            raise RowError(NPY_LOAD_ERROR, "is neither an npy nor a raw dump file" if data else "is empty")
        raise RowError(TRUNCATED, f"the dump ends inside its header, after {len(data) - 8} of {size} bytes")
    try:
        _read_header(dump, memoryview(data)[8 : 8 + size])
    except WireError as error:
        raise RowError(NPY_LOAD_ERROR, f"is no dump file: its header is damaged: {error}") from None
    _place(dump, 8 + size)
    return dump


def layout_name(format_word: int) -> str:
    """The name of GE's format number in bits 0 to 7."""
    number = format_word & 0xFF
    return _LAYOUTS.get(number, f"FORMAT_{number}")


def _read_header(dump: RawDump, header: memoryview) -> None:
    counts: Dict[str, int] = {"input": 0, "output": 0}
    inputs: List[RawTensor] = []
    outputs: List[RawTensor] = []
    for number, value in fields(header):
        if number in (3, 4) and isinstance(value, memoryview):
            side = "output" if number == 3 else "input"
            tensor = _tensor(value, side, counts[side])
            counts[side] += 1
            (outputs if number == 3 else inputs).append(tensor)
        elif number in (5, 8) and isinstance(value, memoryview):
            dump.extra.append(_number(value, 3))
        elif number == 1:
            dump.version = _text(value)
        elif number == 2 and isinstance(value, int):
            dump.time = value
        elif number == 6:
            dump.operator = _text(value)
    dump.tensors = inputs + outputs


def _tensor(message: memoryview, side: str, index: int) -> RawTensor:
    """OpOutput and OpInput share fields 1 to 3 and differ behind them."""
    tensor = RawTensor(side, index)
    # Field numbers of: data, size, original_shape, sub_format, address.
    data, size, original, sub_format, address = (5, 6, 7, 8, 9) if side == "output" else (4, 5, 6, 7, 8)
    for number, value in fields(message):
        if isinstance(value, int):
            if number == 1:
                tensor.type_number = value
            elif number == 2:
                tensor.format_word = value
            elif number == size:
                tensor.size = value
            elif number == sub_format:
                tensor.sub_format = value
            elif number == address:
                tensor.address = value
        elif number == 3:
            dims = _dims(value)
            tensor.shape, tensor.shapeless = dims or (), dims is None
        elif number == original:
            tensor.original_shape = _known(_dims(value))
        elif number == 4 and side == "output":
            tensor.origin = _origin(value)
        elif number == data and len(value):
            tensor.inline = value
    return tensor


def _origin(message: memoryview) -> Optional[RawOrigin]:
    name, index, layout = "", None, ""
    for number, value in fields(message):
        if number == 1:
            name = _text(value)
        elif number == 2 and isinstance(value, int):
            index = None if value == _UNSET_INDEX else value
        elif number == 4 and isinstance(value, int):
            layout = layout_name(value)
    # proto3 writes no zero: a name without an index is output 0.
    return RawOrigin(name, index if index is not None or _has(message, 2) else 0, layout) if name else None


def _place(dump: RawDump, start: int) -> None:
    """Finds which tensors wrote bytes: those whose sizes add up to the payload."""
    payload = len(dump.data) - start
    stored = [tensor for tensor in dump.tensors if tensor.inline is None]
    everything = sum(tensor.size for tensor in stored) + sum(dump.extra)
    present = [tensor for tensor in stored if tensor.address]
    if payload == everything:
        present = stored
    elif payload != sum(tensor.size for tensor in present) + sum(dump.extra):
        dump.damage = f"the file holds {payload} bytes of data, its header promises {everything}"
        return
    for tensor in present:
        tensor.start = start if tensor.size else None
        start += tensor.size


def _resolved(shape: Shape, size: int, kind: ElementType) -> Shape:
    """The shape with its one unknown extent computed from the size."""
    unknown = shape.count(-1)
    if not unknown:
        return shape
    rest = elements(tuple(extent for extent in shape if extent != -1))
    count = size * 8 // kind.bits
    if unknown > 1 or not rest or count % rest:
        raise RowError(NPY_LOAD_ERROR, f"its shape {list(shape)} is not known, and {size} bytes do not tell it")
    return tuple(count // rest if extent == -1 else extent for extent in shape)


def _known(shape: Optional[Shape]) -> Optional[Shape]:
    return shape if shape and -1 not in shape else None


def _dims(message: memoryview) -> Optional[Shape]:
    """The extents, -1 for one that is not known; None for more than any tensor has."""
    dims: List[int] = []
    for number, value in fields(message):
        if number == 1:
            dims.extend(varints(value))
        if len(dims) > MOST_AXES:
            return None
    return tuple(-1 if dim == _UNSET_DIM else dim for dim in dims)


def _number(message: memoryview, wanted: int) -> int:
    found = 0
    for number, value in fields(message):
        if number == wanted and isinstance(value, int):
            found = value
    return found


def _has(message: memoryview, wanted: int) -> bool:
    return any(number == wanted for number, _ in fields(message))


def _text(value: Union[int, memoryview]) -> str:
    return bytes(value).decode("utf-8", "replace") if isinstance(value, memoryview) else ""
