#include "core/watch/job.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/watch/process_reading.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

/// Whom the handler sends signals to; the last one that came while there was nobody, and who sent it. A handler has
/// nothing else.
volatile std::sig_atomic_t job_process = 0, early_signal = 0, early_sender = 0, seen_signal = 0;

/// Between two looks at what the job has left behind.
constexpr Clock::duration look_period = std::chrono::milliseconds(20);
constexpr Seconds patience_after_kill{1.0};

bool is_for_the_job(int signal, const siginfo_t& about) {
  // A terminal's Ctrl-C goes to the whole group; its end only to the leader of the session.
  if (about.si_code > 0) return signal == SIGHUP && ::getsid(0) == ::getpid();
  if (signal == SIGINT || signal == SIGQUIT) return about.si_pid == 0 || ::getpgid(about.si_pid) != ::getpgrp();
  return about.si_pid != job_process;
}

void send_on(int signal, siginfo_t* about, void*) {
  const int error = errno;
  if (signal != SIGUSR1 && signal != SIGUSR2) seen_signal = signal;
  if (is_for_the_job(signal, *about)) {
    if (job_process > 0) {
      ::kill(static_cast<pid_t>(job_process), signal);
    } else {
      early_signal = signal;
      early_sender = about->si_pid;
    }
  }
  errno = error;
}

std::string_view name_of(std::string_view setting) {
  return setting.substr(0, setting.find('='));
}

std::vector<std::string> environment_of(const JobCommand& command) {
  std::vector<std::string> settings = command.settings;
  if (!command.python_path.empty()) {
    // An empty entry would be the current folder.
    const char* const before = std::getenv("PYTHONPATH");
    std::string path = "PYTHONPATH=" + command.python_path.string();
    if (before != nullptr && *before != '\0') path += std::string(":") + before;
    settings.push_back(std::move(path));
  }
  std::vector<std::string> all;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view name = name_of(*one);
    const bool is_set = std::ranges::any_of(settings, [&](std::string_view set) { return name_of(set) == name; });
    const bool is_removed = std::ranges::find(command.removed, name) != command.removed.end();
    if (!is_set && !is_removed) all.emplace_back(*one);
  }
  all.insert(all.end(), settings.begin(), settings.end());
  return all;
}

std::vector<char*> pointers_of(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Why it cannot be started, and what is possible.
std::string reason_of(const std::string& program, int error) {
  const std::string shown = shown_text(program, 200);
  std::error_code unknown;
  const bool is_path = program.find('/') != std::string::npos;
  const bool is_there = fs::exists(program, unknown);
  if (fs::is_directory(program, unknown) && (is_path || error == ENOENT))
    return fmt::format("'{}' is a folder; name the program in it", shown);
  if (!is_path && error == ENOENT) {
    if (is_there)
      return fmt::format(
          "'{}' is not on the PATH, only in this folder: write ./{}, or its interpreter first "
          "(python {})",
          shown, shown, shown);
    return fmt::format("there is no program '{}' on the PATH ({})", shown,
                       shown_text(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "not set", 300));
  }
  if (error == ENOENT && is_there) {
    std::string line;
    std::ifstream file(program, std::ios::binary);
    std::getline(file, line);
    if (line.starts_with("#!"))
      return fmt::format("the interpreter in the first line of '{}' is not there: {}", shown, shown_text(line, 120));
    return fmt::format("'{}' is there, and what it needs to be loaded is not (its dynamic linker)", shown);
  }
  if (error == ENOENT) return fmt::format("there is no file '{}'", shown);
  if (error == EACCES && is_there)
    return fmt::format("'{}' is not executable: chmod +x it, or write its interpreter first (python {})", shown, shown);
  return fmt::format("'{}': {}", shown, std::strerror(error));
}

int spawned(const JobCommand& command) {
  std::vector<std::string> words = command.words, settings = environment_of(command);
  std::vector<char*> variables = pointers_of(settings);
  pid_t process = 0;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (command.is_quiet) ::posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  // The PATH that counts is this process' own; glibc looks there, not into the job's environment.
  int error =
      ::posix_spawnp(&process, words[0].c_str(), &actions, nullptr, pointers_of(words).data(), variables.data());
  if (error == ENOEXEC) {
    // Shells run a script without "#!" by themselves.
    words.insert(words.begin(), "/bin/sh");
    error = ::posix_spawn(&process, "/bin/sh", &actions, nullptr, pointers_of(words).data(), variables.data());
  }
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw Error(fmt::format("the job cannot be started: {}", reason_of(command.words[0], error)));
  return process;
}

double seconds_of_use(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

JobEnd end_of(int status, const rusage& use) {
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
          .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
          .cpu_s = seconds_of_use(use.ru_utime) + seconds_of_use(use.ru_stime),
          .resident_peak_bytes = 1024.0 * static_cast<double>(use.ru_maxrss)};
}

}  // namespace

