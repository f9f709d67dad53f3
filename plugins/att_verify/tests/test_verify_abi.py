"""Calling conventions: 0 to 32 shape symbols for each kind, with both runners, every value where it belongs."""

from __future__ import annotations

import shutil
import subprocess
from array import array
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Dict

import pytest
from autofuse_att_verify.runner import Job, native_program, native_runner, python_runner
from autofuse_att_verify.signature import read_signature, without_comments

SOURCE = """
typedef unsigned int u; typedef unsigned long size_t;
struct Limit { u valid_num, aiv_num, aic_num, ub_size, resv[10]; };
size_t GetTilingDataSize(void) { return 4 * (N + 2); }
long AutofuseTiling(%s u *tiling, u *workspace, u *block_dim, %s) {
  %s
  tiling[N] = AIV; tiling[N + 1] = UB;
  *workspace = 7; *block_dim = 9;
  return 0;
}
"""
TF = ("u aiv_num, u ub_size", "-DAIV=aiv_num", "-DUB=ub_size")
INDUCTOR = ("struct Limit *limit", "-DAIV=limit ? limit->aiv_num : 77", "-DUB=limit ? limit->ub_size : 88")


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Dict[Any, Path]:
    """(kind, number of symbols) → a library that stores what it is called with."""
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    folder = tmp_path_factory.mktemp("abi")

    def compile_one(kind: str, count: int) -> Path:
        tail, aiv, ub = TF if kind == "tf" else INDUCTOR
        symbols = "".join(f"u s{index}, " for index in range(count))
        stores = " ".join(f"tiling[{index}] = s{index};" for index in range(count))
        library = folder / f"{kind}{count}.so"
        command = ["gcc", "-shared", "-fPIC", "-O1", "-x", "c", "-", f"-DN={count}", aiv, ub, "-o", str(library)]
        subprocess.run(command, input=(SOURCE % (symbols, tail, stores)).encode(), check=True)
        return library

    keys = [(kind, count) for kind in ("tf", "inductor") for count in range(33)]
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(keys, pool.map(lambda key: compile_one(*key), keys)))


@pytest.mark.parametrize("runner", ["native", "python"])
@pytest.mark.parametrize("kind", ["tf", "inductor"])
def test_every_number_of_symbols(libraries: Dict[Any, Path], tmp_path: Path, kind: str, runner: str) -> None:
    if runner == "native" and native_program() is None:
        pytest.skip("the native runner was not built")
    made = native_runner() if runner == "native" else python_runner()
    # All values in the native runner; the slower one takes the numbers around the ends of the registers.
    for count in range(33) if runner == "native" else (0, 1, 3, 6, 7, 8, 9, 32):
        values = [4000000000 + index for index in range(count)]
        passed = count % 2
        job = Job(libraries[kind, count], kind, count, array("I", [*values, 24, 196608, passed]), tmp_path, True)
        (answer,) = made.run(job)
        own = (77, 88) if kind == "inductor" and not passed else (24, 196608)
        data = array("I")
        data.frombytes(job.data_path.read_bytes())
        assert list(data) == [*values, *own], (kind, count)
        assert (answer["ret"], answer["workspace"], answer["block_dim"], answer["same"]) == (0, 7, 9, True)


def test_signatures_are_read_as_they_are_written() -> None:
    text = """
    // int64_t AutofuseTiling(uint32_t wrong)
    /* int64_t AutofuseTiling( */ const char *x = "int64_t AutofuseTiling(uint32_t s9)"; char quote = '"';
    static int64_t Call() { return AutofuseTiling(1, 2); }
    extern "C" int64_t AutofuseTilingWithConfig(const char *file, uint32_t s0);
    extern "C"
    int64_t AutofuseTiling(uint32_t s0, const uint32_t s1,
                           optiling::AutofuseTilingData* tiling, uint32_t* workspaceSize, uint32_t *blockDim,
                           uint32_t aiv_num, uint32_t ub_size)
    """
    found = read_signature([without_comments(text)])
    assert found is not None
    assert (found.symbols, found.kind_text, found.data_type) == (
        ("s0", "s1"),
        "tf_dynamic",
        "optiling::AutofuseTilingData",
    )


@pytest.mark.parametrize(
    ("parameters", "symbols", "kind"),
    [
        ("T *t, uint32_t *w, uint32_t *b, uint32_t aiv_num, uint32_t ub_size", 0, "tf_static"),
        ("T* t, uint32_t* w, uint32_t* b, ResLimit *res_limit = nullptr", 0, "inductor"),
        ("uint32_t s0, T* t, uint32_t* w, uint32_t* b, const ResLimit* res_limit", 1, "inductor"),
        ("unsigned int s0, T* t, uint32_t* w, uint32_t* b, uint32_t, uint32_t", 1, "tf_dynamic"),
    ],
)
def test_kinds_of_signatures(parameters: str, symbols: int, kind: str) -> None:
    found = read_signature([f'extern "C" int64_t AutofuseTiling({parameters}) {{'])
    assert found is not None
    assert (len(found.symbols), found.kind_text if found.kind else "") == (symbols, kind)


def test_a_source_without_a_signature() -> None:
    assert read_signature(["int x;", "int64_t AutofuseTiling(", "int64_t AutofuseTiling(uint32_t s0; }"]) is None
