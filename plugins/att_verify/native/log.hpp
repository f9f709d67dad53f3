// Log calls of the tiling code: lines of the plog form, and what they say about the choice.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared.hpp"

namespace runner {

struct Template {
  std::string objective;
  std::map<std::string, std::string> pipes;
};

// What one call chose, as its messages tell it.
class Choice {
 public:
  void Read(std::string_view message);
  void Clear();
  // `[{"template":…,"objective":…,"pipes":{…}},…]` of the chosen templates and `{"graph0_result0":"…"}`.
  std::string TemplatesJson() const;
  std::string ResultsJson() const;
  bool Empty() const { return chosen_.empty(); }

 private:
  void ReadValue(std::string_view text);
  void ReadTemplateChoice(std::string_view text);
  bool IsOfChosenResult(std::string_view group) const;

  std::map<std::string, Template> templates_;
  std::map<std::string, std::string> chosen_;   // group → template
  std::map<std::string, std::string> results_;  // graph and result → modelled cycles
  std::vector<std::string> chosen_results_;
};

// Where messages go; one per worker process.
struct LogSink {
  int descriptor = -1;
  int level = 1;
  bool muted = true;
  std::uint64_t written = 0;
  std::uint64_t limit = 0;
  WorkerState *state = nullptr;
  Choice choice;
  std::vector<std::string> reports;
};

LogSink &TheLog();

}  // namespace runner
