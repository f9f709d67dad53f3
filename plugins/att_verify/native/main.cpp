// autofuse-tiling-runner: loads a library of generated tiling code and calls it, safely for whoever started it.
//
// It is started by the plugin, answers one JSON object a line on --result-fd, and ends when its standard input closes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <map>
#include <string>

#include "shared.hpp"

namespace {

constexpr int kUsage = 2;

std::map<std::string, std::string> ReadOptions(int count, char **words) {
  std::map<std::string, std::string> options;
  for (int index = 1; index + 1 < count; index += 2) {
    options[words[index]] = words[index + 1];
  }
  return options;
}

std::uint64_t Number(const std::map<std::string, std::string> &options, const char *name, std::uint64_t otherwise) {
  const auto found = options.find(name);
  return found == options.end() ? otherwise : strtoull(found->second.c_str(), nullptr, 10);
}

std::string Text(const std::map<std::string, std::string> &options, const char *name) {
  const auto found = options.find(name);
  return found == options.end() ? "" : found->second;
}

int Descriptor(const std::map<std::string, std::string> &options, const char *name) {
  return options.count(name) == 0 ? -1 : static_cast<int>(Number(options, name, 0));
}

// Rows of 32-bit words in the byte order of this machine.
bool ReadPoints(runner::Job &job) {
  FILE *file = fopen(job.points_path.c_str(), "rbe");
  if (file == nullptr) {
    return false;
  }
  std::uint32_t room[4096];
  for (std::size_t count; (count = fread(room, sizeof(room[0]), 4096, file)) > 0;) {
    job.points.insert(job.points.end(), room, room + count);
  }
  fclose(file);
  return !job.points.empty() && job.points.size() % job.PointWidth() == 0;
}

}  // namespace

int main(int count, char **words) {
  if (count == 2 && strcmp(words[1], "--version") == 0) {
    puts("autofuse-tiling-runner 1");
    return 0;
  }
  const auto options = ReadOptions(count, words);
  runner::Job job;
  job.library = Text(options, "--library");
  job.kind = Text(options, "--kind") == "inductor" ? runner::AbiKind::kInductor : runner::AbiKind::kTf;
  job.dims = Number(options, "--dims", 0);
  job.points_path = Text(options, "--points");
  job.data_path = Text(options, "--data");
  job.work_dir = Text(options, "--work-dir");
  job.result_fd = Descriptor(options, "--result-fd");
  job.log_fd = Descriptor(options, "--log-fd");
  job.capture_fd = Descriptor(options, "--capture-fd");
  job.timeout_ms = Number(options, "--timeout-ms", job.timeout_ms);
  job.memory_bytes = Number(options, "--memory-bytes", 0);
  job.output_bytes = Number(options, "--output-bytes", job.output_bytes);
  job.jobs = static_cast<unsigned>(Number(options, "--jobs", 1));
  job.log_level = static_cast<int>(Number(options, "--log-level", 1));
  job.find_key = Number(options, "--find-key", 0) != 0;
  if (job.library.empty() || job.result_fd < 0 || job.dims > runner::kMaxDims || job.jobs == 0 || !ReadPoints(job)) {
    fputs("autofuse-tiling-runner: started by `autofuse run verify-tiling`, not by hand\n", stderr);
    return kUsage;
  }
  return runner::Supervise(job);
}
