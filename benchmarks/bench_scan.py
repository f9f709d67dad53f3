"""What finding marked lines costs: each kernel of the scanner on a block in memory, and reading a whole file.

    python benchmarks/bench_scan.py [MEGABYTES]

Baselines of the same run: `bytes.count` of one literal on the same block, and `LC_ALL=C grep -F -c '[PROF]'` on the
same file in the page cache. All 19 literals of the tiling logs are looked for at once, in lines as DEBUG plogs have
them (200 bytes and more, full of brackets, digits and the words that the literals are made of). The limit is 2.5 GB/s
for one thread.
"""

from __future__ import annotations

import io
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from typing import Callable, Optional

from autofuse.scan.meter import StdlibMeter
from autofuse.scan.reader import ReadOptions, read_streams
from autofuse.scan.scanner import NativeScanner, StdlibScanner, native_module
from autofuse.scan.source import ByteStream, Notices

LIMIT = 2.5
MARKERS = (
    b"[PROF]",
    b"[ATT]",
    b"[PERF]",
    b"[DFX]",
    b"Start GetTiling.",
    b"End GetTiling.",
    b"GetTiling Failed.",
    b"Set input params for tiling case",
    b"Set hardware params.",
    b"The value of graph",
    b"Start tiling for sched group",
    b"End tiling for sched group.",
    b"score is",
    b"tiling case",
    b"ErrorNo: 4294967295()",
    b"Update best perf to",
    b"input: core_num:",
    b"EmitFinalTilingLines",
    b"\x1b",
)

MARKED = (
    "INFO:GetTiling:[PROF]The value of z0t_size is 4096 in graph0_result1_g0_{n}.",
    "INFO:DoTiling:[PROF]The objective value of the tiling data is 12{n}.500000 in graph0_result1_g0_{n}.",
    "INFO:DoTiling:Set input params for tiling case {n} of AscGraph0ScheduleResult0G0.  s0 = 1024. s1 = {n}.",
    "INFO:DoTiling:Set hardware params. ub_size = 196608. block_dim = 48.",
    "INFO:GetTilingKey:tiling case{n} of asc_graph0_schedule_result1_g0 score is 0",
    "INFO:GetScheduleResult:The value of graph0_result{n} is 1234.000000",
)
OTHER = (
    "DEBUG:GetTiling:Execute DoTiling.",
    "INFO:DoTiling:Set ub_size for tiling case of AscGraph0 to ((2 * Max((64 * Ceiling((Rational(1 , 8) * z0z1z2t_size",
    "DEBUG:SatisfyUBSizeCacheLine:condition satisfy UB size cache line",
    "DEBUG:BinaryFindLowerBoundSatisfiedCoreNum:MultiVarCoreNum: left={n}, right=4095, mid=3072, core_num=2, max=2",
    "DEBUG:SatisfyCons:Check eval failed, rel_hw_spec:196608, input:result_id: 0, group_id: 0, case_id: {n}, sub_case",
    "DEBUG:NaiveLocalBufTiling:Found upper_bound_satisfied_ub:4096, upper_bound:4096, lower_bound:{n}, i:0",
    "DEBUG:GetTilingCaseScoreFunc:Calculating the tiling data for tiling_case_id {n} of score[0]",
)


def main() -> None:
    """Prints one line per measurement."""
    megabytes = int(sys.argv[1]) if sys.argv[1:] else 256
    for share in (0.0, 0.05, 0.5, 1.0):
        in_memory(share, plog(share, 2 << 20))
    for share in (0.05, 0.5):
        with tempfile.NamedTemporaryFile(suffix=".log") as file:
            piece = plog(share, 16 << 20)
            for _ in range(max(megabytes // 16, 1)):
                file.write(piece)
            file.flush()
            whole_file(share, file.name)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def plog(share: float, size: int) -> bytearray:
    """Lines of a plog, `share` of them with a marker."""
    chance = random.Random(3)
    text = bytearray()
    while len(text) < size:
        level, function, message = chance.choice(MARKED if chance.random() < share else OTHER).split(":", 2)
        clock = f"2026-01-01-04:{chance.randrange(60):02}:25.178.{chance.randrange(1000):03}"
        place = f"autofuse_{chance.randrange(30)}_tiling_func_asc_graph0_schedule_result0_g0.cpp"
        header = f"[{level}] GE(18978,python3):{clock} [{place}:{chance.randrange(900)}]18978 {function}:"
        line = f"{header}[autofuse_pointwise_{chance.randrange(30)}]{message}\n"
        text += line.format(n=chance.randrange(100)).encode()
    return text


def in_memory(share: float, block: bytearray) -> None:
    base = best_of(lambda: block.count(b"[PROF]"))
    lines = block.count(b"\n")
    print(f"block of {len(block) >> 20} MiB, {share:4.0%} of lines marked, {len(block) / lines:.0f} bytes a line")
    show("bytes.count of one literal", block, base, base)
    module = native_module()
    for kernel in module.kernels() if module else ():
        native = NativeScanner(module, MARKERS, kernel)
        native.scan(block, 0, len(block), 1)
        show(f"scan {kernel}", block, best_of(lambda: native.scan(block, 0, len(block), 1)), base, LIMIT)  # noqa: B023
        meter = module.Meter(kernel) if module else StdlibMeter()
        show(f"meter {kernel}", block, best_of(lambda: meter.feed(block, 0, len(block))), base)  # noqa: B023
    twin = StdlibScanner(MARKERS)
    show("scan stdlib", block, best_of(lambda: twin.scan(block, 0, len(block), 1), 1), base)


def whole_file(share: float, path: str) -> None:
    size = os.path.getsize(path)
    # Given the null device, grep stops at its first match; it writes to a pipe here.
    grep = ["grep", "-F", "-c", "[PROF]", path]
    environment = {**os.environ, "LC_ALL": "C"}
    base = best_of(lambda: subprocess.run(grep, env=environment, stdout=subprocess.PIPE), 3)
    print(f"file of {size >> 20} MiB, {share:4.0%} of lines marked")
    show("grep -F -c", size, base, base)
    for workers in (0, 1, 2):
        options = ReadOptions(workers=workers)

        def read() -> None:
            stream = ByteStream(path, lambda: io.FileIO(path), (path,))
            for _ in read_streams([stream], MARKERS, Notices(), options=options):  # noqa: B023
                pass

        show(f"read, {workers} threads beside", size, best_of(read, 3), base)
    print(f"  largest resident size so far {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")


def best_of(work: Callable[[], object], repeats: int = 7) -> float:
    least = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        least = min(least, time.perf_counter() - begin)
    return least


def show(what: str, data: object, seconds: float, base: float, limit: Optional[float] = None) -> None:
    size = data if isinstance(data, int) else len(data)  # type: ignore[arg-type]
    rate = size / seconds / 1e9
    verdict = "" if limit is None else f"   {rate / limit:.1f} x the limit of {limit} GB/s"
    print(f"  {what:28} {rate:7.2f} GB/s   {base / seconds:6.2f} x the baseline's speed{verdict}")


if __name__ == "__main__":
    main()
