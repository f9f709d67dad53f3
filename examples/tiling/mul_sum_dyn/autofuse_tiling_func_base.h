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
