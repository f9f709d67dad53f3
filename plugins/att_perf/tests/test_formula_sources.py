"""Where formulas come from: all three styles, Inductor's strings, scopes of C++, and what can be wrong with them."""

from __future__ import annotations

import os
from random import Random

import pytest
from autofuse.errors import AutofuseError
from autofuse.report.model import Provenance
from autofuse.types import TemplateId
from autofuse_att_perf import native
from autofuse_att_perf.analysis import analyse_operator
from autofuse_att_perf.candidates import Candidate, OperatorLog
from autofuse_att_perf.formulas import UnitFormulas
from autofuse_att_perf.native import evaluate
from autofuse_att_perf.report import build_report
from autofuse_att_perf.sources import read_sources
from perf_sources import (
    ADD,
    LOAD,
    PIPES,
    STORE,
    Case,
    Group,
    Operator,
    newest_class,
    newest_unit,
    older_unit,
    write_sources,
)

STYLES = ("newest", "getters", "perf", "inductor")
KEY = ((0, 0, 0), 0, "")


def units_of(folder):
    return [UnitFormulas(unit) for unit in read_sources(str(folder)).units]


def only_unit(folder):
    (unit,) = (unit for unit in units_of(folder) if len(unit))
    return unit


def symbols(case, **more):
    return {"z0t_size": case.tile, "z0Tb_size": case.tiles, "block_dim": case.blocks, "s0": 70000, **more}


def pipes_of(formulas, values):
    found = evaluate(formulas.perf, values)
    return {name: found.slots[slot] for name, slot in formulas.perf.pipes.items()}


