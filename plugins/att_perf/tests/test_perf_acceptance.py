"""perf-formula as an outsider meets it: sources and logs written from the format's description, read by the CLI."""

from __future__ import annotations

import pytest
from outsider import GROUP, PLOG, call, checks, returns, solver, unit

# --- symbols, branches, errors ----------------------------------------------------------------------------------------


def test_a_missing_symbol_in_a_branch_that_is_not_taken_is_no_error(perf):
    body = (
        "  double a_Load_AIV_MTE2_case0 = (z0t_size * 2);\n"
        "  double a_Load_AIV_MTE2_case1 = (ghost * 2);\n"
        "  bool a_Load_AIV_MTE2_cond0 = LogicOr(z0t_size < 1000, ghost > 1);\n"
        "  double a_Load_AIV_MTE2_contrib = "
        "TernaryOp(a_Load_AIV_MTE2_cond0, a_Load_AIV_MTE2_case0, a_Load_AIV_MTE2_case1);\n"
        "  double AIV_MTE2 = (1.0 + a_Load_AIV_MTE2_contrib);\n" + returns("AIV_MTE2")
    )
    outcome = perf(unit(solver(body)), call({"z0t_size": 100, "block_dim": 2, "AIV_MTE2": "201.000000"}, s0=5))
    assert checks(outcome)["AIV_MTE2"] == ("ok", 201.0)
    assert outcome.stderr.count("\n") == len(outcome.tables)  # nothing but the names of the files
    (branch,) = outcome.tables["branches"]
    assert branch["Taken"] is True


def test_an_integer_divided_by_zero_spoils_only_what_needs_it(perf):
    body = (
        "  double b_Load_AIV_MTE2_contrib = TernaryOp(True, 3, 1 / 0);\n"
        "  double AIV_MTE2 = (6.0 + b_Load_AIV_MTE2_contrib);\n"
        "  double c_Add_AIV_VEC_contrib = (1 / 0);\n"
        "  double AIV_VEC = (c_Add_AIV_VEC_contrib);\n" + returns("AIV_MTE2", "AIV_VEC")
    )
    outcome = perf(unit(solver(body)), call({"z0t_size": 100, "block_dim": 2, "AIV_MTE2": 9, "AIV_VEC": 3}, s0=5))
    assert checks(outcome)["AIV_MTE2"] == ("ok", 9.0)
    assert checks(outcome)["AIV_VEC"] == ("error", None)
    assert "x_tiling_func.cpp:5: integer division by zero" in outcome.stderr
    assert "1 value cannot be computed" in outcome.stderr


