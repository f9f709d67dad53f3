"""Generated-looking sources by chance, compiled and run: they print the log that perf-formula must agree with."""

from __future__ import annotations

import math
import random
import re
import shutil
import subprocess

import pytest
from outsider import GROUP, PLOG, choice, plog, returns, solver, unit

PRELUDE = """
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#define Max(a, b) ((a) > (b) ? (a) : (b))
#define Min(a, b) ((a) < (b) ? (a) : (b))
#define Rational(a, b) ((double)(a) / (double)(b))
#define ExpectEq(a, b) ((a) == (b))
#define ExpectLt(a, b) ((a) < (b))
#define LogicAnd(a, b) ((a) && (b))
#define LogicOr(a, b) ((a) || (b))
#define True true
#define Log(a) std::log((double)(a))
#define Sqrt(a) std::sqrt((double)(a))
#define Mod(a, b) std::fmod((double)(a), (double)(b))
inline bool IsEqual(double a, double b) { return std::fabs(a - b) < 1e-8; }
template <class A, class B> auto TernaryOp(bool c, A a, B b) { return c ? a : b; }
template <class T> T Ceiling(T a) { T t = (T)std::trunc((double)a); return IsEqual(t, a) ? t : t + 1; }
template <class T> T Floor(T a) { return (T)std::trunc((double)a); }
enum class PipeType { AIV_MTE2, AIV_MTE3, AIV_VEC, ALL };
struct TilingData { FIELDS };
"""
PIPES = ("AIV_MTE2", "AIV_MTE3", "AIV_VEC")
FIELDS = ("block_dim", "s0", "s1", "z0Tb_size", "z0t_size")
TYPES = ("Load", "Store", "Add", "Nddma")


class Writer:
    """Expressions by chance, over the names that are in sight."""

    def __init__(self, seed):
        self.chance = random.Random(seed)

    def leaf(self, names):
        numbers = ("0", "1", "8", "48", "0.25", "7.2341", "1e-3", ".5", "25000", "2.5e+02")
        return self.chance.choice(names if self.chance.random() < 0.6 else numbers)

    def condition(self, names, depth):
        one, other = (self.number(names, depth - 1) for _ in range(2))
        forms = ["({0} < {1})", "ExpectLt({0}, {1})", "ExpectEq(Mod({0}, 8), 0)", "!IsEqual({0}, {1})", "True"]
        forms += ["LogicAnd({0} >= {1}, {0} != 3)", "LogicOr({0} > {1}, {1} == 0)", "({0} <= {1} && {0} > 1)"]
        return self.chance.choice(forms).format(one, other)

    def number(self, names, depth):
        if depth <= 0:
            return self.leaf(names)
        one, other = (self.number(names, depth - 1) for _ in range(2))
        forms = ["({0} + {1})", "({0} * {1})", "({0} / (0.0 + {1}))", "({0} - {1})", "Max({0}, {1})", "Min({0}, {1})"]
        forms += ["Ceiling((Rational(1 , 8) * {0}))", "Rational({0} , {1})", "(-{0})", "Floor({0})", "Mod({0}, {1})"]
        forms += ["static_cast<double>({0})", "std::max((double)({0}), (double)({1}))", "Log(Max(1, {0}))", "Sqrt({0})"]
        forms += [f"TernaryOp({self.condition(names, depth)}, {{0}}, {{1}})", "Max({0} < {1}, {1})", "{0}"]
        return self.chance.choice(forms).format(one, other)

    def case(self, tag):
        """One solver class with a handful of nodes."""
        lines, sums = [], {pipe: [self.chance.choice(("775.0", "(12.5 * block_dim)", "0"))] for pipe in PIPES}
        names = [*FIELDS, "z0t_size_tail"]
        lines.append("  double z0t_size_tail = (s0 - ((Ceiling((s0 / (z0t_size))) - 1) * z0t_size));")
        for number in range(self.chance.randint(2, 6)):
            pipe, kind = self.chance.choice(PIPES), self.chance.choice(TYPES)
            prefix = f"{self.chance.choice(('x_load', 'a_contrib', 'n_AIV_VEC', '_y'))}_{number}_{kind}_{pipe}"
            lines.append(f"  double {prefix}_exe_time = {self.number(names, 1)};")
            lines.append(f"  bool {prefix}_cond0 = {self.condition(names, 2)};")
            mine = [*names, f"{prefix}_exe_time", f"{prefix}_cond0"]
            for part in self.chance.choice((("",), ("_core", "_tail"))):
                lines.append(f"  double {prefix}{part}_contrib_case0 = {self.number(mine, 3)};")
                pick = f"TernaryOp({prefix}_cond0, {prefix}{part}_contrib_case0, {self.number(mine, 2)})"
                lines.append(f"  double {prefix}{part}_contrib = ({pick} * {prefix}_exe_time);")
                sums[pipe].append(f"{prefix}{part}_contrib")
        lines += [f"  double {pipe} = ({' + '.join(terms)});" for pipe, terms in sums.items()]
        blocks = "300.0 * Max(0, Ceiling((s0 / (z0t_size))))"
        end = returns(*PIPES, objective=f"(({blocks}) + Max(Max(AIV_MTE2, AIV_MTE3), AIV_VEC))")
        return solver("\n".join([*lines, end]), tag, FIELDS), sums


