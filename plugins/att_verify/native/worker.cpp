// One process that loads the library and calls it; whatever the code does to it, the supervisor goes on.
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <memory>

#include "guarded.hpp"
#include "json.hpp"
#include "log.hpp"
#include "shared.hpp"

namespace runner {
namespace {

constexpr std::uint64_t kLargestTilingData = 1ULL << 30;
constexpr std::uint64_t kLargestFile = 2ULL << 30;
constexpr std::size_t kLongestError = 900;
constexpr const char *kOptional[] = {"AutofuseIsStaticShape", "FindBestTilingKey", "GetTilingKeyCount",
                                     "GetModeledPerfForTesting", "AutofuseTilingWithConfig"};

struct Library {
  std::size_t (*size)() = nullptr;
  void *tiling = nullptr;
  std::uint32_t (*key_count)() = nullptr;
  std::uint64_t (*find_key)(void *) = nullptr;
  std::string exports = "[\"AutofuseTiling\",\"GetTilingDataSize\"";
};

// The words that the code writes besides its tiling data, with known bytes between them.
struct Slots {
  std::uint64_t workspace_size;
  std::uint64_t guard[7];
  std::uint64_t block_dim;
};

WorkerState *g_state = nullptr;
const GuardedBuffer *g_buffers[2] = {nullptr, nullptr};

void SetPhase(Phase phase) { g_state->phase = static_cast<int>(phase); }

// A fault in the pages around the buffer is an overrun, any other a plain crash; both end the process.
void OnFault(int signal_number, siginfo_t *info, void *) {
  for (const GuardedBuffer *buffer : g_buffers) {
    if (buffer != nullptr && buffer->Owns(info->si_addr)) {
      g_state->verdict = static_cast<int>(Verdict::kOverrun);
    }
  }
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void BeforeFork() {
  g_state->verdict = static_cast<int>(Verdict::kFork);
  kill(getpid(), SIGKILL);
}

void Limit(int resource, std::uint64_t value) {
  const rlimit limit = {value, value};
  setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

void InstallHandlers() {
  static char stack[64 * 1024];
  stack_t alternative = {};
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof(stack);
  sigaltstack(&alternative, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = OnFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
  signal(SIGPIPE, SIG_DFL);
  pthread_atfork(BeforeFork, nullptr, nullptr);
}

void Prepare(const Job &job, int output_fd) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(output_fd, STDOUT_FILENO);
  dup2(output_fd, STDERR_FILENO);
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_FSIZE, kLargestFile);
  if (job.memory_bytes > 0) {
    Limit(RLIMIT_AS, job.memory_bytes);
  }
  if (!job.work_dir.empty() && chdir(job.work_dir.c_str()) != 0) {
    _exit(125);
  }
  InstallHandlers();
}

void Answer(const Job &job, const JsonLine &line) {
  // Begins a line of its own, whatever the code itself wrote to this descriptor.
  const std::string text = "\n" + line.Finish();
  if (!WriteAll(job.result_fd, text.data(), text.size())) {
    _exit(0);
  }
}

// A failure that every point would share.
[[noreturn]] void Fatal(const Job &job, const std::string &error) {
  JsonLine line;
  line.Field("fatal", error.substr(0, kLongestError))
      .Field("phase", PhaseName(static_cast<Phase>(g_state->phase.load())));
  Answer(job, line);
  g_state->finished = true;
  _exit(0);
}

const char *MachineName(unsigned machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "aarch64";
    case EM_386:
      return "x86 (32 bit)";
    case EM_ARM:
      return "arm (32 bit)";
    default:
      return "another machine";
  }
}

// "" when the file is a library for this machine, or no ELF file (dlopen then says what is wrong).
std::string ArchitectureProblem(const std::string &path) {
#if defined(__x86_64__)
  constexpr unsigned kHere = EM_X86_64;
#elif defined(__aarch64__)
  constexpr unsigned kHere = EM_AARCH64;
#else
  constexpr unsigned kHere = EM_NONE;
#endif
  Elf64_Ehdr header = {};
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool read_it = file >= 0 && read(file, &header, sizeof(header)) == static_cast<ssize_t>(sizeof(header));
  if (file >= 0) {
    close(file);
  }
  if (!read_it || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || kHere == EM_NONE || header.e_machine == kHere) {
    return "";
  }
  return std::string("wrong architecture: the library is for ") + MachineName(header.e_machine) +
         ", this machine is " + MachineName(kHere);
}

std::string LoadProblem(std::string message) {
  const std::string undefined = "undefined symbol: ";
  const auto at = message.find(undefined);
  return at == std::string::npos ? "cannot load the library: " + message
                                 : "missing symbol " + message.substr(at + undefined.size());
}

Library Load(const Job &job) {
  SetPhase(Phase::kLoad);
  if (const auto problem = ArchitectureProblem(job.library); !problem.empty()) {
    Fatal(job, problem);
  }
  void *handle = dlopen(job.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    Fatal(job, LoadProblem(dlerror()));
  }
  Library library;
  library.size = reinterpret_cast<std::size_t (*)()>(dlsym(handle, "GetTilingDataSize"));
  library.tiling = dlsym(handle, "AutofuseTiling");
  if (library.size == nullptr || library.tiling == nullptr) {
    Fatal(job, std::string("missing symbol ") + (library.tiling == nullptr ? "AutofuseTiling" : "GetTilingDataSize"));
  }
  library.key_count = reinterpret_cast<std::uint32_t (*)()>(dlsym(handle, "GetTilingKeyCount"));
  library.find_key = reinterpret_cast<std::uint64_t (*)(void *)>(dlsym(handle, "FindBestTilingKey"));
  for (const char *name : kOptional) {
    if (dlsym(handle, name) != nullptr) {
      library.exports += ",\"" + std::string(name) + "\"";
    }
  }
  library.exports += "]";
  return library;
}

class Caller {
 public:
  Caller(const Job &job, const Library &library) : job_(job), library_(library) {}

