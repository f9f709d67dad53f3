// The native twin of autofuse_att_perf.{lexer,builder,expressions,bodies} for the newest style of generated code.
//
// It writes the same tape as the Python compiler, slot by slot. It words no errors: whatever is unusual makes it give up,
// and the Python compiler reads the function again.
#include <charconv>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "tape.h"

namespace perf {
namespace {

struct GiveUp {};

enum class Kind { End, Number, Name, Mark };

struct Token {
  Kind kind;
  std::string_view text;
  int32_t start;
};

struct Operand {
  int32_t slot;
  int32_t start;
  int32_t end;
};

enum class Waiting { Unary, Binary, Cast, Parenthesis, Call };

struct Pending {
  Waiting kind;
  std::string_view text;
  int binds;
  int32_t start;
  size_t base;
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsNamePart(char c) { return IsNameStart(c) || IsDigit(c); }
bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

CType TypeNamed(std::string_view name) {
  if (name == "double") return CType::F64;
  if (name == "bool") return CType::Bool;
  if (name == "int" || name == "int32_t") return CType::I32;
  if (name == "int64_t" || name == "long") return CType::I64;
  if (name == "uint32_t" || name == "unsigned") return CType::U32;
  if (name == "uint64_t" || name == "size_t") return CType::U64;
  if (name == "float") return CType::F32;
  return CType::Object;
}

enum class Shape { Common, Doubles, DoublesToBool, KeepsType, Infix, Select };

struct Known {
  size_t arguments;
  Shape shape;
  Op op;
};

const std::unordered_map<std::string_view, Known> &Functions() {
  static const std::unordered_map<std::string_view, Known> functions = {
      {"Max", {2, Shape::Common, Op::Max}},          {"Min", {2, Shape::Common, Op::Min}},
      {"std::max", {2, Shape::Common, Op::StdMax}},  {"std::min", {2, Shape::Common, Op::StdMin}},
      {"Abs", {1, Shape::KeepsType, Op::Abs}},       {"std::abs", {1, Shape::KeepsType, Op::Abs}},
      {"Log", {1, Shape::Doubles, Op::Log}},         {"Pow", {2, Shape::Doubles, Op::Pow}},
      {"Sqrt", {1, Shape::Doubles, Op::Sqrt}},       {"Exp", {1, Shape::Doubles, Op::Exp}},
      {"Rational", {2, Shape::Doubles, Op::Div}},    {"ExpectEq", {2, Shape::Infix, Op::Eq}},
      {"ExpectNe", {2, Shape::Infix, Op::Ne}},       {"ExpectLe", {2, Shape::Infix, Op::Le}},
      {"ExpectLt", {2, Shape::Infix, Op::Lt}},       {"LogicAnd", {2, Shape::Infix, Op::And}},
      {"LogicOr", {2, Shape::Infix, Op::Or}},        {"IsEqual", {2, Shape::DoublesToBool, Op::IsEqual}},
      {"TernaryOp", {3, Shape::Select, Op::Select}}, {"Ceiling", {1, Shape::KeepsType, Op::Ceiling}},
      {"Floor", {1, Shape::KeepsType, Op::Floor}},   {"Mod", {2, Shape::Doubles, Op::Fmod}},
  };
  return functions;
}

struct Infix {
  Op op;
  int binds;
};

bool InfixOf(std::string_view text, Infix &found) {
  if (text.size() == 1) {
    switch (text[0]) {
      case '+': found = {Op::Add, 5}; return true;
      case '-': found = {Op::Sub, 5}; return true;
      case '*': found = {Op::Mul, 6}; return true;
      case '/': found = {Op::Div, 6}; return true;
      case '%': found = {Op::Mod, 6}; return true;
      case '<': found = {Op::Lt, 4}; return true;
      case '>': found = {Op::Gt, 4}; return true;
      default: return false;
    }
  }
  if (text == "<=") { found = {Op::Le, 4}; return true; }
  if (text == ">=") { found = {Op::Ge, 4}; return true; }
  if (text == "==") { found = {Op::Eq, 3}; return true; }
  if (text == "!=") { found = {Op::Ne, 3}; return true; }
  if (text == "&&") { found = {Op::And, 2}; return true; }
  if (text == "||") { found = {Op::Or, 1}; return true; }
  return false;
}

constexpr int kUnaryBinds = 7;

bool IsPipe(std::string_view name) {
  for (std::string_view prefix : {"AIC_", "AIV_", "AICORE_", "PIPE_"}) {
    if (name.size() > prefix.size() && name.substr(0, prefix.size()) == prefix) {
      for (char c : name.substr(prefix.size())) {
        if (!IsDigit(c) && !(c >= 'A' && c <= 'Z')) return false;
      }
      return true;
    }
  }
  return false;
}

// --- instructions ------------------------------------------------------------------------------------------------------

class Builder {
 public:
  explicit Builder(Tape &tape) : tape_(tape) {}

