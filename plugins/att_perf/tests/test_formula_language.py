"""The formula language: values as C++ computes them, errors with file and line, linear time, and the native twin."""

from __future__ import annotations

import math
import shutil
import struct
import subprocess

import pytest
from autofuse_att_perf import native
from autofuse_att_perf.bodies import BodyCompiler, Function, Parameter
from autofuse_att_perf.builder import TapeBuilder
from autofuse_att_perf.errors import FormulaError
from autofuse_att_perf.evaluate import evaluate, number, run
from autofuse_att_perf.formulas import _compile_static
from autofuse_att_perf.scopes import blank_comments
from autofuse_att_perf.tape import CType, SourceText
from hypothesis import given, settings
from hypothesis import strategies as st

VALUES = {"a": 3.0, "b": 4.0, "c": -1.5, "zero": 0.0, "nan": math.nan, "inf": math.inf, "n": 7, "m": 2}
PARAMETERS = tuple(
    Parameter(name, CType.I64 if isinstance(value, int) else CType.F64) for name, value in VALUES.items()
)


def function_of(body, parameters=PARAMETERS, result=CType.F64, path="case.cpp", line=1):
    source = SourceText(path, body, line)
    return Function("Formula", parameters, result, source, 0, len(body))


def compiled(body, result=CType.F64, parameters=PARAMETERS):
    function = function_of(body, parameters, result)
    build = TapeBuilder(function.source)
    compiler = BodyCompiler(function, build)
    compiler.compile()
    build.tape.result = compiler.result
    return build.tape


def value_of(expression, result=CType.F64, statements=""):
    tape = compiled(f"{statements} return {expression};", result)
    return evaluate(tape, VALUES).slots[tape.result]


def same(left, right):
    """Equal to the last bit; any nan is any nan."""
    return struct.pack("<d", left) == struct.pack("<d", right) or (math.isnan(left) and math.isnan(right))


@pytest.mark.parametrize(
    "expression, expected",
    [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("-a * b", -12.0),
        ("- - a", 3.0),
        ("!a + 1", 1.0),
        ("a - b - c", 0.5),
        ("a / b / 2", 0.375),
        ("7 / 2", 3.0),
        ("7 / 2.0", 3.5),
        ("-7 / 2", -3.0),
        ("-7 % 4", -3.0),
        ("n / m", 3.0),
        ("n * 1.0 / m", 3.5),
        ("Rational(n , m)", 3.5),
        ("1 < 2 && 2 < 1 || true", 1.0),
        ("a < b == True", 1.0),
        ("static_cast<int32_t>(3.99)", 3.0),
        ("static_cast<int32_t>(-3.99)", -3.0),
        ("static_cast<int64_t>(1e30)", float(-(2**63))),
        ("static_cast<int32_t>(nan)", float(-(2**31))),
        ("static_cast<double>(7) / 2", 3.5),
        ("(double)(7) / 2", 3.5),
        ("double(7) / 2", 3.5),
        ("Max(a < b, c)", 1.0),
        ("Max(a, b)", 4.0),
        ("Min(a, b)", 3.0),
        ("Max(nan, a)", 3.0),
        ("Max(a, nan)", math.nan),
        ("Min(nan, a)", 3.0),
        ("std::max(nan, a)", math.nan),
        ("std::max(a, nan)", 3.0),
        ("std::min(a, nan)", 3.0),
        ("std::max<double>(1, a)", 3.0),
        ("std::max(1, static_cast<int32_t>(c))", 1.0),
        ("Abs(c)", 1.5),
        ("Log(Exp(a))", 3.0),
        ("Pow(2, 10)", 1024.0),
        ("Pow(zero, -1)", math.inf),
        ("Pow(c, 0.5)", math.nan),
        ("Sqrt(b)", 2.0),
        ("Sqrt(c)", math.nan),
        ("Log(zero)", -math.inf),
        ("Exp(1000)", math.inf),
        ("Mod(7, 4)", 3.0),
        ("Mod(-7.5, 2)", -1.5),
        ("Mod(a, zero)", math.nan),
        ("IsEqual(1, 1 + 1e-9)", 1.0),
        ("IsEqual(1, 1 + 1e-7)", 0.0),
        ("IsEqual(inf, inf)", 0.0),
        ("Ceiling(2.1)", 3.0),
        ("Ceiling(2.0)", 2.0),
        ("Ceiling(2.000000001)", 2.0),
        ("Ceiling(-1.5)", 0.0),
        ("Ceiling(inf)", math.inf),
        ("Ceiling(nan)", math.nan),
        ("Ceiling(7)", 7.0),
        ("Floor(2.9)", 2.0),
        ("Floor(-2.9)", -2.0),
        ("TernaryOp(a < b, 1, 2.5)", 1.0),
        ("TernaryOp(a > b, a / zero, b)", 4.0),
        ("a / zero", math.inf),
        ("c / zero", -math.inf),
        ("zero / zero", math.nan),
        ("ExpectEq(a, 3)", 1.0),
        ("ExpectNe(a, 3)", 0.0),
        ("ExpectLe(a, 3)", 1.0),
        ("ExpectLt(a, 3)", 0.0),
        ("LogicAnd(a, zero)", 0.0),
        ("LogicOr(a, zero)", 1.0),
        ("1.5e+2 + .5 + 2.", 152.5),
        ("0x10 + 010 + 1u + 2L", 27.0),
        ("2147483647 + 1", -2147483648.0),
        ("2147483648 + 1", 2147483649.0),
        ("1.1f * 1.0f", struct.unpack("<f", struct.pack("<f", 1.1))[0]),
    ],
)
def test_value(expression, expected):
    assert same(float(value_of(expression)), expected)


