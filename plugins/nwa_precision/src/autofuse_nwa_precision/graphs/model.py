"""What a dump graph says about operators: where inputs come from, and which original output a fused output stands for.

Plain values; the readers fill them and the pairing uses them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple

from autofuse_nwa_precision.dtypes import ElementType

__all__ = ["FUSED_TYPES", "Graph", "Operator", "Origin", "Source", "TensorDesc"]

FUSED_TYPES = frozenset({"AscBackend", "FusedAscBackend"})
"""Operator types that automatic fusion makes."""


@dataclass(frozen=True)
class Origin:
    """The original operator's output that a fused output stands for (`_datadump_origin_*` attributes)."""

    names: Tuple[str, ...]
    """The name as meant, then as written when that differs: an `s` value may be C-escaped, and no flag tells."""
    index: int
    layout: str = ""
    dtype: Optional[ElementType] = None

    @property
    def name(self) -> str:
        """The name as meant."""
        return self.names[0]


@dataclass(frozen=True)
class TensorDesc:
    """One entry of `input_desc` or `output_desc`; what the file does not say is None or empty."""

    dtype: Optional[ElementType] = None
    layout: str = ""
    shape: Optional[Tuple[int, ...]] = None
    origin_shape: Optional[Tuple[int, ...]] = None
    origin_layout: str = ""
    origin: Optional[Origin] = None
    gap: str = ""
    """Why there is no origin."""


@dataclass(frozen=True)
class Source:
    """A data input: an output of another operator of the graph."""

    node: str
    index: int


@dataclass(frozen=True)
class Operator:
    """One operator. `inputs` holds data inputs only: the n-th belongs to the n-th `input_desc`."""

    name: str
    type: str
    inputs: Tuple[Source, ...] = ()
    input_descs: Tuple[TensorDesc, ...] = ()
    output_descs: Tuple[TensorDesc, ...] = ()
    subgraphs: Tuple[str, ...] = ()
    parent_input: Optional[int] = None
    """For a Data of a subgraph: the input of the calling operator that it stands for."""

    @property
    def signature(self) -> Tuple[str, str, Tuple[TensorDesc, ...]]:
        """What makes two entries of a file the same operator."""
        return self.name, self.type, self.output_descs

    @property
    def fused(self) -> bool:
        """True for an operator that automatic fusion made."""
        return self.type in FUSED_TYPES


@dataclass(frozen=True)
class Graph:
    """One graph of a file; subgraphs are graphs of their own."""

    name: str
    operators: Tuple[Operator, ...]
