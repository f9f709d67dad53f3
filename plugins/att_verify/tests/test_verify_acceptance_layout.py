"""Acceptance of the decoded tiling data: what headers hold besides plain words, and never a value at a wrong place."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any, Callable

import pytest
from autofuse_att_verify.header import read_layout
from autofuse_att_verify.layout import LayoutError, decode
from autofuse_att_verify.layout_check import check_layout
from tiling_operators import Verified, needs_compiler, operator

needs_gxx = pytest.mark.skipif(not shutil.which("g++"), reason="no g++")

HEADER = """#pragma once
#include <array>
#include <cstdint>
#include <cstddef>
#define NUMBER 2
namespace limits { constexpr size_t kDeep = sizeof(uint64_t) / 2; }
enum { kFirst = 2, kSecond, kThird = kSecond * 2 };
static_assert(kThird == 6, "; { six");
typedef struct tagPoint { short unsigned int x; signed char y; } Point;
struct Base { uint32_t id; uint32_t kind; };
template <typename T> struct Unused { T t; };
namespace data {
class Forward;
struct [[gnu::unused]] Odd : public Base {
  friend class Forward;
  static_assert(sizeof(uint32_t) == 4, "a field? uint32_t no;");
  long unsigned int wide;
  unsigned long long int wider;
  int64_t const minus = -1;
  int32_t (*callback)(uint32_t, void *);
  int (*callbacks[2])(int);
  [[maybe_unused]] uint16_t marked;
  volatile uint8_t bytes[sizeof(uint32_t)][NUMBER];
  uint8_t more[limits::kDeep], rest[kThird - 1], octal[010];
  Point points[2], *pointer;
  union { uint32_t word; uint8_t parts[4]; };
  union Number { float f; uint32_t bits; } number;
  enum class Mode : uint16_t { kA, kB = 7 } mode;
  std::array<std::array<uint8_t, 2>, 3> grid;
  _Float16 half;
  bool on;
  char16_t letter;
  alignas(32) uint32_t far;
  uint32_t late __attribute__((aligned(16)));
  uint32_t operator()(int a) const { return wide + a; }
  Odd() : wide(0), minus(-1) {}
};
#pragma pack(push, 2)
struct Tight { uint8_t a; uint64_t b; alignas(8) uint32_t c; };
#pragma pack(pop)
struct __attribute__((packed)) Packed { uint8_t a; uint64_t b; };
struct Late { uint8_t a; uint64_t b; } __attribute__((packed));
struct alignas(16) Empty {};
}
using data::Odd;
struct AutofuseTilingData {
  Odd odd;
  data::Tight tight;
  data::Packed packed;
  data::Late late;
  data::Empty empty;
  uint8_t last;
};
"""


def _read(folder: Path, text: str) -> Any:
    (folder / "data.h").write_text(text)
    command = ["g++", "-E", "-std=gnu++17", "-x", "c++", str(folder / "data.h")]
    return read_layout(subprocess.run(command, capture_output=True, text=True, check=True).stdout, "AutofuseTilingData")


def _check(folder: Path, layout: Any) -> None:
    check_layout(layout, folder / "data.h", ["g++", "-std=gnu++17", "-w"], folder)


@needs_gxx
def test_the_compiler_agrees_about_everything_a_header_may_hold(tmp_path: Path) -> None:
    layout = _read(tmp_path, HEADER)
    _check(tmp_path, layout)
    names = [name for name, _, _ in layout.fields[0][1].fields]
    assert names[:4] == ["id", "kind", "wide", "wider"]
    assert {"callback", "callbacks", "marked", "word", "parts", "grid", "far", "late"} <= set(names)


TAIL = "struct B { uint32_t block_dim; uint8_t b; B() {} }; struct AutofuseTilingData : B { uint8_t c; };"


@needs_gxx
def test_where_the_compiler_disagrees_there_is_no_layout(tmp_path: Path) -> None:
    """The field comes into the room at the end of its base class, by a rule that is not followed here."""
    layout = _read(tmp_path, f"#include <cstdint>\n{TAIL}\n")
    with pytest.raises(LayoutError, match="the compiler lays AutofuseTilingData out in another way"):
        _check(tmp_path, layout)


@needs_gxx
@pytest.mark.parametrize(("told", "true"), [("int32_t", "uint32_t"), ("float", "uint32_t"), ("uint32_t", "float")])
def test_a_number_of_another_kind_is_no_layout(tmp_path: Path, told: str, true: str) -> None:
    layout = _read(tmp_path, f"#include <cstdint>\nstruct AutofuseTilingData {{ {told} a; }};\n")
    (tmp_path / "data.h").write_text(f"#include <cstdint>\nstruct AutofuseTilingData {{ {true} a; }};\n")
    with pytest.raises(LayoutError, match="another way"):
        _check(tmp_path, layout)


def test_members_of_a_union_are_all_shown() -> None:
    layout = read_layout("union U { float f; uint32_t w; }; struct D { U u; uint8_t b; };", "D")
    assert decode(layout, bytes.fromhex("0000803f07000000")) == {"u": {"f": 1.0, "w": 0x3F800000}, "b": 7}


MACROS = """#ifndef __Autofuse_Tiling_Data_H__
#define __Autofuse_Tiling_Data_H__
#include <stdint.h>
#include "kernel_tiling/kernel_tiling.h"
#define BEGIN_TILING_DATA_DEF_T(name) struct name {
#define TILING_DATA_FIELD_DEF_T(type, name) \\
  type name; \\
  inline void set_##name(type value) { name = value; } \\
  inline type get_##name() { return name; } \\
  inline type* get_addr_##name() {return &name;}