def test_integers_truncate_and_results_are_converted():
    assert value_of("x", CType.I64, "int64_t x = 10.9;") == 10
    assert value_of("x / 4", CType.F64, "auto x = 10;") == 2
    assert value_of("x / 4", CType.F64, "auto x = 10.0;") == 2.5
    assert value_of("3.9", CType.I32) == 3
    assert value_of("x", CType.F64, "bool x = 0.5;") == 1


def test_reassignment_and_compound_assignment():
    assert value_of("x", statements="double x = 1; x = x + 2; x *= 4; x -= 2; x /= 4; x += a;") == 5.5


def test_log_calls_and_void_casts_change_nothing():
    assert value_of("x", statements='double x = 2; OP_LOGD("x; is } %f", x); (void)x; std::fflush(stdout);') == 2


def test_pipe_guards_and_switch():
    body = (
        "double P = a; if (pipe_type == PipeType::AIV_VEC) { return P; } "
        "switch (kind) { case K::Q: return b; default: break; } return c;"
    )
    parameters = (*PARAMETERS, Parameter("pipe_type", CType.OBJECT), Parameter("kind", CType.OBJECT))
    function = function_of(body, parameters)
    build = TapeBuilder(function.source)
    compiler = BodyCompiler(function, build)
    compiler.compile()
    values = run(build.tape, [VALUES[name] for name in build.tape.symbols])
    assert {name: values[slot] for name, slot in compiler.pipes.items()} == {"AIV_VEC": 3.0, "Q": 4.0}
    assert values[compiler.result] == -1.5


def error_of(function):
    """Why the function, or the first variable of it, cannot be read."""
    try:
        compiler = BodyCompiler(function, TapeBuilder(function.source))
        compiler.compile()
    except FormulaError as error:
        return error
    broken = compiler.build.tape.broken
    return next(iter([*compiler.names.broken.values(), *compiler.errors.values(), *broken.values()]))


def test_an_unreadable_expression_spoils_only_what_depends_on_it():
    body = (
        "double x = Gone(a); double y = a + 1; double z = x + y; "
        "if (p == P::A) { return y; } if (p == P::B) { return z; } return y;"
    )
    compiler = BodyCompiler(
        function_of(body, (*PARAMETERS, Parameter("p", CType.OBJECT))), TapeBuilder(SourceText("", body))
    )
    compiler.compile()
    assert set(compiler.names.broken) == {"x", "z"}
    assert set(compiler.pipes) == {"A"}
    assert set(compiler.errors) == {"B"}
    assert "unknown function 'Gone'" in compiler.errors["B"].what
    assert compiler.result is not None


