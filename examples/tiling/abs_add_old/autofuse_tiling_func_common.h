#ifndef AUTOFUSE_TILING_FUNC_COMMON_H
#define AUTOFUSE_TILING_FUNC_COMMON_H

#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include "autofuse_tiling_data.h"
#include "dlog_pub.h"
#ifndef __CCE_KT_TEST__
#include "exe_graph/runtime/tiling_context.h"
#endif

namespace optiling {
constexpr int32_t kGeModule = 45;
constexpr const char *OP_NAME = "autofuse_pointwise_3_Abs_Add";

inline long GetTid() { return static_cast<long>(syscall(SYS_gettid)); }

inline bool IsLogEnabled(int32_t level) {
  static const char *const text = std::getenv("ASCEND_GLOBAL_LOG_LEVEL");
  static const long enabled = text == nullptr ? DLOG_ERROR : std::strtol(text, nullptr, 10);
  return level >= enabled;
}
}  // namespace optiling

#define OP_LOG_AT(record, level, fmt, ...)                                                                 \
  do {                                                                                                     \
    if (optiling::IsLogEnabled(level)) {                                                                   \
      record(optiling::kGeModule, fmt, optiling::GetTid(), __FUNCTION__, optiling::OP_NAME, ##__VA_ARGS__); \
    }                                                                                                      \
  } while (false)
#define OP_LOGD(fmt, ...) OP_LOG_AT(dlog_debug, DLOG_DEBUG, "%ld %s:[%s]" fmt, ##__VA_ARGS__)
#define OP_LOGI(fmt, ...) OP_LOG_AT(dlog_info, DLOG_INFO, "%ld %s:[%s]" fmt, ##__VA_ARGS__)
#define OP_LOGW(fmt, ...) OP_LOG_AT(dlog_warn, DLOG_WARN, "%ld %s:[%s]" fmt, ##__VA_ARGS__)
#define OP_LOGE(fmt, ...) OP_LOG_AT(dlog_error, DLOG_ERROR, "%ld %s: ErrorNo: 4294967295() [%s]" fmt, ##__VA_ARGS__)

#define Max(a, b) ((double)(a) > (double)(b) ? (double)(a) : (double)(b))
#define Min(a, b) ((double)(a) < (double)(b) ? (double)(a) : (double)(b))
#define Log(a) (log((double)(a)))
#define Pow(a, b) (pow((double)(a), (double)(b)))
#define Rational(a, b) ((double)(a) / (double)(b))

namespace optiling {
inline bool IsEqual(double a, double b) { return (a > b ? a - b : b - a) < 1e-8; }
inline double TernaryOp(bool condition, double a, double b) { return condition ? a : b; }
inline bool ExpectLt(double a, double b) { return a < b; }
inline double Ceiling(double a) {
  double truncated = static_cast<double>(static_cast<int64_t>(a));
  return IsEqual(truncated, a) ? truncated : truncated + 1;
}

bool GetTiling(AutofuseTilingData &tiling_data, int32_t tilingCaseId = -1);
}  // namespace optiling

#endif