def write(folder, text, name="x_tiling_func.cpp"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def getter(body, name="GetAIV_MTE2", rest=""):
    return (
        "namespace optiling {\nclass TilingCase0Impl {\n"
        f"double {name}(TilingData& tiling_data) {{\n{body}\n}}\n{rest}}};\n}}\n"
    )


@pytest.mark.parametrize("style", STYLES)
def test_every_style_gives_the_values_of_the_model(tmp_path, style):
    operator = Operator(groups=(Group((0, 0, 0)), Group((0, 1, 10)), Group((1, 0, 0), (Case(11), Case(1, "R")))))
    unit = only_unit(write_sources(tmp_path, operator, style))
    assert unit.unit.op_names == {operator.name}
    assert set(unit.keys) == {(group.id, case.case, case.sub) for group in operator.groups for case in group.cases}
    for group in operator.groups:
        for case in group.cases:
            formulas = unit.of((group.id, case.case, case.sub))
            assert not formulas.errors
            assert pipes_of(formulas, symbols(case)) == case.pipes()


@pytest.mark.parametrize("style", ["newest", "getters", "inductor"])
def test_objective_ub_and_blocks(tmp_path, style):
    case = Case(0, tile=777, tiles=9, blocks=11)
    formulas = only_unit(write_sources(tmp_path, Operator().with_case(case), style)).of(KEY)
    assert evaluate(formulas.perf, symbols(case)).slots[formulas.perf.result] == case.objective()
    assert evaluate(formulas.ub_size, symbols(case)).slots[formulas.ub_size.result] == case.ub_size()
    if style != "getters":
        found = evaluate(formulas.block_dim, symbols(case)).slots[formulas.block_dim.result]
        assert found == case.needed_blocks(70000)


def test_objective_is_missing_where_the_source_has_none(tmp_path):
    formulas = only_unit(write_sources(tmp_path, Operator(), "perf")).of(KEY)
    assert formulas.perf.result is None
    assert list(formulas.perf.pipes) == list(PIPES)


def test_tiling_data_fields_feed_the_parameters(tmp_path):
    text = (
        "namespace optiling {\n"
        "double AxesReorderSolvercase0::GetPerfStatic(const PipeType &pipe_type, double tile, int64_t count) {\n"
        "  double AIV_VEC = (tile + count / 2);\n  if (pipe_type == PipeType::AIV_VEC) { return AIV_VEC; }\n"
        "  return AIV_VEC + 300.0;\n}\n"
        "double TilingCase0Impl::GetTilingDataPerfStatic(const PipeType &pipe_type, const TilingData &tiling_data) {\n"
        "  const auto &data = tiling_data;\n"
        "  return AxesReorderSolvercase0::GetPerfStatic(pipe_type, double(data.get_z9t_size()) * 2, data.n);\n"
        "}\n}\n"
    )
    formulas = only_unit(write(tmp_path, text)).of((None, 0, ""))
    assert formulas.perf.symbols == ["z9t_size", "n"]
    assert pipes_of(formulas, {"z9t_size": 10, "n": 7}) == {"AIV_VEC": 23.0}


@pytest.mark.skipif(not native.available(), reason="installed without the native twin")
def test_twin_reads_whole_functions_like_the_python_compiler(tmp_path, monkeypatch):
    operator = Operator(groups=(Group((0, 0, 0)), Group((0, 1, 10), (Case(4, "R", tile=9, nodes=(LOAD, STORE)),))))
    folder = write_sources(tmp_path, operator)
    twins = only_unit(folder)
    compiled = {key: twins.of(key) for key in twins.keys}
    monkeypatch.setattr(native, "_module", None)
    for key in only_unit(folder).keys:
        plain = only_unit(folder).of(key)
        for quantity in ("perf", "ub_size", "block_dim"):
            twin, tape = getattr(compiled[key], quantity), getattr(plain, quantity)
            assert twin.program is not None
            assert tape.program is None
            for column in ("ops", "a", "b", "c", "types", "starts", "ends", "consts", "symbols", "symbol_slots"):
                assert list(getattr(twin, column)) == list(getattr(tape, column)), column
            assert (twin.slot_names, twin.pipes, twin.result) == (tape.slot_names, tape.pipes, tape.result)
            places = [tape.place_of(slot) for slot in range(len(tape))]
            assert [twin.place_of(slot) for slot in range(len(tape))] == places


def test_wrong_number_of_fields_is_an_error_of_the_template(tmp_path):
    text = newest_unit(Operator(), Group()).replace("tiling_data.get_z0t_size());", "1, tiling_data.get_z0t_size());")
    error = only_unit(write(tmp_path, text)).of(KEY).errors["*"]
    assert "GetPerfStatic takes 5 argument(s), not 6" in error.what


def test_case_tags_and_ids_never_mix(tmp_path):
    operator = Operator(
        groups=(Group((0, 1, 1), (Case(2), Case(2, "R", tile=5), Case(12))), Group((0, 10, 1), (Case(2),)))
    )
    unit = only_unit(write_sources(tmp_path, operator))
    assert set(unit.keys) == {((0, 1, 1), 2, ""), ((0, 1, 1), 2, "R"), ((0, 1, 1), 12, ""), ((0, 10, 1), 2, "")}
    assert unit.of(((0, 1, 10), 2, "")) is None


def test_comments_strings_and_preprocessor_lines_hide_braces(tmp_path):
    text = (
        "/* } } namespace nothing { */ // }}} {\n#define OPEN { {\n#define LONG \\\n  } } }\n"
        "namespace optiling { // {\nconst char *brace = \"}\"; const char c = '{'; int n = 1'000;\n"
        "#ifdef A\nnamespace AscGraph0ScheduleResult0G0 {\n#else\nnamespace AscGraph0ScheduleResult0G0 {\n#endif\n"
        + newest_class(Case(0)).replace("  double AIV_MTE2 =", '  OP_LOGD("}} {");\n  double AIV_MTE2 =')
        + "}\n}\n"
    )
    formulas = only_unit(write(tmp_path, text)).of(KEY)
    assert pipes_of(formulas, symbols(Case(0))) == Case(0).pipes()


def test_windows_line_ends_and_byte_order_mark(tmp_path):
    text = "\ufeff" + newest_unit(Operator(), Group()).replace("\n", "\r\n")
    (tmp_path / "x_tiling_func.cpp").write_bytes(text.encode("utf-8"))
    assert pipes_of(only_unit(tmp_path).of(KEY), symbols(Case(0))) == Case(0).pipes()


def test_bodies_with_other_letters_go_the_python_way(tmp_path):
    text = newest_unit(Operator(), Group()).replace("x_load_0", "x_加载_0")
    assert pipes_of(only_unit(write(tmp_path, text)).of(KEY), symbols(Case(0))) == Case(0).pipes()


def test_a_cpp_that_is_no_tiling_code_is_only_counted(tmp_path):
    write(tmp_path, "int main() { return GetPerfStatic; }", "main.cpp")
    write(tmp_path, "}}}}}{{{{ \" unclosed ' /* GetPerf", "broken.cpp")
    (tmp_path / "binary.h").write_bytes(b"\0\1\2GetPerf")
    sources = read_sources(str(tmp_path))
    assert sources.files == 3
    assert not any(len(UnitFormulas(unit)) for unit in sources.units)
    assert any("NUL bytes" in notice for notice in sources.notices)


def test_unknown_function_names_file_and_line_and_leaves_other_pipes(tmp_path):
    rest = "double GetAIV_VEC(TilingData& tiling_data) { return 5.5; }\n"
    formulas = only_unit(write(tmp_path, getter("double x = 1;\nreturn Bogus(x);", rest=rest))).of((None, 0, ""))
    error = formulas.errors["AIV_MTE2"]
    assert error.where == f"{tmp_path}{os.sep}x_tiling_func.cpp:5"
    assert "unknown function 'Bogus'" in error.what
    assert pipes_of(formulas, {}) == {"AIV_VEC": 5.5}


def test_functions_that_call_each_other_end_in_a_message(tmp_path):
    rest = "double GetAIV_VEC(TilingData& tiling_data) { return GetAIV_MTE2(tiling_data) + 1; }\n"
    text = getter("return GetAIV_VEC(tiling_data) * 2;", rest=rest)
    errors = only_unit(write(tmp_path, text)).of((None, 0, "")).errors
    assert "calls itself (GetAIV_MTE2 → GetAIV_VEC → GetAIV_MTE2)" in errors["AIV_MTE2"].what
    assert "AIV_VEC" in errors


def test_doubling_calls_do_not_explode(tmp_path):
    rest = "".join(
        f"double GetTilingData{i}(double x) {{ return GetTilingData{i + 1}(x + 1) + GetTilingData{i + 1}(x + 2); }}\n"
        for i in range(60)
    )
    text = getter("return GetTilingData0(1);", rest=rest)
    error = only_unit(write(tmp_path, text)).of((None, 0, "")).errors["AIV_MTE2"]
    assert "nest too deep" in error.what


def test_first_definition_of_a_pipe_counts(tmp_path):
    write(tmp_path, getter("return 1;"), "a_tiling_func.cpp")
    write(tmp_path, getter("return 2;"), "a_tiling_func_copy.cpp")
    assert pipes_of(only_unit(tmp_path).of((None, 0, "")), {}) == {"AIV_MTE2": 1.0}


def test_folders_and_stems_keep_operators_apart(tmp_path):
    write_sources(tmp_path / "one", Operator("A"), stem="a")
    write_sources(tmp_path / "two", Operator("B"), stem="b")
    write_sources(tmp_path / "two", Operator("B"), "getters", stem="c")
    found = {(unit.unit.stem, *unit.unit.op_names) for unit in units_of(tmp_path)}
    assert found == {("a", "A"), ("b", "B"), ("c", "B")}


def test_output_code_is_read_and_never_run(tmp_path):
    marker = tmp_path / "ran"
    write_sources(tmp_path, Operator(), "inductor")
    path = tmp_path / "output_code.py"
    path.write_text(f"open({str(marker)!r}, 'w')\n" + path.read_text())
    assert pipes_of(only_unit(tmp_path).of(KEY), symbols(Case(0))) == Case(0).pipes()
    assert not marker.exists()
    assert "output_code.py!fusion_artifacts.host_impl!group0:" in only_unit(tmp_path).of(KEY).function.place


@pytest.mark.parametrize(
    "text",
    [
        "x_artifacts = {'host_impl': open('/etc/passwd')}",
        "x = 1",
        "x_artifacts = {",
        "x_artifacts = " + "[" * 5000,
        "\x0c\ud800",
    ],
)
def test_unusable_output_code_is_a_notice(tmp_path, text):
    (tmp_path / "output_code.py").write_bytes(text.encode("utf-8", "surrogatepass"))
    sources = read_sources(str(tmp_path))
    assert sources.notices
    assert not any(len(UnitFormulas(unit)) for unit in sources.units)


def test_missing_folder_and_file_in_its_place(tmp_path):
    with pytest.raises(AutofuseError, match="no such folder"):
        read_sources(str(tmp_path / "none"))
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(AutofuseError, match="is a file"):
        read_sources(str(path))


def test_pipes_and_loops_in_the_folder_are_passed_over(tmp_path):
    write_sources(tmp_path, Operator())
    os.mkfifo(tmp_path / "pipe.cpp")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "dangling.h").symlink_to(tmp_path / "nowhere")
    assert len(only_unit(tmp_path)) == 3


