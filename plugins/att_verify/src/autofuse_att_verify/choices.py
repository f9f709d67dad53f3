"""What the log messages of one call say it chose: templates, their objective and pipes, and the results' cycles.

The twin of log.cpp of the native runner; imports nothing but the standard library, for the Python runner uses it too.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Iterable, List, Tuple

__all__ = ["read_choice"]

_VALUE = re.compile(r"The value of (\S+) is ([^\s]+?)\.? in (graph\w+)")
_RESULT = re.compile(r"The value of (graph\d+_result\d+) is (\S+?)\.?(?:\s|$)")
_OBJECTIVE = re.compile(r"The objective value of the tiling data is (\S+) in (graph\w+)")
_TEMPLATE = re.compile(r"Among the templates, tiling case (\w+) of (graph\w+) is the best choice")
_SCHEDULE = re.compile(r"Among all schedule results, (graph\d+_result\d+) is the best choice")
_PIPE = ("AIC_", "AIV_", "AICORE_", "PIPE_")


def read_choice(lines: Iterable[str]) -> Tuple[List[Dict[str, Any]], Dict[str, str]]:
    """(`[{template, objective, pipes}]` of the chosen templates, {result: value} of the chosen results)."""
    values: Dict[str, Dict[str, Any]] = {}
    chosen: Dict[str, str] = {}
    results: Dict[str, str] = {}
    schedules: List[str] = []
    for line in lines:
        if "he value of " in line:
            _read_value(line, values, results)
        elif "The objective value" in line:
            found = _OBJECTIVE.search(line)
            if found:
                values.setdefault(found[2], {"pipes": {}})["objective"] = found[1]
        elif "Among " in line:
            _read_choice(line, chosen, schedules)
    kept = [name for group, name in sorted(chosen.items()) if _is_chosen(group, schedules)]
    return [{"template": name, **values.get(name, {})} for name in kept], {
        name: value for name, value in sorted(results.items()) if _is_chosen(name + "_g", schedules)
    }


def _read_value(line: str, values: Dict[str, Dict[str, Any]], results: Dict[str, str]) -> None:
    found = _VALUE.search(line)
    if found:
        if found[1].startswith(_PIPE):
            values.setdefault(found[3], {"pipes": {}})["pipes"][found[1]] = found[2]
        return
    found = _RESULT.search(line)
    if found:
        results[found[1]] = found[2]


def _read_choice(line: str, chosen: Dict[str, str], schedules: List[str]) -> None:
    found = _TEMPLATE.search(line)
    if found:
        case, group = found[1], found[2]
        if group.endswith("_" + case):  # old producers put the case into the id as well
            group = group[: -len(case) - 1]
        chosen[group] = f"{group}_{case}"
    found = _SCHEDULE.search(line)
    if found:
        schedules.append(found[1])


def _is_chosen(group: str, schedules: List[str]) -> bool:
    result = group.rpartition("_g")[0]
    graph = result.partition("_")[0]
    return result in schedules or not any(name.partition("_")[0] == graph for name in schedules)
