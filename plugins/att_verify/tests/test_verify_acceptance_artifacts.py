"""Acceptance of the artifacts of inductor: every key becomes the file that the code includes, every mistake is told."""

from __future__ import annotations

from typing import Callable, Dict

import pytest
from tiling_operators import Verified, contract, needs_compiler

DATA = "#pragma once\n#include <cstdint>\nstruct AutofuseTilingData { uint32_t block_dim, s0, aiv, ub, valid; };\n"
LIMIT = """#pragma once
#include <cstdint>
struct ResLimit { uint32_t valid_num, aiv_num, aic_num, ub_size, resv[10]; };
constexpr ResLimit g_no_limit_res = {1, 48, 0, 192 * 1024, {}};
"""
TILING = """#include <cstddef>
#include "autofuse_tiling_data.h"
extern "C" size_t GetTilingDataSize() { return sizeof(AutofuseTilingData); }
extern "C" int64_t AutofuseTiling(uint32_t s0, AutofuseTilingData* tiling, uint32_t* workspaceSize, uint32_t *blockDim,
                                  ResLimit *res_limit = nullptr) {
  const ResLimit *limit = res_limit == nullptr ? &g_no_limit_res : res_limit;
  *tiling = {limit->aiv_num, s0, limit->aiv_num, limit->ub_size, res_limit == nullptr ? 9 : limit->valid_num};
  *blockDim = limit->aiv_num;
  *workspaceSize = 16U << 20;
  return 0;
}
"""
PARTS = ("State", "Log", "Pgo", "Base", "Solver", "Api", "Entry", "Tail")
INPUTS = contract([7], "inductor")


def section(key: str, text: str) -> str:
    return f"// AUTOFUSE_SPLIT_FILE_BEGIN:{key}\n{text}// AUTOFUSE_SPLIT_FILE_END:{key}\n"


def module(host: str, graph: str = "g") -> Dict[str, str]:
    return {"output_code.py": f"{graph}_artifacts = {{'tiling_def': {DATA!r}, 'host_impl': {host!r}}}\n"}


@needs_compiler
def test_every_key_is_the_file_that_the_code_includes(verify: Callable[..., Verified]) -> None:
    host = "".join(section(f"Tiling{part}Header", f"#pragma once\n#define HAS_{part} 1\n") for part in PARTS)
    host += section("ACubeKernelTilingWrapperHpp", LIMIT)
    host += section("TilingHead", "#pragma once\n")
    includes = "".join(f'#include "autofuse_tiling_func_{part.lower()}.h"\n' for part in PARTS)
    includes += '#include "autofuse_tiling_func_common.h"\n#include "cube_kernel_tiling_wrapper.h"\n'
    includes += "static_assert(" + " + ".join(f"HAS_{part}" for part in PARTS) + ' == 8, "");\n'
    host += section("main", includes + TILING) + section("asc_graph0.result-0", "int Part() { return 1; }\n")
    run = verify(module(host, "graph_1"), "--keep-build", inputs=INPUTS)
    assert run.code == 0, run.result["error"]
    units = sorted(path.name for path in (run.folder / "build" / "src").glob("*.cpp"))
    assert units == ["graph_1_tiling_func_asc_graph0.result-0.cpp", "graph_1_tiling_func_main.cpp"]


@needs_compiler
def test_the_old_head_alone_is_included_everywhere(verify: Callable[..., Verified]) -> None:
    other = 'static_assert(sizeof(ResLimit) == 56, "");\n'
    run = verify(module(section("TilingHead", LIMIT) + section("main", TILING) + section("b", other)), inputs=INPUTS)
    assert run.code == 0, run.result["error"]
    assert run.result["tiling_data_fields"] == {"block_dim": 48, "s0": 7, "aiv": 48, "ub": 196608, "valid": 9}
    assert "aiv_num is not part of the inductor ABI: no ResLimit is passed" in run.stderr


@needs_compiler
def test_what_was_passed_is_said_truly(verify: Callable[..., Verified]) -> None:
    source = module(LIMIT + TILING)
    run = verify(source, "--aiv-num", "5", inputs=INPUTS)
    assert run.result["tiling_data_fields"] == {"block_dim": 5, "s0": 7, "aiv": 5, "ub": 196608, "valid": 1}
    assert "a ResLimit with it is passed, for --aiv-num was given" in run.stderr
    run = verify(source, "--sweep", "aiv=3,4", inputs=INPUTS)
    assert (run.code, run.result["res_limit_passed"]) == (0, True)
    assert "a ResLimit with it is passed, for the sweep goes over aiv" in run.stderr
    assert "no ResLimit is passed" not in run.stderr


@needs_compiler
def test_a_key_longer_than_a_file_name(verify: Callable[..., Verified]) -> None:
    run = verify(
        module(section("a" * 400, LIMIT + TILING) + section("a" * 401, "int Part() { return 1; }\n")), inputs=INPUTS
    )
    assert run.code == 0, run.stderr


BAD = {
    "headers_only": (section("TilingHead", LIMIT), "host_impl holds no translation unit"),
    "path_key": (section("../a", LIMIT), "bad section key '../a': accepted: [A-Za-z0-9_.-]+"),
    "twice": (section("a", "") + section("a", ""), "host_impl line 3: the section a stands twice"),
    "nested": ("// AUTOFUSE_SPLIT_FILE_BEGIN:a\n" + section("b", ""), "the section b begins inside a"),
    "behind": (section("a", "") + "int x;\n", "text outside the sections: 'int x;'"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_broken_split_is_refused(verify: Callable[..., Verified], name: str) -> None:
    host, message = BAD[name]
    run = verify(module(host), inputs=INPUTS)
    assert (run.code, message in run.stderr) == (2, True), run.stderr
    assert not run.folder.exists()