def test_a_long_head_is_no_declaration(tmp_path):
    text = "namespace optiling {\n" + "class a : " * 100_000 + "{ double GetPerf() { double AIV_VEC = 1; } }\n}"
    write(tmp_path, text + newest_unit(Operator(), Group()))
    assert KEY in set(only_unit(tmp_path).keys)


FRAGMENTS = [
    "(", ")", "{", "}", ";", "*", "/", "-", "double x = ", "return ", "Max(", "TernaryOp(", "static_cast<", "::", "->",
    "[", '"', "'", "#if\n", "#endif\n", "//", "/*", "AIV_MTE2", "1e999", "0x", "if (pipe_type == PipeType::",
    "switch (", "case ", "é", ",", "std::max", "int64_t y = 1 / 0;", "% 0", "GetPerfStatic(", "_contrib", "block_dim",
]  # fmt: skip
SEEDS = [newest_unit(Operator(), Group()), *(older_unit(Operator(), Group(), style) for style in ("getters", "perf"))]


@pytest.mark.parametrize("seed", range(60))
def test_damaged_sources_end_in_rows_and_never_in_an_exception(tmp_path, seed):
    random = Random(seed)
    text = random.choice(SEEDS)
    for _ in range(random.randint(1, 12)):
        at, until = random.randrange(len(text)), random.randrange(len(text))
        kind = random.random()
        if kind < 0.4:
            text = text[:at] + random.choice(FRAGMENTS) + text[at:]
        elif kind < 0.7:
            text = text[:at] + text[at + random.randint(1, 40) :]
        else:
            text = text[:at] + text[until : until + 200] + text[at:]
    (unit,) = units_of(write(tmp_path, text))
    tiling = {"z0t_size": random.choice(["0", "1", "1024", "nan", "-5", "x"]), "z0Tb_size": "3", "block_dim": "24"}
    keys = [key for key in unit.keys if key[0]] or [KEY]
    candidates = [Candidate(TemplateId(*group, case, sub), tiling, {"AIV_VEC": "1.0"}) for group, case, sub in keys]
    analysis = analyse_operator(OperatorLog("Add", candidates, hardware={"ub_size": "9"}), unit)
    report = build_report([analysis], Provenance())
    assert [len(list(table.rows)) >= 0 for table in report.tables]
    assert report.figures[0].svg().startswith("<svg ")


def test_nodes_of_every_pipe(tmp_path):
    case = Case(0, nodes=(LOAD, ADD, STORE))
    formulas = only_unit(write_sources(tmp_path, Operator().with_case(case))).of(KEY)
    assert pipes_of(formulas, symbols(case)) == case.pipes()