@pytest.mark.parametrize(
    "body, line, words",
    [
        ("double x = 1;\ndouble y = Foo(x);", 2, "unknown function 'Foo'"),
        ("double x = ;", 1, "operand is missing"),
        ("double x = (a + b;", 1, ""),
        ("double x = a b;", 1, "';' is expected"),
        ("\n\ndouble x = Max(a);", 3, "Max takes 2 argument(s), not 1"),
        ("double x = x + 1;", 1, "'x' is defined by itself"),
        ("double x = y + 1;\ndouble y = x;", 1, "'y' is used before it has a value"),
        ("double x = static_cast<Foo>(a);", 1, "unknown type 'Foo'"),
        ("double x = 12abc;", 1, "bad number"),
        ("double x = 99999999999999999999999;", 1, "bad integer"),
        ("double x = a @ b;", 1, "unexpected character '@'"),
        ("if (a < b) { return a; }", 1, "outside the formula language"),
        ("for (;;) {}", 1, ""),
        ("double x = 5.0 % 2;", 1, "needs integers"),
        ("{ return a;", 1, "a block is not closed"),
        ("return a; }", 1, "unexpected '}'"),
        ("double x = pipe;", 1, ""),
        ("double x = std::cout + 1;", 1, "is no number"),
    ],
)
def test_error_names_file_and_line(body, line, words):
    parameters = tuple(item for item in PARAMETERS)
    function = function_of(body, parameters)
    if body.endswith("pipe;"):
        tape = compiled(body)
        assert tape.symbols[-1] == "pipe"  # a name that nothing declares is asked from the log
        return
    error = error_of(function)
    assert error.where == f"case.cpp:{line}"
    assert words in error.what


def test_missing_symbol_leaves_the_rest():
    tape = compiled("double x = ghost + 1; double y = a + 1; return y;")
    found = evaluate(tape, {"a": 3.0, **{name: 0.0 for name in VALUES if name != "a"}})
    assert found.missing == ("ghost",)
    names = {name: slot for slot, name in tape.slot_names.items()}
    assert found.slots[names["x"]] is None
    assert found.slots[names["y"]] == 4.0


def test_integer_division_by_zero_is_an_error_with_its_place():
    tape = compiled("int64_t x = 1;\nint64_t y = x / (m - 2);\nreturn y;")
    found = evaluate(tape, VALUES)
    assert found.slots[tape.result] is None
    assert [str(error) for error in found.errors.values()] == ["case.cpp:2: integer division by zero"]
    with pytest.raises(FormulaError, match=r"case\.cpp:2: integer division by zero"):
        run(tape, found.inputs)


def test_long_sums_and_deep_nesting_are_no_matter():
    assert value_of(" + ".join(["a"] * 512)) == 3.0 * 512
    assert value_of(" + ".join(["1.0"] * 100_000)) == 100_000
    assert value_of("(" * 50_000 + "a" + ")" * 50_000) == 3.0
    assert value_of("Max(0, " * 20_000 + "a" + ")" * 20_000) == 3.0
    assert value_of("-" * 20_000 + "a") == 3.0
    assert value_of("(a + " * 20_000 + "0" + ")" * 20_000) == 60_000


@pytest.mark.parametrize(
    "text, value", [("1", 1), ("-3", -3), ("1.5e3", 1500.0), ("+2.5E1", 25.0), ("-inf", -math.inf)]
)
def test_logged_numbers(text, value):
    assert number(text) == value
    assert isinstance(number(text), type(value))


@pytest.mark.parametrize("text", ["", "1_000", " 1", "0x10", "one", "1.2.3", "١"])
def test_what_is_no_logged_number(text):
    with pytest.raises(ValueError):
        number(text)


# --- the native twin, and a real compiler -----------------------------------------------------------------------------

needs_native = pytest.mark.skipif(not native.available(), reason="installed without the native twin")

NUMBERS = st.one_of(st.integers(0, 3_000_000_000).map(str), st.floats(0, 1e6, allow_nan=False).map(lambda x: f"{x!r}"))
LEAVES = st.one_of(NUMBERS, st.sampled_from([*VALUES, "True", "False"]))


def combined(inner):
    pair = st.tuples(inner, inner)
    return st.one_of(
        st.tuples(
            inner, st.sampled_from(["+", "-", "*", "/", "<", "<=", ">", ">=", "==", "!=", "&&", "||"]), inner
        ).map(" ".join),
        inner.map("({})".format),
        inner.map("-{}".format),
        inner.map("!({})".format),
        st.tuples(st.sampled_from(["double", "int32_t", "int64_t", "uint32_t", "uint64_t", "bool"]), inner).map(
            lambda part: f"static_cast<{part[0]}>({part[1]})"
        ),
        st.tuples(st.sampled_from(["Ceiling", "Floor", "Abs", "Sqrt", "Log"]), inner).map(lambda p: f"{p[0]}({p[1]})"),
        st.tuples(st.sampled_from(["Max", "Min", "Mod", "Rational", "IsEqual", "LogicOr", "ExpectLe"]), pair).map(
            lambda p: f"{p[0]}({p[1][0]} , {p[1][1]})"
        ),
        st.tuples(inner, inner, inner).map(lambda p: f"TernaryOp({p[0]}, {p[1]}, {p[2]})"),
    )


EXPRESSIONS = st.recursive(LEAVES, combined, max_leaves=25)
TYPES = st.sampled_from(["double", "auto", "bool", "int64_t", "int", "uint32_t"])


