# Sample of a compiled-graph module as torch.compile writes it; only the artifacts dictionary is of interest, nothing runs.
# ruff: noqa: E501, I001
import torch
from torch import empty_strided
from inductor_npu_ext.compile import async_compile

autofuse_pointwise_0_artifacts = {
    "name": "autofuse_pointwise_0",
    "tiling_def": r"""#ifndef AUTOFUSE_TILING_DATA_H
#define AUTOFUSE_TILING_DATA_H

#include <cstdint>
#include "kernel_tiling/kernel_tiling.h"

#define BEGIN_TILING_DATA_DEF_T(name) struct name {
#define TILING_DATA_FIELD_DEF_T(type, name)            \
  type name;                                           \
  inline void set_##name(type value) { name = value; } \
  inline type get_##name() const { return name; }
#define END_TILING_DATA_DEF_T }

BEGIN_TILING_DATA_DEF_T(AutofuseTilingData)
  TILING_DATA_FIELD_DEF_T(uint32_t, block_dim);
  TILING_DATA_FIELD_DEF_T(uint32_t, corenum);
  TILING_DATA_FIELD_DEF_T(uint32_t, ub_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, hbm_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, tiling_key);
  TILING_DATA_FIELD_DEF_T(uint32_t, s0);
  TILING_DATA_FIELD_DEF_T(uint32_t, s1);
  TILING_DATA_FIELD_DEF_T(uint32_t, z0z1t_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, z0z1Tb_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, q0_size);
  TILING_DATA_FIELD_DEF_T(uint32_t, b0_size);
END_TILING_DATA_DEF_T;

#endif
""",
    "host_impl": r"""// AUTOFUSE_SPLIT_FILE_BEGIN:TilingStateHeader
// What one call of GetTiling carries from group to group.
#ifndef AUTOFUSE_TILING_FUNC_STATE_H
#define AUTOFUSE_TILING_FUNC_STATE_H

#include <cfloat>
#include <cstdint>

namespace optiling {
struct GroupResult {
  bool solved = false;
  double objective = DBL_MAX;
  uint32_t block_dim = 0;
};

struct ScheduleState {
  bool chosen = false;
  double best_perf = DBL_MAX;
  uint32_t tiling_key = 0;
  uint32_t block_dim = 0;
};
}  // namespace optiling

#endif  // AUTOFUSE_TILING_FUNC_STATE_H
// AUTOFUSE_SPLIT_FILE_END:TilingStateHeader
// AUTOFUSE_SPLIT_FILE_BEGIN:TilingLogHeader
// Log macros: the level is read from the environment once, messages go to the CANN log as module GE.
#ifndef AUTOFUSE_TILING_FUNC_LOG_H
#define AUTOFUSE_TILING_FUNC_LOG_H

#include <sys/syscall.h>
#include <unistd.h>
#include <cstdarg>
#include <cstdlib>
#include <string>
#include <vector>
#include "dlog_pub.h"
#include "err_msg.h"
#include "securec.h"

namespace optiling {
constexpr int32_t kGeModule = 45;
constexpr const char *OP_NAME = "autofuse_pointwise_0_Gelu";

inline bool IsLogEnabled(int32_t level) {
  static const int32_t enabled = []() {
    const char *text = std::getenv("ASCEND_GLOBAL_LOG_LEVEL");
    return text == nullptr ? static_cast<int32_t>(DLOG_ERROR) : static_cast<int32_t>(std::strtol(text, nullptr, 10));
  }();
  return level >= enabled;
}

inline long GetTid() {
  static thread_local const long tid = static_cast<long>(syscall(SYS_gettid));
  return tid;
}

inline std::string FormatError(const char *format, ...) {
  va_list measured;
  va_start(measured, format);
  va_list written;
  va_copy(written, measured);
  const int length = vsnprintf_s(nullptr, 0, 0, format, measured);
  va_end(measured);
  std::string text;
  if (length > 0) {
    std::vector<char> buffer(static_cast<size_t>(length) + 1U);
    if (vsnprintf_s(buffer.data(), buffer.size(), static_cast<size_t>(length), format, written) > 0) {
      text.assign(buffer.data());
    }
  }
  va_end(written);
  return text;
}
}  // namespace optiling

#define OP_LOG_AT(record, level, fmt, ...)                                                                       \
  do {                                                                                                           \
    if (optiling::IsLogEnabled(level)) {                                                                         \
      record(optiling::kGeModule, "%ld %s:[%s]" fmt, optiling::GetTid(), __FUNCTION__, optiling::OP_NAME, ##__VA_ARGS__); \
    }                                                                                                            \
  } while (false)
#define OP_LOGD(fmt, ...) OP_LOG_AT(dlog_debug, DLOG_DEBUG, fmt, ##__VA_ARGS__)
#define OP_LOGI(fmt, ...) OP_LOG_AT(dlog_info, DLOG_INFO, fmt, ##__VA_ARGS__)
#define OP_LOGW(fmt, ...) OP_LOG_AT(dlog_warn, DLOG_WARN, fmt, ##__VA_ARGS__)
#define OP_LOGE(fmt, ...)                                                                                        \
  do {                                                                                                           \
    const std::string error_text = optiling::FormatError("[%s]" fmt, optiling::OP_NAME, ##__VA_ARGS__);          \
    dlog_error(optiling::kGeModule, "%ld %s: ErrorNo: 4294967295() %s", optiling::GetTid(), __FUNCTION__,        \
               error_text.c_str());                                                                              \
    REPORT_INNER_ERR_MSG("E19999", "%s", error_text.c_str());                                                    \
  } while (false)

#endif  // AUTOFUSE_TILING_FUNC_LOG_H
// AUTOFUSE_SPLIT_FILE_END:TilingLogHeader
// AUTOFUSE_SPLIT_FILE_BEGIN:TilingPgoHeader
// Record of one measured solution; profile guided search is not part of this sample.
#ifndef AUTOFUSE_TILING_FUNC_PGO_H
#define AUTOFUSE_TILING_FUNC_PGO_H

#include "autofuse_tiling_data.h"

struct AutofuseTilingDataPerf {
  AutofuseTilingData tiling_data;
  double best_perf;
};

#endif  // AUTOFUSE_TILING_FUNC_PGO_H
// AUTOFUSE_SPLIT_FILE_END:TilingPgoHeader
// AUTOFUSE_SPLIT_FILE_BEGIN:TilingBaseHeader
// The small expression language of the formulas.
#ifndef AUTOFUSE_TILING_FUNC_BASE_H
#define AUTOFUSE_TILING_FUNC_BASE_H

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#ifndef __CCE_KT_TEST__
#include "exe_graph/runtime/tiling_context.h"
#include "platform/platform_infos_def.h"
#endif

namespace optiling {
enum class PipeType : uint8_t { AIV_MTE2, AIV_MTE3, AIV_VEC, ALL };

constexpr bool True = true;
constexpr bool False = false;

inline bool IsEqual(double a, double b) { return (a > b ? a - b : b - a) < 1e-8; }
inline double Max(double a, double b) { return a > b ? a : b; }
inline double Min(double a, double b) { return a < b ? a : b; }
inline double Abs(double a) { return std::fabs(a); }
inline double Log(double a) { return std::log(a); }
inline double Pow(double a, double b) { return std::pow(a, b); }
inline double Sqrt(double a) { return std::sqrt(a); }
inline double Rational(double a, double b) { return a / b; }
inline double Mod(double a, double b) { return std::fmod(a, b); }
inline bool ExpectEq(double a, double b) { return a == b; }
inline bool ExpectNe(double a, double b) { return a != b; }
inline bool ExpectLe(double a, double b) { return a <= b; }
inline bool ExpectLt(double a, double b) { return a < b; }
inline bool LogicAnd(bool a, bool b) { return a && b; }
inline bool LogicOr(bool a, bool b) { return a || b; }
inline double TernaryOp(bool condition, double a, double b) { return condition ? a : b; }
inline double Floor(double a) { return static_cast<double>(static_cast<int64_t>(a)); }
inline double Ceiling(double a) {
  const double truncated = static_cast<double>(static_cast<int64_t>(a));
  return IsEqual(truncated, a) ? truncated : truncated + 1;
}
}  // namespace optiling

#endif  // AUTOFUSE_TILING_FUNC_BASE_H
// AUTOFUSE_SPLIT_FILE_END:TilingBaseHeader
// AUTOFUSE_SPLIT_FILE_BEGIN:TilingSolverHeader
// The axes reorder solver: tiles that fit the unified buffer first, then blocks that fit the cores.
#ifndef AUTOFUSE_TILING_FUNC_SOLVER_H
#define AUTOFUSE_TILING_FUNC_SOLVER_H

#include <cstdint>
#include "autofuse_tiling_func_base.h"

namespace optiling {
struct TilingVar {
  uint32_t value = 0;
  uint32_t upper_bound = 0;
  uint32_t align = 1;
};

struct SolverInput {
  uint32_t result_id = 0;
  uint32_t group_id = 0;
  uint32_t case_id = 0;
  uint32_t sub_case_id = 0;
  uint32_t core_num = 0;
  uint32_t ub_size = 0;
};

class AxesReorderSolver {
 public:
  AxesReorderSolver(const SolverInput &input, uint32_t upper_bound, uint32_t align);
  virtual ~AxesReorderSolver() = default;
  AxesReorderSolver(const AxesReorderSolver &) = delete;
  AxesReorderSolver &operator=(const AxesReorderSolver &) = delete;

  bool Run();
  uint32_t GetTile() const { return local_buffer_var_.value; }
  uint32_t GetTilesPerBlock() const { return multicore_var_.value; }
  virtual int64_t GetUbSize() const = 0;
  virtual int GetBlockDim() const = 0;
  virtual double GetPerf() const = 0;

 protected:
  // Number of tiles that the blocks share out for the current tile.
  virtual uint32_t GetTileCount() const = 0;

  SolverInput input_;
  TilingVar local_buffer_var_;
  TilingVar multicore_var_;

 private:
  bool LocalBufferTiling();
  bool MulticoreTiling(uint32_t core_num);
  bool GetTiling(uint32_t core_num);
  void AutoTuning();
  void ApplyPromptAlign();
};
}  // namespace optiling

#endif  // AUTOFUSE_TILING_FUNC_SOLVER_H
// AUTOFUSE_SPLIT_FILE_END:TilingSolverHeader
// AUTOFUSE_SPLIT_FILE_BEGIN:TilingApiHeader
#ifndef AUTOFUSE_TILING_FUNC_API_H
#define AUTOFUSE_TILING_FUNC_API_H

#include "autofuse_tiling_data.h"
#include "autofuse_tiling_func_base.h"
#include "autofuse_tiling_func_log.h"
#include "autofuse_tiling_func_solver.h"
#include "autofuse_tiling_func_state.h"

namespace optiling {
bool GetTilingKey(AutofuseTilingData &tiling_data, int32_t tiling_case_id);
}

#endif
// AUTOFUSE_SPLIT_FILE_END:TilingApiHeader
// AUTOFUSE_SPLIT_FILE_BEGIN:TilingTailHeader
#ifndef AUTOFUSE_TILING_FUNC_TAIL_H
#define AUTOFUSE_TILING_FUNC_TAIL_H

#include "autofuse_tiling_func_api.h"

namespace optiling {
bool GetTiling(AutofuseTilingData &tiling_data, int32_t tiling_case_id);
}

#endif
// AUTOFUSE_SPLIT_FILE_END:TilingTailHeader
// AUTOFUSE_SPLIT_FILE_BEGIN:TilingEntryHeader
#ifndef AUTOFUSE_TILING_FUNC_ENTRY_H
#define AUTOFUSE_TILING_FUNC_ENTRY_H

#include <cstddef>
#include "autofuse_tiling_func_tail.h"

struct ResLimit {
  uint32_t valid_num = 0;
  uint32_t aiv_num = 0;
  uint32_t aic_num = 0;
  uint32_t ub_size = 0;
  uint32_t resv[10];
};
constexpr ResLimit g_no_limit_res = {1, 48, 0, 192 * 1024, {}};

#endif
// AUTOFUSE_SPLIT_FILE_END:TilingEntryHeader
// AUTOFUSE_SPLIT_FILE_BEGIN:asc_graph0_schedule_result0_g0
#include "autofuse_tiling_func_api.h"

namespace optiling {
// Both axes are merged into one; tiles of it fill the unified buffer.
class AxesReorderSolvercase0 : public AxesReorderSolver {
 public:
  AxesReorderSolvercase0(const SolverInput &input, AutofuseTilingData &tiling_data)
      : AxesReorderSolver(input, tiling_data.get_s0() * tiling_data.get_s1(), 16), tiling_data_(tiling_data) {}
  int64_t GetUbSize() const override {
    tiling_data_.set_z0z1t_size(local_buffer_var_.value);
    return GetUbSizeStatic(tiling_data_);
  }
  int GetBlockDim() const override {
    tiling_data_.set_z0z1t_size(local_buffer_var_.value);
    tiling_data_.set_z0z1Tb_size(multicore_var_.value);
    return GetBlockDimStatic(tiling_data_);
  }
  double GetPerf() const override {
    tiling_data_.set_block_dim(static_cast<uint32_t>(GetBlockDim()));
    return GetTilingDataPerfStatic(PipeType::ALL, tiling_data_);
  }
  static double GetPerfStatic(const PipeType &pipe_type, double block_dim, double s0, double s1, double z0z1Tb_size, double z0z1t_size);
  static double GetTilingDataPerfStatic(const PipeType &pipe_type, AutofuseTilingData &tiling_data);
  static int64_t GetUbSizeStatic(AutofuseTilingData &tiling_data);
  static int GetBlockDimStatic(AutofuseTilingData &tiling_data);

 protected:
  uint32_t GetTileCount() const override {
    const double elements = static_cast<double>(tiling_data_.get_s0()) * tiling_data_.get_s1();
    return static_cast<uint32_t>(Ceiling((elements / (local_buffer_var_.value))));
  }

 private:
  AutofuseTilingData &tiling_data_;
};

int64_t AxesReorderSolvercase0::GetUbSizeStatic(AutofuseTilingData &tiling_data) {
  auto z0z1t_size = static_cast<double>(tiling_data.get_z0z1t_size());
  auto q0_size = (32 * Ceiling((Rational(1 , 16) * z0z1t_size)));
  auto b0_size = Max(8192, (64 * Ceiling((Rational(1 , 16) * z0z1t_size))));
  int64_t ub_size = ((4 * q0_size) + b0_size);
  return ub_size;
}

int AxesReorderSolvercase0::GetBlockDimStatic(AutofuseTilingData &tiling_data) {
  auto s0 = static_cast<double>(tiling_data.get_s0());
  auto s1 = static_cast<double>(tiling_data.get_s1());
  auto z0z1Tb_size = static_cast<double>(tiling_data.get_z0z1Tb_size());
  auto z0z1t_size = static_cast<double>(tiling_data.get_z0z1t_size());
  return std::max(1, static_cast<int32_t>(Max(0, Ceiling((Ceiling((s0 * s1 / (z0z1t_size))) / (z0z1Tb_size))))));
}

double AxesReorderSolvercase0::GetPerfStatic(const PipeType &pipe_type, double block_dim, double s0, double s1, double z0z1Tb_size, double z0z1t_size) {
  double x_load_0_Load_AIV_MTE2_exe_time = (z0z1Tb_size);
  bool x_load_0_Load_AIV_MTE2_cond0 = (2 * z0z1t_size < 25000);
  double x_load_0_Load_AIV_MTE2_case0 = ((2 * z0z1t_size / (7.2341)) + 27.01);
  double x_load_0_Load_AIV_MTE2_case1 = ((2 * z0z1t_size / (9.9074)) + 172.2);
  double x_load_0_Load_AIV_MTE2_branch4 = TernaryOp(x_load_0_Load_AIV_MTE2_cond0, x_load_0_Load_AIV_MTE2_case0, x_load_0_Load_AIV_MTE2_case1);
  double x_load_0_Load_AIV_MTE2_contrib = (x_load_0_Load_AIV_MTE2_branch4 * x_load_0_Load_AIV_MTE2_exe_time);
  double gelu_1_Gelu_AIV_VEC_contrib = (((z0z1t_size * 0.1406) + 112.11) * z0z1Tb_size);
  double out_store_2_Store_AIV_MTE3_contrib = (((2 * z0z1t_size / (Min((3.2 * block_dim), 12.4))) + 12.09) * z0z1Tb_size);
  double AIV_MTE2 = (775.0 + x_load_0_Load_AIV_MTE2_contrib);
  double AIV_MTE3 = (497.36 + out_store_2_Store_AIV_MTE3_contrib);
  double AIV_VEC = (gelu_1_Gelu_AIV_VEC_contrib);
  if (pipe_type == PipeType::AIV_MTE2) {
    return AIV_MTE2;
  }
  if (pipe_type == PipeType::AIV_MTE3) {
    return AIV_MTE3;
  }
  if (pipe_type == PipeType::AIV_VEC) {
    return AIV_VEC;
  }
  return ((300.0 * Max(0, Ceiling((Ceiling((s0 * s1 / (z0z1t_size))) / (z0z1Tb_size))))) + Max(Max(AIV_MTE2, AIV_MTE3), AIV_VEC));
}

double AxesReorderSolvercase0::GetTilingDataPerfStatic(const PipeType &pipe_type, AutofuseTilingData &tiling_data) {
  return GetPerfStatic(pipe_type, static_cast<double>(tiling_data.get_block_dim()), static_cast<double>(tiling_data.get_s0()), static_cast<double>(tiling_data.get_s1()), static_cast<double>(tiling_data.get_z0z1Tb_size()), static_cast<double>(tiling_data.get_z0z1t_size()));
}

class TilingCase0Impl {
 public:
  bool GetTiling(AutofuseTilingData &tiling_data, const SolverInput &input) {
    OP_LOGD("Execute DoTiling.");
    if (!DoTiling(tiling_data, input)) {
      OP_LOGW("Failed to do tiling.");
      return false;
    }
    TilingSummary(tiling_data);
    return true;
  }

 private:
  bool DoTiling(AutofuseTilingData &tiling_data, const SolverInput &input) {
    OP_LOGI("Set input params for tiling case 0 of AscGraph0ScheduleResult0G0.  s0 = %u. s1 = %u.", tiling_data.get_s0(), tiling_data.get_s1());
    OP_LOGI("Set ub_size for tiling case 0 of AscGraph0ScheduleResult0G0 to ((128 * Ceiling((Rational(1 , 16) * z0z1t_size))) + Max(8192, (64 * Ceiling((Rational(1 , 16) * z0z1t_size)))))");
    OP_LOGI("Set block_dim for tiling case 0 of AscGraph0ScheduleResult0G0 to Max(0, Ceiling((Ceiling((s0 * s1 / (z0z1t_size))) / (z0z1Tb_size))))");
    OP_LOGI("Set hardware params. ub_size = %u. block_dim = %u.", input.ub_size, input.core_num);
    AxesReorderSolvercase0 solver(input, tiling_data);
    if (!solver.Run()) {
      OP_LOGW("Failed to execute axes reorder solver for tilingCaseId case0.");
      return false;
    }
    OP_LOGD("Execute axes reorder solver for tilingCaseId case0 successfully.");
    tiling_data.set_block_dim(static_cast<uint32_t>(solver.GetBlockDim()));
    tiling_data.set_q0_size(static_cast<uint32_t>((32 * Ceiling((Rational(1 , 16) * tiling_data.get_z0z1t_size())))));
    tiling_data.set_b0_size(static_cast<uint32_t>(Max(8192, (64 * Ceiling((Rational(1 , 16) * tiling_data.get_z0z1t_size()))))));
    tiling_data.set_tiling_key(0);
    return true;
  }

  void TilingSummary(AutofuseTilingData &tiling_data) {
    OP_LOGI("[PROF]The value of z0z1Tb_size is %u in graph0_result0_g0_0.", tiling_data.get_z0z1Tb_size());
    OP_LOGI("[PROF]The value of z0z1t_size is %u in graph0_result0_g0_0.", tiling_data.get_z0z1t_size());
    OP_LOGI("[PROF]The value of ub_size is %ld in graph0_result0_g0_0.", static_cast<long>(AxesReorderSolvercase0::GetUbSizeStatic(tiling_data)));
    OP_LOGI("[PROF]The value of block_dim is %u in graph0_result0_g0_0.", tiling_data.get_block_dim());
    OP_LOGI("[PROF]The value of b0_size is %u in graph0_result0_g0_0.", tiling_data.get_b0_size());
    OP_LOGI("[PROF]The value of q0_size is %u in graph0_result0_g0_0.", tiling_data.get_q0_size());
    OP_LOGI("[PROF]The value of AIV_MTE2 is %f in graph0_result0_g0_0.", AxesReorderSolvercase0::GetTilingDataPerfStatic(PipeType::AIV_MTE2, tiling_data));
    OP_LOGI("[PROF]The value of AIV_MTE3 is %f in graph0_result0_g0_0.", AxesReorderSolvercase0::GetTilingDataPerfStatic(PipeType::AIV_MTE3, tiling_data));
    OP_LOGI("[PROF]The value of AIV_VEC is %f in graph0_result0_g0_0.", AxesReorderSolvercase0::GetTilingDataPerfStatic(PipeType::AIV_VEC, tiling_data));
    OP_LOGI("[PROF]The objective value of the tiling data is %f in graph0_result0_g0_0.", AxesReorderSolvercase0::GetTilingDataPerfStatic(PipeType::ALL, tiling_data));
  }
};

bool GetTilingKey(AutofuseTilingData &tiling_data, int32_t tiling_case_id) {
  SolverInput input;
  input.core_num = tiling_data.get_block_dim();
  input.ub_size = tiling_data.get_ub_size();
  if (tiling_case_id < 0) {
    OP_LOGI("The user didn't specify tiling_case_id, iterate all templates.");
  }
  OP_LOGI("tiling case0 of asc_graph0_schedule_result0_g0 score is 0");
  TilingCase0Impl case0;
  if (!case0.GetTiling(tiling_data, input)) {
    OP_LOGI("Set input params for tiling case 0 of AscGraph0ScheduleResult0G0.  s0 = %u. s1 = %u.", tiling_data.get_s0(), tiling_data.get_s1());
    OP_LOGW("Failed to execute tiling func.");
    return false;
  }
  OP_LOGI("[PROF]The score_map[0] has been processed, tiling case 0 of graph0_result0_g0 is the best choice.");
  OP_LOGI("[PROF]Among the templates, tiling case 0 of graph0_result0_g0 is the best choice.");
  return true;
}
}  // namespace optiling
// AUTOFUSE_SPLIT_FILE_END:asc_graph0_schedule_result0_g0
// AUTOFUSE_SPLIT_FILE_BEGIN:solver_func
#include "autofuse_tiling_func_solver.h"
#include "autofuse_tiling_func_log.h"

namespace optiling {
namespace {
#define SOLVER_INPUT_FMT \
  "result_id: %u, group_id: %u, case_id: %u, sub_case_id: %ucore_num: %u, ub_size: %u, local_buffer_vars[0]: %u, pure_mc_vars[0]: %u"
#define SOLVER_INPUT(core_num)                                                                                       \
  input_.result_id, input_.group_id, input_.case_id, input_.sub_case_id, (core_num), input_.ub_size,                 \
      local_buffer_var_.value, multicore_var_.value
}  // namespace

AxesReorderSolver::AxesReorderSolver(const SolverInput &input, uint32_t upper_bound, uint32_t align) : input_(input) {
  local_buffer_var_.upper_bound = upper_bound;
  local_buffer_var_.align = align;
}

bool AxesReorderSolver::LocalBufferTiling() {
  local_buffer_var_.value = std::min(local_buffer_var_.align, local_buffer_var_.upper_bound);
  if (local_buffer_var_.value == 0 || GetUbSize() > static_cast<int64_t>(input_.ub_size)) {
    OP_LOGW("local buffer tiling failed in the initial check");
    return false;
  }
  uint32_t lower = local_buffer_var_.value;
  uint32_t upper = local_buffer_var_.upper_bound;
  while (lower < upper) {
    const uint32_t middle = lower + (upper - lower + 1) / 2;
    local_buffer_var_.value = middle;
    const bool satisfied = GetUbSize() <= static_cast<int64_t>(input_.ub_size);
    OP_LOGD("Binary search: left=%u, right=%u, mid=%u, satisfied=%d", lower, upper, middle, satisfied);
    lower = satisfied ? middle : lower;
    upper = satisfied ? upper : middle - 1;
  }
  local_buffer_var_.value = lower;
  ApplyPromptAlign();
  return true;
}

void AxesReorderSolver::ApplyPromptAlign() {
  const uint32_t value = local_buffer_var_.value;
  const uint32_t align = local_buffer_var_.align;
  if (value == local_buffer_var_.upper_bound || value % align == 0) {
    return;
  }
  local_buffer_var_.value = value / align * align;
  OP_LOGI("Update prompt align from %u to %u", value, local_buffer_var_.value);
}

bool AxesReorderSolver::MulticoreTiling(uint32_t core_num) {
  const uint32_t tiles = GetTileCount();
  multicore_var_.upper_bound = tiles;
  multicore_var_.value = std::max(1U, (tiles + core_num - 1) / core_num);
  return GetBlockDim() <= static_cast<int>(core_num);
}

bool AxesReorderSolver::GetTiling(uint32_t core_num) {
  if (!MulticoreTiling(core_num)) {
    OP_LOGW("multicore tiling failed, input: " SOLVER_INPUT_FMT, SOLVER_INPUT(core_num));
    return false;
  }
  OP_LOGI("multicore tiling success, input: " SOLVER_INPUT_FMT, SOLVER_INPUT(core_num));
  return true;
}

// Tries smaller tiles and fewer cores; the modelled cycles decide.
void AxesReorderSolver::AutoTuning() {
  OP_LOGI("Start auto tuning, is_trade_off:0, input:" SOLVER_INPUT_FMT, SOLVER_INPUT(input_.core_num));
  TilingVar best_tile = local_buffer_var_;
  TilingVar best_block = multicore_var_;
  double best_perf = GetPerf();
  const uint32_t largest = local_buffer_var_.value;
  for (uint32_t tile = largest; tile >= std::min(largest, local_buffer_var_.align); tile /= 2) {
    for (uint32_t core_num = input_.core_num; core_num > 0; core_num /= 2) {
      local_buffer_var_.value = tile;
      if (!GetTiling(core_num)) {
        continue;
      }
      const double perf = GetPerf();
      OP_LOGD("current_perf: %f, next_upper_perf: %f, current_dim %d, next_upper_block_dim %u", best_perf, perf,
              GetBlockDim(), core_num);
      if (perf < best_perf) {
        best_perf = perf;
        best_tile = local_buffer_var_;
        best_block = multicore_var_;
      }
    }
  }
  local_buffer_var_ = best_tile;
  multicore_var_ = best_block;
}

bool AxesReorderSolver::Run() {
  if (!LocalBufferTiling()) {
    OP_LOGW("local buffer tiling failed, is_tuning: 1, block_loop_auto_tune: 0,input: " SOLVER_INPUT_FMT,
            SOLVER_INPUT(input_.core_num));
    OP_LOGW("Get default tiling failed, is_trade_off:0, is_block_loop_tune:0, input: " SOLVER_INPUT_FMT,
            SOLVER_INPUT(input_.core_num));
    return false;
  }
  OP_LOGI("local buffer tiling success, input: " SOLVER_INPUT_FMT, SOLVER_INPUT(input_.core_num));
  if (!GetTiling(input_.core_num)) {
    return false;
  }
  AutoTuning();
  return true;
}
}  // namespace optiling
// AUTOFUSE_SPLIT_FILE_END:solver_func
// AUTOFUSE_SPLIT_FILE_BEGIN:schedule_group_tail
#include "autofuse_tiling_func_tail.h"

namespace optiling {
bool GetTiling(AutofuseTilingData &tiling_data, int32_t tiling_case_id) {
  OP_LOGI("Start GetTiling.");
  const bool solved = GetTilingKey(tiling_data, tiling_case_id);
  if (!solved) {
    OP_LOGE("GetTiling Failed.");
  }
  OP_LOGI("End GetTiling.");
  return solved;
}
}  // namespace optiling
// AUTOFUSE_SPLIT_FILE_END:schedule_group_tail
// AUTOFUSE_SPLIT_FILE_BEGIN:tiling_entry
#include "autofuse_tiling_func_entry.h"

extern "C" size_t GetTilingDataSize() {
  return sizeof(AutofuseTilingData);
}

extern "C" bool AutofuseIsStaticShape() {
  return false;
}

extern "C" int64_t AutofuseTiling(uint32_t s0, uint32_t s1, AutofuseTilingData* tiling, uint32_t* workspaceSize, uint32_t *blockDim, ResLimit *res_limit = nullptr)
{
  const ResLimit *limit = (res_limit == nullptr || res_limit->aiv_num == 0) ? &g_no_limit_res : res_limit;
  tiling->set_s0(s0);
  tiling->set_s1(s1);
  tiling->set_block_dim(limit->aiv_num);
  tiling->set_ub_size(limit->ub_size == 0 ? g_no_limit_res.ub_size : limit->ub_size);
  if (!optiling::GetTiling(*tiling, -1)) {
    return -1;
  }
  *blockDim = tiling->get_block_dim();
  *workspaceSize = 16U * 1024U * 1024U;
  return 0;
}
// AUTOFUSE_SPLIT_FILE_END:tiling_entry
""",
    "device_impl": "",
    "symbols": ["s0", "s1"],
}

autofuse_pointwise_0 = async_compile.autofuse("autofuse_pointwise_0", autofuse_pointwise_0_artifacts)


def call(args):
    (arg0_1,) = args
    args.clear()
    s0, s1 = arg0_1.size()
    buf0 = empty_strided((s0, s1), (s1, 1), device="npu", dtype=torch.float16)
    autofuse_pointwise_0(arg0_1, buf0, s0, s1)
    return (buf0,)
