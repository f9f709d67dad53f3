"""The input contract, the scene and the options: every mistake ends with exit code 2 before anything is compiled."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Callable, Dict

import pytest
from autofuse.testing import run_cli
from tiling_operators import Verified, contract, operator

VALID = contract([1024, 512])


def _with(path: str, value: Any) -> Dict[str, Any]:
    changed: Dict[str, Any] = json.loads(json.dumps(VALID))
    *parents, last = path.split(".")
    target = changed
    for name in parents:
        target = target[name]
    target[last] = value
    return changed


def _without(path: str) -> Dict[str, Any]:
    changed = _with(path, None)
    target = changed["abi"] if path.startswith("abi.") else changed
    del target[path.rpartition(".")[2]]
    return changed


BAD = {
    "dims_no_list": (_with("dynamic_dims", 5), "dynamic_dims is 5", "a list of integers"),
    "dims_too_many": (contract([1] * 33), "dynamic_dims has 33 values", "at most 32"),
    "dim_zero": (_with("dynamic_dims", [0, 1]), "dynamic_dims[0] is 0", "from 1 to 2147483647"),
    "dim_large": (_with("dynamic_dims", [1, 2147483648]), "dynamic_dims[1] is 2147483648", "from 1 to 2147483647"),
    "dim_bool": (_with("dynamic_dims", [True, 1]), "dynamic_dims[0] is true", "an integer"),
    "dim_float": (_with("dynamic_dims", [1.0, 1]), "dynamic_dims[0] is 1.0", "an integer"),
    "dim_text": (_with("dynamic_dims", ["7", 1]), 'dynamic_dims[0] is "7"', "an integer"),
    "aiv_zero": (_with("aiv_num", 0), "aiv_num is 0", "from 1 to 65535"),
    "aiv_large": (_with("aiv_num", 65536), "aiv_num is 65536", "from 1 to 65535"),
    "aiv_null": (_with("aiv_num", None), "aiv_num is null", "an integer"),
    "ub_zero": (_with("ub_size", 0), "ub_size is 0", "from 1 to 2147483647"),
    "ub_large": (_with("ub_size", 1 << 31), "ub_size is 2147483648", "from 1 to 2147483647"),
    "kind": (_with("abi.kind", "torch"), 'abi.kind is "torch"', "tf_static, tf_dynamic, inductor"),
    "kind_list": (_with("abi.kind", ["tf_static"]), "abi.kind is [", "tf_static, tf_dynamic, inductor"),
    "width": (_with("abi.block_dim_width", 16), "abi.block_dim_width is 16", "accepted: 32, 64"),
    "width_bool": (_with("abi.block_dim_width", True), "abi.block_dim_width is true", "accepted: 32, 64"),
    "shape_dims": (_with("abi.shape_dims", 3), "abi.shape_dims is 3", "both must be equal"),
    "static_with_dims": (_with("abi.kind", "tf_static"), "abi.shape_dims is 2 for tf_static", "accepted: 0"),
    "dynamic_without": (contract([], "tf_dynamic"), "abi.shape_dims is 0 for tf_dynamic", "at least 1"),
    "missing": (_without("ub_size"), 'no key "ub_size"', "keys: dynamic_dims, aiv_num, ub_size, abi"),
    "missing_abi": (_without("abi.kind"), 'abi has no key "kind"', "keys: kind, shape_dims, block_dim_width"),
    "unknown": (_with("cores", 1), 'unknown key "cores"', "keys: dynamic_dims, aiv_num, ub_size, abi"),
    "unknown_abi": (_with("abi.dims", 1), 'abi has the unknown key "dims"', "keys: kind, shape_dims"),
    "abi_no_object": (_with("abi", "tf_static"), 'abi is "tf_static", not an object', "keys: kind"),
    "scene": (contract([1024, 512], "inductor"), "the scene is tf", "accepted: tf_static, tf_dynamic"),
    "too_few": (contract([1024]), "AutofuseTiling has 2 shape symbols (s0, s1)", "has 1"),
    "too_many": (contract([1, 2, 3]), "AutofuseTiling has 2 shape symbols (s0, s1)", "has 3"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_contract_is_refused(verify: Callable[..., Verified], name: str) -> None:
    inputs, *parts = BAD[name]
    run = verify(operator(symbols=2), inputs=inputs)
    assert run.code == 2
    assert all(part in run.stderr for part in parts), run.stderr
    assert run.stderr.count("\n") == 2  # what is about to run, and the mistake
    assert not run.folder.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is no JSON input contract"),
        ("[1, 2]", "is [1, 2], not an object"),
        ('{"aiv_num": 1, "aiv_num": 2}', "the key 'aiv_num' stands twice"),
        ("{" * 100000, "is no JSON input contract"),
        ("\xff\x00", "is no JSON input contract"),
        ("[" + " " * (1 << 20) + "]", "is too large"),
    ],
)
def test_a_file_that_is_no_contract(
    verify: Callable[..., Verified], tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "contract.json"
    path.write_text(content, encoding="latin-1")
    run = verify(operator(), "--input-json", path)
    assert (run.code, message in run.stderr) == (2, True), run.stderr


def test_the_presets_are_what_they_were_published_as(verify: Callable[..., Verified]) -> None:
    run = verify(operator(symbols=1), "--preset", "A")
    assert run.code == 2
    assert "aiv_num" not in run.stderr  # nothing is announced that does not fit
    assert "AutofuseTiling has 1 shape symbol (s0), but the contract (preset_A) has 0" in run.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--preset", "C"), "'C' is not one of 'A', 'B'"),
        (("--preset", "A", "--input-json", "x.json"), "exclude each other"),
        (("--input-json", "/nonexistent.json"), "cannot read the input contract"),
        (("--aiv-num", "0"), "--aiv-num is 0"),
        (("--aiv-num", "65536"), "accepted: an integer from 1 to 65535"),
        (("--aiv-num", "many"), "'many' is not a valid integer"),
        (("--timeout", "0"), "--timeout takes seconds"),
        (("--timeout", "nan"), "--timeout takes seconds"),
        (("--case", "x=1"), "unknown dimension 'x'"),
        (("--case", "r=one"), "bad number 'one'"),
        (("--toolkit", "cann"), "ASCEND_HOME_PATH is not set"),
        (("--runner", "gpu"), "unknown runner 'gpu' (installed: auto, native, python)"),
        (("--compile-config", "/nonexistent.toml"), "cannot read the compile config"),
        (("--scene", "inductor"), "has no output_code.py"),
        (("-f", "papyrus"), "unknown format 'papyrus'"),
        (("--sweep", "s9=1"), "unknown name 's9'"),
    ],
)
def test_a_bad_option_is_refused(verify: Callable[..., Verified], options: Any, message: str) -> None:
    run = verify(operator(), *options)
    assert (run.code, message in run.stderr) == (2, True), run.stderr
    assert "Traceback" not in run.stderr


def test_folders_that_are_no_tiling_source(verify: Callable[..., Verified], tmp_path: Path) -> None:
    assert "cannot read SOURCE_DIR" in verify(tmp_path / "nowhere").stderr
    empty = tmp_path / "empty"
    (empty / "host").mkdir(parents=True)
    (empty / "host" / "x_tiling_func.cpp").write_text("int x;\n")
    run = verify(empty)
    assert run.code == 2
    assert "neither output_code.py (inductor) nor *tiling_func*.cpp (tf)" in run.stderr
    assert "'host' in it has some" in run.stderr
    file = tmp_path / "file.cpp"
    file.write_text("int x;\n")
    assert verify(file).code == 2


def test_the_output_folder_may_not_be_a_file(tiling_files: Callable[..., Path], tmp_path: Path) -> None:
    source = tiling_files(operator())
    (tmp_path / "taken").write_text("mine")
    outcome = run_cli("run", "verify-tiling", source, "-o", tmp_path / "taken")
    assert (outcome.exit_code, "is a file, not a folder" in outcome.stderr) == (2, True)
    assert (tmp_path / "taken").read_text() == "mine"
    outcome = run_cli("run", "verify-tiling", source, "-o", "/proc/nothing/here")
    assert (outcome.exit_code, "cannot create the folder" in outcome.stderr) == (2, True)


@pytest.mark.skipif(not os.path.exists("/sys/kernel"), reason="no sysfs")
def test_a_read_only_output_folder(tiling_files: Callable[..., Path]) -> None:
    outcome = run_cli("run", "verify-tiling", tiling_files(operator()), "-o", "/sys/kernel")
    assert (outcome.exit_code, "cannot write to the output folder" in outcome.stderr) == (2, True)


def test_a_named_pipe_in_the_sources_is_not_read(verify: Callable[..., Verified], tmp_path: Path) -> None:
    folder = tmp_path / "piped"
    folder.mkdir()
    os.mkfifo(folder / "a_tiling_func.cpp")
    os.mkfifo(folder / "autofuse_tiling_data.h")
    run = verify(folder, "--toolkit", "shim")
    assert run.code in (1, 2)
    os.mkfifo(folder / "output_code.py")
    assert verify(folder).code == 2
