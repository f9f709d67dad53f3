// What the supervisor and its workers know of each other: the job, and one page of shared memory per worker.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "abi.hpp"

namespace runner {

struct Job {
  std::string library;
  AbiKind kind = AbiKind::kTf;
  std::size_t dims = 0;
  std::string points_path;
  std::vector<std::uint32_t> points;  // rows of [dims…, aiv_num, ub_size, pass_limit]
  std::string data_path;              // where a single call leaves its tiling data; empty for a sweep
  std::string work_dir;
  int result_fd = -1;
  int log_fd = -1;      // -1: messages are read for the choice only
  int capture_fd = -1;  // where standard output and error of the code go; -1: dropped
  std::uint64_t timeout_ms = 60000;
  std::uint64_t memory_bytes = 0;  // 0: no limit
  std::uint64_t output_bytes = 64U << 20;
  unsigned jobs = 1;
  bool find_key = false;
  int log_level = 1;

  std::size_t PointWidth() const { return dims + 3; }
  std::int64_t PointCount() const { return static_cast<std::int64_t>(points.size() / PointWidth()); }
  bool IsSweep() const { return data_path.empty(); }
};

enum class Phase : int { kLoad, kSize, kCall, kRepeat, kKey, kIdle };

enum class Verdict : int { kNone, kFork, kOutput, kOverrun };

// Lives in anonymous shared memory; the worker writes, the supervisor reads (and writes the chunk before the start).
struct WorkerState {
  std::atomic<std::int64_t> current{-1};
  std::atomic<std::int64_t> chunk_next{0};
  std::atomic<std::int64_t> chunk_end{0};
  std::atomic<std::int64_t> started_ns{0};
  std::atomic<int> phase{static_cast<int>(Phase::kLoad)};
  std::atomic<int> verdict{static_cast<int>(Verdict::kNone)};
  std::atomic<bool> finished{false};
};

struct SharedQueue {
  std::atomic<std::int64_t> next{0};
};

inline std::int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

// Writes everything or gives up; a line of at most PIPE_BUF bytes stays in one piece among several writers.
bool WriteAll(int descriptor, const char *text, std::size_t left);

const char *PhaseName(Phase phase);

// Never returns: loads the library, calls it for its points, answers on the job's pipe.
[[noreturn]] void RunWorker(const Job &job, SharedQueue &queue, WorkerState &state, int output_fd, pid_t supervisor);

// Runs workers until every point has an answer; gives the exit code of the program.
int Supervise(const Job &job);

}  // namespace runner
