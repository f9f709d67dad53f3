"""perf-formula on the command line: what it writes, what it says, and how it ends."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from perf_sources import ADD, LOAD, STORE, Case, Group, Operator, log_lines, write_log, write_sources

SVG = "{http://www.w3.org/2000/svg}"
TABLES = ("perf_formula", "candidates", "terms", "checks", "sensitivities", "branches", "usage", "variation")


@pytest.fixture
def inputs(tmp_path):
    """(sources, log) of one operator with three cases."""
    operator = Operator()
    return write_sources(tmp_path / "src", operator), write_log(tmp_path / "a.log", operator)


def rows_of(outcome, table):
    """The rows of one table of a jsonl output."""
    objects = [json.loads(line) for line in outcome.stdout.splitlines()]
    return [row for row in objects if row.get("table", table) == table]


def tables_of(folder):
    return {path.stem: list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig")))) for path in folder.glob("*.csv")}


def tables(autofuse_cli, tmp_path, *arguments):
    out = tmp_path / "tables"
    outcome = autofuse_cli("run", "perf-formula", *arguments, "-f", "csv", "-o", f"{out}/")
    assert outcome.exit_code == 0, outcome.stderr
    return tables_of(out)


def test_draws_into_the_default_folder(autofuse_cli, inputs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = autofuse_cli("run", "perf-formula", *inputs)
    assert outcome.exit_code == 0
    assert outcome.stdout == ""
    root = ElementTree.parse(tmp_path / "output" / "perf" / "perf_formula.svg").getroot()
    assert root.tag == f"{SVG}svg"
    assert "Fusion_Add" in "".join(root.itertext())
    assert "wrote output/perf/perf_formula.svg" in outcome.stderr


def test_plugin_name_without_command_works_too(autofuse_cli, inputs, tmp_path):
    outcome = autofuse_cli("run", "att_perf", "perf-formula", *inputs, "-o", tmp_path / "o")
    assert outcome.exit_code == 0
    assert (tmp_path / "o" / "perf_formula.svg").exists()


@pytest.mark.parametrize("style", ["newest", "getters", "perf", "inductor"])
def test_formulas_equal_the_log_in_every_style(autofuse_cli, tmp_path, style):
    operator = Operator(groups=(Group((0, 0, 0)), Group((0, 1, 2), (Case(4, tile=99), Case(4, "R", tile=5000)))))
    source = write_sources(tmp_path / "src", operator, style)
    found = tables(autofuse_cli, tmp_path, source, write_log(tmp_path / "a.log", operator))
    assert set(found) == set(TABLES)
    # The model's log has block_dim chosen by hand, so only the block function may differ.
    checks = [row for row in found["checks"] if row["Quantity"] != "block_dim"]
    assert {row["Status"] for row in checks} == {"ok"}
    assert len(checks) == 5 * {"newest": 5, "getters": 5, "perf": 3, "inductor": 5}[style]
    pipes = {row["Pipe"] for row in found["terms"]}
    assert pipes == {"AIV_MTE2", "AIV_MTE3", "AIV_VEC", ""}


def test_answer_of_each_group(autofuse_cli, inputs, tmp_path):
    (row,) = tables(autofuse_cli, tmp_path, *inputs)["perf_formula"]
    case = Case(0)
    assert (row["Operator"], row["Case"], row["Sub Case"], row["Chosen"]) == ("Fusion_Add", "0", "", "true")
    assert float(row["Objective"]) == pytest.approx(case.objective())
    assert (row["Bottleneck Pipe"], row["Largest Term"]) == ("AIV_MTE3", "out_store_3")
    assert float(row["Head Cost"]) == pytest.approx(300 * case.blocks)
    assert row["Most Sensitive"] == "block_dim"
    assert row["Runner-up"] == "1"
    assert row["Varies Most"] == "z0t_size"
    assert (row["Origin"], row["Input Shape"], row["Templates"]) == ("source", "s0=70000", "3")


def test_shares_of_pipe_and_objective(autofuse_cli, inputs, tmp_path):
    terms = [
        row for row in tables(autofuse_cli, tmp_path, *inputs)["terms"] if (row["Case"], row["Sub Case"]) == ("0", "")
    ]
    for pipe in ("AIV_MTE2", "AIV_MTE3", "AIV_VEC"):
        shares = [float(row["Share of Pipe"]) for row in terms if row["Pipe"] == pipe]
        assert sum(shares) == pytest.approx(100, abs=0.05)
    objective = [
        float(row["Share of Objective"]) for row in terms if row["Bottleneck"] == "true" or row["Kind"] == "head"
    ]
    assert sum(objective) == pytest.approx(100, abs=0.05)


def test_a_changed_constant_is_a_mismatch(autofuse_cli, inputs, tmp_path):
    source, log = inputs
    path = next(source.glob("*.cpp"))
    path.write_text(path.read_text().replace("775.0", "776.0", 1))
    outcome = autofuse_cli("run", "perf-formula", source, log, "-f", "console")
    assert outcome.exit_code == 0
    assert "AIV_MTE2" in outcome.stdout
    assert "values differ from the log" in outcome.stderr
    assert "by formula and" in outcome.stdout
    drawn = autofuse_cli("run", "perf-formula", source, log, "-o", "-")
    assert "checks fail" in drawn.stdout


def test_case_filter(autofuse_cli, inputs, tmp_path):
    found = tables(autofuse_cli, tmp_path, *inputs, "--case", "r=0,g=0,c=R0")
    assert {(row["Case"], row["Sub Case"]) for row in found["candidates"]} == {("0", "R")}
    outcome = autofuse_cli("run", "perf-formula", *inputs, "--case", "c=99")
    assert outcome.exit_code == 1
    assert "passes --case" in outcome.stderr
    outcome = autofuse_cli("run", "perf-formula", *inputs, "--case", "x=1")
    assert outcome.exit_code == 2
    assert "r|result" in outcome.stderr


def test_every_format_into_a_folder(autofuse_cli, inputs, tmp_path):
    for name, suffix in (("jsonl", "jsonl"), ("html", "html"), ("xlsx", "xlsx"), ("md", "md"), ("svg", "svg")):
        folder = tmp_path / name
        assert autofuse_cli("run", "perf-formula", *inputs, "-f", name, "-o", folder).exit_code == 0
        made = sorted(path.name for path in folder.iterdir())
        assert f"perf_formula.{suffix}" in made, made


def test_html_holds_the_drawing(autofuse_cli, inputs, tmp_path):
    outcome = autofuse_cli("run", "perf-formula", *inputs, "-f", "html", "-o", tmp_path / "h")
    assert outcome.exit_code == 0
    page = (tmp_path / "h" / "perf_formula.html").read_text("utf-8")
    assert 'class="pf"' in page
    assert "out_store_3" in page


@pytest.mark.parametrize("missing", [0, 1])
def test_missing_folder_or_log_is_exit_2(autofuse_cli, inputs, tmp_path, missing):
    arguments = list(inputs)
    arguments[missing] = tmp_path / "nowhere"
    outcome = autofuse_cli("run", "perf-formula", *arguments)
    assert outcome.exit_code == 2
    assert "nowhere" in outcome.stderr
    assert "Traceback" not in outcome.stderr


def test_no_formula_at_all_is_exit_1_and_says_what_was_looked_for(autofuse_cli, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "other.cpp").write_text("int main() {}")
    outcome = autofuse_cli("run", "perf-formula", tmp_path / "src", write_log(tmp_path / "a.log", Operator()))
    assert outcome.exit_code == 1
    for words in ("[PERF] lines", "(0 found)", "GetPerfStatic", "1 source files", "(0 templates found)", "Fusion_Add"):
        assert words in outcome.stderr
    assert not (tmp_path / "output").exists()


def test_log_without_tiling_is_exit_1(autofuse_cli, tmp_path):
    (tmp_path / "a.log").write_text("nothing of interest\n")
    outcome = autofuse_cli("run", "perf-formula", write_sources(tmp_path / "src", Operator()), tmp_path / "a.log")
    assert outcome.exit_code == 1
    assert "operators in the log: none" in outcome.stderr


def test_operators_without_formulas_are_skipped_with_a_notice(autofuse_cli, tmp_path):
    first, second = Operator("A"), Operator("B")
    source = write_sources(tmp_path / "src", first)
    log = write_log(tmp_path / "a.log", first, replace(second, groups=(Group((3, 3, 3)),)))
    outcome = autofuse_cli("run", "perf-formula", source, log, "-o", "-")
    assert outcome.exit_code == 0
    assert "skipped 1 without formulas: B" in outcome.stderr
    assert ">A</text>" in outcome.stdout
    assert ">B</text>" not in outcome.stdout


def test_sources_of_many_operators_find_theirs(autofuse_cli, tmp_path):
    operators = [replace(Operator(), name=f"op/{i}.x").with_case(Case(0, tile=100 + i)) for i in range(4)]
    for index, operator in enumerate(operators):
        write_sources(tmp_path / "src" / str(index), operator, stem=f"s{index}")
    found = tables(autofuse_cli, tmp_path, tmp_path / "src", write_log(tmp_path / "a.log", *operators))
    assert [row["Operator"] for row in found["perf_formula"]] == [operator.name for operator in operators]
    assert {row["Status"] for row in found["checks"] if row["Quantity"] != "block_dim"} == {"ok"}


def test_file_names_tell_the_operator_where_nothing_else_does(autofuse_cli, tmp_path):
    operator = Operator("a.b/c-1")
    source = write_sources(tmp_path / "src", operator, stem="a_b_c_1")
    (source / "autofuse_tiling_func_common.h").unlink()
    write_sources(source, Operator("other"), stem="zzz")
    (source / "autofuse_tiling_func_common.h").unlink()
    outcome = autofuse_cli("run", "perf-formula", source, write_log(tmp_path / "a.log", operator), "-f", "console")
    assert outcome.exit_code == 0
    assert "assumed" not in outcome.stderr


def test_sources_of_another_name_are_told(autofuse_cli, tmp_path):
    source = write_sources(tmp_path / "src", Operator("renamed"))
    log = write_log(tmp_path / "a.log", Operator("Fusion_Add"))
    outcome = autofuse_cli("run", "perf-formula", source, log, "-f", "console")
    assert outcome.exit_code == 0
    assert "the sources are of renamed, the log has Fusion_Add: assumed to be the same" in outcome.stderr


def test_among_several_operators_agreement_decides(autofuse_cli, tmp_path):
    mine, other = Operator("mine"), Operator("other", groups=(Group((0, 0, 0), (Case(0, tile=4, tiles=2),)),))
    source = write_sources(tmp_path / "src", Operator("generated").with_case(Case(0)))
    path = next(source.glob("*.cpp"))
    log = write_log(tmp_path / "a.log", replace(other, shape={"s0": 1}), mine.with_case(Case(0, blocks=23)))
    text = log.read_text().replace("The value of AIV_MTE2 is 8", "The value of AIV_MTE2 is 9", 1)
    log.write_text(text)
    outcome = autofuse_cli("run", "perf-formula", source, log, "-f", "console")
    assert outcome.exit_code == 0, (outcome.stderr, path)
    assert "used for mine" in outcome.stderr


def test_perf_lines_alone_are_drawn_without_any_choice(autofuse_cli, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "a.log").write_text(
        "[Add] [PERF] Load_0[Load]: AIV_MTE2 = (base_cycles=172.2 + head_cost=27.01) = 199.21\n"
        "[Add] [PERF][graph0_result1_g0_R0] Store_0[Store]: AIV_MTE3 = (block_cost=156.8 + head_cost=12.09) = 168.89\n"
        "[Add] [PERF] Add_0[Add]: AIV_VEC = base_cost=42.78\n"
    )
    outcome = autofuse_cli("run", "perf-formula", tmp_path / "src", tmp_path / "a.log", "-o", "-")
    assert outcome.exit_code == 0, outcome.stderr
    for words in ("Load_0: base_cycles", "172.20", "168.89", "case R0", "[PERF]"):
        assert words in outcome.stdout
    found = tables(autofuse_cli, tmp_path, tmp_path / "src", tmp_path / "a.log")
    assert {(row["Sub Case"], row["Pipe"]) for row in found["terms"]} == {
        ("R", "AIV_MTE3"),
        ("", "AIV_MTE2"),
        ("", "AIV_VEC"),
    }


def test_last_call_that_chose_something_is_shown(autofuse_cli, tmp_path):
    first, last = Operator().with_case(Case(0, tile=8)), Operator().with_case(Case(0, tile=640))
    failed = "".join(list(log_lines(last))[:2])
    text = "".join(log_lines(first)) + "".join(log_lines(last)) + failed
    (tmp_path / "a.log").write_text(text)
    (row,) = tables(autofuse_cli, tmp_path, write_sources(tmp_path / "src", last), tmp_path / "a.log")["perf_formula"]
    assert row["Invocation"] == "2 of 3"
    assert float(row["Objective"]) == pytest.approx(Case(0, tile=640).objective())


def test_two_processes_stay_apart(autofuse_cli, tmp_path):
    operator = Operator().with_case(Case(0))
    (tmp_path / "a.log").write_text("".join(log_lines(operator, 1)) + "".join(log_lines(operator, 2)))
    found = tables(autofuse_cli, tmp_path, write_sources(tmp_path / "src", operator), tmp_path / "a.log")
    assert len(found["perf_formula"]) == 2
    assert all(row["Process"] for row in found["perf_formula"])


def test_chosen_result_is_marked(autofuse_cli, tmp_path):
    operator = Operator(groups=(Group((0, 0, 0), (Case(0),)), Group((0, 1, 0), (Case(0),))), results={0: 1})
    source, log = write_sources(tmp_path / "src", operator), write_log(tmp_path / "a.log", operator)
    drawn = autofuse_cli("run", "perf-formula", source, log, "-o", "-").stdout
    assert "graph0 result1 g0 · chosen result" in drawn
    assert "graph0 result0 g0</text>" in drawn


def test_missing_symbol_is_named_on_stderr(autofuse_cli, tmp_path):
    operator = Operator().with_case(Case(0))
    log = write_log(tmp_path / "a.log", operator)
    log.write_text("".join(line for line in log.read_text().splitlines(True) if "z0Tb_size" not in line))
    outcome = autofuse_cli("run", "perf-formula", write_sources(tmp_path / "src", operator), log, "-f", "console")
    assert outcome.exit_code == 0
    assert "no value in the log for z0Tb_size" in outcome.stderr
    assert "missing_symbol" in outcome.stdout


def test_stdin_and_several_logs(autofuse_cli, inputs, tmp_path):
    source, log = inputs
    outcome = autofuse_cli("run", "perf-formula", source, "-", "-o", "-", stdin=log.read_bytes())
    assert outcome.exit_code == 0
    assert "<svg" in outcome.stdout


def test_output_folder_that_is_a_file(autofuse_cli, inputs, tmp_path):
    (tmp_path / "taken").write_text("mine")
    outcome = autofuse_cli("run", "perf-formula", *inputs, "-o", tmp_path / "taken")
    assert outcome.exit_code == 2
    assert (tmp_path / "taken").read_text() == "mine"


def test_nodes_without_pipe_values_do_not_stop_the_rest(autofuse_cli, tmp_path):
    operator = Operator().with_case(Case(0, nodes=(LOAD, ADD, STORE)))
    source = write_sources(tmp_path / "src", operator)
    path = next(source.glob("*.cpp"))
    path.write_text(path.read_text().replace("double AIV_VEC = (", "double AIV_VEC = Gone("))
    outcome = autofuse_cli("run", "perf-formula", source, write_log(tmp_path / "a.log", operator), "-f", "console")
    assert outcome.exit_code == 0
    assert f"{path}:" in outcome.stderr
    assert "unknown function 'Gone'" in outcome.stderr
    checks = tables(autofuse_cli, tmp_path, source, tmp_path / "a.log")["checks"]
    found = {row["Quantity"]: row["Status"] for row in checks}
    assert (found["AIV_MTE2"], found["AIV_MTE3"]) == ("ok", "ok")
    assert (found["AIV_VEC"], found["objective"]) == ("error", "error")
