"""Writes generated-looking tiling sources in all three styles, and the log that belongs to them, from one small model.

The values of the log are computed here in plain Python, so that they are independent of the formulas' text.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Tuple

PIPES = ("AIV_MTE2", "AIV_MTE3", "AIV_VEC")
FIXED = {"AIV_MTE2": 775.0, "AIV_MTE3": 497.36, "AIV_VEC": 0.0}
HEAD = 300.0


@dataclass(frozen=True)
class Node:
    """Costs `bytes * tile / bandwidth + setup` cycles per tile; a slow bandwidth below the threshold."""

    name: str
    type: str
    pipe: str
    bytes: int = 4
    threshold: float = 25000.0
    slow: float = 7.2341
    fast: float = 9.9074
    setup: float = 27.01

    def cycles(self, tile: float, tiles: float) -> float:
        """What the formula gives, in the order of its operations."""
        common = self.bytes * tile
        bandwidth = self.slow if common < self.threshold else self.fast
        return ((common / bandwidth) + self.setup) * tiles


LOAD = Node("x_load_0", "Load", "AIV_MTE2")
LOAD_2 = Node("y_load_1", "Load", "AIV_MTE2", bytes=2, setup=12.09)
ADD = Node("add_2", "Add", "AIV_VEC", slow=60.5, fast=120.25, setup=37.37)
STORE = Node("out_store_3", "Store", "AIV_MTE3", slow=3.2, fast=12.4, setup=18.4)


@dataclass(frozen=True)
class Case:
    """One template: its tiling values and its nodes."""

    case: int
    sub: str = ""
    tile: int = 1024
    tiles: int = 3
    blocks: int = 24
    nodes: Tuple[Node, ...] = (LOAD, LOAD_2, ADD, STORE)

    @property
    def tag(self) -> str:
        """`R0`"""
        return f"{self.sub}{self.case}"

    def pipes(self) -> Dict[str, float]:
        """Pipe → cycles."""
        found = {}
        for pipe in PIPES:
            total = FIXED[pipe]
            for node in self.nodes:
                if node.pipe == pipe:
                    total = total + node.cycles(float(self.tile), float(self.tiles))
            found[pipe] = total
        return found

    def objective(self) -> float:
        """Head cost per block and the largest pipe."""
        return HEAD * max(0, self.blocks) + max(self.pipes().values())

    def ub_size(self) -> int:
        """Bytes of the unified buffer."""
        return int(64 * math.ceil(self.tile / 8) + 8192)

    def needed_blocks(self, s0: int) -> int:
        """Blocks for an axis of s0."""
        return max(1, math.ceil(math.ceil(s0 / self.tile) / self.tiles))


@dataclass(frozen=True)
class Group:
    """The cases that compete for one group; `chosen` is an index."""

    id: Tuple[int, int, int] = (0, 0, 0)
    cases: Tuple[Case, ...] = (Case(0), Case(1, tile=8192, tiles=1, blocks=12), Case(0, "R", tile=512, tiles=6))
    chosen: int = 0


@dataclass(frozen=True)
class Operator:
    """An operator with its input shape."""

    name: str = "Fusion_Add"
    groups: Tuple[Group, ...] = (Group(),)
    shape: Dict[str, int] = field(default_factory=lambda: {"s0": 70000})
    ub_size: int = 196608
    cores: int = 48
    results: Dict[int, int] = field(default_factory=dict)

    def with_case(self, case: Case) -> Operator:
        """The same operator with a single case."""
        return replace(self, groups=(Group(self.groups[0].id, (case,)),))


# --- sources ----------------------------------------------------------------------------------------------------------


def write_sources(folder: Path, operator: Operator, style: str = "newest", stem: Optional[str] = None) -> Path:
    """Writes one translation unit per group (`newest`) or one for all (`getters`, `perf`, `inductor`)."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = stem or "fusion"
    if style == "newest":
        for group in operator.groups:
            name = "{}_tiling_func_asc_graph{}_schedule_result{}_g{}.cpp".format(stem, *group.id)
            (folder / name).write_text(newest_unit(operator, group), encoding="utf-8")
    elif style == "inductor":
        text = "".join(newest_unit(operator, group) for group in operator.groups)
        declared = f'constexpr const char *OP_NAME = "{operator.name}";\n'
        (folder / "output_code.py").write_text(output_code(stem, declared + text), encoding="utf-8")
        return folder
    else:
        text = "".join(older_unit(operator, group, style) for group in operator.groups)
        (folder / f"{stem}_tiling_func.cpp").write_text(text, encoding="utf-8")
    (folder / "autofuse_tiling_func_common.h").write_text(
        f'#pragma once\nconstexpr const char *OP_NAME = "{operator.name}";\n', encoding="utf-8"
    )
    return folder


