"""Pipes from [PERF] lines: each named term belongs to its own node, the total of a line is what the line says."""

from __future__ import annotations

from typing import Dict, Iterable, List, Optional, Tuple

from autofuse.types import PipeFormula

from autofuse_att_perf.checks import Check, adds_up, compare, logged_number
from autofuse_att_perf.terms import Term

__all__ = ["line_checks", "pipe_terms", "pipe_total"]


def pipe_terms(formulas: Iterable[PipeFormula]) -> Dict[str, List[Term]]:
    """Pipe → its terms, in the order of the lines; per node they add up to the totals of its lines."""
    pipes: Dict[str, List[Term]] = {}
    for formula in _last_of_each(formulas):
        pipes.setdefault(formula.pipe, []).extend(_line_terms(formula))
    return pipes


def pipe_total(formulas: Iterable[PipeFormula], pipe: str) -> Optional[float]:
    """The pipe by what its lines say: the sum of their totals; None when one has neither a total nor all its terms."""
    totals = [_total(formula) for formula in _last_of_each(formulas) if formula.pipe == pipe]
    known = [total for total in totals if total is not None]
    return sum(known) if len(known) == len(totals) else None


def line_checks(formulas: Iterable[PipeFormula]) -> List[Check]:
    """The lines whose terms do not add up to their total."""
    checks = []
    for formula in _last_of_each(formulas):
        values, total = _values(formula), logged_number(formula.total)
        if values and total is not None and not adds_up(values, total):
            checks.append(compare(f"{formula.node} {formula.pipe}", sum(values), formula.total, origin="log"))
    return checks


def _values(formula: PipeFormula) -> List[float]:
    """The terms in cycles; empty when one of them is no number."""
    values = [logged_number(text) for _, text in formula.terms]
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else []


def _total(formula: PipeFormula) -> Optional[float]:
    total = logged_number(formula.total)
    values = _values(formula)
    return total if total is not None else sum(values) if values else None


def _last_of_each(formulas: Iterable[PipeFormula]) -> List[PipeFormula]:
    """One line per node and pipe: the last one printed counts."""
    last: Dict[Tuple[str, str, str], PipeFormula] = {}
    for formula in formulas:
        last[(formula.node, formula.node_type, formula.pipe)] = formula
    return list(last.values())


def _line_terms(formula: PipeFormula) -> List[Term]:
    terms = [
        Term("node", f"{formula.node}: {name}", value, formula.node, formula.node_type, f"{name}={text}", formula.at)
        for name, text in formula.terms
        for value in (logged_number(text),)
    ]
    values, total = _values(formula), logged_number(formula.total)
    if total is None or len(values) < len(terms) or (terms and adds_up(values, total)):
        return terms
    label = f"{formula.node}: {'not explained' if terms else 'total'}"
    rest = total - sum(values)
    return [*terms, Term("node", label, rest, formula.node, formula.node_type, f"total {formula.total}", formula.at)]