@needs_native
@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(TYPES, EXPRESSIONS), min_size=1, max_size=4))
def test_twin_writes_the_same_tape_and_the_same_values(statements):
    body = "".join(f" {ctype} v{index} = {text};\n" for index, (ctype, text) in enumerate(statements))
    function = function_of(body + f" return v{len(statements) - 1};")
    twin = native.compile_static(function, None)
    tape, errors = _compile_static(function, None, {})
    assert not errors
    assert twin is not None
    for column in ("ops", "a", "b", "c", "types", "starts", "ends", "consts", "symbols", "symbol_slots", "slot_names"):
        assert list(getattr(twin, column)) == list(getattr(tape, column)), column
    assert (twin.result, twin.pipes) == (tape.result, tape.pipes)
    expected, found = evaluate(tape, VALUES), native.evaluate(twin, VALUES)
    assert list(expected.errors) == list(found.errors)
    for left, right in zip(expected.slots, found.slots):
        assert left is right if left is None or right is None else same(float(left), float(right))


@needs_native
@settings(max_examples=2000, deadline=None)
@given(st.text(alphabet="/*\\\"'\n a", max_size=40) | st.text(alphabet="/*\\\"'\n\rx{}", max_size=200))
def test_twin_blanks_the_same_comments(text):
    assert native.blank_comments(text) == blank_comments(text)


@pytest.mark.parametrize(
    "text, blanked",
    [
        ("a // b\nc", "a     \nc"),
        ("a // b \\\n c\nd", "a       \n  \nd"),
        ("a /* b\n * c */ d", "a     \n        d"),
        ("a /*/ b */ c", "a          c"),
        ("a /* b", "a     "),
        ('s = "// no /* no";', 's = "// no /* no";'),
        ("q = '\"'; // yes", "q = '\"';       "),
        ("n = 1'000; // yes", "n = 1'000;       "),
        ('"open\n// yes', '"open\n      '),
        ("a / b * c", "a / b * c"),
        ("/", "/"),
    ],
)
def test_comments_are_blanked(text, blanked):
    assert blank_comments(text) == blanked
    if native.available():
        assert native.blank_comments(text) == blanked


HEADER = """
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#define Max(a, b) ((a) > (b) ? (a) : (b))
#define Min(a, b) ((a) < (b) ? (a) : (b))
static double Rational(double a, double b) { return a / b; }
static double Mod(double a, double b) { return std::fmod(a, b); }
static bool IsEqual(double a, double b) { return std::fabs(a - b) < 1e-8; }
static double Sqrt(double a) { return std::sqrt(a); }
template <typename A, typename B> auto TernaryOp(bool c, A a, B b) -> decltype(a + b) { return c ? a : b; }
static double Ceiling(double a) { double t = std::trunc(a) + 0.0; return IsEqual(t, a) ? t : t + 1; }
"""
CASES = [
    "Max(a, n) * 2 + n / m",
    "Max(nan, a) + Min(nan, b)",
    "TernaryOp(a < b, n, m) / 4",
    "TernaryOp(n > m, a, 1) / 4",
    "std::max(1, static_cast<int32_t>(Ceiling(Rational(n , m))))",
    "static_cast<uint32_t>(c) + 1u",
    "(64 * Ceiling((Rational(1 , 8) * a))) + static_cast<double>(n) / m",
    "n - m * 10 < 0 && !(a == 3) || b / zero > 1e308",
    "-n % 4 + Mod(-7.5, 2)",
    "a * b - c / 3.0 + Sqrt(2) * 1e-17",
    "2147483647 - 5 + n",
]


@pytest.mark.skipif(shutil.which("g++") is None, reason="no compiler")
def test_values_are_those_of_a_compiler(tmp_path):
    lines = "".join(f'std::printf("%a\\n", (double)({case}));\n' for case in CASES)
    declared = "double a = 3, b = 4, c = -1.5, zero = 0, nan = NAN; int64_t n = 7, m = 2;"
    (tmp_path / "t.cpp").write_text(f"{HEADER}int main() {{ {declared}\n{lines}(void)zero; (void)nan; }}\n")
    subprocess.run(["g++", "-std=c++17", "-O0", "-w", "-o", tmp_path / "t", tmp_path / "t.cpp"], check=True)
    printed = subprocess.run([tmp_path / "t"], check=True, stdout=subprocess.PIPE, text=True).stdout
    found = [float.fromhex(line) for line in printed.split()]
    assert [(case, float(value_of(case))) for case in CASES] == list(zip(CASES, found))
