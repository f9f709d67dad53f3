"""The selections that the commands share: `--case`, `--op` and `--invocations`."""

from __future__ import annotations

import bisect
import fnmatch
import re
from dataclasses import dataclass
from typing import Dict, FrozenSet, List, Optional, Sequence, Tuple, Union

import click

from autofuse_att_summary.model import Invocation, OperatorRun

__all__ = ["CaseFilter", "CaseFilterType", "InvocationChoice", "InvocationsType", "Selection", "matches_any"]

GRAMMAR = (
    "DIM=VALUE[,VALUE]…[,DIM=…] with DIM r|result, g|group, c|case, and numbers, "
    "a sub-case tag before the number of a case: r=0,1,g=2,c=R3"
)

_DIMENSIONS = {"r": "result", "result": "result", "g": "group", "group": "group", "c": "case", "case": "case"}
_INTEGER = re.compile(r"-?\d{1,18}\Z", re.ASCII)
_CASE = re.compile(r"([A-Za-z]*)(\d{1,18})\Z", re.ASCII)


@dataclass(frozen=True)
class CaseFilter:
    """Which results, groups and cases are wanted; None is all. Case `2` is not case `R2`."""

    results: Optional[FrozenSet[int]] = None
    groups: Optional[FrozenSet[int]] = None
    cases: Optional[FrozenSet[Tuple[int, str]]] = None

    @classmethod
    def parse(cls, text: str) -> CaseFilter:
        """Reads `r=0,1,g=2,c=R3`; ValueError that shows the grammar when it is none."""
        found: Dict[str, List[str]] = {}
        dimension = None
        for part in text.split(","):
            name, equals, value = part.partition("=")
            if equals:
                dimension = _DIMENSIONS.get(name.strip().lower())
                if dimension is None:
                    raise ValueError(f"unknown dimension {name.strip()!r}; expected {GRAMMAR}")
            else:
                value = part
            if dimension is None:
                raise ValueError(f"{part.strip()!r} has no dimension; expected {GRAMMAR}")
            found.setdefault(dimension, []).append(value.strip())
        return cls(
            _integers(found.get("result"), "result"),
            _integers(found.get("group"), "group"),
            _cases(found.get("case")),
        )

    def wants(self, result: Optional[int], group: Optional[int], case: Optional[int], sub_case: str = "") -> bool:
        """Whether a template passes; an absent id passes only where its dimension is not filtered."""
        return (
            (self.results is None or result in self.results)
            and (self.groups is None or group in self.groups)
            and (self.cases is None or (case is not None and (case, sub_case) in self.cases))
        )


class CaseFilterType(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """The type of `--case`."""

    name = "FILTER"

    def convert(
        self, value: Union[str, CaseFilter], param: Optional[click.Parameter], ctx: Optional[click.Context]
    ) -> CaseFilter:
        """A usage error where the filter cannot be read."""
        if isinstance(value, CaseFilter):
            return value
        try:
            return CaseFilter.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


@dataclass(frozen=True)
class InvocationChoice:
    """Which calls of each operator and process are shown: `last`, `first`, `all`, or a number (negative: from last)."""

    mode: str = "last"
    number: int = 0


class InvocationsType(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """The type of `--invocations`."""

    name = "last|first|all|INT"

    def convert(
        self, value: Union[str, InvocationChoice], param: Optional[click.Parameter], ctx: Optional[click.Context]
    ) -> InvocationChoice:
        """A usage error for anything else, 0 included (invocations count from 1)."""
        if isinstance(value, InvocationChoice):
            return value
        if value in ("last", "first", "all"):
            return InvocationChoice(value)
        if _INTEGER.match(value) and int(value) != 0:
            return InvocationChoice("number", int(value))
        return self.fail(
            f"{value!r} is none of last, first, all or an integer (from 1, negative from the end)", param, ctx
        )


class Selection:
    """Keeps the wanted invocations of one operator in one process, and counts all of them."""

    def __init__(self, run: OperatorRun, choice: InvocationChoice) -> None:
        self.run = run
        self.failed = 0
        self.incomplete = 0
        self._choice = choice
        self._kept: List[Tuple[int, Invocation]] = []

    def add(self, invocation: Invocation) -> None:
        """Takes one more invocation and lets go of those that are not wanted any more."""
        self.count(invocation)
        mode, number = self._choice.mode, self._choice.number
        if mode in ("last", "first"):
            self._keep_best(invocation, newest=mode == "last")
            return
        # Positions are nearly sorted: threads may complete their calls in another order than they began.
        self._insert(invocation)
        if mode == "number" and len(self._kept) > abs(number):
            self._kept.pop(-1 if number > 0 else 0)

    def count(self, invocation: Invocation) -> None:
        """Counts an invocation without keeping it."""
        self.failed += invocation.tiling_failed
        self.incomplete += invocation.incomplete

    def chosen(self) -> List[Invocation]:
        """The wanted invocations in order; empty when the number asked for does not exist."""
        if self._choice.mode == "number":
            number = self._choice.number
            if self.run.count < abs(number):
                return []
            return [self._kept[-1 if number > 0 else 0][1]]
        return [invocation for _, invocation in self._kept]

    def _insert(self, invocation: Invocation) -> None:
        keys = [key for key, _ in self._kept[-64:]]
        offset = len(self._kept) - len(keys)
        at = bisect.bisect(keys, invocation.key)
        self._kept.insert(offset + at, (invocation.key, invocation))

    def _keep_best(self, invocation: Invocation, newest: bool) -> None:
        if not self._kept:
            self._kept.append((invocation.key, invocation))
            return
        kept = self._kept[0][1]
        if invocation.chose != kept.chose:
            better = invocation.chose
        else:
            # Of those that chose nothing the last one is shown in both modes: it says what is wrong now.
            better = (invocation.key > kept.key) == (newest or not invocation.chose)
        if better:
            self._kept[0] = (invocation.key, invocation)


def matches_any(name: str, patterns: Sequence[str]) -> bool:
    """Whether a shell-style pattern matches the whole name; no pattern matches everything."""
    return not patterns or any(fnmatch.fnmatchcase(name, pattern) or name == pattern for pattern in patterns)


def _integers(values: Optional[Sequence[str]], what: str) -> Optional[FrozenSet[int]]:
    if values is None:
        return None
    for value in values:
        if not _INTEGER.match(value):
            raise ValueError(f"{value!r} is no {what} number; expected {GRAMMAR}")
    return frozenset(int(value) for value in values)


def _cases(values: Optional[Sequence[str]]) -> Optional[FrozenSet[Tuple[int, str]]]:
    if values is None:
        return None
    found = []
    for value in values:
        match = _CASE.match(value)
        if match is None:
            raise ValueError(f"{value!r} is no case; expected {GRAMMAR}")
        found.append((int(match.group(2)), match.group(1)))
    return frozenset(found)
