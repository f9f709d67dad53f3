"""Opens a graph file, tells JSON from text protobuf by its content, and gives its graphs or one clear error."""

from __future__ import annotations

import json
import mmap
import os
import stat
from pathlib import Path
from typing import Any, Dict, Optional, Tuple, Union

from autofuse.errors import AutofuseError

from autofuse_nwa_precision.graphs.build import ATTRIBUTES, MODEL, graphs_of
from autofuse_nwa_precision.graphs.model import Graph
from autofuse_nwa_precision.graphs.textproto import TextProtoError, Tree, parse

__all__ = ["read_graphs"]

_HINT = "a GE dump graph is expected: JSON from `atc --mode=5`, or ge_proto_*.txt"
_SNIFFED = 4096
_BOM = b"\xef\xbb\xbf"


def read_graphs(path: Union[str, Path]) -> Tuple[Graph, ...]:
    """The graphs of a GE dump graph file, subgraphs included, in file order.

    AutofuseError when the file cannot be read, is something else, is cut short or holds no operator.
    """
    where = str(path)
    data = _content(where)
    head = bytes(data[:_SNIFFED])
    problem = _not_text(head)
    if problem:
        raise AutofuseError(problem, where, _HINT)
    first = head[len(_BOM) if head.startswith(_BOM) else 0 :].lstrip()[:1]
    tree = _from_json(data, where) if first in (b"{", b"[") else _from_text(data, where)
    graphs = graphs_of(tree)
    if not any(graph.operators for graph in graphs):
        raise AutofuseError("holds no graph with operators", where, _HINT)
    return graphs


def _content(where: str) -> Union[bytes, mmap.mmap]:
    try:
        with open(where, "rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode) and status.st_size:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            if stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode):
                raise AutofuseError("is a device, not a graph", where, _HINT)
            return file.read()
    except IsADirectoryError:
        raise AutofuseError("is a folder, not a graph", where, _HINT) from None
    except FileNotFoundError:
        raise AutofuseError("no such file", where, _HINT) from None
    except (OSError, ValueError) as error:
        raise AutofuseError(f"cannot be read: {getattr(error, 'strerror', None) or error}", where) from error


def _not_text(head: bytes) -> Optional[str]:
    if not head.strip():
        return "is empty, not a graph"
    if head.startswith(b"\x93NUMPY"):
        return "is an npy file, not a graph"
    if b"\0" in head:
        return "is a binary file, not a graph"
    return None


def _from_json(data: Union[bytes, mmap.mmap], where: str) -> Tree:
    try:
        tree = json.loads(bytes(data[:]).decode("utf-8-sig", "surrogateescape"), object_hook=_wanted)
    except json.JSONDecodeError as error:
        raise AutofuseError(f"is no whole JSON: {error.msg}", f"{where}:{error.lineno}", _cut_hint(error)) from None
    except RecursionError:
        raise AutofuseError("is no GE graph: nested too deeply", where, _HINT) from None
    except ValueError as error:
        raise AutofuseError(f"is no JSON: {error}", where, _HINT) from None
    if isinstance(tree, dict):
        return tree
    raise AutofuseError("holds no graph: the JSON is no object", where, _HINT)


def _wanted(found: Dict[str, Any]) -> Optional[Dict[str, Any]]:
    """Drops the pairs of attributes that nobody reads as soon as they are parsed: most of a graph file is those."""
    if "key" in found and "value" in found and found["key"] not in ATTRIBUTES:
        return None
    return found


def _cut_hint(error: json.JSONDecodeError) -> str:
    ended = error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated")
    return "the file ends too early: dump the graph again" if ended else _HINT


def _from_text(data: Union[bytes, mmap.mmap], where: str) -> Tree:
    try:
        return parse(data, MODEL)
    except TextProtoError as error:
        ends = str(error).startswith("the text ends")
        hint = "the file ends too early: dump the graph again" if ends else _HINT
        raise AutofuseError(f"is no GE graph: {error}", f"{where}:{error.line}", hint) from None
