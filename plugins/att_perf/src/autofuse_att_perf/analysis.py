"""Puts log and sources together: pipes, terms, checks, branches, sensitivities and use of hardware of every template.

Pure functions from an `OperatorLog` and its formulas to an `OperatorAnalysis`; drawing and tables are elsewhere.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from autofuse.types import PipeFormula, TemplateId

from autofuse_att_perf.bodies import Function
from autofuse_att_perf.branches import Branch, branches
from autofuse_att_perf.candidates import Candidate, GroupId, OperatorLog
from autofuse_att_perf.checks import Check, compare, logged_number
from autofuse_att_perf.evaluate import Evaluation, number
from autofuse_att_perf.formulas import TemplateFormulas, UnitFormulas, is_pipe
from autofuse_att_perf.native import evaluate, result_of
from autofuse_att_perf.perf_terms import line_checks, pipe_terms, pipe_total
from autofuse_att_perf.sensitivity import Responses, Sensitivity, responses
from autofuse_att_perf.tape import Op, Tape, Value
from autofuse_att_perf.terms import Decomposer, Term

__all__ = ["GroupAnalysis", "OperatorAnalysis", "PipeAnalysis", "TemplateAnalysis", "Usage", "analyse_operator"]


class PipeAnalysis(NamedTuple):
    """One pipe of one template, in cycles."""

    name: str
    value: Optional[float]
    """By formula; None when it cannot be evaluated."""
    logged: Optional[str]
    terms: Sequence[Term]
    origin: str
    """`source` or `log` ([PERF] lines)."""

    @property
    def whole(self) -> Optional[float]:
        """What its terms add up to: its value, but for the digits that [PERF] lines do not print."""
        if self.origin != "log" or not self.terms:
            return self.value
        values = [term.value for term in self.terms if term.value is not None]
        return sum(values) if len(values) == len(self.terms) else self.value

    @property
    def shown(self) -> Optional[float]:
        """The formula's value, or else the logged one."""
        return self.value if self.value is not None else logged_number(self.logged)


class Usage(NamedTuple):
    """Use of the unified buffer (`ub`, bytes) or of the cores (`blocks`)."""

    what: str
    used: float
    available: Optional[float]
    origin: str
    """`source`: by the generated function; `log`: only logged."""

    @property
    def percent(self) -> Optional[float]:
        """Used of available."""
        return self.used / self.available * 100 if self.available else None

    @property
    def words(self) -> str:
        """`ub 65312 of 196608 (33 %)`, `blocks 19 of 48`."""
        if self.available is None:
            return f"{self.what} {self.used:.0f}"
        text = f"{self.what} {self.used:.0f} of {self.available:.0f}"
        return f"{text} ({self.percent:.0f} %)" if self.what == "ub" and self.percent is not None else text


