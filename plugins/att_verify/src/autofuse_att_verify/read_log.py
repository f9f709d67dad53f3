"""Finds the call in an ATT log that belongs to the sources, through the run model of att_summary."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

from autofuse.errors import AutofuseError

from autofuse_att_verify.compare import CaseFilter, parse_case
from autofuse_att_verify.contract import LARGEST_DIM, Contract
from autofuse_att_verify.logs import LoggedCall
from autofuse_att_verify.scene import Sources

__all__ = ["find_call"]


def find_call(app: Any, path: str, case: Optional[str], sources: Sources, inputs: Optional[Contract]) -> LoggedCall:
    """The last call of the sources' operator that chose something (and, with `case`, chose that).

    With `inputs`, rather a call with these. A call whose shape no contract may ask for is taken only if all are such.
    AutofuseError when the log cannot be read, holds no such call, or holds several operators of which none or several
    are named in the sources.
    """
    try:
        from autofuse_att_summary.reading import read_logs
    except ImportError:
        raise AutofuseError("--log needs the plugin att_summary", hint="pip install autofuse-att-summary") from None
    signature = sources.signature()
    symbols = signature.symbols if signature is not None else None
    gathered = _Gathered(parse_case(case) if case is not None else None, inputs, symbols)
    read_logs(app, [path], gathered)
    operator = _operator(list(gathered.last), sources, path)
    call = gathered.last[operator]
    if call is None:
        raise AutofuseError(f"has no call of {operator!r} that chose {case}", path, "see `autofuse run summary`")
    return _logged(call, path)


class _Gathered:
    """The call of each operator that fits best; among equals the last."""

    def __init__(
        self, case: Optional[CaseFilter], inputs: Optional[Contract], symbols: Optional[Sequence[str]]
    ) -> None:
        self.case = case
        self.inputs = inputs
        self.symbols = symbols
        self.last: Dict[str, Any] = {}
        self.ranks: Dict[str, Tuple[int, ...]] = {}

    def __call__(self, invocation: Any) -> None:
        self.last.setdefault(invocation.operator, None)
        if self.case is not None and not any(map(self.case.accepts, _templates(invocation))):
            return
        rank = self._rank(invocation)
        if rank > self.ranks.get(invocation.operator, ()):
            self.ranks[invocation.operator] = rank
            self.last[invocation.operator] = invocation

    def _rank(self, invocation: Any) -> Tuple[int, ...]:
        chose = bool(invocation.chose)
        try:
            call = _logged(invocation, "")
            usable = all(1 <= value <= LARGEST_DIM for value in call.shape.values())
        except AutofuseError:
            return 0, False, False, chose, invocation.key
        return self._likeness(call), chose and usable, usable, chose, invocation.key

    def _likeness(self, call: LoggedCall) -> int:
        """2 for the inputs that were asked for, 1 for their shape alone."""
        if self.inputs is None:
            return 0
        dims = call.ordered(tuple(call.shape) if self.symbols is None else self.symbols)
        if dims is None or tuple(dims) != self.inputs.dynamic_dims:
            return 0
        return 1 + ((call.aiv_num, call.ub_size) == (self.inputs.aiv_num, self.inputs.ub_size))


def _operator(found: List[str], sources: Sources, path: str) -> str:
    """The operator of the sources: the only one of the log, or the only one that the sources name."""
    if not found:
        raise AutofuseError("holds no tiling call", path, "is it an ATT log with [PROF] lines?")
    if len(found) == 1:
        return found[0]
    named = [name for name in found if any(name.encode() in text for text in sources.files.values())]
    # A name may be the beginning of another one's: the longest that is there is meant.
    longest = [name for name in named if not any(name != other and name in other for other in named)]
    if len(longest) != 1:
        which = "several" if longest else "none"
        listed = ", ".join(found[:20])
        raise AutofuseError(f"holds {len(found)} operators, and SOURCE_DIR names {which} of them", path, listed)
    return longest[0]


def _logged(invocation: Any, path: str) -> LoggedCall:
    return LoggedCall(
        path=path,
        operator=invocation.operator,
        shape={name: _whole(value, name, path) for name, value in invocation.shape.items()},
        aiv_num=_hardware(invocation, "block_dim", path),
        ub_size=_hardware(invocation, "ub_size", path),
        templates=_templates(invocation),
    )


def _hardware(invocation: Any, name: str, path: str) -> Optional[int]:
    value = invocation.hardware.get(name)
    return None if value is None else _whole(value, name, path)


def _whole(value: str, name: str, path: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise AutofuseError(f"{name} is {value[:40]!r}, not a whole number", path, "give --input-json") from None


def _templates(invocation: Any) -> Dict[str, Dict[str, str]]:
    """Chosen template → its values and objective, of the chosen result of each graph."""
    templates: Dict[str, Dict[str, str]] = {}
    for (graph, result, group), key in sorted(invocation.choices.items()):
        if invocation.results.get(graph, result) != result:
            continue
        template = invocation.templates.get(key)
        values = {name: str(value) for name, value in template.values.items()} if template else {}
        if template and template.objective is not None:
            values["objective"] = str(template.objective)
        templates[f"graph{graph}_result{result}_g{group}_{key[4]}{key[3]}"] = values
    return templates
