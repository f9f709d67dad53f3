"""Sources and logs as an outsider writes them from the description of the formats, for the acceptance tests."""

from __future__ import annotations

from typing import Dict

PLOG = "[INFO] GE(7,app):2026-01-02-03:04:05.006.007 [x.cpp:5]7 Fn:"
GROUP = "graph0_result0_g0"
PIPES = ("AIV_MTE2", "AIV_MTE3", "AIV_VEC")


def plog(operator, *texts):
    return "".join(f"{PLOG}[{operator}]{text}\n" for text in texts)


def values(logged: Dict[str, object], tag="0", group=GROUP, objective=None):
    """The lines of one candidate."""
    lines = [f"[PROF]The value of {name} is {value} in {group}_{tag}." for name, value in logged.items()]
    if objective is not None:
        lines.append(f"[PROF]The objective value of the tiling data is {objective} in {group}_{tag}.")
    return lines


def given_params(case="0", group="AscGraph0ScheduleResult0G0", **symbols):
    shown = "".join(f" {name} = {value}." for name, value in symbols.items())
    return f"Set input params for tiling case {case} of {group}. {shown}"


def choice(tag="0", group=GROUP):
    return f"[PROF]Among the templates, tiling case {tag} of {group} is the best choice."


HARDWARE = "Set hardware params. ub_size = 196608. block_dim = 48."


def call(logged, objective=None, operator="Op", tag="0", **symbols):
    """A whole log of one call with one candidate."""
    lines = ["Start GetTiling.", given_params(tag.lstrip("R"), **symbols), HARDWARE]
    return plog(operator, *lines, *values(logged, tag, objective=objective), choice(tag), "End GetTiling.")


PARAMETERS = ("block_dim", "s0", "z0t_size")


def solver(body, tag="0", parameters=PARAMETERS, feeder=None):
    """GetPerfStatic of one template, and the function that feeds it (`feeder` is its body; "" for none)."""
    name = f"AxesReorderSolvercase{tag}"
    typed = "".join(f", double {parameter}" for parameter in parameters)
    if feeder is None:
        fields = "".join(f", tiling_data.get_{parameter}()" for parameter in parameters)
        feeder = f"  return GetPerfStatic(pipe_type{fields});"
    text = f"double {name}::GetPerfStatic(const PipeType &pipe_type{typed}) {{\n{body}\n}}\n"
    if feeder:
        head = f"double {name}::GetTilingDataPerfStatic(const PipeType &pipe_type, TilingData &tiling_data)"
        text += f"{head} {{\n{feeder}\n}}\n"
    return text


def returns(*pipes, objective=None):
    """The end of GetPerfStatic."""
    lines = [f"  if (pipe_type == PipeType::{pipe}) {{\n    return {pipe};\n  }}" for pipe in pipes]
    return "\n".join([*lines, f"  return {objective or pipes[0]};"])


def unit(*classes, namespace="optiling"):
    return f"namespace {namespace} {{\n{''.join(classes)}}}\n"


def checks(outcome):
    """Quantity → (status, value by formula)."""
    return {row["Quantity"]: (row["Status"], row["Formula"]) for row in outcome.tables["checks"]}
