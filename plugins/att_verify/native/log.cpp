#include "log.hpp"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "json.hpp"

namespace runner {
namespace {

constexpr int kDebug = 0;
constexpr int kError = 3;
constexpr int kEvent = 0x10;
constexpr int kModuleMask = 0xFFFF;
constexpr int kGeModule = 45;
constexpr std::size_t kLongestMessage = 1U << 16;
constexpr std::size_t kMostTemplates = 4096;

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;

std::string_view After(std::string_view text, std::string_view literal) {
  const auto at = text.find(literal);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + literal.size());
}

std::string_view Until(std::string_view text, std::string_view literal) { return text.substr(0, text.find(literal)); }

std::string_view UntilOf(std::string_view text, std::string_view bytes) {
  return text.substr(0, text.find_first_of(bytes));
}

bool IsPipe(std::string_view name) {
  for (const std::string_view prefix : {"AIC_", "AIV_", "AICORE_", "PIPE_"}) {
    if (name.substr(0, prefix.size()) == prefix) {
      return true;
    }
  }
  return false;
}

// `graph0_result1_g0_R2` → `graph0_result1_g0`.
std::string_view GroupOf(std::string_view name) { return name.substr(0, name.rfind('_')); }

std::string_view ResultOf(std::string_view group) { return group.substr(0, group.rfind("_g")); }

const char *LevelName(int level) {
  static const char *const kNames[] = {"DEBUG", "INFO", "WARNING", "ERROR"};
  return level == kEvent ? "EVENT" : kNames[std::clamp(level, kDebug, kError)];
}

std::string Prefix(int module, int level) {
  timespec now{};
  tm local{};
  clock_gettime(CLOCK_REALTIME, &now);
  localtime_r(&now.tv_sec, &local);
  char name[16];
  const int number = module & kModuleMask;
  snprintf(name, sizeof(name), number == kGeModule ? "GE" : "%d", number);
  char text[128];
  snprintf(text, sizeof(text), "[%s] %s(%d,autofuse):%04d-%02d-%02d-%02d:%02d:%02d.%03ld.%03ld ", LevelName(level),
           name, static_cast<int>(getpid()), local.tm_year + 1900, local.tm_mon + 1, local.tm_mday, local.tm_hour,
           local.tm_min, local.tm_sec, now.tv_nsec / 1000000, now.tv_nsec / 1000 % 1000);
  return text;
}

void KeepLine(LogSink &log, int module, int level, std::string_view message) {
  std::string line = Prefix(module, level);
  line.append(message);
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::replace(line.begin(), line.end(), '\r', ' ');
  line += '\n';
  log.written += line.size();
  if (log.written > log.limit) {
    log.state->verdict = static_cast<int>(Verdict::kOutput);
    kill(getpid(), SIGKILL);
  }
  WriteAll(log.descriptor, line.data(), line.size());
}

void Take(int module, int level, std::string_view message) {
  LogSink &log = TheLog();
  pthread_mutex_lock(&g_lock);
  if (!log.muted) {
    log.choice.Read(message);
    if (log.descriptor >= 0) {
      KeepLine(log, module, level, message);
    }
  }
  pthread_mutex_unlock(&g_lock);
}

void Record(int module, int level, const char *format, va_list arguments) {
  const LogSink &log = TheLog();
  if (log.muted || format == nullptr || (level != kEvent && level < log.level)) {
    return;
  }
  char room[2048];
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(room, sizeof(room), format, arguments);
  if (length >= 0 && static_cast<std::size_t>(length) < sizeof(room)) {
    Take(module, level, {room, static_cast<std::size_t>(length)});
  } else if (length >= 0) {
    std::string text(std::min<std::size_t>(static_cast<std::size_t>(length), kLongestMessage) + 1, '\0');
    vsnprintf(text.data(), text.size(), format, again);
    text.pop_back();
    Take(module, level, text);
  }
  va_end(again);
}

}  // namespace

LogSink &TheLog() {
  static LogSink log;
  return log;
}

void Choice::Clear() {
  templates_.clear();
  chosen_.clear();
  results_.clear();
  chosen_results_.clear();
}

