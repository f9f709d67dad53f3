"""Reading GE dump graphs, as JSON or as text protobuf, into operators with their inputs and origin mappings."""

from autofuse_nwa_precision.graphs.model import FUSED_TYPES, Graph, Operator, Origin, Source, TensorDesc
from autofuse_nwa_precision.graphs.read import read_graphs

__all__ = ["FUSED_TYPES", "Graph", "Operator", "Origin", "Source", "TensorDesc", "read_graphs"]
