"""What a call chose against what was expected of it: --case, and the call of a log."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Dict, FrozenSet, List, Mapping, Optional, Tuple

from autofuse.errors import AutofuseError

from autofuse_att_verify.checks import Check
from autofuse_att_verify.logs import LoggedCall
from autofuse_att_verify.result import Result

__all__ = ["CaseFilter", "comparison_checks", "parse_case"]

_TEMPLATE = re.compile(r"graph(\d+)_result(\d+)_g(\d+)_([A-Za-z]*)(\d+)$")
_GROUP_FIELD = re.compile(r"(graph\d+_result\d+)_g\d+_tiling_data$")
_GRAMMAR = "for example r=0,1,g=2,c=R3: r result, g group, c case"
_HARDWARE = ("block_dim", "ub_size", "hbm_size")


@dataclass(frozen=True)
class CaseFilter:
    """Dimension → accepted values; a dimension that is not there accepts all."""

    values: Mapping[str, FrozenSet[str]]

    def accepts(self, template: str) -> bool:
        """Whether the template `graphG_resultR_gg_Tc` fits."""
        found = _TEMPLATE.match(template)
        if not found:
            return False
        parts = {"r": found[2], "g": found[3], "c": found[4] + found[5]}
        return all(parts[dimension] in values for dimension, values in self.values.items())


def parse_case(text: str) -> CaseFilter:
    """Reads `r=0,1,g=2,c=R3`; AutofuseError that shows the grammar when it is something else."""
    values: Dict[str, set[str]] = {}
    dimension = ""
    for part in text.split(","):
        name, equals, value = part.strip().rpartition("=")
        dimension = name.strip() if equals else dimension
        if not dimension:
            raise AutofuseError(f"--case {text!r} begins without a dimension", hint=_GRAMMAR)
        if dimension not in ("r", "g", "c"):
            raise AutofuseError(f"--case {text!r} has the unknown dimension {dimension!r}", hint=_GRAMMAR)
        pattern = r"[A-Za-z]*\d+" if dimension == "c" else r"\d+"
        if not re.fullmatch(pattern, value.strip()):
            raise AutofuseError(f"--case {text!r} has the bad number {value!r}", hint=_GRAMMAR)
        values.setdefault(dimension, set()).add(_plain(value.strip()))
    return CaseFilter({name: frozenset(numbers) for name, numbers in values.items()})


def comparison_checks(
    case: Optional[str], logged: Optional[LoggedCall], difference: Optional[str], result: Result
) -> List[Check]:
    """The checks that --case and --log add; with other inputs than the logged call had, `difference` says why not."""
    chosen = {str(item["template"]): item for item in result.choice}
    checks: List[Check] = []
    if case is not None:
        checks.append(_case(case, list(chosen)))
    if logged is not None and difference is not None:
        names = ("log_case", "log_block_dim", "log_tiling_values")
        checks += [Check(name, None, f"not compared: {difference}") for name in names]
    elif logged is not None:
        checks += [_log_case(logged, list(chosen)), _log_block_dim(logged, result), _log_values(logged, chosen, result)]
    return checks


def _case(case: str, chosen: List[str]) -> Check:
    if not chosen:
        return Check("case", None, "the call's messages name no chosen template")
    fits = any(map(parse_case(case).accepts, chosen))
    return Check("case", fits, f"chosen: {', '.join(chosen)}; expected: {case}")


def _log_case(logged: LoggedCall, chosen: List[str]) -> Check:
    if not chosen or not logged.templates:
        return Check("log_case", None, "the call's messages or the log name no chosen template")
    same = sorted(chosen) == sorted(logged.templates)
    return Check("log_case", same, f"chosen: {', '.join(chosen)}; in the log: {', '.join(logged.templates)}")


def _log_block_dim(logged: LoggedCall, result: Result) -> Check:
    if not logged.block_dims or result.block_dim is None:
        return Check("log_block_dim", None, "the log has no block_dim of the chosen templates")
    # Groups run one after the other in the blocks of the widest, or side by side as far as there are cores.
    silent = _silent_block_dims(logged, result)
    together = [*logged.block_dims, *silent]
    accepted = {max(together), min(sum(together), result.inputs["aiv_num"])}
    shown = " and ".join(map(str, logged.block_dims))
    others = f", with other groups {' and '.join(map(str, silent))}" if silent else ""
    return Check("log_block_dim", result.block_dim in accepted, f"{result.block_dim}; in the log: {shown}{others}")


def _silent_block_dims(logged: LoggedCall, result: Result) -> List[int]:
    """block_dim of the chosen results' groups that the log does not show: they reuse the solver of another group."""
    fields = result.tiling_data_fields if isinstance(result.tiling_data_fields, dict) else {}
    shown = {template.rpartition("_")[0] for template in logged.templates}
    results = {group.rpartition("_g")[0] for group in shown}
    found: List[int] = []
    for name, group in fields.items():
        owner = _GROUP_FIELD.match(name)
        if owner and owner[1] in results and owner[0][: -len("_tiling_data")] not in shown and isinstance(group, dict):
            value = group.get("block_dim")
            found += [value] if isinstance(value, int) else []
    return found


def _log_values(logged: LoggedCall, chosen: Mapping[str, Mapping[str, Any]], result: Result) -> Check:
    """Compares the decoded tiling data, and the modelled pipes, with the values of the log."""
    compared, differences = 0, []
    for template, values in logged.templates.items():
        for name, here in _values_of(template, chosen.get(template, {}), result).items():
            if name in values and name not in _HARDWARE:
                compared += 1
                if not _equal(here, values[name]):
                    differences.append(f"{name} {here} (log {values[name]})")
    if not compared:
        return Check("log_tiling_values", None, "no tiling value of the log is found in the result")
    text = f"{compared} values compared"
    return Check(
        "log_tiling_values", not differences, f"{text}; differing: {', '.join(differences)}" if differences else text
    )


def _values_of(template: str, choice: Mapping[str, Any], result: Result) -> Dict[str, Any]:
    """The values that this run has for one template: its group's fields in the tiling data, its pipes and objective."""
    values: Dict[str, Any] = {}
    fields = result.tiling_data_fields
    if isinstance(fields, dict):
        group = fields.get(f"{template.rpartition('_')[0]}_tiling_data")
        values |= {k: v for k, v in (group if isinstance(group, dict) else fields).items() if type(v) in (int, float)}
    values |= choice.get("pipes", {})
    if "objective" in choice:
        values["objective"] = choice["objective"]
    return values


def _equal(here: Any, logged: str) -> bool:
    if str(here) == logged:
        return True
    try:
        return float(here) == float(logged)
    except ValueError:
        return False


def _plain(value: str) -> str:
    """`R03` and `R3` are one case."""
    found = re.fullmatch(r"([A-Za-z]*)(\d+)", value)
    parts: Tuple[str, str] = (found[1], found[2]) if found else ("", value)
    return parts[0] + str(int(parts[1]))
