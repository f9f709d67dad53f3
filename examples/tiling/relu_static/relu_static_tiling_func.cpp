#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include "autofuse_tiling_data.h"
#include "dlog_pub.h"

namespace optiling {
constexpr int32_t kGeModule = 45;
constexpr const char *OP_NAME = "autofuse_pointwise_5_Relu";

inline bool IsLogEnabled(int32_t level) {
  static const char *const text = std::getenv("ASCEND_GLOBAL_LOG_LEVEL");
  static const long enabled = text == nullptr ? DLOG_ERROR : std::strtol(text, nullptr, 10);
  return level >= enabled;
}

#define OP_LOGI(fmt, ...)                                                                                                 \
  do {                                                                                                                    \
    if (IsLogEnabled(DLOG_INFO)) {                                                                                        \
      dlog_info(kGeModule, "%ld %s:[%s]" fmt, static_cast<long>(syscall(SYS_gettid)), __FUNCTION__, OP_NAME, ##__VA_ARGS__); \
    }                                                                                                                     \
  } while (false)
#define OP_LOGE(fmt, ...)                                                                                          \
  dlog_error(kGeModule, "%ld %s: ErrorNo: 4294967295() [%s]" fmt, static_cast<long>(syscall(SYS_gettid)), __FUNCTION__, \
             OP_NAME, ##__VA_ARGS__)

inline bool IsEqual(double a, double b) { return (a > b ? a - b : b - a) < 1e-8; }
inline double Max(double a, double b) { return a > b ? a : b; }
inline double Rational(double a, double b) { return a / b; }
inline double Ceiling(double a) {
  const double truncated = static_cast<double>(static_cast<int64_t>(a));
  return IsEqual(truncated, a) ? truncated : truncated + 1;
}

class TilingCase0Impl {
 public:
  TilingCase0Impl(AutofuseTilingData &tiling_data, uint32_t core_num, uint32_t ub_size)
      : tiling_data_(tiling_data), core_num_(core_num), ub_size_(ub_size) {}

  bool DoTiling() {
    OP_LOGI("Set input params for tiling case 0 of AscGraph0ScheduleResult0G0. ");
    OP_LOGI("Set ub_size for tiling case 0 of AscGraph0ScheduleResult0G0 to (8064 * z0t_size)");
    OP_LOGI("Set block_dim for tiling case 0 of AscGraph0ScheduleResult0G0 to Max(0, Ceiling((Ceiling((4096 / (z0t_size))) / (z0Tb_size))))");
    OP_LOGI("Set hardware params. ub_size = %u. block_dim = %u.", ub_size_, core_num_);
    tiling_data_.z0t_size = std::min(ub_size_ / 8064U, 4096U);
    if (tiling_data_.z0t_size == 0 || core_num_ == 0) {
      return false;
    }
    const uint32_t tiles = (4096U + tiling_data_.z0t_size - 1U) / tiling_data_.z0t_size;
    tiling_data_.z0Tb_size = (tiles + core_num_ - 1U) / core_num_;
    tiling_data_.block_dim = (tiles + tiling_data_.z0Tb_size - 1U) / tiling_data_.z0Tb_size;
    tiling_data_.ub_size = ub_size_;
    tiling_data_.elements = 4096000U;
    tiling_data_.flags[1] = 1U;
    tiling_data_.tails[0].rows = static_cast<int32_t>(4096U - (tiles - 1U) * tiling_data_.z0t_size);
    tiling_data_.tails[0].ratio = Rational(tiling_data_.tails[0].rows , tiling_data_.z0t_size);
    tiling_data_.tails[1].rows = -1;
    return true;
  }

  double GetPerf() {
    double block_dim = tiling_data_.block_dim;
    double z0Tb_size = tiling_data_.z0Tb_size;
    double z0t_size = tiling_data_.z0t_size;
    double AIV_MTE2 = ((((2000 * z0t_size / (9.9074)) + 27.01) * z0Tb_size) + 775.0);
    double AIV_MTE3 = ((((2000 * z0t_size / (12.4)) + 12.09) * z0Tb_size) + 497.36);
    double AIV_VEC = (((Ceiling((Rational(1 , 128) * 1000 * z0t_size)) * 1.0103) + 37.37) * z0Tb_size);
    AIV_MTE2_ = AIV_MTE2;
    AIV_MTE3_ = AIV_MTE3;
    AIV_VEC_ = AIV_VEC;
    return ((300.0 * block_dim) + Max(Max(AIV_MTE2, AIV_MTE3), AIV_VEC));
  }

  void TilingSummary() {
    const double objective = GetPerf();
    OP_LOGI("[PROF]The value of z0Tb_size is %u in graph0_result0_g0_0.", tiling_data_.z0Tb_size);
    OP_LOGI("[PROF]The value of z0t_size is %u in graph0_result0_g0_0.", tiling_data_.z0t_size);
    OP_LOGI("[PROF]The value of ub_size is %d in graph0_result0_g0_0.", static_cast<int>(8064U * tiling_data_.z0t_size));
    OP_LOGI("[PROF]The value of block_dim is %d in graph0_result0_g0_0.", static_cast<int>(tiling_data_.block_dim));
    OP_LOGI("[PROF]The value of AIV_MTE2 is %f in graph0_result0_g0_0.", AIV_MTE2_);
    OP_LOGI("[PROF]The value of AIV_MTE3 is %f in graph0_result0_g0_0.", AIV_MTE3_);
    OP_LOGI("[PROF]The value of AIV_VEC is %f in graph0_result0_g0_0.", AIV_VEC_);
    OP_LOGI("[PROF]The objective value of the tiling data is %f in graph0_result0_g0_0.", objective);
  }

 private:
  AutofuseTilingData &tiling_data_;
  uint32_t core_num_;
  uint32_t ub_size_;
  double AIV_MTE2_ = 0.0;
  double AIV_MTE3_ = 0.0;
  double AIV_VEC_ = 0.0;
};

bool GetTiling(AutofuseTilingData &tiling_data, uint32_t core_num, uint32_t ub_size) {
  OP_LOGI("Start GetTiling.");
  TilingCase0Impl case0(tiling_data, core_num, ub_size);
  if (!case0.DoTiling()) {
    OP_LOGE("GetTiling Failed.");
    OP_LOGI("End GetTiling.");
    return false;
  }
  case0.TilingSummary();
  OP_LOGI("[PROF]Among the templates, tiling case 0 of graph0_result0_g0 is the best choice.");
  OP_LOGI("End GetTiling.");
  return true;
}
}  // namespace optiling

extern "C" size_t GetTilingDataSize() {
  return sizeof(AutofuseTilingData);
}

extern "C" bool AutofuseIsStaticShape() {
  return true;
}

extern "C" int64_t AutofuseTiling(AutofuseTilingData *tiling, uint32_t *workspaceSize, uint32_t *blockDim, uint32_t aiv_num, uint32_t ub_size) {
  if (!optiling::GetTiling(*tiling, aiv_num, ub_size)) {
    return -1;
  }
  *blockDim = tiling->block_dim;
  *workspaceSize = 16U * 1024U * 1024U;
  return 0;
}