@pytest.mark.skipif(shutil.which("g++") is None, reason="no compiler")
@pytest.mark.parametrize("seed", [11, 12])
def test_sources_by_chance_give_what_their_compiled_twins_log(perf, tmp_path, seed):
    """The sources are compiled and print the log themselves; every pipe, objective and sum of terms must agree."""
    chance = random.Random(seed)
    writer = Writer(seed)
    classes, prints, expected = [], [], {}
    for tag in ("0", "R0", "1", "11", "2"):
        text, sums = writer.case(tag)
        fields = {name: chance.randint(1, 3000) for name in FIELDS}
        declared = f"struct AxesReorderSolvercase{tag} {{\n" + "".join(
            f"  static {head.replace(f'AxesReorderSolvercase{tag}::', '')};\n"
            for head in re.findall(r"^(double .*\)) \{$", text, re.MULTILINE)
        )
        classes.append(f"{declared}}};\n{text}")
        data = ", ".join(f"(uint32_t){fields[name]}" for name in FIELDS)
        prints.append(f"{{ TilingData d{{{data}}};")
        shown = [*[(f"value of {pipe}", pipe) for pipe in PIPES], ("objective value of the tiling data", "ALL")]
        for name in ("block_dim", "z0Tb_size", "z0t_size", "s0", "s1"):
            prints.append(f'std::printf("{PLOG}[Op][PROF]The value of {name} is {fields[name]} in {GROUP}_{tag}.\\n");')
        for what, pipe in shown:
            value = f"optiling::AxesReorderSolvercase{tag}::GetTilingDataPerfStatic(PipeType::{pipe}, d)"
            prints.append(f'std::printf("{PLOG}[Op][PROF]The {what} is %f in {GROUP}_{tag}.\\n", {value});')
        prints.append("}")
        expected[tag] = sums
    members = " ".join(f"uint32_t {name}; uint32_t get_{name}() const {{ return {name}; }}" for name in FIELDS)
    source = unit(*classes)
    program = PRELUDE.replace("FIELDS", members) + source + "int main() {\n" + "\n".join(prints) + "\n}\n"
    (tmp_path / "twin.cpp").write_text(program)
    build = ["g++", "-std=c++17", "-O0", "-w", "-ffp-contract=off", "-o", tmp_path / "twin", tmp_path / "twin.cpp"]
    subprocess.run(build, check=True)
    printed = subprocess.run([tmp_path / "twin"], check=True, stdout=subprocess.PIPE, text=True).stdout
    outcome = perf(source, plog("Op", "Start GetTiling.") + printed + plog("Op", choice("R0"), "End GetTiling."))
    assert {row["Status"] for row in outcome.tables["checks"]} == {"ok"}
    assert len(outcome.tables["checks"]) == 20
    for row in outcome.tables["terms"]:
        assert row["Kind"] in ("fixed", "per-block", "node", "head")
        assert row["Node Type"] in (None, *TYPES)
    sums = {}
    for row in outcome.tables["terms"]:
        if row["Kind"] != "head" and isinstance(row["Value"], float):
            sums.setdefault((row["Case"], row["Sub Case"], row["Pipe"]), []).append(row["Value"])
    for row in outcome.tables["checks"]:
        parts = sums.get((row["Case"], row["Sub Case"], row["Quantity"]))
        if parts and isinstance(row["Formula"], float):
            assert math.fsum(parts) == pytest.approx(row["Formula"], abs=1e-9 * max(map(abs, parts)))
