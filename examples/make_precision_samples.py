"""Makes examples/precision: the dumps of one small network with automatic fusion and without it.

A dozen fused operators. One is the culprit: its kernel forgets the tail block of a reduction. Another makes a NaN, one
dump is missing, and stored layouts have garbage in their padding. The same files come out every time (up to
the last bit of numpy's exp).

Usage: python examples/make_precision_samples.py [FOLDER]
"""

from __future__ import annotations

import json
import shutil
import struct
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

Array = np.ndarray
Tree = Dict[str, Any]

TIME = 1_718_246_421_000_000
FOLDERS = {"open": "20240613103021/0/resnet_block/1/0", "close": "20240613102455/0/resnet_block/1/0"}
HALF = "DT_FLOAT16"


# --- layouts and files ------------------------------------------------------------------------------------------------


def nc1hwc0(plain: Array, rng: np.random.Generator) -> Array:
    """NCHW as the chip stores it, with garbage in the padding of C."""
    n, c, h, w = plain.shape
    stored = rng.uniform(-900, 900, (n, -(-c // 16), h, w, 16)).astype(plain.dtype)
    for channel in range(c):
        stored[:, channel // 16, :, :, channel % 16] = plain[:, channel]
    return stored


def fractal_nz(plain: Array, rng: np.random.Generator) -> Array:
    """A matrix as the chip stores it, with garbage in the padding of both axes."""
    height, width = plain.shape
    stored = rng.uniform(-900, 900, (-(-width // 16), -(-height // 16), 16, 16)).astype(plain.dtype)
    for row in range(height):
        for column in range(width):
            stored[column // 16, row // 16, row % 16, column % 16] = plain[row, column]
    return stored


def bfloat16_bits(values: Array) -> Array:
    """float32 values rounded to bf16 (to nearest even), as the uint16 that tools without bf16 write."""
    bits = values.astype("<f4").view("<u4")
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def raw_dump(name: str, values: Array, original_shape: Sequence[int]) -> bytes:
    """A dump file as the runtime writes it, with one fp16 output in NC1HWC0."""
    shape = [_varints(values.shape), _varints(original_shape)]
    output = _int(1, 2) + _int(2, 3) + _bytes(3, _bytes(1, shape[0])) + _int(6, values.nbytes)
    output += _bytes(7, _bytes(1, shape[1])) + _int(9, 0x12C0_4000_0000)
    header = _bytes(1, b"2.0") + _int(2, TIME) + _bytes(3, output) + _bytes(6, name.encode())
    return struct.pack("<Q", len(header)) + header + values.tobytes()


def _int(number: int, value: int) -> bytes:
    return _varints([number << 3, value])


def _bytes(number: int, content: bytes) -> bytes:
    return _varints([number << 3 | 2, len(content)]) + content


def _varints(values: Sequence[int]) -> bytes:
    out = bytearray()
    for value in values:
        while value > 0x7F:
            out.append(value & 0x7F | 0x80)
            value >>= 7
        out.append(value)
    return bytes(out)


# --- graphs -----------------------------------------------------------------------------------------------------------


def attr(key: str, value: Any) -> Tree:
    """One attribute."""
    if isinstance(value, str):
        return {"key": key, "value": {"s": value}}
    if isinstance(value, int):
        return {"key": key, "value": {"i": value}}
    return {"key": key, "value": {"list": {"val_type": "VT_LIST_INT", "i": list(value)}}}


def text_proto(tree: Tree, depth: int = 0) -> str:
    """A tree in protobuf text format, as in ge_proto_*_Build.txt."""
    lines = []
    for key, value in tree.items():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                lines.append(f"{'  ' * depth}{key} {{\n{text_proto(item, depth + 1)}{'  ' * depth}}}\n")
            else:
                bare = isinstance(item, int) or key in ("dtype", "val_type")
                lines.append(f"{'  ' * depth}{key}: {item if bare else json.dumps(item)}\n")
    return "".join(lines)


@dataclass
class Tensor:
    """One output in both runs; `layout` is that of the fused side."""

    fused: Array
    original: Array
    origin: Tuple[str, str, int]
    """Name, type and output of the original operator."""
    dtype: str = HALF
    layout: str = "ND"
    origin_format: str = ""


@dataclass
class Network:
    """Collects operators and dumps of both runs while the network is computed."""

    root: Path
    rng: np.random.Generator
    open_ops: List[Tree] = field(default_factory=list)
    close_ops: List[Tree] = field(default_factory=list)
    task: int = 0
    missing: Tuple[str, ...] = ()
    raw: Tuple[str, ...] = ()

    def source(self, name: str, op_type: str) -> None:
        """An operator that holds the same data in both runs."""
        for ops in (self.open_ops, self.close_ops):
            ops.append({"name": name, "type": op_type, "attr": [attr("_op_compile_strategy", "{}")]})

    def fused(
        self,
        name: str,
        inputs: Sequence[Tuple[str, Optional[Array]]],
        outputs: Sequence[Tensor],
        kind: str = "AscBackend",
    ) -> None:
        """A fused operator: its place in the open graph, the original operators in the other, dumps of both."""
        self.task += 1
        descs = [self._desc(tensor) for tensor in outputs]
        self.open_ops.append(
            {
                "name": name,
                "type": kind,
                "input": [source for source, _ in inputs] + ["trigger:-1"],
                "attr": [attr("_kernel_name", f"te_{name}"), attr("_block_dim", 20)],
                "input_desc": [{"name": f"x{n}", "dtype": HALF, "layout": "ND"} for n in range(len(inputs))],
                "output_desc": descs,
            }
        )
        for index, tensor in enumerate(outputs):
            self._originals(tensor)
            if name not in self.missing:
                self._dump_fused(name, kind, index, tensor)
        for index, (_, values) in enumerate(inputs):
            if values is not None:
                self._write("open", f"{kind}.{name}.{self.task}.3.{TIME + self.task}.input.{index}.npy", values)

    def _desc(self, tensor: Tensor) -> Tree:
        name, _, index = tensor.origin
        attrs = [attr("_datadump_origin_name", name), attr("_datadump_origin_output_index", index)]
        attrs.append(attr("origin_shape", tensor.original.shape))
        if tensor.origin_format:
            attrs.append(attr("_datadump_origin_format", tensor.origin_format))
        shape = {"dim": [int(extent) for extent in self._stored(tensor).shape]}
        return {"name": "y", "dtype": tensor.dtype, "shape": shape, "layout": tensor.layout, "attr": attrs}

    def _stored(self, tensor: Tensor) -> Array:
        convert = {"NC1HWC0": nc1hwc0, "FRACTAL_NZ": fractal_nz}.get(tensor.layout)
        return convert(tensor.fused, self.rng) if convert else tensor.fused

    def _dump_fused(self, name: str, kind: str, index: int, tensor: Tensor) -> None:
        stored, base = self._stored(tensor), f"{kind}.{name}.{self.task}.3.{TIME + self.task}"
        if name in self.raw:
            self._write_bytes("open", base, raw_dump(name, stored, tensor.original.shape))
        else:
            self._write("open", f"{base}.output.{index}.npy", stored)

    def _originals(self, tensor: Tensor) -> None:
        name, kind, index = tensor.origin
        layout = tensor.origin_format or "ND"
        desc = {"name": "y", "dtype": tensor.dtype, "layout": layout, "attr": []}
        known = next((op for op in self.close_ops if op["name"] == name), None)
        if known is None:
            known = {"name": name, "type": kind, "input": [], "attr": [], "output_desc": []}
            self.close_ops.append(known)
        known["output_desc"].append(desc)
        file = f"{kind}.{name.replace('/', '_')}.{40 + self.task}.2.{TIME + 40 + self.task}.output.{index}.npy"
        self._write("close", file, tensor.original)

    def _write(self, side: str, name: str, values: Array) -> None:
        path = self.root / side / FOLDERS[side] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, np.ascontiguousarray(values))

    def _write_bytes(self, side: str, name: str, content: bytes) -> None:
        path = self.root / side / FOLDERS[side] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def write_graphs(self) -> None:
        """The graph with fusion as text protobuf, the one without as JSON of atc."""
        opened = {"name": "resnet_block", "version": 1, "graph": [{"name": "resnet_block", "op": self.open_ops}]}
        closed = {"name": "resnet_block", "version": 1, "graph": [{"name": "resnet_block", "op": self.close_ops}]}
        (self.root / "ge_proto_00031_resnet_block_Build.txt").write_text(text_proto(opened), encoding="utf-8")
        text = json.dumps(closed, indent=1)
        (self.root / "resnet_block_fusion_off.json").write_text(text + "\n", encoding="utf-8")


# --- the network ------------------------------------------------------------------------------------------------------


def half(values: Array) -> Array:
    """Rounded to fp16, as results of either run are stored."""
    return values.astype(np.float16)


def build(root: Path) -> None:
    """Computes the network in both runs and writes everything."""
    rng = np.random.default_rng(20240613)
    net = Network(root, rng, missing=("autofused_concat_11",), raw=("autofused_add_relu_0",))
    for name, kind in (("x", "Data"), ("bias", "Const"), ("scale", "Const")):
        net.source(name, kind)
    x = rng.standard_normal((1, 20, 8, 8)).astype(np.float32)
    bias = rng.standard_normal((1, 20, 1, 1)).astype(np.float32)
    scale = rng.uniform(0.5, 2, 24).astype(np.float32)

    relu = feature(net, "autofused_add_relu_0", ["x:0", "bias:0"], "conv1/Relu", "Relu", np.maximum(x + bias, 0))
    swish = feature(
        net, "autofused_mul_sigmoid_1", ["autofused_add_relu_0:0"], "block1/swish/Mul", "Mul", swished(relu)
    )
    mean = half(swish.astype(np.float32).mean((2, 3)))
    plain(
        net, "autofused_reduce_mean_2", [("autofused_mul_sigmoid_1:0", None)], "pool/ReduceMeanD", "ReduceMeanD", mean
    )
    centred = half(mean.astype(np.float32) - 0.25)
    plain(net, "autofused_cast_sub_3", [("autofused_reduce_mean_2:0", mean)], "head/Sub", "Sub", centred)
    right, wrong = normalized(centred, 20), normalized(centred, 16)
    net.fused(
        "autofused_layernorm_4",
        [("autofused_cast_sub_3:0", centred)],
        [
            Tensor(wrong[0], right[0], ("head/LayerNorm", "LayerNorm", 0)),
            Tensor(wrong[1], right[1], ("head/LayerNorm", "LayerNorm", 1)),
        ],
        "FusedAscBackend",
    )
    after_culprit(net, scale, wrong[0], right[0])
    aside(net, relu, swish)
    net.write_graphs()


def after_culprit(net: Network, scale: Array, wrong: Array, right: Array) -> None:
    """Four operators that pass the culprit's error on, and one whose dump is missing."""
    gelu = [half(v.astype(np.float32) * sigmoid(1.702 * v.astype(np.float32))) for v in (wrong, right)]
    one(net, "autofused_gelu_5", [("autofused_layernorm_4:0", wrong)], ("head/Gelu", "Gelu"), *gelu)
    outer = [half(np.outer(v.astype(np.float32), scale)) for v in gelu]
    sources = [("autofused_gelu_5:0", gelu[0]), ("scale:0", None)]
    one(net, "autofused_mul_tile_6", sources, ("head/MatMul/Mul", "Mul"), *outer, layout="FRACTAL_NZ")
    softmax = [half(softmaxed(v.astype(np.float32))) for v in outer]
    one(net, "autofused_softmax_7", [("autofused_mul_tile_6:0", outer[0])], ("head/Softmax", "SoftmaxV2"), *softmax)
    joined = [np.concatenate([v.ravel(), v.ravel()]) for v in gelu]
    one(net, "autofused_concat_11", [("autofused_gelu_5:0", None)], ("head/Concat", "ConcatD"), *joined)


def aside(net: Network, relu: Array, swish: Array) -> None:
    """A branch that the culprit does not reach; its square root gets a tiny negative number from rounding."""
    total = relu.astype(np.float32) + swish.astype(np.float32)
    residual = feature(
        net, "autofused_add_8", ["autofused_add_relu_0:0", "autofused_mul_sigmoid_1:0"], "block1/Add", "Add", total
    )
    root = half(np.sqrt(residual.astype(np.float32)))
    broken = root.copy()
    broken[0, 13, 4, 6] = np.nan
    tensor = Tensor(broken, root, ("block1/Sqrt", "Sqrt", 0), HALF, "NC1HWC0", "NCHW")
    net.fused("autofused_sqrt_9", [("autofused_add_8:0", None)], [tensor])
    bits = bfloat16_bits(residual.astype(np.float32))
    exact = (bits.astype("<u4") << 16).view("<f4")
    tensor = Tensor(bits, exact, ("block1/Cast", "Cast", 0), "DT_BF16")
    net.fused("autofused_cast_10", [("autofused_add_8:0", None)], [tensor])


def feature(net: Network, name: str, sources: Sequence[str], origin: str, kind: str, values: Array) -> Array:
    """A feature map that both runs compute alike up to rounding; gives what the fused run holds."""
    original = half(values)
    noisy = half(values * (1 + 2e-4 * net.rng.standard_normal(values.shape).astype(np.float32)))
    tensor = Tensor(noisy, original, (origin, kind, 0), HALF, "NC1HWC0", "NCHW")
    net.fused(name, [(source, None) for source in sources], [tensor])
    return noisy


def plain(
    net: Network, name: str, sources: Sequence[Tuple[str, Optional[Array]]], origin: str, kind: str, values: Array
) -> None:
    """A vector that both runs compute alike."""
    one(net, name, sources, (origin, kind), values.ravel(), values.ravel())


def one(
    net: Network,
    name: str,
    sources: Sequence[Tuple[str, Optional[Array]]],
    origin: Tuple[str, str],
    fused: Array,
    original: Array,
    layout: str = "ND",
) -> None:
    """A fused operator with one output."""
    net.fused(name, sources, [Tensor(fused, original, (*origin, 0), HALF, layout)])


def normalized(values: Array, counted: int) -> Tuple[Array, Array]:
    """Layer norm whose variance sums only the first `counted` elements, all of them being right."""
    wide = values.ravel().astype(np.float32)
    mean = wide.mean()
    variance = np.square(wide[:counted] - mean).sum() / wide.size
    rstd = 1 / np.sqrt(variance + 1e-5)
    return half((wide - mean) * rstd), half(np.array([rstd]))


def swished(values: Array) -> Array:
    """x * sigmoid(x) in fp32."""
    wide = values.astype(np.float32)
    return wide * sigmoid(wide)


def sigmoid(values: Array) -> Array:
    """The logistic function."""
    result: Array = 1 / (1 + np.exp(-values))
    return result


def softmaxed(values: Array) -> Array:
    """Softmax of the last axis."""
    powers = np.exp(values - values.max(-1, keepdims=True))
    result: Array = powers / powers.sum(-1, keepdims=True)
    return result


def main() -> None:
    """Writes the samples beside this script, or to the folder named on the command line."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "precision"
    for side in FOLDERS:
        shutil.rmtree(root / side, ignore_errors=True)
    root.mkdir(parents=True, exist_ok=True)
    build(root)
    size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
    print(f"{root}: {size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
