"""How fast `autofuse run precision` indexes a dump folder and gets through many small pairs, and what it adds to numpy.

Usage: python benchmarks/bench_precision_command.py [--files 100000] [--pairs 10000] [--jobs N]

The baseline of the pairs is the plain loop a script would write, numpy.load and the published formulas on whole arrays,
in the same process; the machine's load shows in both.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, Dict, List, Tuple

import numpy as np

TIME = 1_700_000_000_000_000


def main() -> None:
    """Prints one line per measurement."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=100_000, help="dump files of the index benchmark")
    parser.add_argument("--pairs", type=int, default=10_000, help="fused operators of the pair benchmark")
    parser.add_argument("--elements", type=int, default=1024, help="elements of each small tensor")
    parser.add_argument("--jobs", type=int, help="passed to the command")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"python {sys.version.split()[0]}, numpy {np.__version__}, {os.cpu_count()} cores, load {load:.1f}")
    with tempfile.TemporaryDirectory(prefix="autofuse-bench-") as folder:
        bench_index(Path(folder) / "index", options.files)
    with tempfile.TemporaryDirectory(prefix="autofuse-bench-") as folder:
        bench_pairs(Path(folder), options.pairs, options.elements, options.jobs)


def bench_index(root: Path, files: int) -> None:
    """One pass over a folder, beside a bare os.scandir of it."""
    from autofuse_nwa_precision.dumps.index import index_folder

    for step in range(10):
        folder = root / "20240101120000" / "0" / "model" / "1" / str(step)
        folder.mkdir(parents=True)
        for number in range(files // 10):
            name = f"AscBackend.autofuse_pointwise_{number}_Add_Mul_Relu.{number}.1.{TIME + number}.output.0.npy"
            (folder / name).touch()
    bare, _ = timed(lambda: sum(len(names) for _, _, names in os.walk(root)))
    taken, index = timed(lambda: index_folder(root))
    print(
        f"index      {index.files} files: {taken:.2f} s, {index.files / taken:,.0f} files/s; os.walk alone {bare:.2f} s"
    )


def bench_pairs(root: Path, pairs: int, elements: int, jobs: int | None) -> None:
    """The whole command on many small pairs, beside a loop of numpy.load and whole-array formulas."""
    names = write_runs(root, pairs, elements)
    loop, _ = timed(lambda: [published(*map(np.load, both)) for both in names])
    command = [sys.executable, "-m", "autofuse", "run", "precision", *arguments(root), "-f", "jsonl"]
    for measures in ("all", "basic"):
        more = ["--measures", measures, *(["--jobs", str(jobs)] if jobs else [])]
        taken, done = timed(lambda more=more: subprocess.run([*command, *more], capture_output=True, check=False))
        rows = done.stdout.count(b"\n")
        assert rows == pairs, done.stderr.decode()
        each = 1e3 * taken / pairs
        what = f"{rows} of {elements} fp32, {measures}"
        print(f"pairs      {what}: {taken:.2f} s, {each:.2f} ms each; numpy loop {loop:.2f} s")


def write_runs(root: Path, pairs: int, elements: int) -> List[Tuple[Path, Path]]:
    """Two runs of `pairs` fused operators with one output each."""
    rng = np.random.default_rng(1)
    values = rng.standard_normal(elements).astype(np.float32)
    open_ops: List[Dict[str, object]] = []
    close_ops: List[Dict[str, object]] = []
    files = []
    for side in ("open", "close"):
        (root / side).mkdir()
    for number in range(pairs):
        fused, origin = f"autofuse_{number}", f"layer/relu_{number}"
        attrs = [
            {"key": "_datadump_origin_name", "value": {"s": origin}},
            {"key": "_datadump_origin_output_index", "value": {"i": 0}},
        ]
        output = {"name": "y", "dtype": "DT_FLOAT", "layout": "ND", "attr": attrs}
        source = [f"autofuse_{number - 1}:0"] if number else []
        open_ops.append({"name": fused, "type": "AscBackend", "input": source, "output_desc": [output]})
        close_ops.append({"name": origin, "type": "Relu"})
        a = root / "open" / f"AscBackend.{fused}.{number}.0.{TIME}.output.0.npy"
        b = root / "close" / f"Relu.layer_relu_{number}.{number}.0.{TIME}.output.0.npy"
        np.save(a, values * np.float32(1 + 1e-6))
        np.save(b, values)
        files.append((a, b))
    for side, ops in (("open", open_ops), ("close", close_ops)):
        (root / f"{side}.json").write_text(json.dumps({"graph": [{"name": "g", "op": ops}]}), encoding="utf-8")
    return files


def arguments(root: Path) -> List[str]:
    """The options that name both runs."""
    return [
        f"--af-open-graph={root}/open.json",
        f"--af-close-graph={root}/close.json",
        f"--af-open-data={root}/open",
        f"--af-close-data={root}/close",
    ]


def published(a: np.ndarray, b: np.ndarray) -> Tuple[float, float, float]:
    """The three published measures as a script computes them."""
    x, y = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    difference = np.abs(x - y)
    cosine = np.dot(x, y) / (np.linalg.norm(x) * np.linalg.norm(y) + 1e-8)
    relative = difference / (np.maximum(np.abs(x), np.abs(y)) + 1e-8)
    return float(cosine), float(difference.max()), float(relative.max())


def timed(call: Callable[[], object]) -> Tuple[float, object]:
    """Seconds of one call, and its result."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


if __name__ == "__main__":
    main()
