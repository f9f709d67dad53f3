"""Acceptance of the inputs, written from the outside: contracts, signatures and artifacts as people get them wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Callable, Dict, Optional, Tuple

import pytest
from autofuse_att_verify.signature import default_aiv_num, read_signature, without_comments
from tiling_operators import Verified, contract, needs_compiler, operator


def test_a_misspelt_key_is_named_and_so_is_the_one_it_replaced(verify: Callable[..., Verified]) -> None:
    inputs = contract([1024, 512])
    inputs["ub_sise"] = inputs.pop("ub_size")
    run = verify(operator(symbols=2), inputs=inputs)
    assert run.code == 2
    assert 'the contract has the unknown key "ub_sise" and no key "ub_size"' in run.stderr
    assert "(keys: dynamic_dims, aiv_num, ub_size, abi)" in run.stderr
    inputs = contract([1024, 512])
    inputs["abi"]["shape_dim"] = inputs["abi"].pop("shape_dims")
    assert (
        'abi has the unknown key "shape_dim" and no key "shape_dims"'
        in verify(operator(symbols=2), inputs=inputs).stderr
    )


TF = "AutofuseTilingData* tiling, uint32_t* workspaceSize, uint32_t *blockDim, uint32_t aiv_num, uint32_t ub_size"
INDUCTOR = "AutofuseTilingData* tiling, uint32_t* workspaceSize, uint32_t *blockDim, ResLimit *res_limit = nullptr"

SIGNATURES: Dict[str, Tuple[str, Tuple[str, ...], str, Optional[str]]] = {
    "plain": (f"int64_t AutofuseTiling(uint32_t s0, uint32_t s13, {TF}) {{", ("s0", "s13"), "tf", None),
    "static": (f"int64_t AutofuseTiling({TF}) {{", (), "tf", None),
    "inductor": (f"int64_t AutofuseTiling(uint32_t s0, {INDUCTOR}) {{", ("s0",), "inductor", None),
    "const_behind": (
        f"int64_t AutofuseTiling(uint32_t const s0, const uint32_t s1, {TF}) {{",
        ("s0", "s1"),
        "tf",
        None,
    ),
    "std": (f"std::int64_t AutofuseTiling(std::uint32_t s0, {TF}) {{", ("s0",), "tf", None),
    "long_int": (f"long int AutofuseTiling(unsigned int s0, {TF}) {{", ("s0",), "tf", None),
    "trailing": (f"auto AutofuseTiling(uint32_t s0, {TF}) -> int64_t {{", ("s0",), "tf", None),
    "unnamed": (
        "int64_t AutofuseTiling(uint32_t, unsigned int, Data*, uint32_t*, uint32_t*, uint32_t, uint32_t) {",
        ("s0", "s1"),
        "tf",
        None,
    ),
    "reference": (
        "int64_t AutofuseTiling(uint32_t s0, n::Data &tiling, uint32_t *w, uint32_t *b, uint32_t a, uint32_t u) {",
        ("s0",),
        "tf",
        None,
    ),
    "continued": (f"int64_t AutofuseTiling(uint32_t s0, \\\n  uint32_t s1, {TF}) {{", ("s0", "s1"), "tf", None),
    "commented": (
        f"int64_t // AutofuseTiling(uint32_t a,\nAutofuseTiling\n(uint32_t s0 /* , uint32_t s1 */,\n{TF})\n{{",
        ("s0",),
        "tf",
        None,
    ),
    "definition_first": (
        f"int64_t AutofuseTiling(uint32_t, {TF});\nint64_t AutofuseTiling(uint32_t n, {TF})\n{{",
        ("n",),
        "tf",
        None,
    ),
    "wide_symbol": (
        f"int64_t AutofuseTiling(uint32_t s0, int64_t s1, {TF}) {{",
        ("s0", "s1"),
        "tf",
        "the shape symbol s1 is no uint32_t",
    ),
    "one_less": (
        "int64_t AutofuseTiling(uint32_t s0, Data *t, uint32_t *w, uint32_t *b, uint32_t aiv_num) {",
        ("s0",),
        "",
        "its parameters are of no ABI kind",
    ),
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_signature_however_it_is_written(name: str) -> None:
    text, symbols, kind, problem = SIGNATURES[name]
    found = read_signature([without_comments(text)])
    assert found is not None
    assert (found.symbols, found.kind, found.problem) == (symbols, kind, problem)


@pytest.mark.parametrize(
    "text",
    [
        "return AutofuseTiling(1, 2);",
        "x = f(AutofuseTiling(a));",
        "int64_t AutofuseTiling(PARAMETERS) {",
        f"int64_t AutofuseTiling(SYMBOLS {TF}) {{",
        "n::AutofuseTiling(1)",
    ],
)
def test_what_is_no_declaration_of_it(text: str) -> None:
    assert read_signature([text]) is None


def test_a_signature_that_no_call_fits_is_refused_before_compiling(verify: Callable[..., Verified]) -> None:
    source = operator(symbols=2)
    source["op_tiling_func.cpp"] = source["op_tiling_func.cpp"].replace("uint32_t s1", "int64_t s1")
    run = verify(source, "--preset", "B")
    assert (run.code, run.folder.exists()) == (2, False)
    assert "AutofuseTiling cannot be called: the shape symbol s1 is no uint32_t" in run.stderr


@needs_compiler
def test_a_qualified_symbol_counts(verify: Callable[..., Verified]) -> None:
    source = operator("tiling->s0 = s0 + s1;", 2)
    source["op_tiling_func.cpp"] = source["op_tiling_func.cpp"].replace("uint32_t s1", "uint32_t const s1")
    run = verify(source, "--preset", "B")
    assert (run.code, run.result["tiling_data_fields"]["s0"]) == (0, 1536), run.stderr


LIMITS: Dict[str, Tuple[str, Optional[int]]] = {
    "published": ("constexpr ResLimit g_no_limit_res = {1, 48, 0, 192 * 1024, {}};", 48),
    "braces": ("static const ResLimit kDefault{1, 40u, 0, (192 * 1024), {0}};", 40),
    "designated": ("ResLimit g = {.valid_num = 1, .aiv_num = 40, .aic_num = 0};", 40),
    "named": ("constexpr uint32_t kCores = 2 * 20;\nconst ResLimit g = {1, kCores, 0, 196608};", 40),
    "macro": ("#define CORES 24U\nResLimit g = {1, CORES, 0, 196608, {}};", 24),
    "zeros_first": ("ResLimit own = {0, 0, 0, 0, {}}; const ResLimit g = {1, 0x30, 24, 1};", 48),
    "computed": ("const ResLimit g = {1, Cores(), 0, 1};", None),
    "itself": ("constexpr uint32_t kA = kA; const ResLimit g = {1, kA, 0, 1};", None),
    "struct": ("struct ResLimit { uint32_t valid_num = 0; uint32_t aiv_num = 7; };", None),
}


@pytest.mark.parametrize("name", LIMITS)
def test_the_default_limit_however_it_is_written(name: str) -> None:
    text, cores = LIMITS[name]
    assert default_aiv_num([text]) == cores


@needs_compiler
def test_a_sweep_over_every_symbol_needs_no_contract(verify: Callable[..., Verified]) -> None:
    source = operator("*blockDim = 1 + s0 % aiv_num;", 2)
    run = verify(source, "--sweep", "s0=64:4096:*2 s1=1,7,512 aiv=24,48 ub=196608")
    assert (run.code, run.result["sweep"]["points"]) == (0, 42), run.stderr
    assert run.result["inputs"]["origin"] == "preset_A+--sweep"
    assert run.result["abi"] == {"kind": "tf_dynamic", "shape_dims": 2, "block_dim_width": 32}
    run = verify(source, "--sweep", "s0=64:4096:*2")
    assert (run.code, "or name every symbol in --sweep" in run.stderr) == (2, True)


@needs_compiler
def test_a_contract_from_a_pipe_is_read_once(verify: Callable[..., Verified]) -> None:
    reader, writer = os.pipe()
    os.write(writer, json.dumps(contract([3, 4])).encode())
    os.close(writer)
    run = verify(operator(symbols=2), "--input-json", f"/dev/fd/{reader}")
    os.close(reader)
    assert (run.code, run.result["inputs"]["dynamic_dims"]) == (0, [3, 4]), run.stderr


def test_a_folder_named_like_a_source(verify: Callable[..., Verified], tmp_path: Path) -> None:
    (tmp_path / "odd" / "x_tiling_func.cpp").mkdir(parents=True)
    run = verify(tmp_path / "odd")
    assert (run.code, "no *tiling_func*.cpp is a regular file" in run.stderr) == (2, True), run.stderr
