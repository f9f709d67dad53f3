"""Acceptance of the shim: code of the shape that Autofuse generates compiles, runs and logs as it does with CANN."""

from __future__ import annotations

from typing import Callable, Dict

import pytest
from autofuse.testing import run_cli
from tiling_operators import Verified, needs_compiler, operator

pytestmark = needs_compiler

COMMON = r"""#ifndef __AUTOFUSE_TILING_FUNC_COMMON_H__
#define __AUTOFUSE_TILING_FUNC_COMMON_H__
#include "autofuse_tiling_data.h"
#ifndef __CCE_KT_TEST__
#include "exe_graph/runtime/infer_shape_context.h"
#include "exe_graph/runtime/kernel_context.h"
#include "platform/platform_infos_def.h"
#include "platform_ascendc.h"
#endif
#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include <sys/syscall.h>
#include <unistd.h>
#include "dlog_pub.h"
#include "err_msg.h"
#include "securec.h"
#define OP_NAME "load_abs_store"
namespace {
constexpr int32_t GE_MODULE = 45;
constexpr uint32_t FAILED = 4294967295U;
inline uint64_t GetTid() { return static_cast<uint64_t>(syscall(__NR_gettid)); }
inline bool IsLogEnable(int32_t wanted) {
  static const int32_t level = []() {
    const char *text = std::getenv("ASCEND_GLOBAL_LOG_LEVEL");
    return text == nullptr ? DLOG_ERROR : std::atoi(text);
  }();
  return wanted >= level && CheckLogLevel(GE_MODULE, wanted) == 1;
}
inline std::string CreateErrorMsg(const char *format, ...) {
  va_list args;
  va_start(args, format);
  va_list copy;
  va_copy(copy, args);
  char none[1] = {0};
  const int32_t length = vsnprintf_s(none, 0, 0, format, copy);
  va_end(copy);
  std::string text;
  if (length > 0) {
    std::vector<char> room(static_cast<size_t>(length) + 1U);
    if (vsnprintf_s(room.data(), room.size(), room.size() - 1U, format, args) > 0) {
      text = room.data();
    }
  }
  va_end(args);
  return text;
}
}
#define OP_LOG(call, level, name, fmt, ...) \
  do { \
    if (IsLogEnable(level)) { \
      call(GE_MODULE, "%" PRIu64 " %s:[%s]" fmt, GetTid(), &__FUNCTION__[0], name, ##__VA_ARGS__); \
    } \
  } while (false)
#define OP_LOGD(name, fmt, ...) OP_LOG(dlog_debug, DLOG_DEBUG, name, fmt, ##__VA_ARGS__)
#define OP_LOGI(name, fmt, ...) OP_LOG(dlog_info, DLOG_INFO, name, fmt, ##__VA_ARGS__)
#define OP_LOGW(name, fmt, ...) OP_LOG(dlog_warn, DLOG_WARN, name, fmt, ##__VA_ARGS__)
#define OP_EVENT(name, fmt, ...) \
  dlog_info(static_cast<int32_t>(static_cast<uint32_t>(RUN_LOG_MASK) | static_cast<uint32_t>(GE_MODULE)), \
            "%" PRIu64 " %s:[%s]" fmt, GetTid(), &__FUNCTION__[0], name, ##__VA_ARGS__)
#define OP_LOGE(name, fmt, ...) \
  do { \
    dlog_error(GE_MODULE, "%" PRIu64 " %s: ErrorNo: %" PRIuLEAST32 "(%s) %s", GetTid(), &__FUNCTION__[0], FAILED, "", \
               CreateErrorMsg("[%s]" fmt, name, ##__VA_ARGS__).c_str()); \
    REPORT_INNER_ERR_MSG("E19999", "[%s]" fmt, name, ##__VA_ARGS__); \
  } while (false)
#define GE_ASSERT(x) do { if (!(x)) { OP_LOGE(OP_NAME, "Assert %s failed", #x); return false; } } while (false)
namespace optiling {
bool GetTiling(AutofuseTilingData &tiling_data, uint32_t s0);
}
#endif
"""

GROUP = r"""#include "autofuse_tiling_func_common.h"
namespace optiling {
bool GetTiling(AutofuseTilingData &tiling_data, uint32_t s0) {
  OP_LOGI(OP_NAME, "Start GetTiling.");
  OP_LOGD(OP_NAME, "not wanted at this level");
  OP_LOGI(OP_NAME, "Set input params for tiling case 0 of AscGraph0ScheduleResult0G0.  s0 = %u.", s0);
  OP_LOGI(OP_NAME, "Set hardware params. ub_size = %u. block_dim = %u.", 196608U, 48U);
  OP_LOGW(OP_NAME, "a warning");
  OP_EVENT(OP_NAME, "[PROF]The value of z0t_size is %u in graph0_result0_g0_0.", 64U);
  GE_ASSERT(s0 != 13);
  OP_EVENT(OP_NAME, "[PROF]The value of AIV_MTE2 is %f in graph0_result0_g0_0.", 952.5);
  OP_EVENT(OP_NAME, "[PROF]The objective value of the tiling data is %f in graph0_result0_g0_0.", 1252.5);
  OP_EVENT(OP_NAME, "[PROF]Among the templates, tiling case %s of %s is the best choice.", "0", "graph0_result0_g0");
  tiling_data.block_dim = 2;
  char name[8];
  if (memset_s(&tiling_data.words, sizeof(tiling_data.words), 0, 4) != EOK || strncpy_s(name, 8, "abc", 3) != EOK ||
      snprintf_s(name, sizeof(name), sizeof(name) - 1, "%d", 12345678) != -1 || sprintf_s(name, 8, "%d", 12) != 2 ||
      memcpy_s(&tiling_data.words, 4, "\1\2\3\4", 4) != EOK) {
    return false;
  }
  OP_LOGI(OP_NAME, "End GetTiling.");
  return true;
}
}
"""

