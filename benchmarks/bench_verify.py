"""Speed of verify-tiling: start of the runner, a verification beyond the compiler, points per second of a sweep.

    python benchmarks/bench_verify.py [--points 100000]

Prints one table. The compiler's own time is measured in the same run, on the same files with the same options.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Iterator, List, Tuple

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "tiling"

DATA = "#pragma once\n#include <cstdint>\nstruct AutofuseTilingData { uint32_t block_dim, s0, s1; };\n"
TRIVIAL = """#include <cstddef>
#include "autofuse_tiling_data.h"
extern "C" size_t GetTilingDataSize() { return sizeof(AutofuseTilingData); }
extern "C" int64_t AutofuseTiling(uint32_t s0, uint32_t s1, AutofuseTilingData *tiling, uint32_t *workspaceSize,
                                  uint32_t *blockDim, uint32_t aiv_num, uint32_t ub_size) {
  tiling->s0 = s0;
  tiling->s1 = s1;
  *blockDim = tiling->block_dim = 1 + s0 % aiv_num;
  *workspaceSize = 16U << 20;
  return 0;
}
"""


def main() -> None:
    """Runs the three measurements and prints their table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--points", type=int, default=100000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} (other work on the machine makes these worse)")
    rows: List[Tuple[str, str, str]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows += start_of_the_runner(folder)
        for sample in ("relu_static", "abs_add_old", "mul_sum_dyn"):
            rows.append(beyond_the_compiler(sample, folder, options.repeat))
        rows.append(sweep(folder, options.points))
    width = max(len(row[0]) for row in rows)
    for what, value, bound in rows:
        print(f"{what:{width}}  {value:>20}  {bound}")


def start_of_the_runner(folder: Path) -> List[Tuple[str, str, str]]:
    """One call of a trivial library, from starting the program to its last answer."""
    from autofuse_att_verify.runner import Job, native_program, native_runner

    if native_program() is None:
        return [("start of the runner", "not built", "< 10 ms")]
    (folder / "autofuse_tiling_data.h").write_text(DATA)
    (folder / "trivial.cpp").write_text(TRIVIAL)
    library = folder / "trivial.so"
    subprocess.run(["c++", "-shared", "-fPIC", "-O2", f"-I{folder}", folder / "trivial.cpp", "-o", library], check=True)
    job = Job(library, "tf", 2, array("I", [4, 5, 48, 196608, 0]), folder, single=True)

    def milliseconds() -> List[float]:
        times = []
        for _ in range(30):
            begin = time.perf_counter()
            answers = list(native_runner().run(job))
            times.append((time.perf_counter() - begin) * 1000)
            assert answers[0]["ret"] == 0
        return times

    shared = milliseconds()
    with before_others() as alone:
        times = milliseconds() if alone else shared
    how = "before other work" if alone else "among other work"
    detail = (
        f"median {how}, quickest {min(times):.1f} ms (< 10 ms); among other work {statistics.median(shared):.1f} ms"
    )
    return [("start, load, two calls, end", f"{statistics.median(times):.1f} ms", detail)]


@contextlib.contextmanager
def before_others() -> Iterator[bool]:
    """Runs the block, and what it starts, before everything else on the machine; False where that is forbidden."""
    usual = os.sched_getscheduler(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        os.sched_setscheduler(0, usual, os.sched_param(0))


def beyond_the_compiler(sample: str, folder: Path, repeat: int) -> Tuple[str, str, str]:
    """A verification against compiling and linking the same files, in parallel, without anything around it."""
    source = EXAMPLES / sample
    preset = [] if sample.endswith("static") else ["--preset", "B"]
    command = [
        sys.executable,
        "-m",
        "autofuse",
        "-q",
        "run",
        "verify-tiling",
        str(source),
        "-o",
        str(folder / "out"),
        *preset,
    ]
    whole, compiler = [], []
    for _ in range(repeat):
        begin = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        whole.append(time.perf_counter() - begin)
        compiler.append(_compile(source, folder))
    extra = min(whole) - min(compiler)
    return (
        f"verify {sample}",
        f"{min(whole):.2f} s",
        f"compiler {min(compiler):.2f} s, beyond it {extra:.2f} s (< 1.5 s)",
    )


def _compile(source: Path, folder: Path) -> float:
    import autofuse_att_verify

    shim = Path(autofuse_att_verify.__file__).with_name("shim")
    options = ["-std=gnu++17", "-O1", "-fPIC", "-w", "-D__CCE_KT_TEST__=1", f"-I{shim}", f"-I{source}"]
    units = sorted(source.glob("*.cpp"))
    objects = [folder / f"{unit.stem}.o" for unit in units]

    def unit(pair: Tuple[Path, Path]) -> None:
        subprocess.run(["c++", *options, "-c", str(pair[0]), "-o", str(pair[1])], check=True)

    begin = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(unit, zip(units, objects)))
    subprocess.run(["c++", "-shared", *map(str, objects), "-o", str(folder / "whole.so")], check=True)
    return time.perf_counter() - begin


def sweep(folder: Path, points: int) -> Tuple[str, str, str]:
    """The whole command on a trivial operator: build, calls, table."""
    source = folder / "trivial"
    source.mkdir()
    (source / "autofuse_tiling_data.h").write_text(DATA)
    (source / "t_tiling_func.cpp").write_text(TRIVIAL)
    command = [sys.executable, "-m", "autofuse", "-q", "run", "verify-tiling", str(source), "-o", str(folder / "swept")]
    command += ["--preset", "B", "--sweep", f"s0=1:{points // 100} s1=1:100", "--jobs", "2"]
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - begin
    calls = json.loads((folder / "swept" / "result.json").read_text())["sweep"]
    assert calls["failed"] == 0
    rate = f"{calls['points'] / seconds:,.0f} points/s"
    detail = (
        f"calls alone {calls['points_per_second']:,.0f} points/s; whole command {seconds:.1f} s (>= 5,000 points/s)"
    )
    return f"sweep of {calls['points']:,} points", rate, detail


if __name__ == "__main__":
    main()
