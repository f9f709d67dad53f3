"""The record parser of [PERF] lines: its samples, every form of terms and totals, and every wrapping."""

from __future__ import annotations

from array import array

import pytest
from autofuse.scan.lines import LineBatch, Wrapping
from autofuse.types import TemplateId
from autofuse_att_perf.perf_lines import parse_formula, parser
from autofuse_att_perf.plugin import autofuse_record_parsers

PLOG = "[INFO] GE(7,app):2026-01-02-03:04:05.006.007 [a.cpp:1]9 F:"


def batch_of(*lines):
    block = b""
    found = []
    for number, line in enumerate(lines, 1):
        raw = line if isinstance(line, bytes) else line.encode()
        found += [len(block), len(block) + len(raw), 0, number]
        block += raw + b"\n"
    rows = memoryview(array("q", found).tobytes()).cast("B").cast("q", (len(lines), 4))
    return LineBatch("a.log", ("a.log",), None, block, rows, (b"[PERF]",), end=len(block))


def record(line):
    found = list(parser(batch_of(line)))
    return found[0] if found else None


def test_samples():
    (spec,) = autofuse_record_parsers()
    for sample in spec.samples:
        found = record(sample.text)
        assert {name: getattr(found, name) for name in sample.fields} == dict(sample.fields)


@pytest.mark.parametrize(
    "text, terms, total",
    [
        ("(a=1 + b=200) = 201 cycles", (("a", "1"), ("b", "200")), "201"),
        ("(a=1 + b=200) = 201", (("a", "1"), ("b", "200")), "201"),
        ("(a=1.5e+02 + b=-2) = 148.", (("a", "1.5e+02"), ("b", "-2")), "148"),
        ("a=1 + b=2 = 3", (("a", "1"), ("b", "2")), "3"),
        ("a=42.78", (("a", "42.78"),), "42.78"),
        ("(a=42.78)", (("a", "42.78"),), "42.78"),
        ("(a=1 + b=2)", (("a", "1"), ("b", "2")), ""),
        ("42.78", (), "42.78"),
        ("(block cost=1 + x=nan) = nan", (("block cost", "1"), ("x", "nan")), "nan"),
        ("(a=-inf) = -inf", (("a", "-inf"),), "-inf"),
    ],
)
def test_terms_and_totals(text, terms, total):
    assert parse_formula(text) == (terms, total)


@pytest.mark.parametrize("text", ["", "(", "a=b", "(a=1 + b) = 2", "= 5 +", "a=1 + = 2 + c"])
def test_other_text_is_no_formula(text):
    found = parse_formula(text)
    assert found is None or found == ((), "5")


@pytest.mark.parametrize(
    "before, operator",
    [
        (f"{PLOG}[Add]", "Add"),
        (f"{PLOG}[a/b.c:d #1]", "a/b.c:d #1"),
        (f"{PLOG} [with ] bracket]", "with ] bracket"),
        (f"{PLOG}[融合算子_0] ", "融合算子_0"),
        ("[Add] ", "Add"),
        ("123:[INFO][Add] ", "Add"),
        ("\x1b[32m[Add]\x1b[0m ", "Add"),
        ("[\x1b[1mAdd\x1b[0m] ", "Add"),
        ("svc  | [2026-07-25 17:55:54] [Add]", "Add"),
    ],
)
def test_operator_of_every_wrapping(before, operator):
    found = record(f"{before}[PERF] n_0[T]: AIV_VEC = x=1")
    assert (found.operator, found.node, found.node_type, found.pipe) == (operator, "n_0", "T", "AIV_VEC")


def test_an_escape_sequence_inside_the_marker():
    assert record("[Add] [\x1b[33mPERF\x1b[0m] n_0[T]: AIV_VEC = x=1").operator == "Add"


def test_wrappings_of_plugins_are_asked():
    asked = parser.with_wrappings(
        [lambda prefix: Wrapping(pid=5, tid=6, operator="Acme") if b"ACME" in prefix else None]
    )
    (found,) = asked(batch_of("ACME 5/6 [PERF] n_0[T]: AIV_VEC = x=1"))
    assert (found.operator, found.at.pid, found.at.tid) == ("Acme", 5, 6)
    assert parser.with_wrappings([]) is parser


def test_pid_and_tid():
    found = record(f"{PLOG}[Add][PERF][graph1_result2_g-1_12] n[T]: AIV_VEC = x=1")
    assert (found.at.pid, found.at.tid, found.at.line, found.at.path) == (7, 9, 1, "a.log")
    assert found.template == TemplateId(1, 2, -1, 12)


@pytest.mark.parametrize(
    "line",
    [
        "[Add] [PERF]",
        "[Add] [PERF] n: AIV_VEC = x=1",
        "[Add] [PERF] n[T]: = x=1",
        "[Add] [PERF] n[T]: AIV_VEC = ",
        b"[Add] [PERF] n[T]: AIV_VEC \xff\xfe",
        "[PERF] " + "[" * 5000,
        "[Add] [PERF] n[T]: AIV_VEC = " + "x=1 + " * 20000,
        "[Add] [PERF]" + " " * 200_000,
        "[Add] [PERF] n[T]: AIV_VEC = 5" + " " * 200_000 + "x",
        "[Add] [PERF] n[T]: AIV_VEC = " + "= 5 " * 50_000 + "x",
        "[Add] [PERF] n[T]: AIV_VEC = (a" + " " * 200_000 + "x) = 5",
    ],
)
def test_damaged_lines_give_nothing(line):
    assert record(line) is None