def output_code(stem: str, host_impl: str) -> str:
    """Inductor's module with the artifacts dictionary."""
    return (
        "import torch\n"
        f"{stem}_artifacts = {{'tiling_def': '''struct A {{}};''', 'host_impl': r'''"
        f"// AUTOFUSE_SPLIT_FILE_BEGIN:TilingHead\n#pragma once\n// AUTOFUSE_SPLIT_FILE_END:TilingHead\n"
        f"// AUTOFUSE_SPLIT_FILE_BEGIN:group0\n{host_impl}// AUTOFUSE_SPLIT_FILE_END:group0\n'''}}\n"
        "raise SystemExit('never run')\n"
    )


def newest_unit(operator: Operator, group: Group) -> str:
    """`GetPerfStatic` with contributions, its mapping, UB and block functions."""
    namespace = "AscGraph{}ScheduleResult{}G{}".format(*group.id)
    bodies = "".join(newest_class(case) for case in group.cases)
    return f"#include <cmath>\nnamespace optiling {{\nnamespace {namespace} {{\n{bodies}}}\n}}  // namespace optiling\n"


def newest_class(case: Case) -> str:
    """One solver class and its functions."""
    name = f"AxesReorderSolvercase{case.tag}"
    parameters = "const PipeType &pipe_type, double block_dim, double s0, double z0Tb_size, double z0t_size"
    lines = [
        f"class {name} : public AxesReorderSolver {{\n public:\n  static double GetPerfStatic({parameters});\n}};",
        f"double {name}::GetPerfStatic({parameters}) {{",
    ]
    contributions: Dict[str, List[str]] = {pipe: [] for pipe in PIPES}
    for node in case.nodes:
        prefix = f"{node.name}_{node.type}_{node.pipe}"
        contributions[node.pipe].append(f"{prefix}_contrib")
        lines += [
            f"  double {prefix}_exe_time = (z0Tb_size);  // tiles per block",
            f"  double {prefix}_common0 = ({node.bytes} * z0t_size);",
            f"  bool {prefix}_cond0 = ({prefix}_common0 < {node.threshold!r});",
            f"  double {prefix}_case0 = (({prefix}_common0 / ({node.slow!r})) + {node.setup!r});",
            f"  double {prefix}_case1 = (({prefix}_common0 / ({node.fast!r})) + {node.setup!r});",
            f"  double {prefix}_branch0 = TernaryOp({prefix}_cond0, {prefix}_case0, {prefix}_case1);",
            f"  double {prefix}_contrib = ({prefix}_branch0 * {prefix}_exe_time);",
        ]
    for pipe, names in contributions.items():
        lines.append(f"  double {pipe} = ({' + '.join([repr(FIXED[pipe]), *names])});")
    for pipe in PIPES:
        lines.append(f"  if (pipe_type == PipeType::{pipe}) {{\n    return {pipe};\n  }}")
    lines.append("  return ((300.0 * Max(0, block_dim)) + Max(Max(AIV_MTE2, AIV_MTE3), AIV_VEC));\n}")
    lines += [
        f"double {name}::GetTilingDataPerfStatic(const PipeType &pipe_type, TilingData &tiling_data) {{",
        "  double block_dim = static_cast<double>(tiling_data.get_block_dim());",
        "  double tiles = static_cast<double>(tiling_data.get_z0Tb_size());",
        "  return GetPerfStatic(pipe_type, block_dim, tiling_data.get_s0(), tiles, tiling_data.get_z0t_size());\n}",
        f"int64_t {name}::GetUbSizeStatic(double z0t_size) {{",
        "  auto q0_size = (64 * Ceiling((Rational(1 , 8) * z0t_size)));",
        "  int64_t ub_size = (q0_size + 8192);\n  return ub_size;\n}",
        f"int {name}::GetBlockDimStatic(double s0, double z0Tb_size, double z0t_size) {{",
        "  auto blocks = Max(0, Ceiling((Ceiling((s0 / (z0t_size))) / (z0Tb_size))));",
        "  return std::max(1, static_cast<int32_t>(blocks));\n}",
    ]
    return "\n".join(lines) + "\n"


def older_unit(operator: Operator, group: Group, style: str) -> str:
    """`Get<PIPE>(tiling_data)` (style `getters`), or `GetPerf()` alone (style `perf`)."""
    namespace = "AscGraph{}ScheduleResult{}G{}".format(*group.id)
    write = _getters if style == "getters" else _perf_only
    bodies = "".join(write(case) for case in group.cases)
    return f"namespace optiling::{namespace} {{\n{bodies}}}\n"


