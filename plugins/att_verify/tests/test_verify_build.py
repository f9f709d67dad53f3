"""The build step: compiler messages, tools that are missing, names that are hostile, the compile config, CANN."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any, Callable, Dict

import pytest
from tiling_operators import Verified, needs_compiler, operator

pytestmark = needs_compiler


def test_a_compiler_error_is_shown_at_its_place(verify: Callable[..., Verified]) -> None:
    run = verify(operator("int x = ;"))
    source = run.folder.parent / "source" / "op_tiling_func.cpp"
    line = 1 + source.read_text().partition("int x = ;")[0].count("\n")
    assert (run.code, run.result["status"]) == (1, "COMPILE_FAILED")
    assert run.result["error"].startswith(f"{source}:{line}: expected ")
    assert run.result["error"] in run.outcome.stdout
    assert "error: expected " in run.result["compiler"]["output"]
    assert "autofuse-verify-" not in run.result["compiler"]["output"]
    assert run.result["compiler"]["version"]
    assert (run.result["checks"], run.result["block_dim"], run.result["run_seconds"]) == ([], None, None)


def test_an_error_in_an_inductor_section_has_the_line_of_the_section(
    verify: Callable[..., Verified], tiling_files: Callable[..., Path]
) -> None:
    section = "// AUTOFUSE_SPLIT_FILE_{}:{}\n"
    host = section.format("BEGIN", "TilingHead") + "#pragma once\n" + section.format("END", "TilingHead")
    host += section.format("BEGIN", "body") + "\n\nint x = ;\n" + section.format("END", "body")
    module = f"g_artifacts = {{'tiling_def': '', 'host_impl': {host!r}}}\n"
    inputs = {"dynamic_dims": [1], "aiv_num": 1, "ub_size": 1}
    inputs["abi"] = {"kind": "inductor", "shape_dims": 1, "block_dim_width": 32}  # type: ignore[assignment]
    run = verify({"output_code.py": module}, inputs=inputs)
    assert run.code == 1
    assert "output_code.py[g_tiling_func_body.cpp]:3: expected " in run.result["error"]


def test_a_header_of_cann_needs_cann(verify: Callable[..., Verified]) -> None:
    run = verify(operator(extra='#include "graph/tensor.h"'))
    assert run.code == 1
    assert run.result["status"] == "COMPILE_FAILED"
    assert "graph/tensor.h" in run.result["error"]
    assert run.result["error"].endswith("; this operator needs CANN (--toolkit cann)")


def test_a_linker_error_is_shown(verify: Callable[..., Verified], tmp_path: Path) -> None:
    config = tmp_path / "compile.toml"
    config.write_text('[compile]\nextra_links = ["-lnot_there_at_all"]\n')
    run = verify(operator(), "--compile-config", config)
    assert (run.code, run.result["status"]) == (1, "COMPILE_FAILED")
    assert "cannot find -lnot_there_at_all" in run.result["error"]


def test_a_library_of_another_machine_does_not_link(verify: Callable[..., Verified], tmp_path: Path) -> None:
    library = tmp_path / "libother.so"
    subprocess.run(["g++", "-shared", "-x", "c++", os.devnull, "-o", library], check=True)
    content = bytearray(library.read_bytes())
    content[18:20] = b"\xf3\x00"  # RISC-V
    library.write_bytes(bytes(content))
    config = tmp_path / "compile.toml"
    config.write_text(f'[compile]\nextra_links = ["{library}"]\n')
    run = verify(operator(), "--compile-config", config)
    assert (run.code, run.result["status"]) == (1, "COMPILE_FAILED")
    assert "libother.so" in run.result["compiler"]["output"]
    assert "file in wrong format" in run.result["error"] or "incompatible" in run.result["error"]


def test_the_compile_config_is_used(verify: Callable[..., Verified], tmp_path: Path) -> None:
    """From the option, and from its usual place when that exists."""
    include = tmp_path / "more headers"
    include.mkdir()
    (include / "more.h").write_text('#define MORE "from the config"\n')
    text = f'[compile]\nflags = ["-DANSWER=42", "-DTEXT=\\"a b\\""]\nextra_includes = ["{include}"]\n'
    body = "tiling->words[0] = ANSWER; tiling->words[1] = sizeof(MORE) + sizeof(TEXT);"
    source = operator(body, extra='#include "more.h"')
    assert verify(source).result["status"] == "COMPILE_FAILED"
    usual = tmp_path / ".att_analyze" / "compile.toml"
    usual.parent.mkdir()
    usual.write_text(text)
    run = verify(source)
    assert run.result["tiling_data_fields"]["words"][:2] == [42, len("from the config") + 1 + len("a b") + 1]
    assert "-DANSWER=42" in run.result["compiler"]["flags"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("flags = [", "is no TOML"),
        ("[compiler]\n", "unknown table or key 'compiler'"),
        ("[compile]\nflag = []\n", "unknown key 'flag' in [compile]"),
        ("[compile]\nflags = [1]\n", "flags is no list of strings"),
        ('[compile]\nflags = ["-DX=1;rm -rf /"]\n', "without line breaks and semicolons"),
        ('[compile]\nflags = "-DX=\'"\n', "flags is no list of strings"),
        ("compile = 5\n", "compile is no table"),
    ],
)
def test_a_bad_compile_config(verify: Callable[..., Verified], tmp_path: Path, text: str, message: str) -> None:
    config = tmp_path / "compile.toml"
    config.write_text(text)
    run = verify(operator(), "--compile-config", config)
    assert (run.code, message in run.stderr) == (2, True), run.stderr


NAMES = ["two words", "a&b;c", "融合算子", "$(touch pwned)", "quote'\"", "-o", "semi;colon", "new\nline", "%d"]


def test_names_that_shells_and_build_tools_trip_over(
    verify: Callable[..., Verified], tiling_files: Callable[..., Path]
) -> None:
    files: Dict[str, Any] = operator("tiling->words[0] = Part();", extra='#include "头 文件.h"\nint Part();')
    files["头 文件.h"] = "#pragma once\n"
    source = files.pop("op_tiling_func.cpp")
    files["算子 $(x) & co;_tiling_func.cpp"] = source
    files["a=[b]_tiling_func_2.cpp"] = "int Part() { return 5; }\n"
    folder = tiling_files(files, "/".join(name.replace("/", "") for name in NAMES))
    run = verify(folder)
    assert (run.code, run.result["tiling_data_fields"]["words"][0]) == (0, 5), run.stderr
    assert run.result["source_dir"] == str(folder)
    assert not (Path.cwd() / "pwned").exists()


def test_names_that_are_no_text(verify: Callable[..., Verified], tiling_files: Callable[..., Path]) -> None:
    folder = tiling_files(operator(), "plain")
    target = os.fsencode(folder.parent) + b"/bad\xff\xfename"
    os.rename(os.fsencode(folder), target)
    run = verify(os.fsdecode(target))
    assert run.code == 0, run.stderr
    assert run.result["source_dir"] == os.fsdecode(target)


def test_no_compiler(verify: Callable[..., Verified], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _path_with(tmp_path, monkeypatch, "cmake")
    run = verify(operator())
    assert (run.code, run.result["status"]) == (1, "COMPILE_FAILED")
    assert run.result["error"] == "no C++ compiler: no c++, g++ or clang++ on PATH; install g++ or clang++, or set CXX"
    monkeypatch.setenv("CXX", "icpx")
    assert "CXX=icpx is not found" in verify(operator()).result["error"]


def test_no_cmake(verify: Callable[..., Verified], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _path_with(tmp_path, monkeypatch, "g++")
    run = verify(operator())
    assert (run.code, run.result["status"]) == (1, "COMPILE_FAILED")
    assert run.result["error"].startswith("no CMake on PATH; install it")
    assert "no CMake on PATH" in run.outcome.stdout


def test_no_build_tool(verify: Callable[..., Verified], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _path_with(tmp_path, monkeypatch, "g++", "cmake")
    run = verify(operator())
    assert (run.code, run.result["error"]) == (1, "CMake has neither ninja nor make to work with; install one of them")


@pytest.mark.skipif(not (shutil.which("make") and shutil.which("ninja")), reason="only one generator here")
def test_make_where_there_is_no_ninja(
    verify: Callable[..., Verified], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _path_with(tmp_path, monkeypatch, "g++", "cmake", "make", "as", "ld", "cc1plus", "collect2")
    run = verify(operator())
    assert (run.code, run.result["compiler"]["generator"]) == (0, "Unix Makefiles"), run.result["error"]


def _path_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    for name in names:
        found = shutil.which(name)
        if found:
            (folder / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CXX", raising=False)


def test_the_build_is_kept_and_can_be_built_again(verify: Callable[..., Verified], tmp_path: Path) -> None:
    run = verify(operator(), "--keep-build")
    kept = run.folder / "build"
    assert run.result["build_dir"] == str(kept)
    assert (kept / "src" / "op_tiling_func.cpp").is_file()
    again = subprocess.run(["cmake", "-S", kept, "-B", tmp_path / "again"], capture_output=True, check=False)
    assert again.returncode == 0, again.stderr
    assert subprocess.run(["cmake", "--build", tmp_path / "again"], capture_output=True, check=False).returncode == 0
    assert verify(operator(), "--keep-build").code == 0  # in place of the first
    shutil.rmtree(kept)
    (kept / "mine").mkdir(parents=True)
    run = verify(operator(), "--keep-build")
    assert (run.code, "is in the way of --keep-build" in run.stderr) == (2, True)
    assert (kept / "mine").is_dir()


def test_only_what_is_needed_is_compiled(verify: Callable[..., Verified]) -> None:
    files = operator()
    files |= {"main.cpp": "broken", "old/x_tiling_func.cpp": "broken", "notes.txt": "", "sub/part.inc": "int n = 3;"}
    files["op_infershape.cpp"] = "int Infer() { return 1; }\n"
    files["op_tiling_func.cpp"] = '#include "sub/part.inc"\n' + files["op_tiling_func.cpp"]
    run = verify(files, "--keep-build")
    assert run.code == 0, run.result["error"]
    copied = {
        path.relative_to(run.folder / "build" / "src").as_posix() for path in (run.folder / "build/src").rglob("*.*")
    }
    assert copied == {"autofuse_tiling_data.h", "op_tiling_func.cpp", "op_infershape.cpp", "sub/part.inc"}


def test_shape_inference_that_needs_cann_is_left_out_without_it(verify: Callable[..., Verified]) -> None:
    files = operator("tiling->words[0] = 7;")
    files["op_infershape.cpp"] = '#include "exe_graph/runtime/infer_shape_context.h"\n'
    run = verify(files)
    assert (run.code, run.result["tiling_data_fields"]["words"][0]) == (0, 7)
    assert "exe_graph/runtime/infer_shape_context.h is not there: left out op_infershape.cpp" in run.stderr
    files["op_tiling_func.cpp"] = files["op_infershape.cpp"] + files["op_tiling_func.cpp"]
    run = verify(files)
    assert (run.code, "needs CANN" in run.result["error"]) == (1, True)


def test_tiling_data_that_cannot_be_decoded_says_why(verify: Callable[..., Verified]) -> None:
    files = operator()
    files["autofuse_tiling_data.h"] = files["autofuse_tiling_data.h"].replace("words[6]", "words[6]; uint32_t bits : 3")
    run = verify(files)
    assert (run.code, run.result["tiling_data_fields"]) == (0, None)
    assert run.result["tiling_data_note"] == "autofuse_tiling_data.h: bit field bits"
    files = operator()
    files["op_tiling_func.cpp"] = files["op_tiling_func.cpp"].replace("sizeof(AutofuseTilingData)", "40")
    note = verify(files).result["tiling_data_note"]
    assert note == "autofuse_tiling_data.h describes 32 bytes, GetTilingDataSize says 40"


# --- a CANN toolkit made on the spot ----------------------------------------------------------------------------------

LIBRARIES = ("c_sec", "ascendalog", "platform", "error_manager", "tiling_api", "graph_base", "register")

CANN_LOG = """#pragma once
#include <stdint.h>
extern "C" void DlogRecord(int32_t module, int32_t level, const char *format, ...);
extern "C" int32_t CheckLogLevel(int32_t module, int32_t level);
#define DLOG_INFO 1
#define dlog_info(module, fmt, ...) \\
  if (CheckLogLevel(module, DLOG_INFO) == 1) DlogRecord(module, DLOG_INFO, "[op.cpp:%d]" fmt, __LINE__, ##__VA_ARGS__)
"""

CANN_OPERATOR = """
#ifdef __CCE_KT_TEST__
#error not with CANN
#endif
#include "dlog_pub.h"
#include "platform/cores.h"
extern "C" int Used_platform();
extern "C" int Used_register();
"""


@pytest.fixture
def cann(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder laid out as a toolkit, with libraries that tell that they were used."""
    home = tmp_path / "ascend toolkit"
    machine = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    for folder in ("include/platform", f"{machine}-linux/include", "lib64"):
        (home / folder).mkdir(parents=True)
    (home / "include" / "dlog_pub.h").write_text(CANN_LOG)
    (home / "include" / "platform" / "cores.h").write_text('#include "machine.h"\n')
    (home / f"{machine}-linux" / "include" / "machine.h").write_text("#define CORES 24\n")
    for name in LIBRARIES:
        text = f'extern "C" int Used_{name}() {{ return {len(name)}; }}\n'
        if name == "ascendalog":
            text += 'extern "C" void DlogRecord(int, int, const char *, ...) {}\n'
            text += 'extern "C" int CheckLogLevel(int, int) { return 1; }\n'
        (tmp_path / "lib.cpp").write_text(text)
        library = home / "lib64" / f"lib{name}.so"
        subprocess.run(["g++", "-shared", "-fPIC", tmp_path / "lib.cpp", "-o", library], check=True)
    return home


def test_the_toolkit_of_cann_is_used(
    verify: Callable[..., Verified], cann: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "tiling->words[0] = CORES; tiling->words[1] = Used_platform() + Used_register();"
    body += 'dlog_info(45, "%d Tell:[Op]hello", 1);'
    source = operator(body, extra=CANN_OPERATOR)
    monkeypatch.setenv("ASCEND_HOME_PATH", str(cann))
    run = verify(source)
    result = run.result
    assert (run.code, result["toolkit"], result["toolkit_home"]) == (0, "cann", str(cann)), result["error"]
    assert "toolkit: cann (ASCEND_HOME_PATH is a folder)" in run.stderr
    assert result["tiling_data_fields"]["words"][:2] == [24, len("platform") + len("register")]
    assert "-D__CCE_KT_TEST__=1" not in result["compiler"]["flags"]
    assert "hello" in (run.folder / "att.log").read_text()
    shim = verify(operator(), "--toolkit", "shim")
    assert (shim.result["toolkit"], shim.result["toolkit_reason"]) == ("shim", "--toolkit shim")


def test_lines_that_cann_prints_itself_reach_the_log(
    verify: Callable[..., Verified], cann: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "[INFO] GE(1,op):2026-01-01-00:00:00.000.000 [op.cpp:1]1 Tell:[Op]hello"
    body = f'static int calls; if (!calls++) {{ puts("{line}"); puts("other"); fflush(stdout); }}'
    monkeypatch.setenv("ASCEND_HOME_PATH", str(cann))
    run = verify(operator(body))
    assert run.code == 0, run.result["error"]
    assert (run.folder / "att.log").read_text() == line + "\n"
    assert run.result["output"] == "other\n"


def test_a_toolkit_without_what_is_needed(
    verify: Callable[..., Verified], cann: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASCEND_HOME_PATH", str(cann))
    (cann / "lib64" / "libregister.so").unlink()
    run = verify(operator())
    assert (run.code, run.result["status"]) == (1, "COMPILE_FAILED")
    assert "cannot find -lregister" in run.result["error"]
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path / "nowhere"))
    assert "ASCEND_HOME_PATH is no folder" in verify(operator()).stderr  # auto: the shim
    run = verify(operator(), "--toolkit", "cann")
    assert (run.code, "no CANN toolkit" in run.stderr) == (2, True)
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path / "empty"))
    assert verify(operator()).code == 2
