// Stand-in for the error report interface of CANN, written from its names and calling conventions only.
//
// Reports reach whoever defines AutofuseVerifyReport (the native runner); elsewhere they vanish.
#ifndef AUTOFUSE_SHIM_ERR_MSG_H
#define AUTOFUSE_SHIM_ERR_MSG_H

#include <stdarg.h>
#include <stdio.h>

extern "C" void AutofuseVerifyReport(const char *code, const char *text) __attribute__((weak));

// No format attribute: a null argument of %s is allowed here.
inline void AutofuseShimReport(const char *code, const char *format, ...) {
  if (AutofuseVerifyReport == nullptr || code == nullptr || format == nullptr) {
    return;
  }
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  if (length >= 0) {
    AutofuseVerifyReport(code, text);
  }
}

#define REPORT_INNER_ERR_MSG(code, fmt, ...) AutofuseShimReport((code), fmt, ##__VA_ARGS__)
#define REPORT_INNER_ERROR(code, fmt, ...) AutofuseShimReport((code), fmt, ##__VA_ARGS__)
#define REPORT_CALL_ERROR(code, fmt, ...) AutofuseShimReport((code), fmt, ##__VA_ARGS__)
// Takes lists of names and values, or a format; only the code is of use here.
#define REPORT_PREDEFINED_ERR_MSG(code, ...) AutofuseShimReport((code), "predefined error")

#endif  // AUTOFUSE_SHIM_ERR_MSG_H
