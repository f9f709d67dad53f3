"""The compiler's word on a layout: every offset, size and kind of number asserted in one file that is only parsed.

What the header's reader understood wrongly must not be shown as values; where the compiler disagrees there are none.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Iterator, Sequence

from autofuse_att_verify.layout import LayoutError, Scalar, Struct, leaves

__all__ = ["check_layout"]

_MOST_ASSERTIONS = 20000
_SECONDS = 60
_MARK = "autofuse layout"
_PREFIX = """
namespace autofuse_layout {
template <class T> struct Bare { typedef T type; };
template <class T> struct Bare<const T> { typedef T type; };
template <class T> struct Bare<volatile T> { typedef T type; };
template <class T> struct Bare<const volatile T> { typedef T type; };
template <class T> constexpr bool Floats() { return static_cast<T>(0.5) != static_cast<T>(0); }
template <class T> constexpr bool Signed() { return static_cast<T>(-1) < static_cast<T>(0); }
}
"""


def check_layout(layout: Struct, header: Path, command: Sequence[str], folder: Path) -> None:
    """LayoutError when the compiler lays the struct of `header` out in another way.

    `command` is the compiler with the options of the build. A check that cannot be made (the name is not found from
    outside its scope) is left out: the size of the whole is compared with GetTilingDataSize in any case.
    """
    source = folder / "layout_check.cpp"
    source.write_text("\n".join(_lines(layout, header)), encoding="utf-8", errors="surrogateescape")
    words = [*command, "-fsyntax-only", "-fno-access-control", "-x", "c++", str(source)]
    answer = subprocess.run(words, capture_output=True, timeout=_SECONDS, check=False, stdin=subprocess.DEVNULL)
    for line in answer.stderr.decode("utf-8", "replace").splitlines():
        if _MARK in line and "error:" in line:
            raise LayoutError(f"the compiler lays {layout.name} out in another way: {line.partition(_MARK)[2][:100]}")


def _lines(layout: Struct, header: Path) -> Iterator[str]:
    yield f'#include "{header}"'
    yield _PREFIX
    yield f"typedef {layout.name} AutofuseLayout;"
    yield _assertion(f"sizeof(AutofuseLayout) == {layout.size}", "size")
    for count, (path, kind, offset) in enumerate(leaves(layout)):
        if count >= _MOST_ASSERTIONS:
            return
        member = f"((AutofuseLayout *)0)->{path}"
        yield _assertion(f"__builtin_offsetof(AutofuseLayout, {path}) == {offset}", path)
        yield _assertion(f"sizeof({member}) == {kind.size}", path)
        yield from _kind(kind, f"autofuse_layout::Bare<decltype({member})>::type", path)


def _kind(kind: Scalar, name: str, path: str) -> Iterator[str]:
    if kind.pointer or kind.code == "?":
        return
    floats = kind.code in "efd"
    yield _assertion(f"autofuse_layout::Floats<{name}>() == {str(floats).lower()}", path)
    if not floats:
        yield _assertion(f"autofuse_layout::Signed<{name}>() == {str(kind.code.islower()).lower()}", path)


def _assertion(condition: str, path: str) -> str:
    return f'static_assert({condition}, "{_MARK} {path}");'
