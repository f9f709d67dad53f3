"""Writers that are the twins of the readers: dump graphs as JSON and text protobuf, npy and raw dump files, whole runs.

Each is written from the description of the format, not from the reader.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
from autofuse.testing import Outcome, run_cli

__all__ = [
    "RawTensor",
    "Runs",
    "attr",
    "desc",
    "dump_name",
    "graph_json",
    "graph_text",
    "npy_bytes",
    "op",
    "raw_dump",
]

Tree = Dict[str, Any]
TIME = 1_700_000_000_000_000
"""Microseconds, as in names of real dumps."""


# --- graphs -----------------------------------------------------------------------------------------------------------


def attr(key: str, value: Union[str, int, Sequence[int]]) -> Tree:
    """One attribute: a string, an integer or a list of integers."""
    if isinstance(value, str):
        return {"key": key, "value": {"s": value}}
    if isinstance(value, int):
        return {"key": key, "value": {"i": value}}
    return {"key": key, "value": {"list": {"val_type": "VT_LIST_INT", "i": list(value)}}}


def desc(
    origin: Optional[Tuple[str, int]] = None,
    dtype: str = "DT_FLOAT",
    layout: str = "ND",
    shape: Optional[Sequence[int]] = None,
    origin_shape: Optional[Sequence[int]] = None,
    origin_format: str = "",
    **attributes: Union[str, int],
) -> Tree:
    """An entry of input_desc or output_desc."""
    attrs = [attr(key, value) for key, value in attributes.items()]
    if origin is not None:
        attrs += [attr("_datadump_origin_name", origin[0]), attr("_datadump_origin_output_index", origin[1])]
    if origin_shape is not None:
        attrs.append(attr("origin_shape", origin_shape))
    if origin_format:
        attrs.append(attr("_datadump_origin_format", origin_format))
    tree: Tree = {"name": "y", "dtype": dtype, "layout": layout, "attr": attrs}
    if shape is not None:
        tree["shape"] = {"dim": list(shape)}
    return tree


def op(
    name: str,
    op_type: str,
    inputs: Sequence[str] = (),
    outputs: Sequence[Tree] = (),
    input_descs: Sequence[Tree] = (),
    attrs: Sequence[Tree] = (),
    **more: Any,
) -> Tree:
    """One operator; `inputs` as GE writes them: `node:0`, "" or `node:-1`."""
    return {
        "name": name,
        "type": op_type,
        "input": list(inputs),
        "attr": list(attrs),
        "input_desc": list(input_descs),
        "output_desc": list(outputs),
        **more,
    }


def graph_json(*graphs: Sequence[Tree]) -> str:
    """A model of these graphs, each a list of operators, as `atc --mode=5` writes it."""
    trees = [{"name": f"graph_{number}", "op": list(ops)} for number, ops in enumerate(graphs)]
    return json.dumps({"name": "model", "version": "1", "graph": trees})


def graph_text(*graphs: Sequence[Tree]) -> str:
    """The same model as text protobuf, with attributes nobody reads in between."""
    noise = attr("_unread", 'a "quoted" } brace { and \\ back')
    trees = [
        {"name": f"graph_{number}", "op": [{**tree, "attr": [noise, *tree["attr"]]} for tree in ops], "attr": [noise]}
        for number, ops in enumerate(graphs)
    ]
    return "".join(_text_lines({"name": "model", "version": 1, "graph": trees}, 0))


def _text_lines(tree: Tree, depth: int) -> List[str]:
    lines: List[str] = []
    indent = "  " * depth
    for key, value in tree.items():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                lines += [f"{indent}{key} {{\n", *_text_lines(item, depth + 1), f"{indent}}}\n"]
            else:
                lines.append(f"{indent}{key}: {_text_scalar(key, item)}\n")
    return lines


def _text_scalar(key: str, value: Union[str, int]) -> str:
    if isinstance(value, int) or key in ("dtype", "val_type"):
        return str(value)
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + "".join(c if ord(c) < 128 else "".join(f"\\{b:03o}" for b in c.encode()) for c in escaped) + '"'


# --- dump files -------------------------------------------------------------------------------------------------------


def dump_name(
    op_type: str,
    name: str,
    side: str = "output",
    index: int = 0,
    *,
    task: int = 1,
    stream: Optional[int] = 0,
    time: int = TIME,
    suffix: str = ".npy",
    layout: str = "",
    context: Optional[Tuple[int, int, int]] = None,
) -> str:
    """The name of a dump file. `side` "" is a raw file; `stream` None is the old form; `context` is that of FFTS+."""
    written = "".join("_" if char in " ./\\" else char for char in name)
    fields = [op_type, written, str(task), *([] if stream is None else [str(stream)]), str(time)]
    if context:
        fields += ["4", *map(str, context)]
    if side:
        fields += [side, str(index)]
    if layout:
        fields.append(layout)
    return ".".join(fields) + (suffix if side else "")


def npy_bytes(array: Any, descr: Optional[str] = None, shape: Optional[str] = None) -> bytes:
    """An npy file, with another descr or shape in its header where one is given."""
    array = np.asarray(array)
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    described = descr if descr and descr.startswith("[") else repr(descr or array.dtype.str)
    text = f"{{'descr': {described}, 'fortran_order': {fortran}, 'shape': {shape or array.shape}, }}"
    header = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + array.tobytes("F" if fortran else "C")


@dataclass
class RawTensor:
    """One tensor of a raw dump. `written` False leaves its bytes out of the payload, as address 0 does."""

    data: bytes
    type_number: int
    shape: Sequence[int] = ()
    layout: int = 2
    original_shape: Optional[Sequence[int]] = None
    size: Optional[int] = None
    address: int = 0x1000
    origin: Optional[Tuple[str, Optional[int]]] = None
    origin_layout: int = 0


def raw_dump(
    inputs: Sequence[RawTensor] = (),
    outputs: Sequence[RawTensor] = (),
    *,
    name: str = "op",
    buffers: Sequence[bytes] = (),
    spaces: Sequence[bytes] = (),
) -> bytes:
    """A raw dump file: header length, DumpData, payload."""
    header = _bytes_field(1, b"1.0") + _int_field(2, TIME) + _bytes_field(6, name.encode())
    header += b"".join(_bytes_field(3, _tensor(tensor, True)) for tensor in outputs)
    header += b"".join(_bytes_field(4, _tensor(tensor, False)) for tensor in inputs)
    header += b"".join(_bytes_field(5, _int_field(1, 1) + _int_field(3, len(data))) for data in buffers)
    header += b"".join(_bytes_field(8, _int_field(1, 1) + _int_field(3, len(data))) for data in spaces)
    header += _bytes_field(99, b"a field of a later version")
    written = [tensor.data for tensor in (*inputs, *outputs) if tensor.address]
    return struct.pack("<Q", len(header)) + header + b"".join([*written, *buffers, *spaces])


def _tensor(tensor: RawTensor, output: bool) -> bytes:
    size = len(tensor.data) if tensor.size is None else tensor.size
    numbers = {"size": 6, "original": 7, "address": 9} if output else {"size": 5, "original": 6, "address": 8}
    message = _int_field(1, tensor.type_number) + _int_field(2, tensor.layout)
    message += _bytes_field(3, _shape(tensor.shape))
    if output and tensor.origin is not None:
        name, index = tensor.origin
        number = 0xFFFFFFFF if index is None else index
        inner = _bytes_field(1, name.encode()) + _int_field(2, number) + _int_field(4, tensor.origin_layout)
        message += _bytes_field(4, inner)
    message += _int_field(numbers["size"], size)
    if tensor.original_shape is not None:
        message += _bytes_field(numbers["original"], _shape(tensor.original_shape))
    return message + _int_field(numbers["address"], tensor.address)


def _shape(dims: Sequence[int]) -> bytes:
    return _bytes_field(1, b"".join(_varint(dim % (1 << 64)) for dim in dims)) if dims else b""


def _int_field(number: int, value: int) -> bytes:
    # proto3 writes no zeros.
    return _varint(number << 3) + _varint(value) if value else b""


def _bytes_field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


# --- runs -------------------------------------------------------------------------------------------------------------


@dataclass
class Runs:
    """A run with fusion and one without, put together file by file, and the command line that compares them."""

    root: Path
    open_ops: List[Tree] = field(default_factory=list)
    close_ops: List[Tree] = field(default_factory=list)
    text: bool = False
    """Write the graphs as text protobuf."""

    def __post_init__(self) -> None:
        for side in ("open", "close"):
            (self.root / side).mkdir()

    def pair(
        self,
        fused: Any,
        original: Any,
        *,
        name: str = "af_0",
        origin: str = "relu_0",
        open_desc: Optional[Tree] = None,
        close_desc: Optional[Tree] = None,
        inputs: Sequence[str] = (),
    ) -> None:
        """A fused operator with one output, its original operator, and the dumps of both; None for no file."""
        self.open_ops.append(op(name, "AscBackend", inputs, [{**(open_desc or desc()), **_mapping(open_desc, origin)}]))
        self.close_ops.append(op(origin, "Relu", [], [close_desc or desc()]))
        if fused is not None:
            self.dump("open", dump_name("AscBackend", name), fused)
        if original is not None:
            self.dump("close", dump_name("Relu", origin), original)

    def dump(self, side: str, name: str, content: Any) -> Path:
        """Writes a dump file below `open` or `close`; an array becomes npy."""
        path = self.root / side / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else npy_bytes(content))
        return path

    def arguments(self) -> List[str]:
        """Writes the graphs and gives the options that name both runs."""
        write, suffix = (graph_text, "txt") if self.text else (graph_json, "json")
        for side, ops in (("open", self.open_ops), ("close", self.close_ops)):
            (self.root / f"{side}.{suffix}").write_text(write(ops), encoding="utf-8")
        return [
            f"--af-open-graph={self.root}/open.{suffix}",
            f"--af-close-graph={self.root}/close.{suffix}",
            f"--af-open-data={self.root}/open",
            f"--af-close-data={self.root}/close",
        ]

    def run(self, *more: str) -> Outcome:
        """Runs the command."""
        return run_cli("run", "precision", *self.arguments(), *more)

    def rows(self, *more: str, code: Optional[int] = None) -> List[Tree]:
        """The rows as jsonl gives them."""
        result = self.run("-f", "jsonl", *more)
        assert "internal error" not in result.stderr, result.stderr
        if code is not None:
            assert result.exit_code == code, result.stderr + result.stdout
        return [json.loads(line) for line in result.stdout.splitlines()]

    def row(self, *more: str, code: Optional[int] = None) -> Tree:
        """The only row."""
        (row,) = self.rows(*more, code=code)
        return row


def _mapping(given: Optional[Tree], origin: str) -> Tree:
    """The attributes of a description with the mapping to `origin:0`, unless it has one."""
    attrs = list(given["attr"]) if given else []
    if not any(entry["key"] == "_datadump_origin_name" for entry in attrs):
        attrs += desc((origin, 0))["attr"]
    return {"attr": attrs}
