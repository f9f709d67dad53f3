// Starts workers, ends those that take too long, starts others in place of those that died, leaves no process behind.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

#include "json.hpp"
#include "shared.hpp"

namespace runner {
namespace {

constexpr int kExitStopped = 3;
constexpr int kLongestWaitMs = 50;

struct Worker {
  pid_t pid = -1;
  WorkerState *state = nullptr;
  int output_fd = -1;
  std::uint64_t output_bytes = 0;
  std::int64_t output_point = -1;
  bool timed_out = false;
};

void *SharedPage(std::size_t size) {
  void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

std::string SignalName(int number) {
  static const std::pair<int, const char *> kNames[] = {
      {SIGABRT, "SIGABRT"}, {SIGALRM, "SIGALRM"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGHUP, "SIGHUP"},
      {SIGILL, "SIGILL"},   {SIGINT, "SIGINT"},   {SIGKILL, "SIGKILL"}, {SIGPIPE, "SIGPIPE"}, {SIGQUIT, "SIGQUIT"},
      {SIGSEGV, "SIGSEGV"}, {SIGSYS, "SIGSYS"},   {SIGTERM, "SIGTERM"}, {SIGTRAP, "SIGTRAP"}, {SIGUSR1, "SIGUSR1"},
      {SIGUSR2, "SIGUSR2"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}};
  for (const auto &[known, name] : kNames) {
    if (known == number) {
      return name;
    }
  }
  return std::to_string(number);
}

class Supervisor {
 public:
  explicit Supervisor(const Job &job) : job_(job) {}

  int Run() {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!WatchSignals() || !Prepare()) {
      return kExitStopped;
    }
    for (Worker &worker : workers_) {
      Start(worker);
    }
    while (!stopped_ && std::any_of(workers_.begin(), workers_.end(), [](const Worker &w) { return w.pid > 0; })) {
      WaitForSomething();
      KillOverdue();
      Reap();
    }
    EndEverything();
    ReportOrphans();
    return stopped_ ? kExitStopped : 0;
  }

 private:
  bool WatchSignals() {
    sigset_t watched;
    sigemptyset(&watched);
    for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) {
      sigaddset(&watched, number);
    }
    sigprocmask(SIG_BLOCK, &watched, nullptr);
    signal(SIGPIPE, SIG_IGN);
    signal_fd_ = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    return signal_fd_ >= 0;
  }

  bool Prepare() {
    queue_ = new (SharedPage(sizeof(SharedQueue))) SharedQueue();
    const auto jobs = static_cast<std::size_t>(std::clamp<std::int64_t>(job_.PointCount(), 1, job_.jobs));
    workers_.resize(jobs);
    for (Worker &worker : workers_) {
      void *page = SharedPage(sizeof(WorkerState));
      if (page == nullptr) {
        return false;
      }
      worker.state = new (page) WorkerState();
    }
    return true;
  }