@dataclass
class TemplateAnalysis:
    """Everything about one template."""

    candidate: Candidate
    pipes: List[PipeAnalysis] = field(default_factory=list)
    perf_lines: List[PipeAnalysis] = field(default_factory=list)
    """Pipes by [PERF] lines where the sources have the pipe too."""
    objective: Optional[float] = None
    """By formula."""
    checks: List[Check] = field(default_factory=list)
    usage: List[Usage] = field(default_factory=list)
    parameters: Dict[str, Value] = field(default_factory=dict)
    """The tiling parameters that its formulas use; without formulas in the sources all that were logged."""
    function: Optional[Function] = None
    """Where its formulas stand; None without sources."""
    cores: Optional[Value] = None
    _tape: Optional[Tape] = None
    _evaluation: Optional[Evaluation] = None

    @property
    def place(self) -> str:
        """`path:line` of its formulas; "" without sources."""
        return "" if self.function is None else self.function.place

    @property
    def has_formulas(self) -> bool:
        """Whether a source or a [PERF] line says anything about it."""
        return self.function is not None or any(pipe.terms for pipe in self.pipes)

    @property
    def origin(self) -> str:
        """Where the formulas come from: `source`, `log`, `source+log` or ""."""
        origins = {pipe.origin for pipe in (*self.pipes, *self.perf_lines) if pipe.terms}
        return "+".join(sorted(origins, reverse=True)) or ("source" if self.function else "")

    @property
    def shown_objective(self) -> Optional[float]:
        """The formula's objective, or else the logged one."""
        return self.objective if self.objective is not None else logged_number(self.candidate.objective)

    @cached_property
    def bottleneck(self) -> Optional[PipeAnalysis]:
        """The largest pipe: nan ignored, of equal ones the first by name."""
        known = [pipe for pipe in self.pipes if pipe.shown is not None and not math.isnan(pipe.shown)]
        return min(known, key=lambda pipe: (-(pipe.shown or 0.0), pipe.name), default=None)

    @property
    def head_cost(self) -> Optional[float]:
        """Objective without its largest pipe."""
        objective, pipe = self.shown_objective, self.bottleneck
        if objective is None or pipe is None or pipe.shown is None or math.isnan(objective):
            return None
        cost = objective - pipe.shown
        return None if math.isnan(cost) else cost

    @cached_property
    def branches(self) -> List[Branch]:
        """Which way the conditions of the formulas went."""
        return branches(self._tape, self._evaluation.slots) if self._tape and self._evaluation else []

    @cached_property
    def _responses(self) -> Optional[Responses]:
        tape, evaluation = self._tape, self._evaluation
        if tape is None or evaluation is None:
            return None
        targets = dict(tape.pipes) if tape.result is None else {"objective": tape.result, **tape.pipes}
        upper = {} if self.cores is None else {"block_dim": self.cores}
        return responses(tape, evaluation, list(self.parameters), targets, upper)

    @property
    def sensitivities(self) -> List[Sensitivity]:
        """The objective and every pipe against every tiling parameter."""
        found = self._responses
        return [] if found is None else [one for target in found.targets for one in found.of(target)]

    @cached_property
    def ranking(self) -> List[Sensitivity]:
        """The sensitivities of the objective (of the bottleneck where there is none), the strongest first."""
        if self._responses is None:
            return []
        target = "objective" if self.objective is not None else self.bottleneck.name if self.bottleneck else ""
        mine = [one for one in self._responses.of(target) if one.elasticity]
        return sorted(mine, key=lambda one: -abs(one.elasticity or 0.0))


@dataclass
class GroupAnalysis:
    """The templates that compete for one group, in the order of the log; None as id holds lines without a template."""

    id: GroupId
    templates: List[TemplateAnalysis]
    in_result: bool = False

    @property
    def chosen(self) -> Optional[TemplateAnalysis]:
        """The template that the group chose."""
        return next((template for template in self.templates if template.candidate.chosen), None)

    @property
    def shown(self) -> TemplateAnalysis:
        """The chosen template, or else the first one with formulas, or else the first."""
        with_formulas = next((template for template in self.templates if template.has_formulas), self.templates[0])
        return self.chosen or with_formulas


@dataclass
class OperatorAnalysis:
    """One operator of one process."""

    log: OperatorLog
    groups: List[GroupAnalysis]

    @property
    def has_formulas(self) -> bool:
        """Whether any template has formulas."""
        return any(template.has_formulas for group in self.groups for template in group.templates)


def analyse_operator(log: OperatorLog, unit: Optional[UnitFormulas]) -> OperatorAnalysis:
    """The analysis of one operator; `unit` are the formulas of its sources, where there are any."""
    candidates = list(log.candidates)
    perf_lines = _perf_lines_of(log, candidates)
    single_group = len({candidate.group for candidate in candidates}) == 1
    groups: Dict[GroupId, GroupAnalysis] = {}
    for candidate in candidates:
        formulas = _formulas_of(unit, candidate.template, single_group)
        template = _Analyser(log, candidate, formulas, perf_lines.get(candidate.template, ())).run()
        group = groups.setdefault(candidate.group, GroupAnalysis(candidate.group, []))
        group.templates.append(template)
        group.in_result = group.in_result or candidate.in_result
    return OperatorAnalysis(log, [groups[key] for key in sorted(groups, key=lambda key: key or (math.inf,) * 3)])


def _formulas_of(
    unit: Optional[UnitFormulas], template: Optional[TemplateId], single_group: bool
) -> Optional[TemplateFormulas]:
    if unit is None or template is None:
        return None
    own = unit.of(((template.graph, template.result, template.group), template.case, template.sub_case))
    if own is None and (single_group or (template.graph, template.result, template.group) == (0, 0, 0)):
        # The namespace of an operator with a single group names no group.
        own = unit.of((None, template.case, template.sub_case))
    return own


