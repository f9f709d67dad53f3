"""Tolerances: the defaults by dtype, the entries of a file, the options, and the verdict that follows from them."""

from __future__ import annotations

import fnmatch
import math
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from autofuse.errors import AutofuseError

from autofuse_nwa_precision.dtypes import FAMILIES, ElementType, element_type

if TYPE_CHECKING:
    from autofuse_nwa_precision.metrics import Metrics

__all__ = [
    "DEFAULTS",
    "FAIL",
    "MORE_ACCURATE",
    "PASS",
    "WARN",
    "WITHIN_NOISE",
    "Entry",
    "Limits",
    "Tolerances",
    "judge",
    "matches",
]

PASS, WARN, FAIL = "pass", "warn", "fail"
WITHIN_NOISE = "WITHIN_NOISE"
"""The verdict of a row that would fail, but differs no more than two runs without fusion do."""
MORE_ACCURATE = "MORE_ACCURATE"
"""The verdict of a row whose fused side is closer to the reference run than the unfused one."""

_WARN_SHARE = 10
"""A row warns within this factor of the error that fails it."""


@dataclass(frozen=True)
class Limits:
    """What a row must keep. None: that rule is not in force."""

    cosine: Optional[float] = None
    """Smallest scale-free cosine."""
    rel_l2: Optional[float] = None
    """Largest relative L2 error."""
    rtol: Optional[float] = None
    atol: Optional[float] = None
    equal: bool = False
    """Every element must be equal."""

    @property
    def elementwise(self) -> Optional[Tuple[float, float]]:
        """rtol and atol of |a-b| <= atol + rtol |b|; a missing one of the two is 0."""
        if self.rtol is None and self.atol is None:
            return None
        return self.rtol or 0.0, self.atol or 0.0


DEFAULTS: Dict[str, Limits] = {
    "fp64": Limits(0.99999, 1e-4),
    "fp32": Limits(0.99999, 1e-4),
    "fp16": Limits(0.999, 5e-3),
    "bf16": Limits(0.99, 2e-2),
    "fp8": Limits(0.98, 0.1),
    "int": Limits(equal=True),
    "bool": Limits(equal=True),
}
"""Limits by class of the lower-precision dtype of the two sides."""

_KEYS = ("cosine", "rel_l2", "rtol", "atol")


@dataclass(frozen=True)
class Entry:
    """One `[[tolerance]]` of a file, or the options of the command line. Empty `op` and `dtype` match everything."""

    limits: Limits
    op: str = ""
    dtype: str = ""
    origin: str = ""
    """Where it comes from, for `--show-tolerance`."""

    def matches(self, names: Sequence[str], kind: ElementType) -> bool:
        """True when the entry holds for an operator with one of these names and this dtype."""
        if self.dtype and self.dtype not in (kind.name, kind.family):
            return False
        return not self.op or any(_pattern(self.op).match(name) for name in names)


@dataclass(frozen=True)
class Tolerances:
    """Entries in order; of those that match, the last one that sets a value wins."""

    entries: Tuple[Entry, ...] = ()

    @classmethod
    def read(cls, path: str) -> Tolerances:
        """The entries of a TOML file; AutofuseError names the entry and key that is wrong."""
        document = _toml(path)
        unknown = sorted(set(document) - {"tolerance"})
        entries = document.get("tolerance", [])
        if unknown or not isinstance(entries, list) or not entries:
            what = f"unknown key {unknown[0]!r}" if unknown else "holds no [[tolerance]] entry"
            raise AutofuseError(what, path, "write [[tolerance]] entries")
        return cls(tuple(_entry(entry, f"{path}, entry {number}") for number, entry in enumerate(entries, 1)))

    @classmethod
    def of_options(cls, rtol: Optional[float], atol: Optional[float], cosine: Optional[float]) -> Tolerances:
        """What --rtol, --atol and --cosine say."""
        limits = Limits(_checked("cosine", cosine), None, _checked("rtol", rtol), _checked("atol", atol))
        return cls((Entry(limits, origin="options"),)) if limits != Limits() else cls()

    def limits(self, names: Sequence[str], kind: ElementType) -> Limits:
        """The limits of a row: the defaults of its dtype, changed by each entry that matches."""
        found = DEFAULTS[kind.family]
        for entry in self.entries:
            if entry.matches(names, kind):
                found = _changed(found, entry)
        return found

    def rows(self) -> List[Tuple[str, str, Limits, str]]:
        """The table in force, in order of matching: operator pattern, dtype, limits, where they come from."""
        default = [("", family, limits, "default") for family, limits in DEFAULTS.items()]
        return default + [(entry.op, entry.dtype, entry.limits, entry.origin) for entry in self.entries]