def _expression(case: Case, pipe: str) -> str:
    parts = [repr(FIXED[pipe])]
    for node in case.nodes:
        if node.pipe == pipe:
            common = f"({node.bytes} * z0t_size)"
            bandwidth = f"TernaryOp(ExpectLt({common}, {node.threshold!r}), {node.slow!r}, {node.fast!r})"
            parts.append(f"((({common} / ({bandwidth})) + {node.setup!r}) * z0Tb_size)")
    return "(" + " + ".join(parts) + ")"


def _getters(case: Case) -> str:
    lines = [f"class TilingCase{case.tag}Impl : public TilingCaseImpl {{", " public:"]
    take = (
        "    double z0t_size = tiling_data.get_z0t_size();\n    double z0Tb_size = tiling_data.get_z0Tb_size();\n"
        "    double block_dim = tiling_data.get_block_dim();\n"
    )
    for pipe in PIPES:
        lines.append(
            f"  double Get{pipe}(TilingData& tiling_data) {{\n{take}    return {_expression(case, pipe)};\n  }}"
        )
    lines.append(f"  double GetPerf(TilingData& tiling_data) override {{\n{take}")
    lines += [f"    double {pipe} = Get{pipe}(tiling_data);" for pipe in PIPES]
    lines.append("    return (Max(Max(AIV_MTE2, AIV_MTE3), AIV_VEC) + (300.0 * block_dim));\n  }")
    lines.append("  int Getub_size(TilingData& tiling_data) {\n    double z0t_size = tiling_data.get_z0t_size();")
    lines.append("    return ((64 * Ceiling((Rational(1 , 8) * z0t_size))) + 8192);\n  }\n};")
    return "\n".join(lines) + "\n"


def _perf_only(case: Case) -> str:
    lines = [
        f"double AxesReorderSolvercase{case.tag}::GetPerf() {{",
        "  double z0t_size = static_cast<double>(input_.tiling_vars[0]->value);",
        "  double z0Tb_size = static_cast<double>(input_.tiling_vars[1]->value);",
    ]
    lines += [f"  double {pipe} = {_expression(case, pipe)};" for pipe in PIPES]
    return "\n".join([*lines, "}"]) + "\n"


# --- log --------------------------------------------------------------------------------------------------------------


def log_lines(operator: Operator, pid: int = 77) -> Iterator[str]:
    """One invocation as a plog, INFO."""

    def line(text: str) -> str:
        head = f"[INFO] GE({pid},app):2026-03-04-05:06:07.008.009 [fusion_tiling_func.cpp:12]{pid} Func:"
        return f"{head}[{operator.name}]{text}\n"

    yield line("Start GetTiling.")
    shape = "".join(f" {name} = {value}." for name, value in operator.shape.items())
    for group in operator.groups:
        camel = "AscGraph{}ScheduleResult{}G{}".format(*group.id)
        snake = "graph{}_result{}_g{}".format(*group.id)
        yield line(f"Start tiling for sched group {camel}.")
        for case in group.cases:
            yield line(f"Set input params for tiling case {case.case} of {camel}. {shape}")
            yield line(f"Set hardware params. ub_size = {operator.ub_size}. block_dim = {operator.cores}.")
            where = f"{snake}_{case.tag}."
            values = {
                "z0t_size": case.tile,
                "z0Tb_size": case.tiles,
                "ub_size": case.ub_size(),
                "block_dim": case.blocks,
            }
            for name, value in values.items():
                yield line(f"[PROF]The value of {name} is {value} in {where}")
            for pipe, cycles in case.pipes().items():
                yield line(f"[PROF]The value of {pipe} is {cycles:.6f} in {where}")
            yield line(f"[PROF]The objective value of the tiling data is {case.objective():.6f} in {where}")
        chosen = group.cases[group.chosen]
        yield line(f"[PROF]Among the templates, tiling case {chosen.tag} of {snake} is the best choice.")
        yield line("End tiling for sched group.")
    for graph, result in operator.results.items():
        yield line(f"The value of graph{graph}_result{result} is 1.0")
        yield line(f"[PROF]Among all schedule results, graph{graph}_result{result} is the best choice.")
    yield line("End GetTiling.")


def write_log(path: Path, *operators: Operator) -> Path:
    """A log of one invocation of each operator."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(text for operator in operators for text in log_lines(operator)), encoding="utf-8")
    return path