#define END_TILING_DATA_DEF_T };
#define TILING_DATA_FIELD_DEF_T_STRUCT(struct_type, filed_name) \\
  struct_type filed_name;
BEGIN_TILING_DATA_DEF_T(GroupTilingData)
  TILING_DATA_FIELD_DEF_T(uint32_t, block_dim);
  TILING_DATA_FIELD_DEF_T(uint32_t, tiling_key);
  TILING_DATA_FIELD_DEF_T_STRUCT(ConfusionTransposeTiling, transpose_tilingData_0)
  TILING_DATA_FIELD_DEF_T(uint32_t, q0_size);
END_TILING_DATA_DEF_T;
BEGIN_TILING_DATA_DEF_T(AutofuseTilingData)
  TILING_DATA_FIELD_DEF_T(uint32_t, block_dim);
  TILING_DATA_FIELD_DEF_T(uint32_t, graph0_tiling_key);
  TILING_DATA_FIELD_DEF_T_STRUCT(GroupTilingData, graph0_result0_g0_tiling_data);
  TILING_DATA_FIELD_DEF_T_STRUCT(GroupTilingData, graph0_result1_g0_tiling_data);
END_TILING_DATA_DEF_T;
struct AutofuseTilingDataPerf {
  AutofuseTilingData tiling_data;
  double best_perf;
};
#endif
"""


@needs_compiler
def test_the_macros_of_generated_headers_and_a_library_struct(verify: Callable[..., Verified]) -> None:
    body = """GroupTilingData fresh;  // as generated code has them on its stack: the library's words are zeros
              tiling->graph0_result0_g0_tiling_data.transpose_tilingData_0 = fresh.transpose_tilingData_0;
              tiling->graph0_result1_g0_tiling_data.set_q0_size(16384);
              tiling->graph0_result1_g0_tiling_data.transpose_tilingData_0.param17 = 9;"""
    run = verify({**operator(body), "autofuse_tiling_data.h": MACROS})
    assert run.code == 0, run.result["error"]
    fields = run.result["tiling_data_fields"]
    assert list(fields) == [
        "block_dim",
        "graph0_tiling_key",
        "graph0_result0_g0_tiling_data",
        "graph0_result1_g0_tiling_data",
    ]
    group = fields["graph0_result1_g0_tiling_data"]
    assert (group["q0_size"], group["transpose_tilingData_0"]["param17"]) == (16384, 9)
    assert len(group["transpose_tilingData_0"]) == 18
    assert set(fields["graph0_result0_g0_tiling_data"]["transpose_tilingData_0"].values()) == {0}
    assert run.check("repeatable") is True


@needs_compiler
def test_bytes_whose_layout_is_doubtful_are_shown_as_bytes_alone(verify: Callable[..., Verified]) -> None:
    header = f"#pragma once\n#include <cstdint>\n{TAIL}\n"
    run = verify({**operator(), "autofuse_tiling_data.h": header})
    assert (run.code, run.result["tiling_data_fields"], run.result["tiling_data"]) == (0, None, "0200000000000000")
    assert "the compiler lays AutofuseTilingData out in another way" in run.result["tiling_data_note"]
