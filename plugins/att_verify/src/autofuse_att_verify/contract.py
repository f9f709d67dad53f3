"""The input contract: shape, cores, unified buffer and ABI of a call, checked before anything is compiled.

Presets are data files in `presets/`, examples and no hardware promise. Where a value came from is kept in `origin`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from autofuse.errors import AutofuseError

__all__ = ["KINDS", "MAX_DIMS", "Abi", "Contract", "load_contract", "load_preset", "presets"]

KINDS = ("tf_static", "tf_dynamic", "inductor")
MAX_DIMS = 32
LARGEST_DIM = 2147483647
LARGEST_AIV_NUM = 65535
LARGEST_UB_SIZE = 2147483647
_LONGEST_FILE = 1 << 20

_KEYS = ("dynamic_dims", "aiv_num", "ub_size", "abi")
_ABI_KEYS = ("kind", "shape_dims", "block_dim_width")


@dataclass(frozen=True)
class Abi:
    """How `AutofuseTiling` is called."""

    kind: str
    """`tf_static`, `tf_dynamic` or `inductor`."""
    shape_dims: int
    """Number of shape symbols, one uint32 each."""
    block_dim_width: int = 32
    """Bits the caller reads of blockDim; the code only ever writes 32."""

    def as_json(self) -> Dict[str, Any]:
        """The `abi` object of a contract."""
        return {"kind": self.kind, "shape_dims": self.shape_dims, "block_dim_width": self.block_dim_width}


@dataclass(frozen=True)
class Contract:
    """One complete set of inputs, already checked."""

    dynamic_dims: Tuple[int, ...]
    """Value of each shape symbol, in the order of the signature."""
    aiv_num: int
    """Vector cores."""
    ub_size: int
    """Bytes of unified buffer."""
    abi: Abi
    origin: str
    """`preset_B`, `input-json:FILE`, `log:FILE`, each with `+--aiv-num` when that option was given."""
    aiv_num_given: bool = False
    """True when --aiv-num was given; inductor code then gets a ResLimit."""

    def with_aiv_num(self, aiv_num: Optional[int]) -> Contract:
        """The contract with the value of --aiv-num in place of its own."""
        if aiv_num is None:
            return self
        _integer(aiv_num, "--aiv-num", 1, LARGEST_AIV_NUM, "")
        return replace(self, aiv_num=aiv_num, origin=f"{self.origin}+--aiv-num", aiv_num_given=True)


def presets() -> Dict[str, Path]:
    """Name → file of every preset shipped."""
    folder = Path(__file__).with_name("presets")
    return {path.stem: path for path in sorted(folder.glob("*.json"))}


def load_preset(name: str) -> Contract:
    """The preset with this name; AutofuseError that lists the names when there is none."""
    known = presets()
    if name not in known:
        raise AutofuseError(f"unknown preset {name!r}", hint=f"presets: {', '.join(known)}")
    return _parse(known[name].read_bytes(), str(known[name]), f"preset_{name}")


def load_contract(path: str) -> Contract:
    """The contract in a JSON file; AutofuseError that names the key and the accepted values when it is not one."""
    try:
        with open(path, "rb") as file:
            content = file.read(_LONGEST_FILE + 1)
    except OSError as error:
        raise AutofuseError(f"cannot read the input contract: {error.strerror or error}", path) from error
    if len(content) > _LONGEST_FILE:
        raise AutofuseError("is too large for an input contract", path, "at most 1 MiB")
    return _parse(content, path, f"input-json:{path}")


def check_values(dims: Sequence[Any], aiv_num: Any, ub_size: Any, where: str) -> None:
    """AutofuseError unless all values are in their ranges."""
    if len(dims) > MAX_DIMS:
        raise AutofuseError(f"dynamic_dims has {len(dims)} values", where, f"at most {MAX_DIMS}")
    for index, dim in enumerate(dims):
        _integer(dim, f"dynamic_dims[{index}]", 1, LARGEST_DIM, where)
    _integer(aiv_num, "aiv_num", 1, LARGEST_AIV_NUM, where)
    _integer(ub_size, "ub_size", 1, LARGEST_UB_SIZE, where)


def _parse(content: bytes, where: str, origin: str) -> Contract:
    try:
        value = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise AutofuseError(f"is no JSON input contract: {error}", where, _example()) from None
    _keys(value, _KEYS, "the contract", where)
    _keys(value["abi"], _ABI_KEYS, "abi", where)
    dims = value["dynamic_dims"]
    if not isinstance(dims, list):
        raise AutofuseError(f"dynamic_dims is {_shown(dims)}", where, "a list of integers, such as [1024, 512]")
    check_values(dims, value["aiv_num"], value["ub_size"], where)
    return Contract(tuple(dims), value["aiv_num"], value["ub_size"], _abi(value["abi"], len(dims), where), origin)


def _abi(value: Mapping[str, Any], dims: int, where: str) -> Abi:
    kind, shape_dims, width = (value[key] for key in _ABI_KEYS)
    if kind not in KINDS:
        raise AutofuseError(f"abi.kind is {_shown(kind)}", where, f"accepted: {', '.join(KINDS)}")
    if type(width) is not int or width not in (32, 64):
        raise AutofuseError(f"abi.block_dim_width is {_shown(width)}", where, "accepted: 32, 64")
    _integer(shape_dims, "abi.shape_dims", 0, MAX_DIMS, where)
    if shape_dims != dims:
        raise AutofuseError(
            f"abi.shape_dims is {shape_dims}, but dynamic_dims has {dims} values", where, "both must be equal"
        )
    if (kind == "tf_static") != (shape_dims == 0):
        needed = "0" if kind == "tf_static" else "at least 1"
        raise AutofuseError(f"abi.shape_dims is {shape_dims} for {kind}", where, f"accepted: {needed}")
    return Abi(kind, shape_dims, width)


def _integer(value: Any, key: str, low: int, high: int, where: str) -> None:
    # type() and not isinstance: true is no integer here.
    if type(value) is not int or not low <= value <= high:
        raise AutofuseError(f"{key} is {_shown(value)}", where or None, f"accepted: an integer from {low} to {high}")


def _keys(value: Any, expected: Sequence[str], name: str, where: str) -> None:
    if not isinstance(value, dict):
        raise AutofuseError(f"{name} is {_shown(value)}, not an object", where, f"keys: {', '.join(expected)}")
    unknown = [_shown(key) for key in value if key not in expected]
    missing = [_shown(key) for key in expected if key not in value]
    # A misspelt key is both: the word to look for and the one it stands for.
    problems = [f"the unknown key {key}" for key in unknown[:1]] + [f"no key {key}" for key in missing[:1]]
    if problems:
        raise AutofuseError(f"{name} has {' and '.join(problems)}", where, f"keys: {', '.join(expected)}")


def _unique(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        repeated = next(key for key in value if sum(other == key for other, _ in pairs) > 1)
        raise ValueError(f"the key {repeated!r} stands twice")
    return value


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def _example() -> str:
    return (
        'for example {"dynamic_dims": [1024, 512], "aiv_num": 56, "ub_size": 262144, '
        '"abi": {"kind": "tf_dynamic", "shape_dims": 2, "block_dim_width": 32}}'
    )
