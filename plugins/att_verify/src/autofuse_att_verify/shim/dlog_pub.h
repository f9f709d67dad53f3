// Stand-in for the log interface of CANN, written from its names and calling conventions only.
//
// A log call becomes one line of the plog form. The native runner defines DlogRecord itself; any other process that loads
// the library gets the lines on the file descriptor named by AUTOFUSE_VERIFY_LOG_FD.
#ifndef AUTOFUSE_SHIM_DLOG_PUB_H
#define AUTOFUSE_SHIM_DLOG_PUB_H

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DLOG_DEBUG 0x0
#define DLOG_INFO 0x1
#define DLOG_WARN 0x2
#define DLOG_ERROR 0x3
#define DLOG_NULL 0x4
#define DLOG_EVENT 0x10
#define RUN_LOG_MASK 0x01000000

#ifdef __cplusplus
extern "C" {
#endif

void DlogRecord(int32_t module, int32_t level, const char *format, ...)
    __attribute__((weak, format(printf, 3, 4)));

static inline int32_t AutofuseShimLevel(void) {
  const char *text = getenv("ASCEND_GLOBAL_LOG_LEVEL");
  return text == NULL ? DLOG_ERROR : (int32_t)strtol(text, NULL, 10);
}

// 1 when a message of this level is wanted; events always are.
static inline int32_t CheckLogLevel(int32_t module, int32_t level) {
  (void)module;
  return level == DLOG_EVENT || (level < DLOG_NULL && level >= AutofuseShimLevel()) ? 1 : 0;
}

static inline const char *AutofuseShimLevelName(int32_t level) {
  switch (level) {
    case DLOG_DEBUG:
      return "DEBUG";
    case DLOG_INFO:
      return "INFO";
    case DLOG_WARN:
      return "WARNING";
    case DLOG_EVENT:
      return "EVENT";
    default:
      return "ERROR";
  }
}

static inline const char *AutofuseShimFileName(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

static inline void AutofuseShimWriteAll(int descriptor, const char *text, size_t left) {
  while (left > 0) {
    const ssize_t written = write(descriptor, text, left);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return;
    }
    text += written;
    left -= (size_t)written;
  }
}

__attribute__((format(printf, 3, 4))) static inline void AutofuseShimRecord(int32_t module, int32_t level,
                                                                            const char *format, ...) {
  const char *descriptor = getenv("AUTOFUSE_VERIFY_LOG_FD");
  if (descriptor == NULL) {
    return;
  }
  enum { kRoom = 8192 };
  char line[kRoom];
  struct timespec now;
  struct tm local;
  clock_gettime(CLOCK_REALTIME, &now);
  localtime_r(&now.tv_sec, &local);
  const int32_t number = module & 0xFFFF;
  char name[16];
  if (number == 45) {
    snprintf(name, sizeof(name), "GE");
  } else {
    snprintf(name, sizeof(name), "%d", (int)number);
  }
  int used = snprintf(line, sizeof(line), "[%s] %s(%d,autofuse):%04d-%02d-%02d-%02d:%02d:%02d.%03ld.%03ld ",
                      AutofuseShimLevelName(level), name, (int)getpid(), local.tm_year + 1900, local.tm_mon + 1,
                      local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec, now.tv_nsec / 1000000,
                      now.tv_nsec / 1000 % 1000);
  if (used < 0 || used >= kRoom - 1) {
    return;
  }
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(line + used, sizeof(line) - 1 - (size_t)used, format, arguments);
  va_end(arguments);
  if (length > 0) {
    used = used + length < kRoom - 2 ? used + length : kRoom - 2;
  }
  for (int i = 0; i < used; ++i) {
    if (line[i] == '\n' || line[i] == '\r') {
      line[i] = ' ';
    }
  }
  line[used++] = '\n';
  AutofuseShimWriteAll((int)strtol(descriptor, NULL, 10), line, (size_t)used);
}

#ifdef __cplusplus
}
#endif

#define AUTOFUSE_SHIM_LOG(module, level, fmt, ...)                                                                     \
  do {                                                                                                                 \
    if (CheckLogLevel((module), (level)) == 1) {                                                                       \
      if (DlogRecord != NULL) {                                                                                        \
        DlogRecord((module), (level), "[%s:%d]" fmt, AutofuseShimFileName(__FILE__), __LINE__, ##__VA_ARGS__);         \
      } else {                                                                                                         \
        AutofuseShimRecord((module), (level), "[%s:%d]" fmt, AutofuseShimFileName(__FILE__), __LINE__, ##__VA_ARGS__); \
      }                                                                                                                \
    }                                                                                                                  \
  } while (0)

#define dlog_debug(module, fmt, ...) AUTOFUSE_SHIM_LOG(module, DLOG_DEBUG, fmt, ##__VA_ARGS__)
#define dlog_info(module, fmt, ...) AUTOFUSE_SHIM_LOG(module, DLOG_INFO, fmt, ##__VA_ARGS__)
#define dlog_warn(module, fmt, ...) AUTOFUSE_SHIM_LOG(module, DLOG_WARN, fmt, ##__VA_ARGS__)
#define dlog_error(module, fmt, ...) AUTOFUSE_SHIM_LOG(module, DLOG_ERROR, fmt, ##__VA_ARGS__)
#define dlog_event(module, fmt, ...) AUTOFUSE_SHIM_LOG(module, DLOG_EVENT, fmt, ##__VA_ARGS__)

#endif  // AUTOFUSE_SHIM_DLOG_PUB_H