  void MeasureData() {
    SetPhase(Phase::kSize);
    const std::size_t size = library_.size();
    if (size == 0 || size > kLargestTilingData) {
      Fatal(job_, "GetTilingDataSize gives " + std::to_string(size) + ", not 1 to 1073741824 bytes");
    }
    if (!data_.Allocate(size) || !slots_.Allocate(sizeof(Slots))) {
      Fatal(job_, "no memory for " + std::to_string(size) + " bytes of tiling data");
    }
    g_buffers[0] = &data_;
    g_buffers[1] = &slots_;
  }

  // False when this process must not be used for another call.
  bool CallPoint(std::int64_t index) {
    LogSink &log = TheLog();
    log.choice.Clear();
    log.reports.clear();
    JsonLine line;
    line.Field("i", index);
    log.muted = false;
    const std::int64_t begin = NowNs();
    SetPhase(Phase::kCall);
    const std::string problem = Call(index);
    const std::int64_t nanoseconds = NowNs() - begin;
    log.muted = true;
    line.Field("ns", nanoseconds);
    if (problem.empty()) {
      Describe(line);
      if (!job_.IsSweep()) {
        DescribeSingle(index, line);
      }
    } else {
      line.Field("error", problem.substr(0, kLongestError)).Field("phase", PhaseName(Phase::kCall));
    }
    AddReports(line);
    SetPhase(Phase::kIdle);
    Answer(job_, line);
    return problem.empty();
  }

 private:
  // "" or what went wrong.
  std::string Call(std::int64_t index) {
    const std::uint32_t *point = job_.points.data() + static_cast<std::size_t>(index) * job_.PointWidth();
    data_.Reset();
    slots_.Reset();
    auto *slots = static_cast<Slots *>(slots_.Data());
    memset(slots->guard, 0xA5, sizeof(slots->guard));
    ResLimit limit = {};
    limit.valid_num = 1;
    TilingCall call;
    call.dims = point;
    call.aiv_num = limit.aiv_num = point[job_.dims];
    call.ub_size = limit.ub_size = point[job_.dims + 1];
    call.limit = point[job_.dims + 2] != 0 ? &limit : nullptr;
    call.tiling_data = data_.Data();
    call.workspace_size = reinterpret_cast<std::uint32_t *>(&slots->workspace_size);
    call.block_dim = reinterpret_cast<std::uint32_t *>(&slots->block_dim);
    try {
      returned_ = CallTiling(job_.kind, job_.dims, library_.tiling, call);
    } catch (const std::exception &error) {
      return std::string("C++ exception: ") + error.what();
    } catch (...) {
      return "C++ exception";
    }
    if (!data_.GuardsIntact() || !slots_.GuardsIntact() || !SlotGuardsIntact(*slots)) {
      return "buffer overrun";
    }
    return HasChildren() ? "left processes running" : "";
  }

  static bool SlotGuardsIntact(const Slots &slots) {
    return std::all_of(std::begin(slots.guard), std::end(slots.guard),
                       [](std::uint64_t word) { return word == 0xA5A5A5A5A5A5A5A5ULL; });
  }