def _perf_lines_of(log: OperatorLog, candidates: List[Candidate]) -> Dict[Optional[TemplateId], List[PipeFormula]]:
    """[PERF] lines by template; one without id belongs to the only (chosen) template, else to none.

    Templates that only [PERF] lines name are appended to `candidates`.
    """
    chosen = [candidate.template for candidate in candidates if candidate.chosen]
    alone = candidates[0].template if len(candidates) == 1 else chosen[0] if len(chosen) == 1 else None
    found: Dict[Optional[TemplateId], List[PipeFormula]] = {}
    for formula in log.formulas:
        found.setdefault(formula.template or alone, []).append(formula)
    known = {candidate.template for candidate in candidates}
    for template, formulas in found.items():
        if template not in known:
            at = formulas[0].at
            candidates.append(Candidate(template, path=at.path, line=at.line))
    return found


# --- one template -----------------------------------------------------------------------------------------------------


class _Analyser:
    """Fills one TemplateAnalysis."""

    def __init__(
        self,
        log: OperatorLog,
        candidate: Candidate,
        formulas: Optional[TemplateFormulas],
        perf_lines: Sequence[PipeFormula],
    ) -> None:
        self.log = log
        self.candidate = candidate
        self.formulas = formulas
        self.perf_lines = perf_lines
        self.result = TemplateAnalysis(candidate, cores=_number(log.hardware.get("block_dim")))
        self.values = _known_numbers(candidate.symbols, candidate.values)

    def run(self) -> TemplateAnalysis:
        """The analysis."""
        if self.formulas is not None:
            self.result.function = self.formulas.function
            self._from_sources(self.formulas)
        elif self.perf_lines:
            logged = self.candidate.values
            self.result.parameters = {name: self.values[name] for name in logged if _is_parameter(name, self.values)}
        self._from_perf_lines()
        self._from_log()
        self._use_of("ub", "ub_size")
        self._use_of("blocks", "block_dim")
        return self.result

    def _from_sources(self, formulas: TemplateFormulas) -> None:
        tape = formulas.perf
        whole = formulas.errors.get("*")
        logged = self.candidate.pipes
        if tape is None:
            names = list(logged) or [name for name in formulas.errors if is_pipe(name)]
            for name in names:
                self._no_pipe(name, str(formulas.errors.get(name) or whole or "no formula in the sources"))
            self._objective(None, str(whole or "no formula in the sources"))
            return
        evaluation = evaluate(tape, self.values)
        self._keep(tape, evaluation)
        self._pipes(tape, evaluation, formulas)

    def _keep(self, tape: Tape, evaluation: Evaluation) -> None:
        self.result._tape, self.result._evaluation = tape, evaluation
        logged = self.candidate.values
        self.result.parameters = {name: value for name, value in zip(tape.symbols, evaluation.inputs) if name in logged}

    def _pipes(self, tape: Tape, evaluation: Evaluation, formulas: TemplateFormulas) -> None:
        decomposer = Decomposer(tape)
        for name, slot in tape.pipes.items():
            value = evaluation.slots[slot]
            if value is None:
                self._no_pipe(name, _why_not(tape, slot, evaluation))
                continue
            terms = decomposer.terms(slot, name, evaluation.slots)
            self._pipe(PipeAnalysis(name, float(value), self.candidate.pipes.get(name), terms, "source"))
        for name, error in formulas.errors.items():
            if name not in tape.pipes and name not in _NOT_PIPES:
                self._no_pipe(name, str(error))
        objective = None if tape.result is None else evaluation.slots[tape.result]
        note = ""
        if objective is None:
            missing = "" if tape.result is None else _why_not(tape, tape.result, evaluation)
            note = str(formulas.errors.get("objective") or missing)
        self._objective(None if objective is None else float(objective), note)

    def _pipe(self, pipe: PipeAnalysis) -> None:
        self.result.pipes.append(pipe)
        self.result.checks.append(compare(pipe.name, pipe.value, pipe.logged, origin=pipe.origin))

    def _no_pipe(self, name: str, why: str) -> None:
        logged = self.candidate.pipes.get(name)
        self.result.pipes.append(PipeAnalysis(name, None, logged, (), "source"))
        self.result.checks.append(_failed(name, logged, why))

    def _objective(self, value: Optional[float], why: str) -> None:
        self.result.objective = value
        logged = self.candidate.objective
        if value is None and why:
            self.result.checks.append(_failed("objective", logged, why))
        elif value is not None:
            self.result.checks.append(compare("objective", value, logged))

    def _from_perf_lines(self) -> None:
        have = {pipe.name for pipe in self.result.pipes if pipe.value is not None}
        for name, terms in pipe_terms(self.perf_lines).items():
            total = pipe_total(self.perf_lines, name)
            pipe = PipeAnalysis(name, total, self.candidate.pipes.get(name), terms, "log")
            if name in have:
                self.result.perf_lines.append(pipe)
            else:
                self.result.pipes = [old for old in self.result.pipes if old.name != name]
                self.result.pipes.append(pipe)
            self.result.checks.append(compare(name, total, pipe.logged, origin="log"))
        self.result.checks.extend(line_checks(self.perf_lines))

    def _from_log(self) -> None:
        """Pipes that are only logged."""
        have = {pipe.name for pipe in self.result.pipes}
        for name, logged in self.candidate.pipes.items():
            if name not in have:
                self.result.pipes.append(PipeAnalysis(name, None, logged, (), "log"))
                if self.formulas is not None or self.perf_lines:
                    self.result.checks.append(compare(name, None, logged, "no formula of this pipe"))

    def _use_of(self, what: str, quantity: str) -> None:
        logged = self.candidate.values.get(quantity)
        available = logged_number(self.log.hardware.get(quantity))
        tape = getattr(self.formulas, quantity, None) if self.formulas else None
        error = self.formulas.errors.get(quantity) if self.formulas else None
        value: Optional[float] = None
        why = str(error) if error else ""
        if tape is not None and error is None:
            value, why = self._result_of(tape)
        if value is not None:
            self.result.checks.append(compare(quantity, value, logged))
        elif why:
            self.result.checks.append(_failed(quantity, logged, why))
        used = value if value is not None else logged_number(logged)
        if used is not None and math.isfinite(used):
            self.result.usage.append(Usage(what, used, available, "source" if value is not None else "log"))

    def _result_of(self, tape: Tape) -> Tuple[Optional[float], str]:
        if tape.result is None:
            return None, f"{tape.segments[-1][1].path}: the function returns nothing"
        known = result_of(tape, self.values)
        if known is not None:
            return known, ""
        evaluation = evaluate(tape, self.values)
        value = evaluation.slots[tape.result]
        return (None, _why_not(tape, tape.result, evaluation)) if value is None else (float(value), "")