  // Room for the instructions of so many characters: generated code has one per eight or so.
  void Reserve(size_t characters) {
    const size_t wanted = tape_.ops.size() + characters / 8;
    for (auto *column : {&tape_.ops, &tape_.types, &tape_.a, &tape_.b, &tape_.c, &tape_.starts, &tape_.ends}) {
      column->reserve(wanted);
    }
  }

  int32_t Emit(Op op, CType type, int32_t start, int32_t end, int32_t a = kNoSlot, int32_t b = kNoSlot, int32_t c = kNoSlot) {
    tape_.ops.push_back(static_cast<int32_t>(op));
    tape_.types.push_back(static_cast<int32_t>(type));
    tape_.a.push_back(a);
    tape_.b.push_back(b);
    tape_.c.push_back(c);
    tape_.starts.push_back(start);
    tape_.ends.push_back(end);
    return static_cast<int32_t>(tape_.ops.size()) - 1;
  }

  int32_t Const(const Input &value, CType type, int32_t start, int32_t end) {
    tape_.consts.push_back(value);
    return Emit(Op::Const, type, start, end, static_cast<int32_t>(tape_.consts.size()) - 1);
  }

  int32_t Load(std::string_view symbol, CType type, int32_t start, int32_t end) {
    size_t index = 0;
    while (index < tape_.symbols.size() && tape_.symbols[index] != symbol) {
      ++index;
    }
    const int32_t slot = Emit(Op::Load, type, start, end, static_cast<int32_t>(index));
    if (index == tape_.symbols.size()) {
      if (index > 512) throw GiveUp();  // the search above is for the few symbols that a formula has
      tape_.symbols.emplace_back(symbol);
      tape_.symbol_slots.push_back(slot);
    }
    return slot;
  }

  int32_t Name(std::string name, CType type, int32_t slot, int32_t start, int32_t end) {
    if (type == CType::Object) type = TypeOf(slot);
    const int32_t value = Cast(slot, type, start, end);
    const int32_t copy = Emit(Op::Copy, type, start, end, value);
    tape_.names.emplace_back(copy, std::move(name));
    return copy;
  }

  CType TypeOf(int32_t slot) const { return static_cast<CType>(tape_.types[static_cast<size_t>(slot)]); }

  int32_t Cast(int32_t slot, CType type, int32_t start, int32_t end) {
    return TypeOf(slot) == type ? slot : Emit(Op::Cast, type, start, end, slot);
  }

  CType Common(int32_t a, int32_t b = kNoSlot) const {
    CType type = TypeOf(a) > CType::I32 ? TypeOf(a) : CType::I32;
    return b != kNoSlot && TypeOf(b) > type ? TypeOf(b) : type;
  }

  int32_t Unary(char sign, int32_t slot, int32_t start, int32_t end) {
    if (sign == '!') {
      const int32_t value = Cast(slot, CType::Bool, start, end);
      return Emit(Op::Not, CType::Bool, start, end, value);
    }
    slot = Cast(slot, Common(slot), start, end);
    return sign == '+' ? slot : Emit(Op::Neg, TypeOf(slot), start, end, slot);
  }

  int32_t Binary(Op op, int32_t a, int32_t b, int32_t start, int32_t end) {
    if (op == Op::And || op == Op::Or) {
      a = Cast(a, CType::Bool, start, end);
      b = Cast(b, CType::Bool, start, end);
      return Emit(op, CType::Bool, start, end, a, b);
    }
    const CType common = Common(a, b);
    if (op == Op::Mod && common >= CType::F32) throw GiveUp();
    a = Cast(a, common, start, end);
    b = Cast(b, common, start, end);
    return Emit(op, op >= Op::Lt && op <= Op::Ne ? CType::Bool : common, start, end, a, b);
  }

