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
constexpr const char *OP_NAME = "autofuse_reduce_1_Mul_Sum";

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