  static bool HasChildren() { return waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD; }

  void Describe(JsonLine &line) const {
    const auto *slots = static_cast<const Slots *>(slots_.Data());
    line.Field("ret", returned_)
        .Field("workspace", static_cast<std::int64_t>(slots->workspace_size))
        .Field("block_dim", static_cast<std::int64_t>(slots->block_dim))
        .Field("zero", data_.IsZero());
    const Choice &choice = TheLog().choice;
    if (!choice.Empty()) {
      const auto templates = choice.TemplatesJson();
      const auto results = choice.ResultsJson();
      if (templates.size() + results.size() < PIPE_BUF - 1024) {
        line.Raw("templates", templates).Raw("results", results);
      }
    }
  }

  static void AddReports(JsonLine &line) {
    std::string all = "[";
    for (const auto &report : TheLog().reports) {
      std::string item;
      AppendJsonString(item, report);
      if (all.size() + item.size() > 700) {
        break;
      }
      all += (all.size() > 1 ? "," : "") + item;
    }
    if (all.size() > 1) {
      line.Raw("reports", all + "]");
    }
  }

  // The repeat and the key run under their own phases, so that a crash there is told apart from one in the call.
  void DescribeSingle(std::int64_t index, JsonLine &line) {
    line.Field("size", static_cast<std::int64_t>(data_.Size())).Raw("exports", library_.exports);
    if (!SaveData()) {
      line.Field("save_error", strerror(errno));
    }
    if (returned_ != 0) {
      return;
    }
    const auto *bytes = static_cast<const std::uint8_t *>(data_.Data());
    const auto first = std::make_unique<std::uint8_t[]>(data_.Size());
    std::copy(bytes, bytes + data_.Size(), first.get());
    SetPhase(Phase::kKey);
    if (library_.key_count != nullptr) {
      line.Field("key_count", static_cast<std::int64_t>(library_.key_count()));
    }
    if (job_.find_key && library_.find_key != nullptr) {
      line.Field("key", static_cast<std::int64_t>(library_.find_key(data_.Data())));
    }
    g_state->started_ns = NowNs();
    SetPhase(Phase::kRepeat);
    const std::string problem = Call(index);
    const auto *slots = static_cast<const Slots *>(slots_.Data());
    line.Field("repeat_ret", returned_)
        .Field("repeat_workspace", static_cast<std::int64_t>(slots->workspace_size))
        .Field("repeat_block_dim", static_cast<std::int64_t>(slots->block_dim));
    if (!problem.empty()) {
      line.Field("repeat_error", problem.substr(0, 200));
    }
    line.Field("same", problem.empty() && memcmp(first.get(), data_.Data(), data_.Size()) == 0);
  }

  bool SaveData() const {
    const int file = open(job_.data_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (file < 0) {
      return false;
    }
    const bool written = WriteAll(file, static_cast<const char *>(data_.Data()), data_.Size());
    return close(file) == 0 && written;
  }

  const Job &job_;
  const Library &library_;
  GuardedBuffer data_;
  GuardedBuffer slots_;
  std::int64_t returned_ = 0;
};

bool TakeChunk(const Job &job, SharedQueue &queue, WorkerState &state) {
  const std::int64_t total = job.PointCount();
  const std::int64_t size = std::clamp<std::int64_t>(total / (job.jobs * 16 + 1), 1, 256);
  const std::int64_t first = queue.next.fetch_add(size);
  if (first >= total) {
    return false;
  }
  state.chunk_next = first;
  state.chunk_end = std::min(first + size, total);
  return true;
}

}  // namespace

void RunWorker(const Job &job, SharedQueue &queue, WorkerState &state, int output_fd, pid_t supervisor) {
  g_state = &state;
  Prepare(job, output_fd);
  if (getppid() != supervisor) {
    _exit(0);  // it ended before we asked to be ended with it
  }
  LogSink &log = TheLog();
  log.descriptor = job.log_fd;
  log.level = job.log_level;
  log.limit = job.output_bytes;
  log.state = &state;
  const Library library = Load(job);
  Caller caller(job, library);
  caller.MeasureData();
  do {
    while (state.chunk_next < state.chunk_end) {
      state.started_ns = NowNs();
      state.current = state.chunk_next.load();
      const bool reusable = caller.CallPoint(state.current);
      state.current = -1;
      state.chunk_next.fetch_add(1);
      if (!reusable) {
        _exit(0);  // the supervisor starts a clean process for what is left
      }
    }
  } while (TakeChunk(job, queue, state));
  state.finished = true;
  _exit(0);
}

}  // namespace runner