  int32_t Call(const Known &known, const std::vector<int32_t> &args, int32_t start, int32_t end) {
    switch (known.shape) {
      case Shape::Infix:
      case Shape::Common:
        return Binary(known.op, args[0], args[1], start, end);
      case Shape::Doubles:
      case Shape::DoublesToBool: {
        int32_t slots[2] = {kNoSlot, kNoSlot};
        for (size_t index = 0; index < args.size(); ++index) slots[index] = Cast(args[index], CType::F64, start, end);
        const CType type = known.shape == Shape::Doubles ? CType::F64 : CType::Bool;
        return Emit(known.op, type, start, end, slots[0], slots[1]);
      }
      case Shape::KeepsType: {
        const int32_t slot = Cast(args[0], Common(args[0]), start, end);
        if (known.op != Op::Abs && TypeOf(slot) < CType::F32) return slot;
        return Emit(known.op, TypeOf(slot), start, end, slot);
      }
      default: {
        const CType common = Common(args[1], args[2]);
        const int32_t condition = Cast(args[0], CType::Bool, start, end);
        const int32_t yes = Cast(args[1], common, start, end);
        const int32_t no = Cast(args[2], common, start, end);
        return Emit(Op::Select, common, start, end, condition, yes, no);
      }
    }
  }

 private:
  Tape &tape_;
};

// --- one function ------------------------------------------------------------------------------------------------------

class FunctionCompiler {
 public:
  FunctionCompiler(const Body &body, Tape &tape, Builder &build, std::string_view captured)
      : body_(body), tape_(tape), build_(build), captured_(captured) {
    build_.Reserve(body.size);
    Next();
    Next();
    Next();
  }

  std::vector<int32_t> arguments;  // of the call that is captured
  bool has_captured = false;

  // `bound` has the slot of each parameter, or is empty.
  void Compile(const std::vector<int32_t> &bound) {
    const int32_t at = body_.offset;
    for (size_t index = 0; index < body_.parameters.size(); ++index) {
      const Parameter &parameter = body_.parameters[index];
      if (parameter.type == CType::Object) {
        objects_.emplace(parameter.name, true);
        continue;
      }
      int32_t slot = bound.empty() ? kNoSlot : bound[index];
      if (slot == kNoSlot) slot = build_.Load(parameter.name, parameter.type, at, at);
      names_[parameter.name] = build_.Cast(slot, parameter.type, at, at);
    }
    while (token_[0].kind != Kind::End) Statement();
    if (!blocks_.empty()) throw GiveUp();
  }

  void CollectPipes() {
    std::vector<std::pair<std::string, int32_t>> found;
    for (const auto &returned : returned_) {
      if (IsPipe(returned.first) || names_.count(returned.first) != 0) AddPipe(found, returned.first, returned.second);
    }
    for (std::string_view name : order_) {
      if (IsPipe(name)) AddPipe(found, name, names_[name]);
    }
    tape_.pipes = std::move(found);
  }

  int32_t result() const { return result_; }

 private:
  static void AddPipe(std::vector<std::pair<std::string, int32_t>> &found, std::string_view name, int32_t slot) {
    for (const auto &known : found) {
      if (known.first == name) return;
    }
    found.emplace_back(std::string(name), slot);
  }

  // Tokens: [0] is the current one, two more are looked ahead.
  void Next() {
    token_[0] = token_[1];
    token_[1] = token_[2];
    token_[2] = Scan();
  }

  Token Scan() {
    while (at_ < body_.size && IsBlank(body_.text[at_])) ++at_;
    const size_t begin = at_;
    if (at_ == body_.size) return {Kind::End, {}, Offset(begin)};
    const char c = body_.text[at_];
    if (IsNameStart(c)) {
      while (at_ < body_.size && IsNamePart(body_.text[at_])) ++at_;
      return {Kind::Name, Slice(begin), Offset(begin)};
    }
    if (IsDigit(c) || (c == '.' && at_ + 1 < body_.size && IsDigit(body_.text[at_ + 1]))) return Number(begin);
    return Mark(begin);
  }

  Token Number(size_t begin) {
    const char *text = body_.text;
    while (at_ < body_.size && IsDigit(text[at_])) ++at_;
    if (at_ < body_.size && text[at_] == '.') ++at_;
    while (at_ < body_.size && IsDigit(text[at_])) ++at_;
    if (at_ < body_.size && (text[at_] == 'e' || text[at_] == 'E')) {
      size_t next = at_ + 1;
      if (next < body_.size && (text[next] == '+' || text[next] == '-')) ++next;
      if (next >= body_.size || !IsDigit(text[next])) throw GiveUp();
      while (next < body_.size && IsDigit(text[next])) ++next;
      at_ = next;
    }
    // Suffixes, hexadecimal and octal numbers are rare enough for the Python compiler.
    if (at_ < body_.size && (IsNamePart(text[at_]) || (text[begin] == '0' && at_ > begin + 1 && IsDigit(text[begin + 1])))) {
      throw GiveUp();
    }
    return {Kind::Number, Slice(begin), Offset(begin)};
  }