@pytest.mark.parametrize(
    "statements, words",
    [
        ("  double a = (b + 1);\n  double b = (a + 1);", "3: 'b' is used before it has a value"),
        ("  double a = (a + 1);", "3: 'a' is defined by itself"),
        ("  double a = Unheard(z0t_size, 2);", "3: unknown function 'Unheard'"),
        ("  double a = (ghost + s1);", "no value in the log for ghost, s1 ("),
        ("  double a = (ghost + s1);", "x_tiling_func.cpp:3)"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line_and_leaves_the_rest(perf, statements, words):
    body = f"{statements}\n  double AIV_VEC = (a);\n  double AIV_MTE2 = (1.0 + z0t_size);\n" + returns(
        "AIV_MTE2", "AIV_VEC"
    )
    logged = {"z0t_size": 100, "block_dim": 2, "AIV_MTE2": 101, "AIV_VEC": 3}
    outcome = perf(unit(solver(body)), call(logged, 101, s0=5))
    assert outcome.exit_code == 0
    assert words in outcome.stderr
    assert "Traceback" not in outcome.stderr
    found = checks(outcome)
    assert found["AIV_MTE2"] == found["objective"] == ("ok", 101.0)
    assert found["AIV_VEC"][1] is None
    # The other pipe and the objective keep their sensitivities.
    assert {row["Target"] for row in outcome.tables["sensitivities"]} == {"objective", "AIV_MTE2"}


def test_a_variable_named_like_a_logged_value_is_not_taken_from_the_log(perf):
    """`z0t_size` is used before it is defined: the log's value of that name is another one."""
    body = "  double a = (z0t_size + 1);\n  double z0t_size = (s0);\n  double AIV_MTE2 = (a);\n" + returns("AIV_MTE2")
    source = unit(solver(body, parameters=("block_dim", "s0"), feeder=""))
    outcome = perf(source, call({"z0t_size": 100, "block_dim": 2, "AIV_MTE2": 101}, s0=5))
    assert checks(outcome)["AIV_MTE2"] == ("error", None)


# --- GetTilingDataPerfStatic ------------------------------------------------------------------------------------------

BODY = (
    "  double n_Load_AIV_MTE2_contrib = (z0t_size * 2);\n  double AIV_MTE2 = (10.0 + n_Load_AIV_MTE2_contrib);\n"
    + returns("AIV_MTE2", objective="((300.0 * Max(0, block_dim)) + (s0 / AIV_MTE2))")
)


FEEDERS = {
    "other names": """double a = tiling_data.get_z0t_size(), b = tiling_data.get_block_dim();
  double c = static_cast<double>(tiling_data.get_s0());
  return GetPerfStatic(pipe_type, b, c, a);""",
    "a guard": """if (tiling_data.get_block_dim() == 0) { return 0.0; }
  return GetPerfStatic(pipe_type, tiling_data.get_block_dim(), tiling_data.get_s0(), tiling_data.get_z0t_size());""",
    "a pointer": """if (tiling_data == nullptr)
    return 0.0;
  else {
    return GetPerfStatic(pipe_type, tiling_data->block_dim, tiling_data->s0, tiling_data->z0t_size);
  }""",
    "parts of it": """const auto &part = tiling_data.graph0_tiling_data;
  uint32_t n = part.get_block_dim();
  double perf = AxesReorderSolvercase0::GetPerfStatic(pipe_type, n, (double)part.get_s0(), part.get_z0t_size());
  OP_LOGD(OP_NAME, "perf { is %f", perf);
  return perf;""",
}


@pytest.mark.parametrize("name", FEEDERS)
def test_feeders_of_every_plausible_form(perf, name):
    outcome = perf(
        unit(solver(BODY, feeder=FEEDERS[name])), call({"z0t_size": 100, "block_dim": 20, "AIV_MTE2": 210}, s0=420)
    )
    assert checks(outcome) == {"AIV_MTE2": ("ok", 210.0), "objective": ("not_logged", 6002.0)}


def test_a_call_that_sets_a_variable_makes_its_value_that_of_the_log(perf):
    source = (
        "namespace optiling {\ndouble AxesReorderSolvercase0::GetPerf() {\n"
        "  double block_dim = 1;\n  CalUsedCoreNum(block_dim);\n"
        "  double z0t_size = static_cast<double>(input_.local_buffer_vars[0]->value);\n"
        '  OP_LOGD(OP_NAME, "tile %f", z0t_size);\n'
        "  double AIV_MTE2 = ((z0t_size * 2) + 5) * block_dim;\n  return (AIV_MTE2 + (10 * block_dim));\n}\n}\n"
    )
    outcome = perf(source, call({"z0t_size": 100, "block_dim": 20, "AIV_MTE2": 4100}, 4300))
    assert checks(outcome) == {"AIV_MTE2": ("ok", 4100.0), "objective": ("ok", 4300.0)}


# --- decomposition ----------------------------------------------------------------------------------------------------


def test_names_of_nodes_are_split_from_the_right_whatever_they_hold(perf):
    names = {
        "x_y_Load_AIV_MTE2_contrib": ("x_y", "Load", "300"),
        "n_AIV_MTE2_k_Nddma_AIV_MTE2_core_contrib": ("n_AIV_MTE2_k", "Nddma", "7.5"),
        "n_AIV_MTE2_k_Nddma_AIV_MTE2_tail_contrib": ("n_AIV_MTE2_k", "Nddma", "-2.5"),
        "my_contrib_1_Cast_AIV_MTE2_contrib": ("my_contrib_1", "Cast", "2"),
        "w_Load_AIV_MTE3_contrib": ("w", "Load", "3"),  # of another pipe
        "q_Load_AIC_MTE1_core_contrib": ("q", "Load", "4"),
    }
    lines = ["  double x_y_Load_AIV_MTE2_contrib_case0 = (z0t_size * 1000);", "  double z1t_size_tail = (s0 - 20);"]
    lines += ["  double unused_Load_AIV_MTE2_contrib = (z1t_size_tail * 1000);"]
    lines += [f"  double {name} = ({value} * 1.0);" for name, (_, _, value) in names.items()]
    lines.append(f"  double AIV_MTE2 = (775.0 + (2.0 * block_dim) + {' + '.join(names)});")
    outcome = perf(
        unit(solver("\n".join([*lines, returns("AIV_MTE2")]))),
        call({"z0t_size": 100, "block_dim": 20, "AIV_MTE2": 1129}, s0=5),
    )
    found = [
        (row["Kind"], row["Node"], row["Node Type"], row["Value"])
        for row in outcome.tables["terms"]
        if row["Kind"] != "head"
    ]
    assert found == [
        ("fixed", None, None, 775.0),
        ("per-block", None, None, 40.0),
        ("node", "x_y", "Load", 300.0),
        ("node", "n_AIV_MTE2_k", "Nddma", 5.0),
        ("node", "my_contrib_1", "Cast", 2.0),
        ("node", "w", "Load", 3.0),
        ("node", "q", "Load", 4.0),
    ]


def test_terms_are_named_by_their_own_text(perf):
    body = (
        "  bool c1 = (s0 < 10);\n"
        "  double AIV_MTE2 = (TernaryOp(c1, 1, 2) + c1 + z0t_size + static_cast<int32_t>(z0t_size));\n"
        + returns("AIV_MTE2")
    )
    outcome = perf(unit(solver(body)), call({"z0t_size": 100, "block_dim": 20, "AIV_MTE2": 202}, s0=5))
    terms = [row["Term"] for row in outcome.tables["terms"] if row["Kind"] == "term"]
    assert terms == ["TernaryOp(c1, 1, 2)", "c1", "z0t_size", "static_cast<int32_t>(z0t_size)"]


# --- which sources are whose ------------------------------------------------------------------------------------------


def simple(factor):
    text = f"  double n_Load_AIV_MTE2_contrib = (s0 * z0t_size * {factor});\n"
    return unit(solver(text + "  double AIV_MTE2 = (n_Load_AIV_MTE2_contrib);\n" + returns("AIV_MTE2")))


TWO = call({"z0t_size": 3, "block_dim": 2, "AIV_MTE2": 60}, operator="OpA", s0=10) + call(
    {"z0t_size": 3, "block_dim": 2, "AIV_MTE2": 90}, operator="OpB", s0=10
)


@pytest.mark.parametrize("named", ["OpA", "OpB", "OpZ"])
def test_two_operators_in_one_folder_that_share_a_header(perf, named):
    sources = {
        "opa_tiling_func.cpp": simple(2),
        "opb_tiling_func.cpp": simple(3),
        "autofuse_tiling_func_common.h": f'#define OP_NAME "{named}"\n',
    }
    outcome = perf(sources, TWO)
    found = {(row["Operator"], row["Quantity"]): row["Status"] for row in outcome.tables["checks"]}
    assert found[("OpA", "AIV_MTE2")] == found[("OpB", "AIV_MTE2")] == "ok"
    assert "differ" not in outcome.stderr


def test_one_unreadable_artifact_leaves_the_others(perf):
    text = (
        "Z_artifacts = {'host_impl': made()}\n"
        f"OpA_artifacts = {{'tiling_def': '', 'host_impl': {simple(2)!r}}}\n"
        f"OpB_artifacts = {{'tiling_def': '', 'host_impl': {simple(3)!r}}}\n"
    )
    outcome = perf({"output_code.py": text}, TWO)
    assert [row["Status"] for row in outcome.tables["checks"] if row["Quantity"] == "AIV_MTE2"] == ["ok", "ok"]
    assert "output_code.py:1: Z_artifacts is no literal" in outcome.stderr
    assert " at 0x" not in outcome.stderr


def test_sources_of_other_cases_are_told(perf):
    outcome = perf(unit(solver(BODY, tag="R7")), call({"z0t_size": 100, "block_dim": 20, "AIV_MTE2": 210}, s0=420))
    assert outcome.exit_code == 1
    assert "they have the cases R7, the log has 0" in outcome.stderr


# --- [PERF] lines -----------------------------------------------------------------------------------------------------


def terms_of(outcome):
    return [(row["Term"], row["Value"]) for row in outcome.tables["terms"]]


@pytest.mark.parametrize(
    "formula, terms, total",
    [
        ("(a=1 + b=200) = 201 cycles", [("N: a", 1.0), ("N: b", 200.0)], 201.0),
        (
            "(base_cycles=172.2 + head_cost=27.01) = 199.21",
            [("N: base_cycles", 172.2), ("N: head_cost", 27.01)],
            199.21,
        ),
        ("(a=172.2 + b=27.005) = 199.2", [("N: a", 172.2), ("N: b", 27.005)], 199.2),
        ("(a=300 - b=99) = 201", [("N: a", 300.0), ("N: b", -99.0)], 201.0),
        ("(a=300 + b=-99) = 201 (cycles)", [("N: a", 300.0), ("N: b", -99.0)], 201.0),
        ("(a=1+b=200)=201", [("N: a", 1.0), ("N: b", 200.0)], 201.0),
        ("(a=inf + b=200) = inf", [("N: a", "Infinity"), ("N: b", 200.0)], "Infinity"),
        ("(a=1 + b=2) = 50", [("N: a", 1.0), ("N: b", 2.0), ("N: not explained", 47.0)], 50.0),
    ],
)
def test_terms_and_total_of_a_perf_line(perf, formula, terms, total):
    outcome = perf({}, f"[Op] [PERF] N[Add]: AIV_VEC = {formula}\n")
    assert terms_of(outcome) == terms
    assert outcome.tables["checks"][0]["Formula"] == total
    shares = [row["Share of Pipe"] for row in outcome.tables["terms"]]
    if total != "Infinity":
        assert sum(shares) == pytest.approx(100)


@pytest.mark.parametrize(
    "line",
    [
        "[Op] [PERF] N[Add]: AIV_VEC = (a=1 + b=20",
        "[Op] [PERF] N[Add]: AIV_VEC = a=1 + b=20)",
        "[Op] [PERF] N[Add]: AIV_VEC = " + "cost=4".rjust(992, "x"),  # as long as a line gets: the number may go on
        "[Op] [PERF] N[Add]: AIV_VEC = (x * y) = 7",
    ],
)
def test_a_perf_line_that_was_cut_gives_no_number_and_is_counted(perf, line):
    outcome = perf({}, f"{line}\n[Op] [PERF] M[Add]: AIV_VEC = a=5\n[PERF] is what we measure\n")
    assert terms_of(outcome) == [("M: a", 5.0)]
    assert "1 [PERF] line with terms that cannot be read" in outcome.stderr


def test_same_term_in_two_nodes_graphs_and_templates_without_a_choice(perf):
    lines = [
        f"[Op] [PERF][graph{graph}_result0_g0_{tag}] N{node}[Load]: AIV_MTE2 = (base={10 * graph + node} + head=5)"
        f" = {10 * graph + node + 5}\n"
        for graph in (0, 1)
        for tag in ("0", "R0")
        for node in (1, 2)
    ]
    outcome = perf({}, "".join(lines))
    found = {}
    for row in outcome.tables["terms"]:
        found.setdefault((row["Graph"], row["Sub Case"], row["Node"]), []).append(row["Value"])
    expected = {(g, tag, f"N{n}"): [10.0 * g + n, 5.0] for g in (0, 1) for tag in ("", "R") for n in (1, 2)}
    assert found == expected
    assert {row["Chosen"] for row in outcome.tables["candidates"]} == {False}


# --- size -------------------------------------------------------------------------------------------------------------


def test_conditionals_within_each_other_are_told_in_linear_room(perf):
    """Each of them holds all that follow: spelled out in full they would fill gigabytes."""
    depth = 4000
    chain = "TernaryOp(s0 < 1, 1, " * depth + "z0t_size" + ")" * depth
    log = call({"z0t_size": 100, "block_dim": 20, "AIV_MTE2": 100}, s0=5)
    outcome = perf(unit(solver(f"  double AIV_MTE2 = {chain};\n" + returns("AIV_MTE2"))), log)
    assert checks(outcome)["AIV_MTE2"] == ("ok", 100.0)
    branches = outcome.tables["branches"]
    assert len(branches) == depth
    assert max(len(row["In Words"]) for row in branches) < 1000
    assert branches[0]["Taken"] is False


def test_terms_with_a_long_common_factor_keep_apart_and_stay_short(perf):
    factor = "Max(1, " * 500 + "z0t_size" + ")" * 500
    terms = [f"(s0 * {number})" for number in range(1, 301)]
    body = f"  double AIV_MTE2 = ({' + '.join(terms)}) * {factor};\n" + returns("AIV_MTE2")
    log = call({"z0t_size": 100, "block_dim": 20, "AIV_MTE2": 5 * 300 * 301 // 2 * 100}, s0=5)
    outcome = perf(unit(solver(body)), log)
    assert checks(outcome)["AIV_MTE2"][0] == "ok"
    rows = [row for row in outcome.tables["terms"] if row["Kind"] == "term"]
    assert [row["Value"] for row in rows] == [500.0 * number for number in range(1, 301)]
    assert max(len(row["Term"]) for row in rows) < 1000


def test_a_pipe_of_512_nodes_and_its_fixed_cost(perf):
    names = [f"node_{number}_Add_AIV_VEC_contrib" for number in range(512)]
    lines = [f"  double {name} = (z0t_size * {number}.5);" for number, name in enumerate(names)]
    body = "\n".join([*lines, f"  double AIV_VEC = (775.0 + {' + '.join(names)});", returns("AIV_VEC")])
    total = 775 + sum(10 * (number + 0.5) for number in range(512))
    outcome = perf(unit(solver(body)), call({"z0t_size": 10, "block_dim": 20, "AIV_VEC": f"{total:.6f}"}, s0=5))
    assert checks(outcome)["AIV_VEC"] == ("ok", total)
    rows = [row for row in outcome.tables["terms"] if row["Kind"] != "head"]
    assert [row["Node"] for row in rows[1:]] == [f"node_{number}" for number in range(512)]
    assert sum(row["Share of Pipe"] for row in rows) == pytest.approx(100)


# --- where values stand -----------------------------------------------------------------------------------------------


def test_every_value_leads_to_its_line_of_the_log(perf):
    log = call({"z0t_size": 100, "block_dim": 20, "AIV_MTE2": 210}, 6002, s0=420)
    log += f"{PLOG}[Op][PERF][{GROUP}_0] M[Add]: AIC_MAC = a=5\n"
    outcome = perf(unit(solver(BODY)), log)
    lines = log.splitlines()
    for row in outcome.tables["checks"]:
        text = lines[row["Line"] - 1]
        wanted = {"objective": "objective value", "AIV_MTE2": "value of AIV_MTE2", "AIC_MAC": GROUP}[row["Quantity"]]
        assert wanted in text
        assert row["Source"].endswith("a.log")
    term = next(row for row in outcome.tables["terms"] if row["Pipe"] == "AIC_MAC")
    assert "[PERF]" in lines[term["Line"] - 1]
    assert {row["Line"] for row in outcome.tables["sensitivities"] if row["Target"] == "AIV_MTE2"} == {
        1 + next(number for number, text in enumerate(lines) if "value of AIV_MTE2" in text)
    }
