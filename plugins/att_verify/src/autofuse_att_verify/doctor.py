"""The check of `autofuse doctor`: is there a native runner, a C++ compiler, CMake and a generator?"""

from __future__ import annotations

import os
import shlex
import shutil
from typing import List, Tuple

__all__ = ["check"]


def check() -> Tuple[str, str]:
    """`ok`, or `note` and what is missing; nothing here is broken, verify-tiling says the same when it is used."""
    from autofuse_att_verify.runner import native_program

    missing: List[str] = []
    if not any(map(shutil.which, _compilers())):
        missing.append("no C++ compiler (set CXX or install g++)")
    if not shutil.which("cmake"):
        missing.append("no CMake")
    elif not any(map(shutil.which, ("ninja", "make", "gmake"))):
        missing.append("neither ninja nor make")
    if native_program() is None:
        missing.append("the native runner was not built, Python makes the calls (slower sweeps)")
    return ("note", "; ".join(missing)) if missing else ("ok", "native runner, compiler and CMake are there")


def _compilers() -> List[str]:
    try:
        return shlex.split(os.environ.get("CXX", ""))[:1] or ["c++", "g++", "clang++"]
    except ValueError:
        return []