def _failed(quantity: str, logged: Optional[str], why: str) -> Check:
    status = "missing_symbol" if why.startswith(_MISSING) else "error"
    return Check(quantity, None, logged, None, None, status, why)


_NOT_PIPES = ("*", "objective", "ub_size", "block_dim")
_MISSING = "no value in the log for "


def _why_not(tape: Tape, slot: int, evaluation: Evaluation) -> str:
    """Why `slot` has no value: the first error below it, or else the missing symbols."""
    needed: Dict[str, int] = {}
    pending = [slot]
    seen = set()
    while pending:
        current = pending.pop()
        if current in seen or current < 0 or evaluation.slots[current] is not None:
            continue
        seen.add(current)
        if current in evaluation.errors:
            return str(evaluation.errors[current])
        if tape.ops[current] == Op.LOAD:
            needed[tape.symbols[tape.a[current]]] = current
        elif tape.ops[current] == Op.SELECT and evaluation.slots[tape.a[current]] is not None:
            pending.append(tape.b[current] if evaluation.slots[tape.a[current]] else tape.c[current])
        else:
            pending.extend((tape.c[current], tape.b[current], tape.a[current]))
    names = [name for name in evaluation.missing if name in needed]
    return _MISSING + ", ".join(names) + f" ({tape.place_of(min(needed.values(), default=slot))})"


_BUFFER = re.compile(r"[bq]\d+_size")


def _is_parameter(name: str, values: Mapping[str, Value]) -> bool:
    """Whether a logged value is a choice of the solver; buffer and queue sizes follow from the others."""
    return name in values and name != "ub_size" and not _BUFFER.fullmatch(name)


def _known_numbers(*sources: Mapping[str, str]) -> Dict[str, Value]:
    """Name → number; later sources win, what is no number is left out."""
    numbers: Dict[str, Value] = {}
    for source in sources:
        for name, text in source.items():
            value = _number(text)
            if value is not None:
                numbers[name] = value
    return numbers


def _number(text: Optional[str]) -> Optional[Value]:
    try:
        return None if text is None else number(text)
    except ValueError:
        return None
