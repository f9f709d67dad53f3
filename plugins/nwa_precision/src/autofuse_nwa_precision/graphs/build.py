"""From the tree of a ModelDef, as JSON or text protobuf gave it, to the graph model.

Absent keys are normal: proto3 writes neither zeros nor scalar shapes. What has the wrong type is treated as absent.
"""

from __future__ import annotations

from typing import Dict, Iterator, List, Optional, Tuple

from autofuse_nwa_precision.dtypes import MOST_AXES, element_type
from autofuse_nwa_precision.graphs.model import Graph, Operator, Origin, Source, TensorDesc
from autofuse_nwa_precision.graphs.textproto import Fields, Tree, unescape

__all__ = ["ATTRIBUTES", "MODEL", "graphs_of"]

ATTRIBUTES = frozenset(
    {
        "_datadump_origin_name",
        "_datadump_origin_output_index",
        "_datadump_origin_format",
        "_datadump_origin_data_type",
        "origin_shape",
        "origin_format",
        "_parent_node_index",
        "parent_node_index",
    }
)
"""Keys of the attributes that are read; all others are dropped while reading."""

_LIST = Fields({"i": None, "s": None}, frozenset({"i", "s"}))
_VALUE = Fields({"s": None, "i": None, "list": _LIST})
_ATTR = Fields({"key": None, "value": _VALUE}, keys=ATTRIBUTES)
_SHAPE = Fields({"dim": None}, frozenset({"dim"}))
_DESC = Fields({"name": None, "dtype": None, "layout": None, "shape": _SHAPE, "attr": _ATTR}, frozenset({"attr"}))
_OP = Fields(
    {
        "name": None,
        "type": None,
        "input": None,
        "attr": _ATTR,
        "input_desc": _DESC,
        "output_desc": _DESC,
        "subgraph_name": None,
    },
    frozenset({"input", "attr", "input_desc", "output_desc", "subgraph_name"}),
)
_GRAPH = Fields({"name": None, "op": _OP}, frozenset({"op"}))
MODEL = Fields({"graph": _GRAPH}, frozenset({"graph"}))
"""The part of ModelDef that is read from text protobuf."""

_CONTROL = -1
_UNSET = (1 << 64) - 1
"""−1 as an unsigned 64-bit number."""


def graphs_of(tree: Tree) -> Tuple[Graph, ...]:
    """All graphs of a ModelDef tree, subgraphs included, in file order."""
    return tuple(Graph(_text(graph.get("name")), tuple(_operators(graph))) for graph in _trees(tree.get("graph")))


def _operators(graph: Tree) -> Iterator[Operator]:
    for op in _trees(graph.get("op")):
        attributes = _attributes(op)
        parent = _first(attributes, "_parent_node_index", "parent_node_index")
        yield Operator(
            _text(op.get("name")),
            _text(op.get("type")),
            tuple(_sources(op)),
            tuple(_descs(op.get("input_desc"))),
            tuple(_descs(op.get("output_desc"))),
            tuple(_text(name) for name in _items(op.get("subgraph_name"))),
            None if parent is None else _integer(parent.get("i", 0)),
        )


def _sources(op: Tree) -> Iterator[Source]:
    """Data inputs: `node:idx` split at the last colon; idx −1 is a control edge, "" an absent optional input."""
    for item in _items(op.get("input")):
        node, colon, index = _text(item).rpartition(":")
        number = _integer(index) if colon else None
        if number is None:
            node, number = _text(item), 0
        if node and number != _CONTROL:
            yield Source(node, number)


def _descs(value: object) -> Iterator[TensorDesc]:
    """One for each entry: an index counts all of them."""
    return (_desc(item if isinstance(item, dict) else {}) for item in _items(value))


def _desc(desc: Tree) -> TensorDesc:
    attributes = _attributes(desc)
    origin, gap = _origin(attributes)
    shape = desc.get("shape")
    return TensorDesc(
        element_type(desc.get("dtype")),
        _text(desc.get("layout")),
        _dims(shape.get("dim")) if isinstance(shape, dict) else None,
        _dims(_list_of(attributes.get("origin_shape"))) or None,
        _text(attributes.get("origin_format", {}).get("s")),
        origin,
        gap,
    )


def _origin(attributes: Dict[str, Tree]) -> Tuple[Optional[Origin], str]:
    written = _text(attributes.get("_datadump_origin_name", {}).get("s"))
    if not written:
        return None, "the graph has no _datadump_origin_name for it"
    if "_datadump_origin_output_index" not in attributes:
        return None, "the graph has no _datadump_origin_output_index for it"
    # An empty value is the proto3 zero.
    index = _integer(attributes["_datadump_origin_output_index"].get("i", 0))
    if index is None or index < 0:
        return None, "its _datadump_origin_output_index is no index"
    layout = _text(attributes.get("_datadump_origin_format", {}).get("s"))
    dtype = element_type(_text(attributes.get("_datadump_origin_data_type", {}).get("s")) or None)
    return Origin(_meanings(written), index, layout, dtype), ""


def _meanings(written: str) -> Tuple[str, ...]:
    raw = written.encode("utf-8", "surrogatepass")
    plain = unescape(raw, strict=True)
    meant = written if plain is None else plain.decode("utf-8", "surrogateescape")
    return (meant,) if meant == written else (meant, written)


def _attributes(tree: Tree) -> Dict[str, Tree]:
    """`attr` as a list of key/value pairs, or as the object of a proto3 map."""
    attr = tree.get("attr")
    if isinstance(attr, dict):
        return {key: value for key, value in attr.items() if isinstance(value, dict)}
    found: Dict[str, Tree] = {}
    for pair in _trees(attr):
        value = pair.get("value")
        found[_text(pair.get("key"))] = value if isinstance(value, dict) else {}
    return found


def _first(attributes: Dict[str, Tree], *keys: str) -> Optional[Tree]:
    return next((attributes[key] for key in keys if key in attributes), None)


def _list_of(attribute: Optional[Tree]) -> object:
    values = (attribute or {}).get("list")
    return values.get("i") if isinstance(values, dict) else None


def _dims(items: object) -> Optional[Tuple[int, ...]]:
    """The extents, -1 for one that is not known; None for more than any tensor has."""
    listed = _items(items)
    if len(listed) > MOST_AXES:
        return None
    numbers = (_integer(item) for item in listed)
    return tuple(-1 if number is None or number == _UNSET else number for number in numbers)


def _integer(value: object) -> Optional[int]:
    """An int, also written as a string; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and len(value) < 40:
        try:
            return int(value)
        except ValueError:
            return None
    return None


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _items(value: object) -> List[object]:
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _trees(value: object) -> Iterator[Tree]:
    return (item for item in _items(value) if isinstance(item, dict))
