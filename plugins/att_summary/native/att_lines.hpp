// Reads one log line: what stands before the message (pid, tid, operator), and the message itself.
//
// The Python twin is autofuse_att_summary/lines.py; both implement the same rules and the tests compare them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace att {

enum Kind : int64_t {
  kIgnored = -1,    // a message that is known and carries nothing for the model
  kMalformed = -2,  // a message whose ids or numbers do not parse
  kNone = -3,       // no message of ours
  kValue = 0,
  kScore = 2,
  kTemplateChoice = 3,
  kResultChoice = 4,
  kResultPerf = 5,
  kStart = 6,
  kEnd = 7,
  kGroupBegin = 8,
  kGroupEnd = 9,
  kFailed = 10,
  kInput = 11,
  kHardware = 12,
  kFinal = 13,
  kEmptyError = 14,
  kMention = 15,  // names a template and says nothing for the model; given out only when lines are not merged
};

struct Message {
  Kind kind = kNone;
  int64_t graph = -1, result = -1, group = -1, case_id = -1;
  bool has_group = false;
  std::string_view tag;   // sub-case tag, empty or letters
  std::string_view name;  // name of a value; empty for the objective
  std::string_view text;  // number as logged, or the rest of the message
};

struct ParsedLine {
  Message message;
  std::string_view op;
  int64_t pid = -1, tid = -1;
  int64_t start_graph = -1;  // graph in the emitter's file name, where it tells
  bool cut = false;          // may have been cut at the log's line limit
};

// `line` has no line end. Views in the result point into `line`.
ParsedLine parse_line(std::string_view line);

// What a line says about who wrote it, apart from any message; pid and tid are -1 without a full header.
struct Writer {
  bool header = false;
  int64_t pid = -1, tid = -1;
};
Writer parse_writer(std::string_view line);

// The line without terminal control sequences.
std::string strip_ansi(std::string_view line);

}  // namespace att
