// The native twin of autofuse_att_perf.evaluate: the same results to the last bit.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tape.h"

namespace perf {
namespace {

int64_t Wrap(int64_t value, CType type) {
  switch (type) {
    case CType::Bool:
      return value != 0;
    case CType::I32:
      return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(value)));
    case CType::U32:
      return static_cast<uint32_t>(static_cast<uint64_t>(value));
    default:
      return value;
  }
}

// What x86-64 gives where C++ leaves it undefined: the smallest integer.
int64_t Truncated(double value, CType type) {
  if (type == CType::I32) {
    return value > -2147483649.0 && value < 2147483648.0 ? static_cast<int64_t>(value) : INT32_MIN;
  }
  if (value >= -9223372036854775808.0 && value < 9223372036854775808.0) {
    return static_cast<int64_t>(value);
  }
  if (type == CType::U64 && value >= 0 && value < 18446744073709551616.0) {
    return static_cast<int64_t>(static_cast<uint64_t>(value));
  }
  return INT64_MIN;
}

double ToDouble(const Value &value, CType from) {
  if (from >= CType::F32) {
    return value.d;
  }
  return from == CType::U64 ? static_cast<double>(static_cast<uint64_t>(value.i)) : static_cast<double>(value.i);
}

Value Convert(const Value &value, CType from, CType to) {
  Value result = {};
  if (to == CType::F64) {
    result.d = ToDouble(value, from);
  } else if (to == CType::F32) {
    result.d = static_cast<double>(static_cast<float>(ToDouble(value, from)));
  } else if (to == CType::Bool) {
    result.i = from >= CType::F32 ? value.d != 0 : value.i != 0;
  } else {
    result.i = Wrap(from >= CType::F32 ? Truncated(value.d, to) : value.i, to);
  }
  return result;
}

double Truncate(double a) { return a > -9e15 && a < 9e15 ? static_cast<double>(static_cast<int64_t>(a)) : a; }

bool IsEqual(double a, double b) { return std::fabs(a - b) < 1e-8; }

double Ceiling(double a) {
  const double whole = Truncate(a);
  return IsEqual(whole, a) ? whole : whole + 1.0;
}

