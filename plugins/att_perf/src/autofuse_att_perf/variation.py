"""What differs most between the cases of one group: the variance of every parameter and of every term."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Dict, List, Sequence, Tuple

from autofuse_att_perf.analysis import GroupAnalysis

__all__ = ["Variation", "parameter_variations", "term_variations", "variations"]


@dataclass(frozen=True)
class Variation:
    """One parameter or term that at least two cases have."""

    kind: str
    """`parameter` or `term`."""
    name: str
    cases: Tuple[str, ...]
    values: Tuple[float, ...]
    """In the order of `cases`; terms in cycles."""
    variance: float
    """Population variance."""


def variations(group: GroupAnalysis) -> List[Variation]:
    """Parameters first, then terms; in each kind the one that varies most first."""
    return parameter_variations(group) + term_variations(group)


def parameter_variations(group: GroupAnalysis) -> List[Variation]:
    """The tiling parameters that formulas use, the one that varies most first."""
    parameters: Dict[str, Dict[str, float]] = {}
    for template in group.templates:
        case = template.candidate.case
        for name, value in template.parameters.items():
            parameters.setdefault(name, {})[case] = float(value)
    return _ranked("parameter", parameters)


def term_variations(group: GroupAnalysis) -> List[Variation]:
    """The terms of all pipes, the one that varies most first."""
    terms: Dict[str, Dict[str, float]] = {}
    for template in group.templates:
        case = template.candidate.case
        for pipe in template.pipes:
            for term in pipe.terms:
                if term.value is not None:
                    by_case = terms.setdefault(f"{pipe.name}: {term.label}", {})
                    by_case[case] = by_case.get(case, 0.0) + term.value
    return _ranked("term", terms)


def _ranked(kind: str, values: Dict[str, Dict[str, float]]) -> List[Variation]:
    found = []
    for name, by_case in values.items():
        known = {case: value for case, value in by_case.items() if math.isfinite(value)}
        if len(known) > 1:
            numbers = tuple(known.values())
            found.append(Variation(kind, name, tuple(known), numbers, _variance(numbers)))
    return sorted(found, key=lambda one: (-one.variance, one.name))


def _variance(values: Sequence[float]) -> float:
    # Scaled first, so that only a variance beyond the largest double becomes inf.
    largest = max(map(abs, values)) or 1.0
    scaled = [value / largest for value in values]
    mean = math.fsum(scaled) / len(scaled)
    return math.fsum((value - mean) ** 2 for value in scaled) / len(scaled) * largest * largest
