// The native twin of autofuse_att_perf.tape: one compiled function, one typed instruction per slot.
#ifndef AUTOFUSE_ATT_PERF_TAPE_H
#define AUTOFUSE_ATT_PERF_TAPE_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace perf {

// The numbers are those of tape.py.
enum class CType : int32_t { Bool = 0, I32, U32, I64, U64, F32, F64, Object };
enum class Op : int32_t {
  Const = 0, Load, Copy, Cast, Neg, Not, Add, Sub, Mul, Div, Mod, Lt, Le, Gt, Ge, Eq, Ne, And, Or, Max, Min, StdMax,
  StdMin, Abs, Log, Pow, Sqrt, Exp, IsEqual, Select, Ceiling, Floor, Fmod
};

constexpr int32_t kNoSlot = -1;

// Doubles in `d`; bools and integers in `i`, those of uint64 as their bits.
union Value {
  double d;
  int64_t i;
};

// A number from outside: an exact integer or a double.
struct Input {
  bool is_integer = false;
  Value value = {};
};

struct Tape {
  std::vector<int32_t> ops, a, b, c, types, starts, ends;
  std::vector<Input> consts;
  std::vector<std::string> symbols;
  std::vector<int32_t> symbol_slots;
  std::vector<std::pair<int32_t, std::string>> names;  // COPY slot, variable
  std::vector<std::pair<std::string, int32_t>> pipes;
  int32_t result = kNoSlot;
  int32_t mapping_end = 0;  // slots that the mapping function wrote
};

struct Parameter {
  std::string name;
  CType type;
};

// A function's body, with the offset of its first character in the file's text.
struct Body {
  std::string name;
  const char *text;
  size_t size;
  int32_t offset;
  std::vector<Parameter> parameters;
  CType result;
};

// Compiles `function`, its parameters fed by the call of it in `mapping` when there is one. False when anything is met
// that the Python compiler has to judge: an error, or a style of code that only it reads.
bool Compile(const Body &function, const Body *mapping, Tape &tape);

// Writes one value per slot. False on an integer division by zero.
bool Run(const Tape &tape, const std::vector<Input> &inputs, std::vector<Value> &slots);

// Replaces every comment by blanks, so that offsets and lines stay.
void BlankComments(char *text, size_t size);

// The summands of the sum at `slot`, last one first: contributions with their names, numbers with none. False for a sum
// that holds anything else.
bool FlatSum(const Tape &tape, int32_t slot, std::vector<std::pair<int32_t, const std::string *>> &leaves);

double AsDouble(const Tape &tape, int32_t slot, const Value &value);

}  // namespace perf

#endif
