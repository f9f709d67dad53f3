"""The tiling data: offsets as the compiler has them, values decoded by name; what is not understood says so."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from pathlib import Path
from typing import List

import pytest
from autofuse_att_verify.header import read_layout
from autofuse_att_verify.layout import LayoutError, Struct, decode
from hypothesis import given
from hypothesis import strategies as st

needs_gxx = pytest.mark.skipif(not shutil.which("g++"), reason="no g++")

HEADER = """
#include <array>
#include <cstdint>
namespace x {
constexpr uint32_t kN = 4;
using U = uint32_t;
typedef unsigned long long ull;
enum class E : uint8_t { A, B = 3 };
enum F { P, Q };
#pragma pack(push, 4)
struct Packed { uint8_t a; uint64_t b; };
#pragma pack(pop)
struct Inner {
  U a = 3;
  double b{2.0};
  Inner() : a(1) {}
  int f() const { return a; }
  static constexpr int K = 2;
  uint8_t z[K * 2];
};
class AutofuseTilingData {
 public:
  AutofuseTilingData() = default;
  ~AutofuseTilingData() {}
  uint32_t a, b[2][kN], *p;
  E e;
  F f;
  Packed pk;
  Inner in[2];
  struct { uint16_t u; uint32_t v; } anon;
  struct { uint16_t m; };
  std::array<int16_t, 3> arr;
  bool flag = true;
  ull big;
  float fl[2] = {1.f, 2.f};
  unsigned char c;
  signed char sc;
  long long q;
  alignas(16) uint32_t al;
  template <typename T> T g() { return T(); }
  bool operator==(const AutofuseTilingData &o) const { return a == o.a; }
  uint8_t last;
};
}
"""


def _preprocessed(folder: Path, text: str) -> str:
    (folder / "data.h").write_text(text)
    command = ["g++", "-E", "-std=gnu++17", "-x", "c++", str(folder / "data.h")]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _offsets(folder: Path, text: str, name: str, fields: List[str]) -> List[int]:
    """Size and offsets as the compiler has them."""
    printed = "".join(f'printf("%zu ", offsetof(T, {field}));' for field in fields)
    main = "#include <cstdio>\n#include <cstddef>\n"
    main += f'int main() {{ using T = {name}; printf("%zu ", sizeof(T)); {printed} }}\n'
    (folder / "main.cpp").write_text(text + main)
    subprocess.run(["g++", "-w", "-std=gnu++17", folder / "main.cpp", "-o", folder / "main"], check=True)
    return list(map(int, subprocess.run([folder / "main"], capture_output=True, text=True, check=True).stdout.split()))


@needs_gxx
def test_offsets_are_those_of_the_compiler(tmp_path: Path) -> None:
    layout = read_layout(_preprocessed(tmp_path, HEADER), "x::AutofuseTilingData")
    names = [name for name, _, _ in layout.fields]
    expected = _offsets(tmp_path, HEADER, "x::AutofuseTilingData", names)
    assert [layout.size, *(offset for _, _, offset in layout.fields)] == expected
    assert names[:4] == ["a", "b", "p", "e"]
    assert "m" in names


_SCALARS = st.sampled_from(["uint8_t", "int16_t", "uint32_t", "int64_t", "double", "float", "bool"])
_FIELD = st.tuples(_SCALARS, st.sampled_from(["", "[3]", "[2][2]"]))
_STRUCTS = st.lists(st.lists(_FIELD, min_size=1, max_size=5), min_size=1, max_size=4)


@needs_gxx
def test_any_nesting_has_the_offsets_of_the_compiler(tmp_path: Path) -> None:
    """Forty random headers, one compilation."""
    sources: List[str] = []
    layouts: List[Struct] = []

    @given(_STRUCTS)
    def gather(structs: List[List[tuple[str, str]]]) -> None:
        if len(sources) >= 40:
            return
        space = f"n{len(sources)}"
        text = ""
        for number, fields in enumerate(structs):
            body = "".join(f"{kind} f{index}{suffix}; " for index, (kind, suffix) in enumerate(fields))
            inner = f"S{number - 1} inner[2]; " if number else ""
            text += f"struct S{number} {{ {body}{inner}uint8_t tail; }};\n"
        sources.append(f"namespace {space} {{\n{text}}}\n")
        layouts.append(read_layout(text, f"S{len(structs) - 1}"))

    gather()
    text = "#include <cstdint>\n" + "".join(sources)
    main = "#include <cstdio>\n#include <cstddef>\nint main() {\n"
    for number, layout in enumerate(layouts):
        main += f'printf("%zu", sizeof(n{number}::{layout.name}));\n'
        main += "".join(f'printf(" %zu", offsetof(n{number}::{layout.name}, {f}));\n' for f, _, _ in layout.fields)
        main += 'puts("");\n'
    (tmp_path / "main.cpp").write_text(text + main + "}\n")
    subprocess.run(["g++", "-w", tmp_path / "main.cpp", "-o", tmp_path / "main"], check=True)
    lines = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout.splitlines()
    found = [" ".join(map(str, [layout.size, *(offset for _, _, offset in layout.fields)])) for layout in layouts]
    assert found == lines


def test_values_are_decoded_by_name() -> None:
    layout = read_layout("struct D { uint16_t a; int32_t b[2]; struct { double d; } c; float f; };", "D")
    data = bytes.fromhex("01000000ffffffff0200000000000000000000000000f87f0000807f00000000")
    assert decode(layout, data) == {"a": 1, "b": [-1, 2], "c": {"d": "NaN"}, "f": "Infinity"}


def test_array_sizes_are_computed() -> None:
    text = (
        "constexpr int kN = 3; struct D { uint8_t a[(1 << 4) - kN], b[2 * (kN + 1)][2], c = 5, d{6}, e[0x10U / 4]; };"
    )
    layout = read_layout(text, "D")
    assert [(name, kind.size) for name, kind, _ in layout.fields] == [
        ("a", 13),
        ("b", 16),
        ("c", 1),
        ("d", 1),
        ("e", 4),
    ]


def test_what_is_not_needed_need_not_be_understood() -> None:
    text = "struct U { int a : 3; }; struct V : U { }; template <class T> struct W { T t; }; struct D { int a; };"
    assert read_layout(text, "D").size == 4
    with pytest.raises(LayoutError, match="bit field a"):
        read_layout(text + "struct E { U u; };", "E")


def test_macros_of_generated_headers() -> None:
    text = """struct D { uint32_t block_dim; inline void set_block_dim(uint32_t v) { block_dim = v; }
              inline uint32_t get_block_dim() { return block_dim; }
              inline uint32_t* get_addr_block_dim() {return &block_dim;};
              uint32_t words[4]; };"""
    assert [name for name, _, _ in read_layout(text, "D").fields] == ["block_dim", "words"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("struct D { uint32_t a : 3; };", "bit field a"),
        ("struct D { Unknown a; };", "unknown type Unknown"),
        ("struct B {}; struct D : public virtual B { int a; };", "virtual base class"),
        ("struct D { W<3> w; };", "unknown type W"),
        ("struct D { int a[n]; };", "array size"),
        ("struct D { int a[1 << 50]; };", "array size"),
        ("struct D { int a[f(2, 3)]; };", "array size"),
        ("struct D { int a[2000000]; };", "more than a million"),
        ("struct A { int a[2000]; }; struct B { A a[2000]; }; struct D { B b; };", "more than a million"),
        ("struct D { int a", "ends within a declaration"),
        ("struct E { int a; };", "unknown type D"),
        ("using D = uint32_t;", "D is no struct"),
        ("", "unknown type D"),
        ("struct D { char a; int b, c __attribute__((aligned(8))); };", "the field c has an attribute"),
    ],
)
def test_what_is_not_understood_says_so(text: str, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        read_layout(text, "D")


@given(st.text("structDunio{}[]();:=,<>#*&\n aint32_t 0123\"'\\/", max_size=200))
def test_no_text_does_anything_but_refuse(text: str) -> None:
    with contextlib.suppress(LayoutError, ValueError, IndexError, RecursionError):
        read_layout(text, "D")