  Token Mark(size_t begin) {
    const char c = body_.text[at_];
    const char next = at_ + 1 < body_.size ? body_.text[at_ + 1] : '\0';
    size_t length = 1;
    switch (c) {
      case '-': length = next == '>' || next == '=' ? 2 : 1; break;
      case ':': length = next == ':' ? 2 : 1; break;
      case '<':
      case '>': length = next == '=' || next == c ? 2 : 1; break;
      case '=':
      case '!':
      case '+':
      case '*':
      case '/':
      case '%': length = next == '=' ? 2 : 1; break;
      case '&':
      case '|': length = next == c ? 2 : 1; break;
      case '(':
      case ')':
      case '{':
      case '}':
      case ';':
      case ',':
      case '.': break;
      default: throw GiveUp();
    }
    at_ += length;
    return {Kind::Mark, Slice(begin), Offset(begin)};
  }

  std::string_view Slice(size_t begin) const { return {body_.text + begin, at_ - begin}; }
  int32_t Offset(size_t at) const { return body_.offset + static_cast<int32_t>(at); }
  bool Is(std::string_view text) const { return token_[0].text == text && token_[0].kind != Kind::End; }
  int32_t End() const { return token_[0].start + static_cast<int32_t>(token_[0].text.size()); }

  void Expect(std::string_view text) {
    if (!Is(text)) throw GiveUp();
    Next();
  }

  // Statements.
  void Statement() {
    const std::string_view text = token_[0].text;
    if (token_[0].kind == Kind::Mark) {
      if (text == ";") {
        Next();
      } else if (text == "{") {
        blocks_.push_back(guard_);
        guard_ = {};
        Next();
      } else if (text == "}" && !blocks_.empty()) {
        blocks_.pop_back();
        Next();
      } else {
        throw GiveUp();
      }
    } else if (token_[0].kind != Kind::Name) {
      throw GiveUp();
    } else if (text == "return") {
      Return();
    } else if (text == "if") {
      If();
    } else if (text == "const" || text == "constexpr") {
      Next();
    } else {
      Declaration();
    }
  }

  void Declaration() {
    const CType type = TypeNamed(token_[0].text);
    if ((type == CType::Object && token_[0].text != "auto") || token_[1].kind != Kind::Name || token_[2].text != "=") {
      throw GiveUp();
    }
    Next();
    const std::string_view name = token_[0].text;
    Next();
    Next();
    const Operand value = Expression();
    if (value.slot == kNoSlot) throw GiveUp();
    if (names_.find(name) == names_.end()) order_.push_back(name);
    names_[name] = build_.Name(std::string(name), type, value.slot, value.start, value.end);
    Expect(";");
  }

  void Return() {
    Next();
    const Operand value = Expression();
    if (value.slot == kNoSlot) throw GiveUp();
    std::string_view pipe = guard_;
    for (size_t index = blocks_.size(); pipe.empty() && index > 0; --index) pipe = blocks_[index - 1];
    guard_ = {};
    if (!pipe.empty()) {
      AddPipe(returned_, pipe, value.slot);
    } else if (result_ == kNoSlot) {
      result_ = build_.Name(body_.name + "()", body_.result, value.slot, value.start, value.end);
    }
    Expect(";");
  }

  // `if (pipe_type == PipeType::X)`
  void If() {
    Next();
    Expect("(");
    if (token_[0].kind != Kind::Name || objects_.find(token_[0].text) == objects_.end()) throw GiveUp();
    Next();
    Expect("==");
    if (token_[0].kind != Kind::Name) throw GiveUp();
    guard_ = token_[0].text;
    Next();
    while (Is("::")) {
      Next();
      if (token_[0].kind != Kind::Name) throw GiveUp();
      guard_ = token_[0].text;
      Next();
    }
    Expect(")");
  }

  // Expressions.
  Operand Expression() {
    operands_.clear();
    pending_.clear();
    do {
      while (!OperandToken()) {
      }
    } while (AfterOperand());
    Reduce(0);
    if (!pending_.empty()) throw GiveUp();
    return operands_.back();
  }

