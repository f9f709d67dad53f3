// Stand-in for the error report interface of CANN, written from its names and calling conventions only.
//
// Reports reach whoever defines AutofuseVerifyReport (the native runner); elsewhere they vanish. C++ only, as the
// generated code is.
#ifndef AUTOFUSE_SHIM_ERR_MSG_H
#define AUTOFUSE_SHIM_ERR_MSG_H

#include <stdarg.h>
#include <stdio.h>

#include <string>
#include <vector>

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

// A predefined message comes with a list of names and one of values, with a format, or with its code alone.
inline void AutofuseShimPredefined(const char *code) { AutofuseShimReport(code, "predefined error"); }

template <class... Arguments>
void AutofuseShimPredefined(const char *code, const char *format, Arguments... arguments) {
  AutofuseShimReport(code, format, arguments...);
}

inline void AutofuseShimPredefined(const char *code, const std::vector<const char *> &names,
                                   const std::vector<const char *> &values) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < values.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::string(names[i] == nullptr ? "(null)" : names[i]) + " = " +
            (values[i] == nullptr ? "(null)" : values[i]);
  }
  AutofuseShimReport(code, "%s", text.c_str());
}

inline void AutofuseShimPredefined(const char *code, const std::vector<std::string> &names,
                                   const std::vector<std::string> &values) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < values.size(); ++i) {
    text += (i == 0 ? "" : ", ") + names[i] + " = " + values[i];
  }
  AutofuseShimReport(code, "%s", text.c_str());
}

#define REPORT_INNER_ERR_MSG(code, fmt, ...) AutofuseShimReport((code), fmt, ##__VA_ARGS__)
#define REPORT_INNER_ERROR(code, fmt, ...) AutofuseShimReport((code), fmt, ##__VA_ARGS__)
#define REPORT_CALL_ERROR(code, fmt, ...) AutofuseShimReport((code), fmt, ##__VA_ARGS__)
#define REPORT_PREDEFINED_ERR_MSG(code, ...) AutofuseShimPredefined((code), ##__VA_ARGS__)

#endif  // AUTOFUSE_SHIM_ERR_MSG_H
