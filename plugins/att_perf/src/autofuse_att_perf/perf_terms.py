"""Pipes from [PERF] lines: each named term belongs to its own node, the total of a line is what the line says."""

from __future__ import annotations

from typing import Dict, Iterable, List, Tuple

from autofuse.types import PipeFormula

from autofuse_att_perf.checks import Check, compare, logged_number
from autofuse_att_perf.terms import Term

__all__ = ["line_checks", "pipe_terms"]


def pipe_terms(formulas: Iterable[PipeFormula]) -> Dict[str, List[Term]]:
    """Pipe → its terms, in the order of the lines; per node they add up to the totals of its lines."""
    pipes: Dict[str, List[Term]] = {}
    for formula in _last_of_each(formulas):
        pipes.setdefault(formula.pipe, []).extend(_line_terms(formula))
    return pipes


def line_checks(formulas: Iterable[PipeFormula]) -> List[Check]:
    """The lines whose terms do not add up to their total."""
    checks = []
    for formula in _last_of_each(formulas):
        values = [logged_number(text) for _, text in formula.terms]
        known = [value for value in values if value is not None]
        if known and len(known) == len(values):
            check = compare(f"{formula.node} {formula.pipe}", sum(known), formula.total, origin="log")
            if check.status == "mismatch" and not _rounded(check, len(known)):
                checks.append(check)
    return checks


def _last_of_each(formulas: Iterable[PipeFormula]) -> List[PipeFormula]:
    """One line per node and pipe: the last one printed counts."""
    last: Dict[Tuple[str, str, str], PipeFormula] = {}
    for formula in formulas:
        last[(formula.node, formula.node_type, formula.pipe)] = formula
    return list(last.values())


def _line_terms(formula: PipeFormula) -> List[Term]:
    place = f"{formula.at.path}:{formula.at.line}"
    terms = [
        Term("node", f"{formula.node}: {name}", value, formula.node, formula.node_type, (f"{name}={text}", place))
        for name, text in formula.terms
        for value in (logged_number(text),)
    ]
    known = [term.value for term in terms if term.value is not None]
    total = logged_number(formula.total)
    if total is None or len(known) < len(terms):
        return terms
    rest = total - sum(known)
    if terms and abs(rest) <= max(_ROUNDING * len(known), 1e-9 * abs(total)):
        return terms
    label = f"{formula.node}: {'not explained' if terms else 'total'}"
    return [*terms, Term("node", label, rest, formula.node, formula.node_type, (f"total {formula.total}", place))]


_ROUNDING = 0.01
"""[PERF] lines have four or five digits: 172.2 + 27.01 may be printed as 199.2."""


def _rounded(check: Check, count: int) -> bool:
    return check.difference is not None and abs(check.difference) <= _ROUNDING * count
