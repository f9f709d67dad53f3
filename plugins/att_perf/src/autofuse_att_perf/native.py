"""The way to the native twin of compiler and evaluator; without it the Python code does the work, with the same results.

The twin compiles the newest style of sources without mistakes in them; whatever else it meets it hands back.
"""

from __future__ import annotations

from typing import List, Mapping, Optional, Sequence, Tuple

from autofuse_att_perf import evaluate as python
from autofuse_att_perf.bodies import Function
from autofuse_att_perf.tape import Tape, Value

__all__ = ["compile_static", "evaluate", "run_changes"]


def compile_static(function: Function) -> Optional[Tape]:
    """The tape of a function of numbers, or None: then the Python compiler reads it (and words the errors)."""
    return None


def evaluate(tape: Tape, values: Mapping[str, Value]) -> python.Evaluation:
    """See `autofuse_att_perf.evaluate.evaluate`."""
    return python.evaluate(tape, values)


def run_changes(
    tape: Tape, inputs: Sequence[Value], changes: Sequence[Tuple[int, Value]], slots: Sequence[int]
) -> List[List[Value]]:
    """See `autofuse_att_perf.evaluate.evaluate_changes`."""
    return python.evaluate_changes(tape, inputs, changes, slots)
