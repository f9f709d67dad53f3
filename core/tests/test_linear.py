"""Patterns that search in linear time are accepted, others are refused with the reason."""

from __future__ import annotations

import importlib.util
import re

import pytest
from autofuse.linear import NotLinear, compile_linear

ACCEPTED = [
    r"ACME\|(?P<operator>[^|]+)\|(?P<graph>\d+)\.(?P<result>\d+)\|(?P<name>\w+)=(?P<value>\S+)",
    r"^.*name=(\d+);",
    r"^(?:ab|cd)*x",
    r"^(?:[0-9a-f]{2})+$",
    r"\[(\w+)\] v(\d+)?$",
    r"\b(?P<key>\w+)=(?P<value>\d+)",
    r"\s(\w+): (\d+)",
    r"x.*",
    r"x(?:, y)?(?:; z)?",
    r"op (\S+) (?:took (\d+) us|failed)",
    r"",
]
REFUSED = [
    (r"(a+)+$", "a repeat inside a repeat"),
    (r"(?:(?:a|b)*c)*d", "a repeat inside a repeat"),
    (r"^(\w+\d*)+x", "a repeat inside a repeat"),
    (r"(?:(?:\d+,){3})x", "a repeat inside a repeat"),
    (r"^(ab|ac|b)*c", "optional part|same character|nested alternatives"),
    (r"^(?:ab|ab)*c", "optional part|same character|nested"),
    (r"^(?:a?b)*c", "an optional part inside a repeat"),
    (r"^(?:x|xy)*z", "an optional part inside a repeat"),
    (r"^(?:[ab]c|bd)*z", "begin with the same character"),
    (r"^(?:)*x", "a repeat of nothing"),
    (r"^(?:$)*x", "an anchor inside a repeat"),
    (r"\d+\d+x", "begins a repeat again at every character"),
    (r"\w+:", "begins a repeat again at every character"),
    (r".*foo.*bar", "begins a repeat again at every character"),
    (r"^\w*\w*x", "two repeats can match the same characters"),
    (r"^.* .*;", "two repeats can match the same characters"),
    (r"^(\d{1,9})(\d{1,9})x", "two repeats can match the same characters"),
    (r"(?=a)b", "a look-around"),
    (r"(?<!a)b", "a look-around"),
    (r"(a)\1", "a back reference"),
    (r"(a)?(?(1)b|c)", "a conditional group"),
    (r"(?i)abc", "inline flags"),
    (r"a{1,5000}b", "over 1000"),
    (r"(?:a{1000}){1000}", "is longer than"),
    (r"(?:a{999}){999}", "is longer than"),
    ("x(?:a|b|cd)?" * 10, "more than 256 combinations"),
]


@pytest.mark.parametrize("pattern", ACCEPTED)
def test_accepted(pattern):
    assert compile_linear(pattern) is not None


@pytest.mark.parametrize(("pattern", "reason"), REFUSED)
def test_refused(pattern, reason):
    with pytest.raises(NotLinear, match=reason):
        compile_linear(pattern)


@pytest.mark.parametrize("pattern", ["(", "[", "*", "(?P<a>x)(?P<a>y)", "\\", "(?P<1>x)"])
def test_no_pattern_at_all(pattern):
    with pytest.raises(re.error):
        compile_linear(pattern)


def test_deep_nesting():
    with pytest.raises((NotLinear, re.error)):
        compile_linear("(?:" * 20_000 + "a" + ")" * 20_000)


def test_groups_in_their_order():
    _, names = compile_linear(r"(?P<b>\d)-(?P<a>\d)-(\d)")
    assert names == ("b", "a")


def test_classes_are_ascii():
    pattern, _ = compile_linear(r"x(?P<digits>\d+)")
    assert pattern.search("x٣") is None


@pytest.mark.parametrize(
    "line", ["ACME|Add|0.1|q0=64", "noise ACME|a b|7.8|x=-nan rest", "ACME||0.1|q=1", "融合 ACME|融|1.2|a=融"]
)
def test_same_matches_with_and_without_re2(line):
    found, _ = compile_linear(ACCEPTED[0])
    expected = re.compile(ACCEPTED[0], re.ASCII).search(line)
    match = found.search(line)
    assert (match and match.groupdict()) == (expected and expected.groupdict())


@pytest.mark.skipif(importlib.util.find_spec("re2") is None, reason="google-re2 is not installed")
def test_re2_is_used():
    found, _ = compile_linear(ACCEPTED[0])
    assert type(found).__module__ == "re2"


def test_cost_in_steps_is_linear():
    """Counts attempts instead of seconds: an accepted pattern meets each character a bounded number of times."""
    pattern, _ = compile_linear(r"a=(?P<value>[^;a]*);")
    assert pattern.search("a=" * 200_000) is None
    assert pattern.search("a=" + "b" * 1_000_000) is None
