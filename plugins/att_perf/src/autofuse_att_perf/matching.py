"""Which sources belong to which operator of the log: by OP_NAME, by file names, or by agreement of the values."""

from __future__ import annotations

import re
from typing import Dict, List, Optional, Sequence, Set, Tuple

from autofuse_att_perf.analysis import analyse_operator
from autofuse_att_perf.candidates import OperatorLog
from autofuse_att_perf.formulas import UnitFormulas

__all__ = ["match_sources"]

_NOT_A_WORD = re.compile(r"[^0-9A-Za-z]+")
_MAX_TRIES = 400
"""Pairs of operator and sources that are compared by value; more are not guessed."""


def match_sources(
    logs: Sequence[OperatorLog], units: Sequence[UnitFormulas]
) -> Tuple[Dict[int, UnitFormulas], List[str]]:
    """(index of the log → its sources, notices about what is assumed)."""
    matched: Dict[int, UnitFormulas] = {}
    notices: List[str] = []
    declared, stems = _declared(units), _stems(units)
    for index, log in enumerate(logs):
        plain = _plain(log.name)
        unit = _of_name(log.name, declared, stems, notices)
        if unit is None:
            unit = _of_name(plain, declared, stems, notices)
        if unit is None:
            unit = stems.get(plain)
        # Asking for its truth would search its texts here and now, in one process.
        if unit is not None:
            matched[index] = unit
    taken = {id(unit) for unit in matched.values()}
    left = [unit for unit in units if id(unit) not in taken]
    if len(matched) < len(logs) and left:
        _guess(logs, left, matched, notices)
    return matched, notices


def _plain(name: str) -> str:
    """As CANN makes file names of operators: each run of other characters becomes one `_`."""
    return _NOT_A_WORD.sub("_", name).strip("_").lower()


def _declared(units: Sequence[UnitFormulas]) -> Dict[str, List[UnitFormulas]]:
    found: Dict[str, List[UnitFormulas]] = {}
    for unit in units:
        for name in unit.unit.op_names:
            found.setdefault(name, []).append(unit)
    return found


def _of_name(
    name: str, declared: Dict[str, List[UnitFormulas]], stems: Dict[str, UnitFormulas], notices: List[str]
) -> Optional[UnitFormulas]:
    """The sources that define `name` as OP_NAME; where several do, those that their file names say so, too.

    Several operators in one folder share the header with the name of one of them.
    """
    found = declared.get(name, [])
    if len(found) < 2:
        return found[0] if found else None
    spelled = stems.get(_plain(name))
    chosen = spelled if spelled in found else found[0]
    folders = sorted({unit.unit.folder for unit in found} - {chosen.unit.folder})
    if folders or spelled not in found:
        others = ", ".join(folders[:3]) or f"{chosen.unit.folder} under several file names"
        notice = f"{name} has sources in {others}; those of {chosen.unit.folder} named {chosen.unit.stem} are used"
        if notice not in notices:
            notices.append(notice)
    return chosen


def _stems(units: Sequence[UnitFormulas]) -> Dict[str, UnitFormulas]:
    found: Dict[str, UnitFormulas] = {}
    for unit in units:
        if unit.unit.stem:
            found.setdefault(_plain(unit.unit.stem), unit)
    return found


def _guess(
    logs: Sequence[OperatorLog], units: Sequence[UnitFormulas], matched: Dict[int, UnitFormulas], notices: List[str]
) -> None:
    """Sources that name no operator of the log: those whose values agree, or the only ones for the only operator."""
    left = [index for index in range(len(logs)) if index not in matched and logs[index].candidates]
    units = [unit for unit in units if len(unit)]
    if len(units) == 1 and not matched and len({logs[index].name for index in left}) == 1:
        # Sources that name another operator are taken for a renamed one only when they have a value to show.
        if not units[0].unit.op_names or any(_evaluates(logs[index], units[0]) for index in left):
            _assume(logs, left, units[0], matched, notices)
        return
    tries = 0
    for index in left:
        for unit in units:
            tries += 1
            if tries > _MAX_TRIES:
                return
            if _agrees(logs[index], unit):
                matched[index] = unit
                break
    agreeing = [index for index in left if index in matched]
    if agreeing:
        names = ", ".join(logs[index].name for index in agreeing[:5])
        notices.append(f"sources that name another operator give exactly the logged values: used for {names}")
    elif len(units) == 1 and not matched:
        _assume(logs, [index for index in left if _covers(logs[index], units[0])], units[0], matched, notices)


def _assume(
    logs: Sequence[OperatorLog],
    indices: Sequence[int],
    unit: UnitFormulas,
    matched: Dict[int, UnitFormulas],
    notices: List[str],
) -> None:
    for index in indices:
        matched[index] = unit
    declared = sorted(unit.unit.op_names)
    if indices and declared:
        names = ", ".join(sorted({logs[index].name for index in indices})[:5])
        notices.append(f"the sources are of {', '.join(declared[:3])}, the log has {names}: assumed to be the same")


def _agrees(log: OperatorLog, unit: UnitFormulas) -> bool:
    """Every value that has a formula equals the logged one, and at least one does."""
    statuses: Set[str] = set()
    for group in analyse_operator(log, unit).groups:
        for template in group.templates:
            if template.function is None:
                return False
            statuses |= {check.status for check in template.checks if check.origin == "source"}
    return "ok" in statuses and statuses <= {"ok", "not_logged"}


def _evaluates(log: OperatorLog, unit: UnitFormulas) -> bool:
    """Any pipe has a value by formula."""
    groups = analyse_operator(log, unit).groups
    return any(pipe.value is not None for group in groups for template in group.templates for pipe in template.pipes)


def _covers(log: OperatorLog, unit: UnitFormulas) -> bool:
    """The sources have every template of the log."""
    return all(template.function for group in analyse_operator(log, unit).groups for template in group.templates)
