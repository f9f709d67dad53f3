#include "att_lines.hpp"

#include <cstring>

namespace att {
namespace {

constexpr size_t kLineLimit = 1022;  // bytes of a plog line before its newline; longer text is cut there
constexpr size_t kNone_ = std::string_view::npos;

// Bounds that keep a hostile line linear; real names and paths stay far below.
constexpr size_t kNameLimit = 256, kPathLimit = 1024;
constexpr int kTries = 64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) { return is_digit(c) || is_letter(c) || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t'; }

// A cursor over a line; each `take` either advances and says true, or leaves everything as it was.
struct Cursor {
  std::string_view s;
  size_t at;

  char peek() const { return at < s.size() ? s[at] : '\0'; }
  bool done() const { return at >= s.size(); }
  void spaces() { while (at < s.size() && is_space(s[at])) ++at; }

  bool take(std::string_view word) {
    if (s.compare(at, word.size(), word) != 0) return false;
    at += word.size();
    return true;
  }

  bool number(int64_t& out, bool sign = false) {
    size_t p = at;
    bool negative = sign && p < s.size() && s[p] == '-';
    if (negative) ++p;
    size_t first = p;
    int64_t value = 0;
    while (p < s.size() && is_digit(s[p]) && p - first < 18) value = value * 10 + (s[p++] - '0');
    if (p == first || (p < s.size() && is_digit(s[p]))) return false;
    out = negative ? -value : value;
    at = p;
    return true;
  }

  // Letters and digits of a case: `R2` is tag "R", case 2.
  bool case_id(Message& m) {
    size_t p = at;
    while (p < s.size() && is_letter(s[p])) ++p;
    Cursor digits{s, p};
    if (!digits.number(m.case_id)) return false;
    m.tag = s.substr(at, p - at);
    at = digits.at;
    return true;
  }

  bool graph_result(Message& m) {
    size_t saved = at;
    if (take("graph") && number(m.graph) && take("_result") && number(m.result)) return true;
    at = saved;
    return false;
  }

  // graphG_resultR_gg; the group may be -1 in old fixtures.
  bool group_id(Message& m) {
    size_t saved = at;
    if (graph_result(m) && take("_g") && number(m.group, true)) return m.has_group = true;
    at = saved;
    return false;
  }

  bool camel_group(Message& m) {
    size_t saved = at;
    if (take("AscGraph") && number(m.graph) && take("ScheduleResult") && number(m.result) && take("G") &&
        number(m.group, true))
      return m.has_group = true;
    at = saved;
    return false;
  }
};

bool same_word(std::string_view s, const char* lower) {
  size_t n = std::strlen(lower);
  if (s.size() != n) return false;
  for (size_t i = 0; i < n; ++i)
    if ((s[i] | 0x20) != lower[i]) return false;
  return true;
}

// The float grammar of every producer: fixed point, scientific, signed, nan and inf.
bool is_number(std::string_view s) {
  size_t p = 0;
  if (p < s.size() && (s[p] == '+' || s[p] == '-')) ++p;
  std::string_view body = s.substr(p);
  if (same_word(body, "nan") || same_word(body, "inf") || same_word(body, "infinity")) return true;
  size_t digits = 0;
  while (p < s.size() && is_digit(s[p])) ++p, ++digits;
  if (p < s.size() && s[p] == '.') {
    ++p;
    while (p < s.size() && is_digit(s[p])) ++p, ++digits;
  }
  if (digits == 0) return false;
  if (p < s.size() && (s[p] == 'e' || s[p] == 'E')) {
    ++p;
    if (p < s.size() && (s[p] == '+' || s[p] == '-')) ++p;
    size_t exponent = p;
    while (p < s.size() && is_digit(s[p])) ++p;
    if (p == exponent) return false;
  }
  return p == s.size();
}

Message malformed() {
  Message m;
  m.kind = kMalformed;
  return m;
}

Message ignored() {
  Message m;
  m.kind = kIgnored;
  return m;
}

bool at_end(const Cursor& c) { return c.done() || c.s[c.at] == '.' || is_space(c.s[c.at]); }

// `<number> in graphG_resultR_gg_Tc`
Message value_in_template(Cursor c, std::string_view name) {
  size_t in = c.s.find(" in ", c.at);
  if (in == kNone_) return malformed();
  Message m;
  m.kind = kValue;
  m.name = name;
  m.text = c.s.substr(c.at, in - c.at);
  c.at = in + 4;
  if (!is_number(m.text) || !c.group_id(m) || !c.take("_") || !c.case_id(m) || !at_end(c)) return malformed();
  return m;
}

Message prof_value(Cursor c) {
  size_t is = c.s.find(" is ", c.at);
  if (is == kNone_ || is == c.at) return malformed();
  std::string_view name = c.s.substr(c.at, is - c.at);
  c.at = is + 4;
  return value_in_template(c, name);
}

// `[Tc ]of graphG_resultR_gg[_Tc] is the best choice`
Message template_choice(Cursor c) {
  Message m;
  m.kind = kTemplateChoice;
  c.spaces();
  bool before = c.case_id(m);
  c.spaces();
  if (!c.take("of ") || !c.group_id(m)) return malformed();
  bool after = c.take("_") && c.case_id(m);
  if (!(before || after) || !c.take(" is the best choice")) return malformed();
  return m;
}

Message result_choice(Cursor c) {
  Message m;
  m.kind = kResultChoice;
  if (!c.graph_result(m) || !c.take(" is the best choice")) return malformed();
  return m;
}

Message prof(Cursor c) {
  c.spaces();
  if (c.take("The value of ")) return prof_value(c);
  if (c.take("The objective value of the tiling data is ")) return value_in_template(c, {});
  if (c.take("Among the templates, tiling case")) return template_choice(c);
  if (c.take("Among all schedule results, ")) return result_choice(c);
  if (!c.take("The score_map[")) return ignored();
  size_t of = c.s.find("tiling case ", c.at);
  if (of == kNone_) return ignored();
  c.at = of + 12;
  Message m;
  m.kind = kMention;
  return c.case_id(m) && c.take(" of ") && c.group_id(m) ? m : ignored();
}

// `Set <what> for tiling case N of AscGraphGScheduleResultRGg` other than the input params.
Message set_mention(Cursor c) {
  size_t word = c.at;
  while (is_word(c.peek())) ++c.at;
  if (c.at == word || !c.take(" for tiling case ")) return {};
  Message m;
  m.kind = kMention;
  return c.case_id(m) && c.take(" of ") && c.camel_group(m) ? m : Message{};
}

// `… for tiling_case_id N of AscGraphGScheduleResultRGg`; a single group prints no id of its own.
Message id_mention(Cursor c) {
  Message m;
  m.kind = kMention;
  return c.case_id(m) && c.take(" of ") && c.camel_group(m) ? m : ignored();
}

// `[PERF][graphG_resultR_gg_Tc] …`
Message perf(Cursor c) {
  Message m;
  m.kind = kMention;
  return c.take("[") && c.group_id(m) && c.take("_") && c.case_id(m) && c.take("]") ? m : ignored();
}

// `graphG_resultR is <number>`, then nothing, a full stop, or ` objective(…`.
Message result_performance(Cursor c) {
  Message m;
  m.kind = kResultPerf;
  if (!c.graph_result(m) || !c.take(" is ")) return malformed();
  size_t end = c.at;
  while (end < c.s.size() && !is_space(c.s[end])) ++end;
  m.text = c.s.substr(c.at, end - c.at);
  if (!m.text.empty() && m.text.back() == '.') m.text.remove_suffix(1);
  return is_number(m.text) ? m : malformed();
}

// `tiling caseTc of asc_graphG_schedule_resultR_gg score is <int>`
Message score(Cursor c) {
  Message m;
  m.kind = kScore;
  c.spaces();
  if (!c.case_id(m) || !c.take(" of asc_graph")) return {};
  if (!c.number(m.graph) || !c.take("_schedule_result") || !c.number(m.result) || !c.take("_g") ||
      !c.number(m.group, true) || !c.take(" score is "))
    return malformed();
  m.has_group = true;
  size_t begin = c.at;
  int64_t value;
  if (!c.number(value, true) || !at_end(c)) return malformed();
  m.text = c.s.substr(begin, c.at - begin);
  return m;
}

// `N of AscGraphGScheduleResultRGg.  s0 = 1. s1 = 2.`
Message input_params(Cursor c) {
  Message m;
  m.kind = kInput;
  if (!c.case_id(m) || !c.take(" of ") || !c.camel_group(m) || !c.take(".")) return malformed();
  m.text = c.s.substr(c.at);
  return m;
}

Message group_begin(Cursor c) {
  Message m;
  m.kind = kGroupBegin;
  if (!c.camel_group(m) || !at_end(c)) return malformed();
  return m;
}

Message plain(Kind kind) {
  Message m;
  m.kind = kind;
  return m;
}

Message rest(Kind kind, Cursor c) {
  Message m;
  m.kind = kind;
  m.text = c.s.substr(c.at);
  return m;
}

// The message that begins at `at`, or kNone.
Message match_message(std::string_view s, size_t at) {
  Cursor c{s, at};
  switch (c.peek()) {
    case '[':
      if (c.take("[PROF]")) return prof(c);
      if (c.take("[ATT]")) {
        c.spaces();
        return s.compare(c.at, 13, "[FINAL_TILING") == 0 ? rest(kFinal, c) : ignored();
      }
      if (c.take("[PERF]")) return perf(c);
      if (c.take("[DFX]")) return ignored();
      return {};
    case 'S':
      if (c.take("Set input params for tiling case ")) return input_params(c);
      if (c.take("Start GetTiling")) return at_end(c) ? plain(kStart) : Message{};
      if (c.take("Start tiling for sched group ")) return group_begin(c);
      if (c.take("Set hardware params.")) return rest(kHardware, c);
      return c.take("Set ") ? set_mention(c) : Message{};
    case 'E':
      if (c.take("End GetTiling")) return at_end(c) ? plain(kEnd) : Message{};
      if (c.take("End tiling for sched group")) return plain(kGroupEnd);
      return {};
    case 'G':
      return c.take("GetTiling Failed") ? plain(kFailed) : Message{};
    case 'T':
      if (c.take("The ub ratio for tiling_case_id ")) return id_mention(c);
      if (c.take("The optimal objection for tiling_case_id ")) return id_mention(c);
      return c.take("The value of ") && s.compare(c.at, 5, "graph") == 0 ? result_performance(c) : Message{};
    case 't':
      return c.take("tiling case") ? score(c) : Message{};
    case 'U':
      return c.take("Update best perf to ") ? ignored() : Message{};
    case 'l':
      return c.take("local buffer tiling success, input: ") && s.compare(c.at, 10, "core_num: ") == 0
                 ? rest(kHardware, c)
                 : Message{};
    default:
      return {};
  }
}

bool severity(std::string_view s) {
  for (const char* word : {"debug", "info", "warning", "warn", "error", "event", "trace", "oplog"})
    if (same_word(s, word) && s.find_first_of("abcdefghijklmnopqrstuvwxyz") == kNone_) return true;
  return false;
}

// `name.cpp:123`: a source file and its line.
bool source_place(std::string_view s) {
  size_t colon = s.rfind(':');
  if (colon == kNone_ || colon + 1 == s.size()) return false;
  for (char c : s.substr(colon + 1))
    if (!is_digit(c)) return false;
  std::string_view file = s.substr(0, colon);
  size_t dot = file.rfind('.');
  if (dot == kNone_) return false;
  std::string_view ending = file.substr(dot + 1);
  for (const char* known : {"c", "cc", "cpp", "cxx", "h", "hh", "hpp", "inc", "py"})
    if (same_word(ending, known)) return true;
  return false;
}

// `rank8`, `rank 8`, `rank: 8`
bool rank(std::string_view s) {
  Cursor c{s, 0};
  if (!c.take("rank") && !c.take("Rank") && !c.take("RANK")) return false;
  if (c.peek() == ':' || c.peek() == '_') ++c.at;
  c.spaces();
  int64_t ignored_number;
  return c.number(ignored_number) && c.done();
}

// A date or a time of day: digits with `-`, `:`, `.`, `,`, `/`, `T`, `Z`, spaces, and at least one `dd:dd` or `dddd-dd`.
bool timestamp(std::string_view s) {
  bool time = false;
  for (size_t i = 0; i < s.size(); ++i) {
    char c = s[i];
    if (!is_digit(c) && std::strchr("-:.,/TZ+ ", c) == nullptr) return false;
    if (i >= 2 && i + 2 < s.size() && (c == ':' || c == '-') && is_digit(s[i - 1]) && is_digit(s[i - 2]) &&
        is_digit(s[i + 1]) && is_digit(s[i + 2]))
      time = true;
  }
  return time;
}

bool operator_name(std::string_view s) {
  return !s.empty() && !severity(s) && !source_place(s) && !rank(s) && !timestamp(s);
}

// The end of a level word in brackets that begins at `at`, or npos.
size_t level_end(std::string_view s, size_t at) {
  size_t close = s.substr(0, at + 10).find(']', at);
  if (close == kNone_ || close - at > 8 || !severity(s.substr(at + 1, close - at - 1))) return kNone_;
  return close + 1;
}

struct Header {
  bool full = false;  // up to and with `<tid> <Func>:`
  int64_t pid = -1, tid = -1, file_graph = -1;
  size_t body = 0;
};

// ` MODULE(pid,pname):` after the level; `at` moves behind the colon.
bool module_and_pid(Cursor& c, Header& h) {
  c.spaces();
  size_t word = c.at;
  while (is_word(c.peek())) ++c.at;
  if (c.at == word || !c.take("(")) return false;
  c.spaces();
  if (!c.number(h.pid) || !c.take(",")) return false;
  std::string_view name = c.s.substr(c.at, kNameLimit);
  size_t begin = c.at;
  for (size_t close = name.find(')'); close != kNone_; close = name.find(')', close + 1)) {
    c.at = begin + close + 1;
    c.spaces();
    if (c.take(":")) return true;
  }
  return false;
}

int64_t graph_of_file(std::string_view file) {
  size_t at = file.find("asc_graph");
  if (at == kNone_) return -1;
  Cursor c{file, at + 9};
  int64_t graph = -1;
  return c.number(graph) && c.peek() == '_' ? graph : -1;
}

// The time, `[file:line]`, `[status:…]` groups, tid and `Func:`.
bool place_and_thread(Cursor& c, Header& h) {
  size_t open = c.s.find('[', c.at);
  if (open == kNone_ || open - c.at > 40) return false;
  size_t close = c.s.substr(0, open + 1 + kPathLimit).find(']', open);
  if (close == kNone_) return false;
  h.file_graph = graph_of_file(c.s.substr(open + 1, close - open - 1));
  c.at = close + 1;
  c.spaces();
  while (c.peek() == '[') {
    close = c.s.substr(0, c.at + kNameLimit).find(']', c.at);
    if (close == kNone_) return false;
    c.at = close + 1;
    c.spaces();
  }
  if (!c.number(h.tid) || !is_space(c.peek())) return false;
  c.spaces();
  size_t func = c.at;
  while (!c.done() && c.peek() != ':' && c.peek() != '[' && !is_space(c.peek())) ++c.at;
  return c.at > func && c.take(":");
}

// Reads the header whose level word ends at `at`.
bool read_header(std::string_view s, size_t at, Header& h) {
  Cursor c{s, at};
  if (!module_and_pid(c, h)) return false;
  h.full = place_and_thread(c, h);
  h.body = c.at;
  return true;
}

// `[OP]message` at the body of a full header: the name ends at the first `]` that a message follows.
bool read_body(std::string_view s, const Header& h, ParsedLine& out) {
  Cursor c{s, h.body};
  c.spaces();
  bool error = c.take("ErrorNo: ");
  if (error) {
    size_t close = s.find(')', c.at);
    if (close == kNone_) return false;
    c.at = close + 1;
    c.spaces();
    if (c.done()) {
      out.message.kind = kEmptyError;
      return true;
    }
  }
  if (c.peek() != '[') return false;
  for (size_t close = s.find(']', c.at); close != kNone_; close = s.find(']', close + 1)) {
    Cursor after{s, close + 1};
    after.spaces();
    Message m = match_message(s, after.at);
    if (m.kind == kNone || close == c.at + 1) continue;
    out.message = m;
    out.op = s.substr(c.at + 1, close - c.at - 1);
    return true;
  }
  return false;
}

// The operator of a bare line: the last bracket group before `close` that is one.
std::string_view bare_operator(std::string_view s, size_t close) {
  while (true) {
    size_t open = close == 0 ? kNone_ : s.rfind('[', close - 1);
    if (open == kNone_) return {};
    std::string_view name = s.substr(open + 1, close - open - 1);
    if (operator_name(name)) return name;
    size_t p = open;
    while (p > 0 && is_space(s[p - 1])) --p;
    if (p == 0 || s[p - 1] != ']') return {};
    close = p - 1;
  }
}

bool read_bare(std::string_view s, ParsedLine& out) {
  int tries = kTries;
  for (size_t close = s.find(']'); close != kNone_; close = s.find(']', close + 1)) {
    Cursor after{s, close + 1};
    after.spaces();
    Message m = match_message(s, after.at);
    if (m.kind == kNone) continue;
    out.op = bare_operator(s, close);
    if (out.op.empty()) {
      if (--tries == 0) return false;
      continue;
    }
    out.message = m;
    return true;
  }
  return false;
}

}  // namespace

ParsedLine parse_line(std::string_view s) {
  ParsedLine out;
  bool positional = false;
  int64_t partial_pid = -1;
  int tries = kTries;
  for (size_t open = s.find('['); open != kNone_; open = s.find('[', open + 1)) {
    size_t end = level_end(s, open);
    if (end == kNone_) continue;
    if (--tries < 0) break;
    Header h;
    if (!read_header(s, end, h)) continue;
    if (!h.full) {
      partial_pid = h.pid;
      continue;
    }
    positional = true;
    if (read_body(s, h, out)) {
      out.pid = h.pid;
      out.tid = h.tid;
      out.start_graph = h.file_graph;
      out.cut = s.size() - open >= kLineLimit;
      return out;
    }
  }
  if (!positional && read_bare(s, out)) out.pid = partial_pid;
  return out;
}

Writer parse_writer(std::string_view s) {
  int tries = kTries;
  for (size_t open = s.find('['); open != kNone_ && tries > 0; open = s.find('[', open + 1)) {
    size_t end = level_end(s, open);
    if (end == kNone_) continue;
    --tries;
    Header h;
    if (!read_header(s, end, h)) continue;
    return {true, h.pid, h.full ? h.tid : -1};
  }
  return {};
}

std::string strip_ansi(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  for (size_t i = 0; i < s.size();) {
    if (s[i] != '\x1b') {
      out.push_back(s[i++]);
      continue;
    }
    char kind = i + 1 < s.size() ? s[i + 1] : '\0';
    size_t p = i + 2;
    if (kind == '[') {
      while (p < s.size() && s[p] >= 0x20 && s[p] <= 0x3f) ++p;
      i = p < s.size() && s[p] >= 0x40 && s[p] <= 0x7e ? p + 1 : p;
    } else if (kind == ']') {
      while (p < s.size() && s[p] != '\x07' && s[p] != '\x1b') ++p;
      i = p < s.size() && s[p] == '\x07' ? p + 1 : (p + 1 < s.size() && s[p + 1] == '\\' ? p + 2 : p);
    } else {
      i += kind >= 0x40 && kind <= 0x5f ? 2 : 1;
    }
  }
  return out;
}

}  // namespace att