  void Start(Worker &worker) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
      stopped_ = true;
      return;
    }
    WorkerState &state = *worker.state;
    state.current = -1;
    state.verdict = static_cast<int>(Verdict::kNone);
    state.phase = static_cast<int>(Phase::kLoad);
    state.finished = false;
    state.started_ns = NowNs();
    worker.output_fd = ends[0];
    worker.output_bytes = 0;
    worker.timed_out = false;
    const pid_t supervisor = getpid();
    worker.pid = fork();
    if (worker.pid == 0) {
      // The code's own writes block until they are read, as they would on a terminal.
      fcntl(ends[1], F_SETFL, fcntl(ends[1], F_GETFL) & ~O_NONBLOCK);
      RunWorker(job_, *queue_, state, ends[1], supervisor);
    }
    setpgid(worker.pid, worker.pid);
    close(ends[1]);
    stopped_ = stopped_ || worker.pid < 0;
  }

  void WaitForSomething() {
    std::vector<pollfd> watched = {{STDIN_FILENO, POLLIN, 0}, {signal_fd_, POLLIN, 0}};
    for (const Worker &worker : workers_) {
      watched.push_back({worker.output_fd, POLLIN, 0});
    }
    poll(watched.data(), watched.size(), kLongestWaitMs);
    if ((watched[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0 || (watched[0].revents & POLLIN) != 0) {
      char byte;
      stopped_ = stopped_ || read(STDIN_FILENO, &byte, 1) <= 0;  // whoever started us has gone
    }
    signalfd_siginfo info;
    while (read(signal_fd_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
      stopped_ = stopped_ || info.ssi_signo != SIGCHLD;
    }
    for (Worker &worker : workers_) {
      DrainOutput(worker);
    }
  }

  void DrainOutput(Worker &worker) {
    char room[65536];
    if (worker.output_fd < 0) {
      return;
    }
    for (int turn = 0; turn < 16; ++turn) {
      const ssize_t count = read(worker.output_fd, room, sizeof(room));
      if (count <= 0) {
        if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
          close(worker.output_fd);
          worker.output_fd = -1;
        }
        return;
      }
      CountOutput(worker, static_cast<std::uint64_t>(count));
      if (job_.capture_fd >= 0 && worker.output_bytes <= job_.output_bytes) {
        WriteAll(job_.capture_fd, room, static_cast<std::size_t>(count));
      }
    }
  }

  // Output is counted for each point anew.
  void CountOutput(Worker &worker, std::uint64_t count) {
    const std::int64_t point = worker.state->current;
    if (point != worker.output_point) {
      worker.output_point = point;
      worker.output_bytes = 0;
    }
    worker.output_bytes += count;
    if (worker.output_bytes > job_.output_bytes && worker.pid > 0) {
      worker.state->verdict = static_cast<int>(Verdict::kOutput);
      KillGroup(worker);
    }
  }

  void KillOverdue() {
    const std::int64_t now = NowNs();
    for (Worker &worker : workers_) {
      const std::int64_t spent_ms = (now - worker.state->started_ns) / 1000000;
      if (worker.pid > 0 && spent_ms > static_cast<std::int64_t>(job_.timeout_ms)) {
        worker.timed_out = true;
        KillGroup(worker);
      }
    }
  }

  static void KillGroup(const Worker &worker) {
    kill(-worker.pid, SIGKILL);
    kill(worker.pid, SIGKILL);
  }

  void Reap() {
    for (;;) {
      int status = 0;
      const pid_t pid = waitpid(-1, &status, WNOHANG);
      if (pid <= 0) {
        return;
      }
      const auto ended = std::find_if(workers_.begin(), workers_.end(), [pid](const Worker &w) { return w.pid == pid; });
      if (ended == workers_.end()) {
        ++orphans_;
      } else {
        Ended(*ended, status);
      }
    }
  }

  void Ended(Worker &worker, int status) {
    kill(-worker.pid, SIGKILL);  // what the code started and left in its group
    worker.pid = -1;
    DrainOutput(worker);
    if (worker.output_fd >= 0) {
      close(worker.output_fd);
      worker.output_fd = -1;
    }
    WorkerState &state = *worker.state;
    if (state.finished) {
      return;
    }
    const std::int64_t point = state.current;
    if (point < 0 && static_cast<Phase>(state.phase.load()) != Phase::kIdle) {
      Report("fatal", Reason(worker, status), point, state);
      return;
    }
    if (point >= 0) {
      Report("error", Reason(worker, status), point, state);
      state.chunk_next = point + 1;
    }
    Start(worker);
  }

  std::string Reason(const Worker &worker, int status) const {
    const auto verdict = static_cast<Verdict>(worker.state->verdict.load());
    if (worker.timed_out) {
      char text[64];
      snprintf(text, sizeof(text), "timeout %g s", static_cast<double>(job_.timeout_ms) / 1000.0);
      return text;
    }
    if (verdict == Verdict::kFork) {
      return "fork in tiling code";
    }
    if (verdict == Verdict::kOutput) {
      return "endless output (more than " + std::to_string(job_.output_bytes >> 20) + " MiB)";
    }
    if (verdict == Verdict::kOverrun) {
      return "buffer overrun";
    }
    if (WIFSIGNALED(status)) {
      return "signal " + SignalName(WTERMSIG(status));
    }
    return "exited with code " + std::to_string(WEXITSTATUS(status));
  }

  void Report(const char *kind, const std::string &reason, std::int64_t point, const WorkerState &state) {
    JsonLine line;
    if (point >= 0) {
      line.Field("i", point);
    }
    line.Field(kind, reason).Field("phase", PhaseName(static_cast<Phase>(state.phase.load())));
    const std::string text = "\n" + line.Finish();
    stopped_ = !WriteAll(job_.result_fd, text.data(), text.size()) || stopped_;
  }

  // Processes that left their group came to us when their parent ended; they go as well.
  void EndEverything() {
    for (const Worker &worker : workers_) {
      if (worker.pid > 0) {
        KillGroup(worker);
      }
    }
    for (int turn = 0; turn < 200; ++turn) {
      KillChildren();
      const pid_t pid = waitpid(-1, nullptr, WNOHANG);
      orphans_ += pid > 0 ? 1 : 0;
      if (pid < 0 && errno == ECHILD) {
        return;
      }
      if (pid == 0) {
        usleep(1000);
      }
    }
  }

  void ReportOrphans() const {
    if (orphans_ > 0 && !stopped_) {
      const std::string text = "\n" + JsonLine().Field("left", static_cast<std::int64_t>(orphans_)).Finish();
      WriteAll(job_.result_fd, text.data(), text.size());
    }
  }

  static void KillChildren() {
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", static_cast<int>(getpid()));
    FILE *children = fopen(path, "re");
    if (children == nullptr) {
      return;
    }
    int pid = 0;
    while (fscanf(children, "%d", &pid) == 1) {
      kill(pid, SIGKILL);
    }
    fclose(children);
  }

  const Job &job_;
  std::vector<Worker> workers_;
  SharedQueue *queue_ = nullptr;
  int signal_fd_ = -1;
  int orphans_ = 0;  // processes that the code left behind
  bool stopped_ = false;
};

}  // namespace

bool WriteAll(int descriptor, const char *text, std::size_t left) {
  while (left > 0) {
    const ssize_t written = write(descriptor, text, left);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return false;
    }
    text += written;
    left -= static_cast<std::size_t>(written);
  }
  return true;
}

const char *PhaseName(Phase phase) {
  static const char *const kNames[] = {"load",    "GetTilingDataSize",          "AutofuseTiling",
                                       "repeat of AutofuseTiling", "FindBestTilingKey", "idle"};
  return kNames[static_cast<int>(phase)];
}

int Supervise(const Job &job) { return Supervisor(job).Run(); }

}  // namespace runner