ENTRY = r"""#include "autofuse_tiling_func_common.h"
extern "C" bool AutofuseIsStaticShape() { return false; }
extern "C" int64_t FindBestTilingKey(AutofuseTilingData &t) { return t.block_dim == 2 ? 0 : -1; }
extern "C" uint32_t GetTilingKeyCount() { return 1; }
extern "C" size_t GetTilingDataSize() { return sizeof(AutofuseTilingData); }
extern "C" int64_t AutofuseTiling(uint32_t s0, AutofuseTilingData* tiling, uint32_t* workspaceSize, uint32_t *blockDim,
                                  uint32_t aiv_num, uint32_t ub_size) {
  REPORT_PREDEFINED_ERR_MSG("E10001", std::vector<const char *>({"value", "name"}),
                            std::vector<const char *>({"1", nullptr}));
  REPORT_PREDEFINED_ERR_MSG("E10002", "no %s at %d", (const char *)nullptr, 5);
  REPORT_PREDEFINED_ERR_MSG("E10003");
  if (!optiling::GetTiling(*tiling, s0)) {
    return -1;
  }
  *blockDim = tiling->block_dim;
  *workspaceSize = 16 * 1024 * 1024;
  return 0;
}
#ifndef __CCE_KT_TEST__
extern "C" ge::graphStatus TilingFunc(gert::TilingSymbolEvalContext *context) {
  return AutofuseTiling(1, context->GetOutputPointer<AutofuseTilingData>(0), nullptr, nullptr, 48, 196608);
}
#endif
"""

SOURCE: Dict[str, str] = {
    "autofuse_tiling_data.h": operator()["autofuse_tiling_data.h"],
    "autofuse_tiling_func_common.h": COMMON,
    "load_abs_store_tiling_func_asc_graph0_schedule_result0_g0.cpp": GROUP,
    "load_abs_store_tiling_func_tiling_entry.cpp": ENTRY,
    "load_abs_store_infershape.cpp": '#include "exe_graph/runtime/infer_shape_context.h"\n',
}
REPORTS = ["E10001: value = 1, name = (null)", "E10002: no (null) at 5", "E10003: predefined error"]


@pytest.fixture
def inputs(verify: Callable[..., Verified]) -> Callable[[int], Verified]:
    def run(s0: int) -> Verified:
        abi = {"kind": "tf_dynamic", "shape_dims": 1, "block_dim_width": 32}
        return verify(SOURCE, inputs={"dynamic_dims": [s0], "aiv_num": 48, "ub_size": 196608, "abi": abi})

    return run


def test_generated_code_logs_what_summary_reads(inputs: Callable[[int], Verified]) -> None:
    run = inputs(64)
    assert run.code == 0, run.result["error"]
    assert (run.result["tiling_key"], run.result["reports"], run.result["logged_errors"]) == (0, REPORTS, [])
    assert run.result["choice"][0] == {
        "template": "graph0_result0_g0_0",
        "objective": "1252.500000",
        "pipes": {"AIV_MTE2": "952.500000"},
    }
    text = (run.folder / "att.log").read_text()
    assert text.count("Start GetTiling.") == 1  # the repeat of the checks is not in it
    assert "not wanted" not in text
    summary = run_cli("run", "summary", run.folder / "att.log", "-f", "jsonl")
    assert summary.exit_code == 0, summary.stderr
    assert '"load_abs_store"' in summary.stdout
    assert '"Invocation": 1, "Invocations": 1, "Input Shape": "s0=64"' in summary.stdout


def test_a_failing_call_says_why(inputs: Callable[[int], Verified]) -> None:
    run = inputs(13)
    assert (run.code, run.result["status"], run.result["error"]) == (1, "RUNTIME_FAILED", "returned -1")
    line = 1 + GROUP.partition("GE_ASSERT")[0].count("\n")
    assert len(run.result["logged_errors"]) == 1
    place, _, message = run.result["logged_errors"][0].partition("]")
    assert place == f"[load_abs_store_tiling_func_asc_graph0_schedule_result0_g0.cpp:{line}"
    assert message.lstrip("0123456789") == " GetTiling: ErrorNo: 4294967295() [load_abs_store]Assert s0 != 13 failed"
    assert run.result["reports"] == [*REPORTS, "E19999: [load_abs_store]Assert s0 != 13 failed"]
    assert f"the code logged: {place}" in run.outcome.stdout


def test_a_struct_of_unknown_size_needs_cann(verify: Callable[..., Verified]) -> None:
    source = operator()
    source["autofuse_tiling_data.h"] = source["autofuse_tiling_data.h"].replace(
        "struct AutofuseTilingData {",
        '#include "kernel_tiling/kernel_tiling.h"\nstruct AutofuseTilingData { TCubeTiling mm;',
    )
    run = verify(source)
    assert (run.code, run.result["status"]) == (1, "COMPILE_FAILED")
    assert "'TCubeTiling'" in run.result["error"]
    assert "; the shim knows no such struct of the tiling library" in run.result["error"]
    assert "--toolkit cann" in run.result["error"]