double Doubles(Op op, double a, double b) {
  switch (op) {
    case Op::Neg: return -a;
    case Op::Add: return a + b;
    case Op::Sub: return a - b;
    case Op::Mul: return a * b;
    case Op::Div: return a / b;
    case Op::Max: return a > b ? a : b;
    case Op::Min: return a < b ? a : b;
    case Op::StdMax: return a < b ? b : a;
    case Op::StdMin: return b < a ? b : a;
    case Op::Abs: return std::fabs(a);
    case Op::Log: return std::log(a);
    case Op::Pow: return std::pow(a, b);
    case Op::Sqrt: return std::sqrt(a);
    case Op::Exp: return std::exp(a);
    case Op::Ceiling: return Ceiling(a);
    case Op::Floor: return Truncate(a);
    case Op::Fmod: return std::fmod(a, b);
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

template <typename T>
int Order(T a, T b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

int Compare(const Value &a, const Value &b, CType type) {
  return type == CType::U64 ? Order(static_cast<uint64_t>(a.i), static_cast<uint64_t>(b.i)) : Order(a.i, b.i);
}

bool Holds(Op op, int order) {
  switch (op) {
    case Op::Lt: return order < 0;
    case Op::Le: return order <= 0;
    case Op::Gt: return order > 0;
    case Op::Ge: return order >= 0;
    case Op::Eq: return order == 0;
    default: return order != 0;
  }
}

bool HoldsDouble(Op op, double a, double b) {
  switch (op) {
    case Op::Lt: return a < b;
    case Op::Le: return a <= b;
    case Op::Gt: return a > b;
    case Op::Ge: return a >= b;
    case Op::Eq: return a == b;
    default: return a != b;
  }
}

// False on a division by zero.
bool Divide(Op op, const Value &a, const Value &b, CType type, int64_t &result) {
  if (b.i == 0) {
    return false;
  }
  if (type == CType::U64) {
    const uint64_t left = static_cast<uint64_t>(a.i);
    const uint64_t right = static_cast<uint64_t>(b.i);
    result = static_cast<int64_t>(op == Op::Div ? left / right : left % right);
  } else if (b.i == -1) {
    result = op == Op::Div ? static_cast<int64_t>(0 - static_cast<uint64_t>(a.i)) : 0;
  } else {
    result = op == Op::Div ? a.i / b.i : a.i % b.i;
  }
  return true;
}

bool Integers(Op op, const Value &a, const Value &b, CType type, int64_t &result) {
  const uint64_t left = static_cast<uint64_t>(a.i);
  const uint64_t right = static_cast<uint64_t>(b.i);
  switch (op) {
    case Op::Neg: result = static_cast<int64_t>(0 - left); break;
    case Op::Add: result = static_cast<int64_t>(left + right); break;
    case Op::Sub: result = static_cast<int64_t>(left - right); break;
    case Op::Mul: result = static_cast<int64_t>(left * right); break;
    case Op::Div:
    case Op::Mod:
      if (!Divide(op, a, b, type, result)) {
        return false;
      }
      break;
    case Op::Max: result = Compare(a, b, type) > 0 ? a.i : b.i; break;
    case Op::Min: result = Compare(a, b, type) < 0 ? a.i : b.i; break;
    case Op::StdMax: result = Compare(a, b, type) < 0 ? b.i : a.i; break;
    case Op::StdMin: result = Compare(b, a, type) < 0 ? b.i : a.i; break;
    case Op::Abs: result = type != CType::U64 && a.i < 0 ? static_cast<int64_t>(0 - left) : a.i; break;
    default: result = a.i; break;
  }
  result = Wrap(result, type);
  return true;
}

bool Logical(const Tape &tape, Op op, size_t slot, const std::vector<Value> &slots, Value &result) {
  const Value &a = slots[static_cast<size_t>(tape.a[slot])];
  if (op == Op::Not) {
    result.i = a.i == 0;
    return true;
  }
  const Value &b = slots[static_cast<size_t>(tape.b[slot])];
  const CType operands = static_cast<CType>(tape.types[static_cast<size_t>(tape.a[slot])]);
  if (op == Op::And || op == Op::Or) {
    result.i = op == Op::And ? (a.i != 0 && b.i != 0) : (a.i != 0 || b.i != 0);
  } else if (op == Op::IsEqual) {
    result.i = IsEqual(a.d, b.d);
  } else {
    result.i = operands >= CType::F32 ? HoldsDouble(op, a.d, b.d) : Holds(op, Compare(a, b, operands));
  }
  return true;
}

}  // namespace

bool FlatSum(const Tape &tape, int32_t slot, std::vector<std::pair<int32_t, const std::string *>> &leaves) {
  // Names stand in the order of their slots.
  const auto contribution = [&tape](int32_t at) -> const std::string * {
    const auto found = std::lower_bound(tape.names.begin(), tape.names.end(), at,
                                        [](const auto &name, int32_t wanted) { return name.first < wanted; });
    const bool named = found != tape.names.end() && found->first == at;
    return named && found->second.find("_contrib") != std::string::npos ? &found->second : nullptr;
  };
  const auto op = [&tape](int32_t at) { return static_cast<Op>(tape.ops[static_cast<size_t>(at)]); };
  while ((op(slot) == Op::Copy || op(slot) == Op::Cast) && contribution(slot) == nullptr) {
    slot = tape.a[static_cast<size_t>(slot)];
  }
  while (true) {
    const bool sum = op(slot) == Op::Add;
    const int32_t leaf = sum ? tape.b[static_cast<size_t>(slot)] : slot;
    const std::string *name = contribution(leaf);
    if (name == nullptr && op(leaf) != Op::Const) return false;
    leaves.emplace_back(leaf, name);
    if (!sum) return true;
    slot = tape.a[static_cast<size_t>(slot)];
  }
}

double AsDouble(const Tape &tape, int32_t slot, const Value &value) {
  return ToDouble(value, static_cast<CType>(tape.types[static_cast<size_t>(slot)]));
}

bool Run(const Tape &tape, const std::vector<Input> &inputs, std::vector<Value> &slots) {
  const size_t count = tape.ops.size();
  slots.resize(count);
  for (size_t slot = 0; slot < count; ++slot) {
    const Op op = static_cast<Op>(tape.ops[slot]);
    const CType type = static_cast<CType>(tape.types[slot]);
    const size_t a = static_cast<size_t>(tape.a[slot]);
    Value &result = slots[slot];
    if (op <= Op::Load) {
      const Input &input = op == Op::Const ? tape.consts[a] : inputs[a];
      result = Convert(input.value, input.is_integer ? CType::I64 : CType::F64, type);
    } else if (op == Op::Copy) {
      result = slots[a];
    } else if (op == Op::Cast) {
      result = Convert(slots[a], static_cast<CType>(tape.types[a]), type);
    } else if (op == Op::Select) {
      result = slots[static_cast<size_t>(slots[a].i != 0 ? tape.b[slot] : tape.c[slot])];
    } else if (type == CType::Bool) {
      Logical(tape, op, slot, slots, result);
    } else {
      const Value b = tape.b[slot] >= 0 ? slots[static_cast<size_t>(tape.b[slot])] : Value{};
      if (type >= CType::F32) {
        const double value = Doubles(op, slots[a].d, b.d);
        result.d = type == CType::F32 ? static_cast<double>(static_cast<float>(value)) : value;
      } else {
        int64_t value = 0;
        if (!Integers(op, slots[a], b, type, value)) {
          return false;
        }
        result.i = value;
      }
    }
  }
  return true;
}

}  // namespace perf
