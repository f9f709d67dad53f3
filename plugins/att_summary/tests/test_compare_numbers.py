"""compare computes with the numbers as they were logged, however long, and no text makes it fail."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

import pytest
from autofuse.inprocess import Outcome
from autofuse_att_summary.exact import EXACT, exact
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

Cli = Callable[..., Outcome]

HEADER = "Operator,Graph,Result,Group,Case,AIV_MTE2,Objective Value,Result Perf,tile"
LARGEST = f"{1.7976931348623157e308:.6f}"


@pytest.fixture
def moved(autofuse_cli: Cli, tmp_path: Path) -> Callable[..., List[Dict[str, Any]]]:
    """The differences between two values that stand in every column of numbers."""

    def run(base: str, candidate: str, *options: str) -> List[Dict[str, Any]]:
        for name, value in (("a.csv", base), ("b.csv", candidate)):
            (tmp_path / name).write_text(f"{HEADER}\nAdd,0,0,0,1,{value},{value},{value},{value}\n")
        result = autofuse_cli("run", "compare", tmp_path / "a.csv", tmp_path / "b.csv", "-f", "jsonl", *options)
        assert result.exit_code == 0, result.stderr
        found = [json.loads(line, parse_float=str, parse_int=str) for line in result.stdout.splitlines()]
        assert len({(str(one["base"]), str(one["candidate"]), str(one["difference"])) for one in found}) <= 1
        return found

    return run


@pytest.mark.parametrize(
    ("base", "candidate", "difference", "percent"),
    [
        ("100", "103", "3", 3.0),
        ("100", "97.5", "-2.5", -2.5),
        ("0.1", "0.3", "0.2", 200.0),
        ("18446744073709551615", "18446744073709551614", "-1", -5.421010862427522e-18),
        ("-100", "-50", "50", 50.0),
        ("+2.5E1", "-1.25e+02", "-150", -600.0),
        ("0", "5", "5", None),
        ("-0.0", "5", "5", None),
        ("5", "0", "-5", -100.0),
        (LARGEST, "1", None, -100.0),
        ("1", "inf", "Infinity", None),
        ("-inf", "1", "Infinity", None),
        ("1e999999999", "1", "-Infinity", None),
        ("1", "1e999999999", "Infinity", None),
        ("1", "1e-999999999", "-1", -100.0),
        ("9" * 5000, "1", None, -100.0),
        ("nan", "5", None, None),
        ("5", "-nan", None, None),
    ],
)
def test_difference_and_percent(
    base: str, candidate: str, difference: Optional[str], percent: Optional[float], moved: Callable[..., Any]
) -> None:
    found = moved(base, candidate)
    assert {one["field"] for one in found} == {"AIV_MTE2", "Objective Value", "Result Perf", "tile"}
    for one in found:
        if difference is not None:
            assert Decimal(one["difference"]) == Decimal(difference)
        elif percent is None:
            assert one["difference"] is None
        assert (None if one["percent"] is None else float(one["percent"])) == percent


@pytest.mark.parametrize(
    ("base", "candidate"),
    [
        ("100", "100.000000"),
        ("1e2", "100"),
        ("nan", "-nan"),
        ("inf", "Infinity"),
        ("0", "-0.0"),
        ("007", "7"),
        (" 5", "5"),
        ("9" * 5000, "9" * 5000 + ".0"),
    ],
)
def test_the_same_number_in_another_spelling_is_no_difference(
    base: str, candidate: str, moved: Callable[..., Any]
) -> None:
    gate = () if "nan" in base else ("--fail-on-regression", "0")
    assert moved(base, candidate, *gate) == []


@pytest.mark.parametrize(
    "text", ["sNaN", "NaN123", "1_000", "１００", "0x10", "1,5", "--1", "1e", "infinite", "Ⅷ", "1 000", "-", "=1"]
)
def test_other_text_is_no_number(text: str, moved: Callable[..., Any]) -> None:
    quoted = f'"{text}"'
    for found in (moved(quoted, "5"), moved("5", quoted)):
        assert [one["difference"] for one in found] == [None] * 4
        assert text in (found[0]["base"], found[0]["candidate"])


def test_numbers_of_the_largest_double_are_subtracted_without_rounding(moved: Callable[..., Any]) -> None:
    almost = LARGEST.replace(".000000", ".000001")
    assert {one["difference"] for one in moved(LARGEST, almost)} == {"1e-06"}


@examples(200)
@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_exact_is_exact(one: float, other: float) -> None:
    first, second = exact(repr(one)), exact(f"{other:.6f}")
    assert first is not None
    assert second is not None
    assert float(first) == one
    if first.is_finite() and second.is_finite() and abs(one) > 1e-300:
        assert EXACT.add(EXACT.subtract(first, second), second) == first


@examples(200)
@given(st.one_of(st.text(max_size=12), st.from_regex(r"[-+]?[0-9.]{0,5}(e[-+]?[0-9]{1,20})?")))
def test_no_text_is_a_bomb(text: str) -> None:
    value = exact(text)
    assert value is None or len(format(value, "f")) < 1000
