"""Acceptance of the build: compile configs with every kind of word, libraries found again at run time, broken tools."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path
from typing import Any, Callable, List

import pytest
from autofuse_att_verify.doctor import check
from tiling_operators import Verified, needs_compiler, operator

pytestmark = needs_compiler


@pytest.fixture
def configured(verify: Callable[..., Verified], tmp_path: Path) -> Callable[..., Verified]:
    """`configured(source, flags=[…], extra_links=[…])`: a run with that compile config."""

    def run(source: Any, **lists: List[str]) -> Verified:
        text = "[compile]\n"
        for key, words in lists.items():
            items = ", ".join("'" + word + "'" for word in words)  # TOML's literal strings
            text += f"{key} = [{items}]\n"
        (tmp_path / "compile.toml").write_text(text)
        return verify(source, "--compile-config", tmp_path / "compile.toml")

    return run


def test_flags_reach_the_compiler_word_by_word(configured: Callable[..., Verified], tmp_path: Path) -> None:
    """Repeated words stay, and nothing in a word means anything to a shell or a build tool."""
    (tmp_path / "a a.h").write_text("#define AA 4\n")
    (tmp_path / "b.h").write_text("#define BB 2\n")
    text = r'-DTEXT="a$b `c` \\ #x %y & (z)"'
    flags = ["-include", str(tmp_path / "a a.h"), "-include", str(tmp_path / "b.h"), text]
    run = configured(operator("tiling->words[0] = 10 * AA + BB; memcpy(tiling->words + 1, TEXT, 19);"), flags=flags)
    assert run.code == 0, run.result["error"]
    assert run.result["tiling_data_fields"]["words"][0] == 42
    assert bytes.fromhex(run.result["tiling_data"])[12:31] == rb"a$b `c` \ #x %y & (z)"[:19]


@pytest.fixture
def helper(tmp_path: Path) -> Path:
    """A folder whose name has a space, with libhelper.so and plain.so in it."""
    folder = tmp_path / "my libs"
    folder.mkdir()
    (tmp_path / "helper.cpp").write_text('extern "C" int Helper() { return 7; }\n')
    for name in ("libhelper.so", "plain.so"):
        subprocess.run(["c++", "-shared", "-fPIC", tmp_path / "helper.cpp", "-o", folder / name], check=True)
    return folder


USER = operator("tiling->words[0] = Helper();", extra='extern "C" int Helper();')


@pytest.mark.parametrize(
    "links",
    [["{}/libhelper.so"], ["{}/plain.so"], ["-L{}", "-lhelper"], ["-L", "{}", "-l", "helper"], ["-L{}", "helper"]],
    ids=["path", "plain_name", "options", "separate", "bare"],
)
def test_a_library_is_found_when_linking_and_when_loading(
    configured: Callable[..., Verified], helper: Path, links: List[str]
) -> None:
    words = [word.format(helper) for word in links]
    run = configured(USER, extra_links=words)
    assert (run.code, run.result["error"]) == (0, None)
    assert run.result["tiling_data_fields"]["words"][0] == 7
    assert run.result["compiler"]["links"] == words


def test_a_library_that_is_not_there_is_no_matter_of_cann(configured: Callable[..., Verified]) -> None:
    run = configured(USER, extra_links=["-lnot_there"])
    assert (run.code, run.result["status"]) == (1, "COMPILE_FAILED")
    assert run.result["error"].startswith("cannot find -lnot_there")
    assert "CANN" not in run.result["error"]


def test_a_library_of_another_machine_is_named(configured: Callable[..., Verified], helper: Path) -> None:
    for name in ("libhelper.so", "plain.so"):
        content = bytearray((helper / name).read_bytes())
        content[18:20] = b"\xf3\x00"  # RISC-V
        (helper / name).write_bytes(bytes(content))
        run = configured(USER, extra_links=[f"{helper}/{name}"])
        assert (run.code, run.result["status"]) == (1, "COMPILE_FAILED")
        assert name in run.result["error"]
        assert "incompatible" in run.result["error"] or "wrong format" in run.result["error"]


def test_a_compiler_variable_that_is_no_command(
    verify: Callable[..., Verified], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "g++ '-DX")
    run = verify(operator())
    assert (run.code, run.result["status"]) == (1, "COMPILE_FAILED")
    assert run.result["error"].startswith("no C++ compiler: CXX=g++ '-DX cannot be read: No closing quotation")
    assert check()[0] == "note"


def test_what_cmake_says_is_shown_with_its_reason(
    verify: Callable[..., Verified], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CMAKE_TOOLCHAIN_FILE", "/nonexistent.cmake")
    run = verify(operator())
    assert (run.code, run.result["status"]) == (1, "COMPILE_FAILED")
    assert "Could not find toolchain file" in run.result["error"]


def test_a_full_folder_of_temporary_files(verify: Callable[..., Verified], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("autofuse_att_verify.runner._Process._start", full)
    run = verify(operator(), "--sweep", "aiv=1:3")
    assert (run.code, list(run.folder.iterdir())) == (2, [])
    assert "temporary: cannot work there: No space left on device (see to the folder of temporary files" in run.stderr


def test_the_build_that_was_called_is_the_one_kept(verify: Callable[..., Verified]) -> None:
    body = 'mkfifo("../all/pipe", 0600); mkfifo("../tiling/pipe", 0600);'
    files = operator(body, extra='#include <sys/stat.h>\n#include "work/own.h"\n')
    files |= {"work/own.h": "", "op_infershape.cpp": '#include "exe_graph/runtime/infer_shape_context.h"\n'}
    run = verify(files, "--keep-build")
    kept = run.folder / "build"
    assert run.code == 0, run.result["error"]
    assert (kept / "build" / "libautofuse_tiling.so").is_file()
    assert {path.name for path in kept.iterdir()} == {"CMakeLists.txt", "build", "src"}
    assert (kept / "src" / "work" / "own.h").is_file()


def test_where_nothing_was_built_nothing_is_kept(
    verify: Callable[..., Verified], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "not-there")
    run = verify(operator(), "--keep-build")
    assert (run.code, run.result["build_dir"], (run.folder / "build").exists()) == (1, None, False)
    monkeypatch.delenv("CXX")
    assert verify(operator(), "--keep-build").code == 0


def test_a_folder_in_the_way_is_told_before_compiling(verify: Callable[..., Verified], tmp_path: Path) -> None:
    (tmp_path / "out" / "build" / "mine").mkdir(parents=True)
    run = verify(operator(), "--keep-build")
    assert (run.code, "is in the way of --keep-build" in run.stderr) == (2, True)
    assert not (run.folder / "result.json").exists()


def test_what_build_tools_leave_in_their_folder_goes_with_it(
    verify: Callable[..., Verified], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler that is killed leaves its intermediate files behind; the fixture looks for them."""
    script = tmp_path / "un tidy"
    script.write_text('#!/bin/sh\ncase "$*" in *op_tiling*) touch "$TMPDIR/cc$$.s";; esac\nexec g++ "$@"\n')
    script.chmod(0o755)
    for command in (f"'{script}'", f"'{script}' -DONE=1"):
        monkeypatch.setenv("CXX", command)
        run = verify(operator("tiling->words[0] = ONE;" if "ONE" in command else ""))
        assert run.code == 0, run.result["error"]


def test_a_build_kept_among_the_sources_is_none_of_them(
    tiling_files: Callable[..., Path], verify: Callable[..., Verified]
) -> None:
    folder = tiling_files({**operator(), "part/more.h": "#pragma once\n"})
    options = ("-o", folder / "output", "--keep-build")
    for _ in range(2):
        assert verify(folder, *options).code == 0
    headers = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.h"))
    kept = "output/build/src"
    expected = ["autofuse_tiling_data.h", "part/more.h"]
    assert headers == sorted([*expected, *(f"{kept}/{name}" for name in expected)])
