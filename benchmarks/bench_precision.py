"""The metric kernel of precision: against the whole-array numpy formulation, in bytes per second, over stored layouts.

    python benchmarks/bench_precision.py [MEGABYTES] [ROUNDS]

MEGABYTES is the size of each tensor (default 256). Both sides of a ratio take turns in one process. Besides the wall
time, GB/s come from the processor time of one thread: on a machine that is busy with other work only those say what the
kernel does. Files are memory-mapped and in the page cache; what memory the kernel takes beyond them is printed too.
OPENBLAS_CORETYPE is taken out of the environment, where it is set, because it slows numpy's dot product.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Tuple

import numpy as np

Array = np.ndarray[Any, Any]


def main() -> None:
    """Prints one section per claim."""
    if os.environ.pop("OPENBLAS_CORETYPE", None) is not None:
        # Read when numpy is loaded: a process of its own is needed.
        sys.exit(subprocess.run([sys.executable, *sys.argv], check=False).returncode)
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    from autofuse_nwa_precision.metrics import native_engine

    native = native_engine()
    print(
        f"kernel: {native.instruction_set() if native else 'numpy'}; cores: {os.cpu_count()}; load: {os.getloadavg()}"
    )
    with tempfile.TemporaryDirectory(prefix="bench-precision-") as folder:
        _against_numpy(Path(folder), megabytes, rounds)
        _throughput(Path(folder), megabytes, rounds)
        _memory(Path(folder), megabytes)
    _layouts(rounds)
    _small_pairs()


def whole_array(a: Array, b: Array) -> Tuple[float, float, float]:
    """The published measures as a script computes them: the whole tensors as float64, one temporary per operation."""
    x, y = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    cosine = np.dot(x, y) / (np.linalg.norm(x) * np.linalg.norm(y) + 1e-8)
    max_abs = np.max(np.abs(x - y))
    max_rel = np.max(np.abs(x - y) / (np.maximum(np.abs(x), np.abs(y)) + 1e-8))
    return float(cosine), float(max_abs), float(max_rel)


def _pair(folder: Path, dtype: Any, megabytes: int) -> Tuple[Array, Array]:
    """Two tensors that differ a little, in npy files, read once so that they are in the page cache."""
    paths = [folder / f"{name}-{np.dtype(dtype).name}.npy" for name in "ab"]
    if not paths[0].exists():
        rng = np.random.default_rng(0)
        count = (megabytes << 20) // np.dtype(dtype).itemsize
        a = rng.standard_normal(count, dtype=np.float32)
        b = a + np.float32(1e-3) * rng.standard_normal(count, dtype=np.float32)
        for path, values in zip(paths, (a, b)):
            np.save(path, values.astype(dtype))
    a, b = (np.load(path, mmap_mode="r") for path in paths)
    for array in (a, b):
        array.view(np.uint8)[::4096].max()
    return a, b


def _against_numpy(folder: Path, megabytes: int, rounds: int) -> None:
    from autofuse_nwa_precision.metrics import compare

    print(f"\nagainst the whole-array float64 formulation, {megabytes} MB a side (seconds: best of {rounds})")
    for dtype, goal in ((np.float32, 15), (np.float16, 30)):
        a, b = _pair(folder, dtype, megabytes)
        best = _in_turns(
            {
                "numpy": lambda x=a, y=b: whole_array(x, y),
                "basic": lambda x=a, y=b: compare(x, y, measures="basic"),
                "all": lambda x=a, y=b: compare(x, y),
            },
            rounds,
        )
        x, y = whole_array(a, b), compare(a, b, measures="basic")
        assert np.allclose(x, (y.cosine, y.max_abs, y.max_rel), rtol=1e-12, atol=0), (x, y)
        wall, processor = best
        for name in ("basic", "all"):
            print(
                f"  {np.dtype(dtype).name:8} {name:5}  numpy {wall['numpy']:7.3f} s  kernel {wall[name]:7.3f} s  "
                f"{wall['numpy'] / wall[name]:6.1f} x  (processor time {processor['numpy'] / processor[name]:6.1f} x; "
                f"goal for the published measures {goal} x)"
            )


def _throughput(folder: Path, megabytes: int, rounds: int) -> None:
    import ml_dtypes
    from autofuse_nwa_precision.metrics import compare

    print("\nbytes of both sides per second; goals for float32 on two threads: 8 GB/s basic, 4 GB/s all")
    for dtype in (np.float32, np.float16, ml_dtypes.bfloat16, np.float64, np.int8, np.int32):
        if dtype is ml_dtypes.bfloat16:
            wide = _pair(folder, np.float32, megabytes)
            a, b = (np.ascontiguousarray(x[: x.size // 2].astype(dtype)) for x in wide)
        else:
            a, b = _pair(folder, dtype, megabytes)
        for measures in ("basic", "all"):
            cells = []
            for threads in (1, 2):
                action = {"run": lambda x=a, y=b, t=threads, m=measures: compare(x, y, measures=m, threads=t)}
                wall, processor = _in_turns(action, rounds)
                size = (a.nbytes + b.nbytes) / 1e9
                cells.append(f"{threads} thread(s) {size / wall['run']:6.2f} GB/s")
                if threads == 1:
                    cells.append(f"({size / processor['run']:6.2f} by processor time)")
            print(f"  {np.dtype(dtype).name:9} {measures:5}  {'  '.join(cells)}")


def _memory(folder: Path, megabytes: int) -> None:
    code = (
        "import sys, numpy as np\n"
        "from autofuse_nwa_precision.metrics import compare\n"
        "a, b = (np.load(path, mmap_mode='r') for path in sys.argv[1:3])\n"
        "def anonymous():\n"
        "    return next(int(l.split()[1]) for l in open('/proc/self/status') if l.startswith('RssAnon'))\n"
        "compare(a[:9], b[:9]); before = anonymous(); compare(a, b); print((anonymous() - before) / 1024)\n"
    )
    if not Path("/proc/self/status").exists():
        return
    paths = [str(folder / f"{name}-float32.npy") for name in "ab"]
    result = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True, check=True)
    print(f"\nmemory beyond the mapped files: {float(result.stdout):.1f} MB for {megabytes} MB a side (limit 100 MB)")


def _layouts(rounds: int) -> None:
    from autofuse_formats.layouts.catalog import converter
    from autofuse_nwa_precision.metrics import compare

    print("\nprocessor time against contiguous tensors of the same size (float16, all measures, no copy)")
    for name, stored, plain, shape in _stored_layouts():
        convert = converter(stored[0], plain)
        rng = np.random.default_rng(1)
        tensor = rng.standard_normal(stored[1], dtype=np.float32).astype(np.float16)
        view, array = convert.view(tensor, shape), np.ascontiguousarray(convert(tensor, shape))
        other = array.copy()
        _, best = _in_turns(
            {
                "view": lambda v=view, o=other: compare(v, o, threads=1),
                "array": lambda x=array, o=other: compare(x, o, threads=1),
            },
            rounds,
        )
        print(f"  {name:34} {best['view'] / best['array']:5.2f} x")


def _stored_layouts() -> Iterator[Tuple[str, Tuple[str, Tuple[int, ...]], str, Tuple[int, ...]]]:
    yield "NC1HWC0 to NCHW", ("NC1HWC0", (16, 16, 64, 64, 16)), "NCHW", (16, 256, 64, 64)
    yield "NC1HWC0 to NHWC, padded", ("NC1HWC0", (16, 16, 64, 64, 16)), "NHWC", (16, 64, 64, 250)
    yield "FRACTAL_NZ to ND", ("FRACTAL_NZ", (256, 256, 16, 16)), "ND", (4096, 4096)
    yield "FRACTAL_NZ to ND, padded", ("FRACTAL_NZ", (256, 256, 16, 16)), "ND", (4090, 4090)
    yield "FRACTAL_Z to NCHW", ("FRACTAL_Z", (16 * 9, 64, 16, 16)), "NCHW", (1024, 256, 3, 3)
    yield "NCHW to NHWC", ("NCHW", (16, 256, 64, 64)), "NHWC", (16, 64, 64, 256)


def _small_pairs() -> None:
    from autofuse_nwa_precision.metrics import compare

    a = np.random.default_rng(2).standard_normal(1000, dtype=np.float32)
    b = a + np.float32(1e-3)
    begin = time.process_time()
    for _ in range(2000):
        compare(a, b)
    print(f"\none pair of 1000 elements: {(time.process_time() - begin) / 2000 * 1e6:.0f} microseconds")


def _in_turns(actions: Dict[str, Callable[[], object]], rounds: int) -> Tuple[Dict[str, float], Dict[str, float]]:
    """Best wall and processor seconds of each action; they take turns, so that other load burdens all alike."""
    wall: Dict[str, List[float]] = {name: [] for name in actions}
    processor: Dict[str, List[float]] = {name: [] for name in actions}
    for _ in range(rounds):
        for name, action in actions.items():
            begin, begin_processor = time.perf_counter(), time.process_time()
            action()
            wall[name].append(time.perf_counter() - begin)
            processor[name].append(time.process_time() - begin_processor)
    return {name: min(values) for name, values in wall.items()}, {
        name: min(values) for name, values in processor.items()
    }


if __name__ == "__main__":
    main()
