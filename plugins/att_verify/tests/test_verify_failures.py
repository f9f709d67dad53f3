"""Every way in which tiling code can fail, provoked through the command line; the tool reports it and lives on."""

from __future__ import annotations

import os
from typing import Any, Callable, Dict

import pytest
from tiling_operators import Verified, contract, needs_compiler, operator

pytestmark = needs_compiler

FAILURES: Dict[str, Any] = {
    "crash": ("*(volatile int *)8 = 1;", "signal SIGSEGV"),
    "abort": ("abort();", "signal SIGABRT"),
    "exit": ("exit(0);", "exited with code 0"),
    "quick_exit": ("_exit(7);", "exited with code 7"),
    "kill": ("kill(getpid(), SIGKILL);", "signal SIGKILL"),
    "exception": ('throw std::runtime_error("boom");', "C++ exception: boom"),
    "hang": ("for (;;) pause();", "timeout 1 s"),
    "returned": ("return -1;", "returned -1"),
    "overrun": ("tiling->words[6] = 1;", "buffer overrun"),
    "underrun": ("(&tiling->block_dim)[-1] = 1;", "buffer overrun"),
    "far_overrun": ("memset(tiling, 1, 1 << 20);", "buffer overrun"),
    "wide_output": ("blockDim[1] = 1;", "buffer overrun"),
    "endless_output": (
        'for (;;) puts("all work and no play makes jack a dull boy");',
        "endless output (more than 64 MiB)",
    ),
    "fork": ("fork();", "fork in tiling code"),
    "left_child": ('system("setsid sleep 60 &");', "left processes running"),
    "recursion": ("volatile char room[1 << 16]; room[0] = 1; return Deeper(room[0]);", "signal SIGSEGV"),
}
EXTRA = """#include <signal.h>
#include <stdexcept>
extern "C" __attribute__((noinline)) int64_t Deeper(int n) {
  volatile char room[4096];
  room[0] = n;
  return Deeper(n + 1) + room[0];
}
"""


@pytest.mark.parametrize("name", FAILURES)
def test_a_failing_call_is_reported_and_survived(verify: Callable[..., Verified], name: str) -> None:
    body, reason = FAILURES[name]
    run = verify(operator(body, extra=EXTRA), "--timeout", "1" if name == "hang" else "20")
    assert (run.code, run.result["status"], run.result["error"]) == (1, "RUNTIME_FAILED", reason), run.stderr
    assert run.result["checks"] == []


def test_a_failing_call_under_the_python_runner(verify: Callable[..., Verified]) -> None:
    """One library, the failures as points of a sweep: each is told by its own reason."""
    python = {
        **FAILURES,
        "exception": (FAILURES["exception"][0], "signal SIGABRT"),  # ctypes cannot catch it
        "far_overrun": (FAILURES["far_overrun"][0], "signal SIGSEGV"),
    }
    cases = "".join(f"case {number}: {{ {body} }} break;\n" for number, (body, _) in enumerate(python.values(), 2))
    source = operator(f"switch (s0) {{ case 1: break; {cases} }}", 1, EXTRA)
    last = len(python) + 1
    options = ("--runner", "python", "--sweep", f"s0=1:{last + 1}", "--timeout", "1")
    run = verify(source, *options, inputs=contract([1]))
    lines = (run.folder / "sweep.csv").read_text(encoding="utf-8-sig").splitlines()
    errors = {int(line.split(",")[0]): line.split(",")[-1] for line in lines[1:]}
    expected = {1: "", last + 1: "", **{n: reason for n, (_, reason) in enumerate(python.values(), 2)}}
    expected[2 + list(python).index("left_child")] = ""  # which of many calls left it is not known
    assert errors == expected
    assert (run.code, run.result["sweep"]["failed"]) == (1, len(python) - 1)
    assert run.result["sweep"]["left_processes"] > 0


def test_a_missing_symbol_is_named(verify: Callable[..., Verified]) -> None:
    source = operator()
    source["op_tiling_func.cpp"] = source["op_tiling_func.cpp"].replace("GetTilingDataSize", "GetSomethingElse")
    run = verify(source)
    assert (run.code, run.result["error"], run.result["phase"]) == (1, "missing symbol GetTilingDataSize", "load")
    source["op_tiling_func.cpp"] = 'extern "C" unsigned long GetTilingDataSize() { return 4; }\n'
    assert verify(source).result["error"] == "missing symbol AutofuseTiling"


def test_an_undefined_function_is_named(verify: Callable[..., Verified]) -> None:
    run = verify(operator("NotThere();", extra='extern "C" void NotThere();'))
    assert (run.code, run.result["error"]) == (1, "missing symbol NotThere")


@pytest.mark.parametrize("size", ["0", "(1UL << 30) + 1"])
def test_a_size_out_of_range_fails(verify: Callable[..., Verified], size: str) -> None:
    source = operator()
    source["op_tiling_func.cpp"] = source["op_tiling_func.cpp"].replace("sizeof(AutofuseTilingData)", size)
    run = verify(source)
    assert (run.code, run.result["phase"]) == (1, "GetTilingDataSize")
    assert run.result["error"].endswith("not 1 to 1073741824 bytes")


def test_a_crash_while_loading_is_told_apart(verify: Callable[..., Verified]) -> None:
    run = verify(operator(extra="static int crash = (abort(), 1);"))
    assert (run.code, run.result["error"], run.result["phase"]) == (1, "signal SIGABRT", "load")


def test_a_crash_of_the_second_call_is_told_apart(verify: Callable[..., Verified]) -> None:
    run = verify(operator("if (calls++) abort();", extra="static int calls;"))
    assert (run.code, run.result["error"], run.result["phase"]) == (1, "signal SIGABRT", "repeat of AutofuseTiling")


