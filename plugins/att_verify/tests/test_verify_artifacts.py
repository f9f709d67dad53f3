"""Reading the artifacts of output_code.py: literals only, and every damage of the split markers told."""

from __future__ import annotations

from pathlib import Path
from typing import Dict

import pytest
from autofuse.errors import AutofuseError
from autofuse_att_verify.artifacts import read_artifacts, split_host_impl


def _module(artifacts: Dict[str, object], name: str = "op") -> str:
    return f"import torch\n{name}_artifacts = {artifacts!r}\n"


def _section(key: str, text: str = "body\n") -> str:
    return f"// AUTOFUSE_SPLIT_FILE_BEGIN:{key}\n{text}// AUTOFUSE_SPLIT_FILE_END:{key}\n"


def test_one_text_is_one_file() -> None:
    found = read_artifacts(_module({"tiling_def": "data", "host_impl": "code"}), "output_code.py")
    assert found.graph == "op"
    assert found.files == {"autofuse_tiling_data.h": "data", "op_tiling_func.cpp": "code"}


def test_every_key_has_its_file() -> None:
    headers = ["State", "Log", "Pgo", "Base", "Solver", "Api", "Entry", "Tail"]
    keys = [f"Tiling{name}Header" for name in headers] + ["TilingHead", "ACubeKernelTilingWrapperHpp", "solver_func"]
    files = split_host_impl("".join(map(_section, keys)), "g", "x")
    assert set(files) == {
        *(f"autofuse_tiling_func_{name.lower()}.h" for name in headers),
        "autofuse_tiling_func_common.h",
        "cube_kernel_tiling_wrapper.h",
        "g_tiling_func_solver_func.cpp",
    }
    assert set(files.values()) == {"body\n"}


def test_with_the_head_alone_every_source_includes_it() -> None:
    files = split_host_impl(_section("TilingHead", "head\n") + _section("a") + _section("b"), "g", "x")
    include = '#include "autofuse_tiling_func_common.h"\n'
    assert files["autofuse_tiling_func_common.h"] == "head\n"
    assert all(files[f"g_tiling_func_{key}.cpp"].startswith(include) for key in "ab")


def test_carriage_returns_and_blank_lines_between_sections() -> None:
    text = _section("a").replace("\n", "\r\n") + "\r\n\n" + _section("b")
    assert split_host_impl(text, "g", "x") == {"g_tiling_func_a.cpp": "body\r\n", "g_tiling_func_b.cpp": "body\n"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (_section("a") + _section("a"), "the section a stands twice"),
        ("// AUTOFUSE_SPLIT_FILE_BEGIN:a\n" + _section("b"), "the section b begins inside a"),
        (_section("a") + "stray\n" + _section("b"), "text outside the sections: 'stray'"),
        ("stray\n" + _section("a"), "text before the first section"),
        (_section("a") + "stray\n", "text outside the sections"),
        ("// AUTOFUSE_SPLIT_FILE_BEGIN:a\nbody\n", "the section a has no END"),
        ("// AUTOFUSE_SPLIT_FILE_END:a\n", "END:a without its BEGIN"),
        (_section("a").replace("END:a", "END:b"), "END:b without its BEGIN"),
        (_section("../../etc/passwd"), "bad section key '../../etc/passwd'"),
        (_section(""), "bad section key ''"),
        (_section("a b"), "bad section key 'a b'"),
    ],
)
def test_damaged_markers_are_told(text: str, message: str) -> None:
    with pytest.raises(AutofuseError) as caught:
        split_host_impl(text, "g", "output_code.py")
    assert message in str(caught.value)
    assert "output_code.py: host_impl line" in str(caught.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def broken(:\n", "output_code.py:1: is no Python"),
        ("x = 1\n", "holds no `*_artifacts` dictionary literal"),
        ("op_artifacts = dict(tiling_def='', host_impl='')\n", "holds no `*_artifacts` dictionary literal"),
        ("op_artifacts = {'tiling_def': open('/etc/passwd').read(), 'host_impl': ''}\n", "no dictionary of literals"),
        (_module({"tiling_def": "x"}), "the key 'host_impl' is missing"),
        (_module({"tiling_def": 5, "host_impl": ""}), "the key 'tiling_def' is no string"),
        ("\0", "output_code.py"),
        ("(" * 10000, "output_code.py"),
    ],
)
def test_modules_without_artifacts(source: str, message: str) -> None:
    with pytest.raises(AutofuseError) as caught:
        read_artifacts(source, "output_code.py")
    assert message in str(caught.value)


def test_nothing_in_the_module_is_executed(tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    source = f"open({str(witness)!r}, 'w')\n" + _module({"tiling_def": "", "host_impl": ""})
    source += f"class X:\n    y_artifacts = [open({str(witness)!r}, 'w')]\n"
    read_artifacts(source, "output_code.py")
    assert not witness.exists()


def test_other_entries_need_not_be_literals() -> None:
    source = "op_artifacts = {'tiling_def': 'd', 'host_impl': 'h', 'device': make(), **more}\n"
    assert read_artifacts(source, "x").files["op_tiling_func.cpp"] == "h"


def test_several_graphs_need_a_choice() -> None:
    source = _module({"tiling_def": "1", "host_impl": ""}, "one") + _module({"tiling_def": "2", "host_impl": ""}, "two")
    with pytest.raises(AutofuseError, match="choose one with --graph: one, two"):
        read_artifacts(source, "x")
    assert read_artifacts(source, "x", "two").files["autofuse_tiling_data.h"] == "2"
    with pytest.raises(AutofuseError, match="there are: one, two"):
        read_artifacts(source, "x", "three")
