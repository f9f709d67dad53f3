"""Tiny operators for the tests of verify-tiling, and what one run of the command left."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest
from autofuse.testing import Outcome

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "tiling"

needs_compiler = pytest.mark.skipif(
    not shutil.which("cmake") or not (shutil.which("g++") or shutil.which("clang++")), reason="no compiler or no CMake"
)

DATA = """#pragma once
#include <cstdint>
struct AutofuseTilingData { uint32_t block_dim; uint32_t s0; uint32_t words[6]; };
"""

TILING = """#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include "autofuse_tiling_data.h"
{extra}
extern "C" size_t GetTilingDataSize() {{ return sizeof(AutofuseTilingData); }}
extern "C" int64_t AutofuseTiling({symbols}AutofuseTilingData *tiling, uint32_t *workspaceSize, uint32_t *blockDim,
                                  uint32_t aiv_num, uint32_t ub_size) {{
  tiling->block_dim = 2;
  *workspaceSize = 16U << 20;
  *blockDim = 2;
  {body}
  return 0;
}}
"""


def operator(body: str = "", symbols: int = 0, extra: str = "") -> Dict[str, str]:
    """The files of an operator whose AutofuseTiling does `body` between its usual first and last lines."""
    parameters = "".join(f"uint32_t s{index}, " for index in range(symbols))
    source = TILING.format(body=body, symbols=parameters, extra=extra)
    return {"autofuse_tiling_data.h": DATA, "op_tiling_func.cpp": source}


def contract(dims: List[int], kind: Optional[str] = None, **changes: Any) -> Dict[str, Any]:
    """An input contract."""
    kind = kind or ("tf_dynamic" if dims else "tf_static")
    abi = {"kind": kind, "shape_dims": len(dims), "block_dim_width": 32}
    return {"dynamic_dims": dims, "aiv_num": 48, "ub_size": 196608, "abi": abi, **changes}


@dataclass
class Verified:
    """One run of the command: what it printed and what it left."""

    outcome: Outcome
    folder: Path

    @property
    def code(self) -> int:
        return self.outcome.exit_code

    @property
    def stderr(self) -> str:
        return self.outcome.stderr

    @property
    def result(self) -> Dict[str, Any]:
        value: Dict[str, Any] = json.loads((self.folder / "result.json").read_text(encoding="utf-8"))
        return value

    def check(self, name: str) -> Optional[bool]:
        """Whether the check of this name passed."""
        return {check["name"]: check["passed"] for check in self.result["checks"]}[name]


def users_of(folder: Path) -> List[str]:
    """Command lines of all processes that name the folder or work in it."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                command = Path("/proc", entry, "cmdline").read_bytes()
                place = os.readlink(f"/proc/{entry}/cwd")
            except OSError:
                continue
            if os.fsencode(folder) in command or place.startswith(str(folder)):
                found.append(command.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found