def judge(metrics: Metrics, limits: Limits) -> Tuple[str, str]:
    """Verdict of a compared row and why it is not `pass`."""
    if metrics.nan_mismatches:
        first = list(metrics.first_nan_mismatch or ())
        return FAIL, f"{metrics.nan_mismatches} NaN against a number, first at {first}"
    if metrics.inf_mismatches:
        first = list(metrics.first_inf_mismatch or ())
        return FAIL, f"{metrics.inf_mismatches} Inf against another value, first at {first}"
    if limits.equal and metrics.max_abs:
        return FAIL, "integers must be equal"
    if limits.cosine is not None and metrics.cosine_scale_free < limits.cosine:
        return FAIL, f"cosine {metrics.cosine_scale_free:.6g} is below {limits.cosine:g}"
    if limits.rel_l2 is not None and metrics.rel_l2 > limits.rel_l2:
        return FAIL, f"relative L2 error {metrics.rel_l2:.3g} is above {limits.rel_l2:g}"
    if metrics.violations:
        return FAIL, f"{metrics.violations} elements break |a-b| <= atol + rtol*|b|"
    if limits.rel_l2 is not None and metrics.rel_l2 > limits.rel_l2 / _WARN_SHARE:
        return WARN, f"relative L2 error {metrics.rel_l2:.3g} is within a factor {_WARN_SHARE} of {limits.rel_l2:g}"
    return PASS, ""


def _changed(found: Limits, entry: Entry) -> Limits:
    given = {key: value for key in _KEYS if (value := getattr(entry.limits, key)) is not None}
    # Integers stay exact unless an entry that names their dtype says otherwise.
    if found.equal and not entry.dtype:
        given = {key: value for key, value in given.items() if key in ("rtol", "atol")}
        return replace(found, **given)
    return replace(found, **given, equal=found.equal and not given)


def _toml(path: str) -> Mapping[str, Any]:
    try:
        import tomllib
    except ModuleNotFoundError:
        import tomli as tomllib
    try:
        with open(path, "rb") as file:
            document: Mapping[str, Any] = tomllib.load(file)
            return document
    except OSError as error:
        raise AutofuseError(f"cannot be read: {error.strerror}", path, "name a TOML file") from error
    except (ValueError, RecursionError) as error:
        raise AutofuseError(f"is no TOML: {error}", path) from error


def _entry(entry: object, where: str) -> Entry:
    if not isinstance(entry, dict):
        raise AutofuseError("is no table", where, "write [[tolerance]]")
    unknown = sorted(set(entry) - {"op", "dtype", *_KEYS})
    if unknown:
        raise AutofuseError(f"unknown key {unknown[0]!r}", where, f"the keys are op, dtype, {', '.join(_KEYS)}")
    op, dtype = entry.get("op", ""), entry.get("dtype", "")
    if not isinstance(op, str) or not isinstance(dtype, str):
        raise AutofuseError("op and dtype are strings", where)
    if not set(entry) & set(_KEYS):
        raise AutofuseError("sets no limit", where, f"give one of {', '.join(_KEYS)}")
    values = {key: _checked(key, entry.get(key), where) for key in _KEYS}
    limits = Limits(values["cosine"], values["rel_l2"], values["rtol"], values["atol"])
    return Entry(limits, op, _dtype_name(dtype, where), where)


def _dtype_name(dtype: str, where: str) -> str:
    if not dtype or dtype in FAMILIES:
        return dtype
    kind = element_type(dtype)
    if kind is None:
        known = ", ".join(FAMILIES)
        raise AutofuseError(f"unknown dtype {dtype!r}", where, f"a dtype such as float16, or one of {known}")
    return kind.name


def _checked(key: str, value: object, where: Optional[str] = None) -> Optional[float]:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise AutofuseError(f"{key} must be a finite number, not {value!r}", where)
    if key == "cosine" and not -1 <= value <= 1:
        raise AutofuseError(f"cosine must be between -1 and 1, not {value!r}", where)
    if key != "cosine" and value < 0:
        raise AutofuseError(f"{key} must not be negative, not {value!r}", where)
    return float(value)


@lru_cache(maxsize=256)
def _pattern(op: str) -> re.Pattern[str]:
    """The user's pattern: `*`, `?` and `[…]` as in a shell; a name without them matches itself."""
    return re.compile(fnmatch.translate(op), re.DOTALL)


def matches(patterns: Iterable[str], name: str) -> bool:
    """True when one of the user's patterns names this operator."""
    return any(pattern == name or _pattern(pattern).match(name) for pattern in patterns)