Job::Job(const JobCommand& command) {
  if (command.words.empty() || command.words[0].empty())
    throw Error("the job cannot be started: it has no words; write the command behind --, as in -- python train.py");
  ::prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper_);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  job_process = 0;
  early_signal = 0;
  seen_signal = 0;
  struct sigaction action {};
  action.sa_sigaction = &send_on;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    ::sigaction(signals[i], nullptr, &before_[i]);
    // What is ignored (nohup) is ignored by the job too. Functions are not handed down.
    if (before_[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &action, nullptr);
  }
  try {
    process_ = spawned(command);
  } catch (...) {
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
    ::prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_);
    throw;
  }
  job_process = process_;
  // The job may be faster than posix_spawn returns: what it sends to its parent is not for itself.
  if (early_signal != 0 && early_sender != process_) ::kill(process_, early_signal);
  early_signal = 0;
  descriptor_ = static_cast<int>(::syscall(SYS_pidfd_open, process_, 0));
}

Job::~Job() {
  if (!end_) end(Seconds(1));
  job_process = 0;
  if (descriptor_ >= 0) ::close(descriptor_);
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
  ::prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_);
}

// A number may be given to another process once it was waited for, so the handler forgets it before.
void Job::reap() {
  for (;;) {
    siginfo_t about{};
    if (::waitid(P_ALL, 0, &about, WEXITED | WNOHANG | WNOWAIT) != 0) {
      if (errno == EINTR) continue;
      has_others_ = false;  // there is no child any more
      return;
    }
    if (about.si_pid == 0) {
      has_others_ = true;
      return;
    }
    if (about.si_pid == process_) job_process = 0;
    int status = 0;
    rusage use{};
    if (::wait4(about.si_pid, &status, 0, &use) == about.si_pid && about.si_pid == process_) end_ = end_of(status, use);
  }
}

JobState Job::poll() {
  reap();
  if (!end_) return JobState::runs;
  return has_others_ ? JobState::left : JobState::ended;
}

// Wakes up when the job's own process ends. What it has left behind has no descriptor: it is looked at again.
void Job::sleep_until(Clock::time_point time) const {
  const bool has_descriptor = descriptor_ >= 0 && !end_;
  const Clock::time_point until = has_descriptor ? time : std::min(time, Clock::now() + look_period);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  constexpr std::int64_t longest = 1000;  // children that were left behind are waited for meanwhile
  const int milliseconds = static_cast<int>(std::clamp<std::int64_t>(left, 0, longest));
  pollfd ends{.fd = descriptor_, .events = POLLIN, .revents = 0};
  ::poll(&ends, has_descriptor ? 1 : 0, milliseconds);
}

bool Job::wait_until(Clock::time_point time) {
  const bool ran = poll() == JobState::runs;
  for (;;) {
    const JobState state = poll();
    if (state == JobState::ended) return false;
    if ((ran && state == JobState::left) || Clock::now() >= time) return true;
    sleep_until(time);
  }
}

std::vector<int> Job::processes() const {
  std::vector<std::pair<int, int>> parents;
  for (const int number : numbered_folders("/proc")) {
    const auto reading = read_process_stat("/proc", number);
    if (reading && !reading->has_ended) parents.emplace_back(number, reading->parent);
  }
  std::vector<int> found{::getpid()};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const auto& [number, parent] : parents) {
      if (parent == found[i] && std::ranges::find(found, number) == found.end()) found.push_back(number);
    }
  }
  found.erase(found.begin());
  std::ranges::sort(found);
  return found;
}

bool Job::end_all(int signal) const {
  const std::vector<int> all = processes();
  for (const int one : all) {
    ::kill(one, signal);
    ::kill(one, SIGCONT);  // a process that is stopped would not see it
  }
  return !all.empty();
}

bool Job::end(Seconds grace) {
  const auto lasting = [](Seconds time) { return std::chrono::duration_cast<Clock::duration>(time); };
  const Clock::time_point begin = Clock::now(), all = begin + lasting(grace / 2), kill = begin + lasting(grace);
  const Clock::time_point give_up = kill + lasting(patience_after_kill);
  if (poll() == JobState::runs) {
    ::kill(process_, SIGTERM);
    ::kill(process_, SIGCONT);
    while (poll() == JobState::runs && Clock::now() < all) sleep_until(all);
  }
  if (poll() != JobState::ended) end_all(SIGTERM);
  while (poll() != JobState::ended && Clock::now() < kill) sleep_until(std::min(kill, Clock::now() + look_period));
  while (poll() != JobState::ended && Clock::now() < give_up) {
    end_all(SIGKILL);  // again, for what was forked meanwhile
    sleep_until(std::min(give_up, Clock::now() + look_period));
  }
  return poll() == JobState::ended;
}

int Job::signal_seen() const {
  return seen_signal;
}

int Job::signal_since_end() const {
  return end_ ? early_signal : 0;
}

void end_as(const JobEnd& end) {
  if (end.signal == 0) std::exit(end.status);
  std::fflush(nullptr);
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::signal(end.signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, end.signal);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  std::raise(end.signal);
  std::exit(end.shell_status());  // of a signal that ends nothing here
}

}  // namespace gpubench