  bool OperandToken() {
    const Token &token = token_[0];
    if (token.kind == Kind::Name) return NameToken();
    if (token.kind == Kind::Number) {
      const int32_t slot = Literal(token);
      operands_.push_back({slot, token.start, End()});
      Next();
      return true;
    }
    if (token.kind != Kind::Mark || token.text.size() != 1) throw GiveUp();
    const char c = token.text[0];
    if (c == '(') {
      if (TypeNamed(token_[1].text) != CType::Object && token_[2].text == ")") throw GiveUp();
      pending_.push_back({Waiting::Parenthesis, token.text, 0, token.start, 0});
    } else if (c == '-' || c == '+' || c == '!') {
      pending_.push_back({Waiting::Unary, token.text, kUnaryBinds, token.start, 0});
    } else {
      throw GiveUp();
    }
    Next();
    return false;
  }

  int32_t Literal(const Token &token) {
    Input input;
    if (token.text.find_first_not_of("0123456789") == std::string_view::npos) {
      if (token.text.size() > 18) throw GiveUp();
      input.is_integer = true;
      std::from_chars(token.text.data(), token.text.data() + token.text.size(), input.value.i);
      return build_.Const(input, input.value.i >= (int64_t{1} << 31) ? CType::I64 : CType::I32, token.start, End());
    }
    const auto read = std::from_chars(token.text.data(), token.text.data() + token.text.size(), input.value.d);
    if (read.ec != std::errc() || read.ptr != token.text.data() + token.text.size()) throw GiveUp();
    return build_.Const(input, CType::F64, token.start, End());
  }

  bool NameToken() {
    const int32_t start = token_[0].start;
    std::string_view name = token_[0].text;
    if (name == "static_cast") return StaticCast(start);
    int32_t end = End();
    bool qualified = false;
    Next();
    while (Is("::") && token_[1].kind == Kind::Name) {
      Next();
      end = End();
      // Adjacent in the text, or else the name is put together by the Python compiler.
      name = {name.data(), static_cast<size_t>(token_[0].text.data() + token_[0].text.size() - name.data())};
      qualified = true;
      Next();
    }
    if (qualified && name.find_first_of(" \t\r\n") != std::string_view::npos) throw GiveUp();
    if (Is("(")) return Call(name, start);
    if (Is(".") || Is("->")) return Member(start);
    if (Is("<") && TypeNamed(token_[1].text) != CType::Object) throw GiveUp();
    if (Is("[")) throw GiveUp();
    operands_.push_back({Resolve(name, qualified, start, end), start, end});
    return true;
  }

  int32_t Resolve(std::string_view name, bool qualified, int32_t start, int32_t end) {
    const auto known = names_.find(name);
    if (known != names_.end()) return known->second;
    const bool yes = name == "true" || name == "True";
    if (yes || name == "false" || name == "False") {
      Input input;
      input.is_integer = true;
      input.value.i = yes;
      return build_.Const(input, CType::Bool, start, end);
    }
    if (qualified || objects_.find(name) != objects_.end()) return kNoSlot;
    throw GiveUp();  // a name from nowhere
  }

  bool StaticCast(int32_t start) {
    Next();
    Expect("<");
    const std::string_view type = token_[0].text;
    if (TypeNamed(type) == CType::Object) throw GiveUp();
    Next();
    Expect(">");
    if (!Is("(")) throw GiveUp();
    return Call(type, start);
  }

  bool Call(std::string_view name, int32_t start) {
    pending_.push_back({Waiting::Call, name, 0, start, operands_.size()});
    Next();
    if (Is(")")) throw GiveUp();
    return false;
  }

  bool Member(int32_t start) {
    std::string_view member;
    int32_t end = 0;
    while (Is(".") || Is("->")) {
      Next();
      if (token_[0].kind != Kind::Name) throw GiveUp();
      member = token_[0].text;
      end = End();
      Next();
      if (Is("(") && token_[1].text == ")") {
        Next();
        end = End();
        Next();
      }
      if (token_[0].kind != Kind::End && Is("[")) throw GiveUp();
    }
    if (member.size() > 4 && member.substr(0, 4) == "get_") member.remove_prefix(4);
    operands_.push_back({build_.Load(member, CType::F64, start, end), start, end});
    return true;
  }