void Choice::Read(std::string_view message) {
  if (const auto value = After(message, "The value of "); !value.empty()) {
    ReadValue(value);
  } else if (const auto best = After(message, "Among the templates, tiling case "); !best.empty()) {
    ReadTemplateChoice(best);
  } else if (const auto result = After(message, "Among all schedule results, "); !result.empty()) {
    chosen_results_.emplace_back(Until(result, " "));
  } else if (const auto objective = After(message, "The objective value of the tiling data is "); !objective.empty()) {
    const auto name = UntilOf(After(objective, " in "), ". \n");
    if (templates_.size() < kMostTemplates) {
      templates_[std::string(name)].objective = Until(objective, " ");
    }
  }
}

// `AIV_MTE2 is 952.5 in graph0_result2_g0_0.` or `graph0_result0 is 1252.5 …`.
void Choice::ReadValue(std::string_view text) {
  const auto name = Until(text, " is ");
  const auto rest = After(text, " is ");
  const auto value = UntilOf(rest, " \n");
  if (name.substr(0, 5) == "graph" && name.find("_result") != std::string_view::npos) {
    const auto end = !value.empty() && value.back() == '.' ? value.size() - 1 : value.size();
    results_[std::string(name)] = value.substr(0, end);
    return;
  }
  const auto where = UntilOf(After(rest, " in "), ". \n");
  if (IsPipe(name) && !where.empty() && templates_.size() < kMostTemplates) {
    templates_[std::string(where)].pipes[std::string(name)] = value;
  }
}

// `R2 of graph0_result0_g1 is the best choice.`; old producers put the case into the id as well.
void Choice::ReadTemplateChoice(std::string_view text) {
  const auto tiling_case = Until(text, " ");
  auto group = Until(After(text, " of "), " ");
  if (group.size() > tiling_case.size() && group.rfind('_') != std::string_view::npos &&
      group.substr(group.rfind('_') + 1) == tiling_case) {
    group = GroupOf(group);
  }
  chosen_[std::string(group)] = std::string(group) + "_" + std::string(tiling_case);
}

bool Choice::IsOfChosenResult(std::string_view group) const {
  const auto result = ResultOf(group);
  const auto graph = Until(result, "_");
  bool decided = false;
  for (const auto &chosen : chosen_results_) {
    if (chosen == result) {
      return true;
    }
    decided = decided || Until(chosen, "_") == graph;
  }
  return !decided;
}

std::string Choice::TemplatesJson() const {
  std::string out = "[";
  for (const auto &[group, name] : chosen_) {
    if (!IsOfChosenResult(group)) {
      continue;
    }
    JsonLine item;
    item.Field("template", name);
    if (const auto found = templates_.find(name); found != templates_.end()) {
      std::string pipes = "{";
      for (const auto &[pipe, value] : found->second.pipes) {
        pipes += pipes.size() > 1 ? "," : "";
        AppendJsonString(pipes, pipe);
        pipes += ':';
        AppendJsonString(pipes, value);
      }
      item.Field("objective", found->second.objective).Raw("pipes", pipes + "}");
    }
    std::string text = item.Finish();
    text.pop_back();
    out += (out.size() > 1 ? "," : "") + text;
  }
  return out + "]";
}

std::string Choice::ResultsJson() const {
  std::string out = "{";
  for (const auto &[name, value] : results_) {
    if (!IsOfChosenResult(name + "_g")) {
      continue;
    }
    out += out.size() > 1 ? "," : "";
    AppendJsonString(out, name);
    out += ':';
    AppendJsonString(out, value);
  }
  return out + "}";
}

}  // namespace runner

// These names are found by the loaded library before those of any library it brings along.
extern "C" {

__attribute__((visibility("default"))) void DlogRecord(int32_t module, int32_t level, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  runner::Record(module, level, format, arguments);
  va_end(arguments);
}

__attribute__((visibility("default"))) void DlogVaList(int32_t module, int32_t level, const char *format,
                                                       va_list arguments) {
  runner::Record(module, level, format, arguments);
}

__attribute__((visibility("default"))) int32_t CheckLogLevel(int32_t, int32_t level) {
  const runner::LogSink &log = runner::TheLog();
  return !log.muted && (level == runner::kEvent || (level <= runner::kError && level >= log.level)) ? 1 : 0;
}

__attribute__((visibility("default"))) void AutofuseVerifyReport(const char *code, const char *text) {
  runner::LogSink &log = runner::TheLog();
  pthread_mutex_lock(&runner::g_lock);
  if (!log.muted && log.reports.size() < 8) {
    log.reports.push_back(std::string(code) + ": " + std::string(text).substr(0, 256));
  }
  pthread_mutex_unlock(&runner::g_lock);
}
}