def test_a_library_for_another_machine_is_told(
    verify: Callable[..., Verified], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler is a script that patches the machine in the header of what it links."""
    script = tmp_path / "cross"
    script.write_text(
        '#!/bin/sh\ng++ "$@" || exit 1\n'
        'for word in "$@"; do case "$word" in\n'
        '*.so) printf "\\363" | dd of="$word" bs=1 seek=18 conv=notrunc 2>/dev/null;;\n'
        "esac; done\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    for runner in ("native", "python"):
        run = verify(operator(), "--runner", runner)
        assert (run.code, run.result["phase"]) == (1, "load")
        assert run.result["error"].startswith("wrong architecture: the library is for another machine, this machine is")


CHECKS = {
    "block_dim": ("*blockDim = 49;", "49 is not in 1..48 (aiv_num)"),
    "workspace_size": ("*workspaceSize = 16777215;", "16777215 bytes, less than 16777216"),
    "tiling_data": ("memset(tiling, 0, sizeof(*tiling));", "is still all zero"),
    "repeatable": ("static int calls; tiling->words[0] = ++calls;", "a second call gives other bytes"),
}


@pytest.mark.parametrize("name", CHECKS)
def test_a_failed_check_is_named(verify: Callable[..., Verified], name: str) -> None:
    body, detail = CHECKS[name]
    run = verify(operator(body))
    failed = [(check["name"], check["detail"]) for check in run.result["checks"] if check["passed"] is False]
    assert (run.code, run.result["status"], failed) == (1, "SUCCEEDED", [(name, detail)])
    assert run.result["passed"] is False


def test_a_tiling_key_out_of_range_fails_its_check(verify: Callable[..., Verified]) -> None:
    keys = 'extern "C" uint32_t GetTilingKeyCount() { return 3; }\n'
    keys += 'extern "C" int64_t FindBestTilingKey(AutofuseTilingData *) '
    assert verify(operator(extra=keys + "{ return 2; }")).check("tiling_key") is True
    run = verify(operator(extra=keys + "{ return -1; }"))
    assert (run.code, run.check("tiling_key"), run.result["tiling_key"]) == (1, False, -1)
    assert {"FindBestTilingKey", "GetTilingKeyCount"} <= set(run.result["exports"])


def test_a_block_dim_of_64_bits(verify: Callable[..., Verified]) -> None:
    """With width 64 the caller reads 64 bits; the code writes 32 of them, and the rest was zeroed before."""
    inputs = contract([])
    inputs["abi"]["block_dim_width"] = 64
    run = verify(operator(), inputs=inputs)
    assert (run.code, run.result["block_dim"]) == (0, 2)


LEFT_BEHIND = {
    "pipes": 'unlink("../calls.log"); mkfifo("../calls.log", 0600); symlink("/etc/passwd", "../output.txt.link");',
    "rights": 'mkdir("d", 0700); mkdir("d/e", 0700); chmod("d", 0); chmod("..", 0);',
    "answers": 'for (int f = 3; f < 40; ++f) write(f, "{\\"i\\":0,\\"ret\\":[]}\\n{\\"fatal\\":7}\\n{{\\n", 36);',
}
FILES = "#include <sys/stat.h>\n#include <fcntl.h>\n"


@pytest.mark.parametrize("runner", ["native", "python"])
@pytest.mark.parametrize("name", LEFT_BEHIND)
def test_what_the_code_leaves_in_its_folder_harms_nobody(
    verify: Callable[..., Verified], name: str, runner: str
) -> None:
    run = verify(operator(LEFT_BEHIND[name], extra=FILES), "--runner", runner, "--timeout", "5")
    assert (run.code, run.result["status"]) == (0, "SUCCEEDED")


@pytest.mark.parametrize("runner", ["native", "python"])
def test_code_that_kills_its_own_runner(verify: Callable[..., Verified], runner: str) -> None:
    """A copy of the process, in a session of its own, would outlive everything."""
    body = "if (!syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) { setsid(); for (;;) pause(); }"
    body += "kill(getppid(), SIGKILL); pause();"
    run = verify(operator(body, extra="#include <signal.h>\n#include <sys/syscall.h>\n"), "--runner", runner)
    assert (run.code, run.result["error"]) == (1, "the runner ended with code -9")


def test_values_that_are_no_numbers_are_not_shown_as_such(verify: Callable[..., Verified]) -> None:
    template = "in graph0_result0_g0_0."
    lines = (
        f"[PROF]The objective value of the tiling data is banana {template}",
        f"[PROF]The value of AIV_VEC is <b> {template}",
        "[PROF]Among the templates, tiling case 0 of graph0_result0_g0 is the best choice.",
    )
    body = "".join(f'dlog_info(45, "%d F:[Op]{line}", 1);' for line in lines)
    source = operator(body, extra='#include "dlog_pub.h"\n')
    run = verify(source, "-f", "xlsx")
    assert (run.code, run.result["choice"][0]["objective"]) == (0, "banana")
    assert verify(source, "--sweep", "aiv=2:3").code == 0


def test_the_environment_of_the_call_is_small_and_its_folder_its_own(
    verify: Callable[..., Verified], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_USER", "1")
    body = 'char room[512]; puts(getenv("SECRET_OF_THE_USER") ? "leaked" : "clean");'
    body += "puts(getcwd(room, 512)); fflush(stdout);"
    output = verify(operator(body)).result["output"]
    assert output.startswith("clean\n")
    assert "autofuse-verify-" in output
    assert os.getcwd() not in output