  bool AfterOperand() {
    while (true) {
      Infix infix;
      if (token_[0].kind != Kind::Mark) return false;
      if (InfixOf(token_[0].text, infix)) {
        Reduce(infix.binds);
        pending_.push_back({Waiting::Binary, token_[0].text, infix.binds, token_[0].start, 0});
        Next();
        return true;
      }
      if (Is(",")) {
        Reduce(0);
        if (pending_.empty() || pending_.back().kind != Waiting::Call) return false;
        Next();
        return true;
      }
      if (!Is(")") || !Close()) return false;
    }
  }

  bool Close() {
    Reduce(0);
    if (pending_.empty()) return false;
    const Pending opened = pending_.back();
    pending_.pop_back();
    const int32_t end = End();
    if (opened.kind == Waiting::Call) {
      CloseCall(opened, end);
    } else {
      operands_.back().start = opened.start;
      operands_.back().end = end;
    }
    Next();
    return true;
  }

  void CloseCall(const Pending &opened, int32_t end) {
    std::vector<int32_t> slots;
    for (size_t index = opened.base; index < operands_.size(); ++index) slots.push_back(operands_[index].slot);
    operands_.resize(opened.base);
    operands_.push_back({CallSlot(opened, slots, end), opened.start, end});
  }

  int32_t CallSlot(const Pending &opened, const std::vector<int32_t> &slots, int32_t end) {
    const CType cast = TypeNamed(opened.text);
    const auto known = Functions().find(opened.text);
    if (cast == CType::Object && known == Functions().end()) return Capture(opened, slots, end);
    if (slots.size() != (cast == CType::Object ? known->second.arguments : 1)) throw GiveUp();
    for (int32_t slot : slots) {
      if (slot == kNoSlot) throw GiveUp();
    }
    if (cast != CType::Object) return build_.Cast(slots[0], cast, opened.start, end);
    return build_.Call(known->second, slots, opened.start, end);
  }

  int32_t Capture(const Pending &opened, const std::vector<int32_t> &slots, int32_t end) {
    const size_t colon = opened.text.rfind("::");
    const std::string_view plain = colon == std::string_view::npos ? opened.text : opened.text.substr(colon + 2);
    if (captured_.empty() || plain != captured_ || has_captured) throw GiveUp();
    arguments = slots;
    has_captured = true;
    return build_.Const(Input(), CType::F64, opened.start, end);
  }

  void Reduce(int binds) {
    const int least = binds > 1 ? binds : 1;
    while (!pending_.empty() && pending_.back().binds >= least) {
      const Pending waiting = pending_.back();
      pending_.pop_back();
      const Operand right = operands_.back();
      operands_.pop_back();
      if (right.slot == kNoSlot) throw GiveUp();
      if (waiting.kind == Waiting::Unary) {
        const int32_t slot = build_.Unary(waiting.text[0], right.slot, waiting.start, right.end);
        operands_.push_back({slot, waiting.start, right.end});
        continue;
      }
      const Operand left = operands_.back();
      operands_.pop_back();
      if (left.slot == kNoSlot) throw GiveUp();
      Infix infix = {};
      InfixOf(waiting.text, infix);
      operands_.push_back({build_.Binary(infix.op, left.slot, right.slot, left.start, right.end), left.start, right.end});
    }
  }

  const Body &body_;
  Tape &tape_;
  Builder &build_;
  std::string_view captured_;
  size_t at_ = 0;
  Token token_[3] = {};
  std::vector<Operand> operands_;
  std::vector<Pending> pending_;
  std::unordered_map<std::string_view, int32_t> names_;
  std::unordered_map<std::string_view, bool> objects_;
  std::vector<std::string_view> order_;
  std::vector<std::pair<std::string, int32_t>> returned_;
  std::vector<std::string_view> blocks_;
  std::string_view guard_;
  int32_t result_ = kNoSlot;
};

}  // namespace

bool Compile(const Body &function, const Body *mapping, Tape &tape) {
  try {
    Builder build(tape);
    std::vector<int32_t> bound;
    if (mapping != nullptr) {
      FunctionCompiler feeder(*mapping, tape, build, function.name);
      feeder.Compile({});
      if (!feeder.has_captured || feeder.arguments.size() != function.parameters.size()) return false;
      bound = feeder.arguments;
    }
    tape.mapping_end = static_cast<int32_t>(tape.ops.size());
    FunctionCompiler compiler(function, tape, build, {});
    compiler.Compile(bound);
    compiler.CollectPipes();
    tape.result = compiler.result();
    return true;
  } catch (const GiveUp &) {
    return false;
  }
}

}  // namespace perf
