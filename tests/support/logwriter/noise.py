"""Lines that logs hold beside tiling data: other modules, other parts of GE, the application, bytes of other encodings.

None says anything about tiling; several hold words that a careless reader takes for it.
"""

from __future__ import annotations

import random
from typing import Tuple

from logwriter.wrap import time_text

__all__ = ["APPLICATION", "GARBAGE", "MODULES", "application_line", "garbage_line", "module_line"]

MODULES: Tuple[Tuple[str, str, str], ...] = (
    ("INFO", "RUNTIME", "[api_impl.cc:812]{tid} LaunchKernel: stream_id=3, task_id={number}, kernel=te_add_{number}"),
    ("EVENT", "PROFILING", "[msprofiler_impl.cpp:176] >>> (tid:{tid}) [PROF]Started profiling successfully"),
    ("INFO", "PROFILING", "[prof_api.cpp:41]{tid} MsprofInit:[PROF]The value of switch is on"),
    (
        "INFO",
        "GE",
        "[graph_manager.cc:1188]{tid} PreRun:[GEPERFTRACE] The time cost of PreRun is [{number}] micro seconds.",
    ),
    ("INFO", "GE", "[tiling_cache.cc:77]{tid} Lookup:tiling cache of node[Add_{number}] hit, score is kept"),
    ("DEBUG", "GE", "[ascend_graph.cc:90]{tid} Dump:node [Add_{number}] type [Add], inputs [2], outputs [1]"),
    ("INFO", "GE", "[ascgen_codegen.cpp:55]{tid} GenKernel:[DFX]Gen kernel of graph AscGraph{number} took 12 ms"),
    (
        "INFO",
        "GE",
        "[autofuse_solver.cc:31]{tid} Expand:[fuse_{number}]32) * z2t_size)) * z1t_size)))), Min(65312, s1)",
    ),
    ("WARNING", "GE", "[op_desc.cc:1204]{tid} GetAttr:[fuse_{number}]Attr _score_map not found, use default"),
    ("ERROR", "GE", "[model_executor.cc:99]{tid} Run: ErrorNo: 4294967295()[Run][Model]failed, model_id:{number}"),
    ("ERROR", "HCCL", "[hccl_socket.cc:10]{tid} Connect: ErrorNo: 4294967295() connect rank {number} timed out"),
    ("WARNING", "TSD", "[tsd_client.cpp:212]{tid} Open:[TsdClient][deviceId={number}] retry"),
    ("TRACE", "DRV", "[ascend][curpid: {tid}, 4711][drv][tsdrv][share_log_read]devid({number}) memory alloc"),
    ("INFO", "IDEDD", "[dump_manager.cc:12][tid:{tid}] [End GetTilingKey] nothing to dump"),
)
"""Level, module and the rest of a plog line behind its time."""

APPLICATION: Tuple[str, ...] = (
    "step {number}: loss 0.{number}, grad_norm 1.2, the score is 0.{number}",
    'Traceback (most recent call last):\n  File "train.py", line {number}, in <module>',
    "INFO 07-25 17:55:54 [loggers.py:116] Engine 000: Avg prompt throughput: {number}.0 tokens/s",
    '{{"event": "tiling", "case": {number}, "op": "Add", "values": ["[PROF]", "[Add]"]}}',
    "[2026-07-25 17:55:54] [rank0]: [PROF]",
    "[Add [PROF]The value of q0_size is {number} in graph0_result0_g0_0.",
    "[INFO] [PROF]The value of q0_size is {number} in graph0_result0_g0_0.",
    "[INFO] [tiling.cpp:12] Start GetTiling.",
    "['Add', 'Mul'] The value of graph is {number}.0",
    "",
    "----------------------------------------",
)
"""What an application prints between log lines; one line or more."""

GARBAGE: Tuple[bytes, ...] = (
    b"\xff\xfe\xfa broken \x80 bytes",
    "编译算子失败".encode("gb18030"),
    "[INFO] 融合算子 开始".encode("gb18030"),
    b"\0\0\0\0\0\0\0\0",
    "算子".encode()[:4],
)
"""Lines that hold bytes that are no UTF-8, or NULs."""


def module_line(chance: random.Random, pid: int, tid: int, number: int) -> bytes:
    """A plog line of some module in the given process and thread."""
    level, module, rest = chance.choice(MODULES)
    place = rest.format(tid=tid, number=number)
    return f"[{level}] {module}({pid},python3):{time_text(number)} {place}".encode()


def application_line(chance: random.Random, number: int) -> bytes:
    """One print of the application; may hold newlines."""
    return chance.choice(APPLICATION).format(number=number).encode()


def garbage_line(chance: random.Random) -> bytes:
    """A line that does not decode."""
    return chance.choice(GARBAGE)
