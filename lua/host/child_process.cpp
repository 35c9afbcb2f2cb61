#include "lua/host/child_process.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/program.h"
#include "core/base/shell_text.h"
#include "core/compare/stored_call.h"
#include "core/results/append_file.h"
#include "lua/api/results_values.h"
#include "lua/bind/bind.h"

namespace gpubench {
namespace {

constexpr const char* parent_variable = "GPUBENCH_PARENT";

volatile std::sig_atomic_t child = 0, stopping_signal = 0;

// A terminal's Ctrl-C reaches the child without us. Sent once by both, it is one request to the child (0.2 s).
void hand_on(int signal) {
  stopping_signal = signal;
  if (child > 0) kill(static_cast<pid_t>(child), signal);
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string name_of_variable(std::string_view setting) {
  return std::string(setting.substr(0, setting.find('=')));
}

/// This process' environment with the settings in it.
std::vector<std::string> environment_with(const std::vector<std::string>& settings) {
  std::vector<std::string> all = settings;
  for (char** one = environ; *one != nullptr; ++one) {
    bool replaced = false;
    for (const std::string& setting : settings)
      replaced = replaced || name_of_variable(setting) == name_of_variable(*one);
    if (!replaced) all.emplace_back(*one);
  }
  return all;
}

class OutputPipe {
 public:
  OutputPipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0)
      throw Error(fmt::format("run: no pipe can be opened: {}", std::strerror(errno)));
  }
  ~OutputPipe() {
    ::close(ends_[0]);
    close_writing_end();
  }
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;
  int reading_end() const { return ends_[0]; }
  int writing_end() const { return ends_[1]; }
  void close_writing_end() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  void silence() { posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0); }
  void write_to(int descriptor) { posix_spawn_file_actions_adddup2(&actions_, descriptor, STDOUT_FILENO); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// After SIGTERM a program finishes its step and writes its files.
constexpr Seconds patience_after_term{30.0};
constexpr int look_period_ms = 20;

/// Ends a process whose time is up.
class TimeLimit {
 public:
  TimeLimit(pid_t process, std::optional<Seconds> limit) : process_(process), limit_(limit) {}
  void look() {
    // The limit of a point ends what the point has started.
    const bool over = limit_ && (running_.elapsed() >= *limit_ || timeout_requested());
    if (!over) return;
    if (!ended_at_) {
      ended_at_ = running_.elapsed();
      kill(process_, SIGTERM);
    } else if (running_.elapsed() > *ended_at_ + patience_after_term) {
      kill(process_, SIGKILL);
    }
  }
  bool out_of_time() const { return ended_at_.has_value(); }

 private:
  pid_t process_;
  std::optional<Seconds> limit_;
  Stopwatch running_;
  std::optional<Seconds> ended_at_;
};

/// Appends what comes within `look_period_ms`. False at the end of the output.
bool read_some(int descriptor, std::string& text) {
  pollfd ready{.fd = descriptor, .events = POLLIN, .revents = 0};
  if (poll(&ready, 1, look_period_ms) <= 0) return true;
  std::array<char, 4096> buffer{};
  const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR;
  text.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0;
}

/// The status of its end. Without a limit it sleeps until then.
int wait_for(pid_t process, TimeLimit& limit, bool limited) {
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(process, &status, limited ? WNOHANG : 0);
    if (ended == process || (ended < 0 && errno != EINTR)) break;
    limit.look();
    if (limited) poll(nullptr, 0, look_period_ms);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Children inherit the processors of the thread that starts them.
class FewerProcessors {
 public:
  explicit FewerProcessors(int count) {
    if (count == 0 || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    cpu_set_t few;
    CPU_ZERO(&few);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&few) < count; ++cpu) {
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &few);
    }
    changed_ = sched_setaffinity(0, sizeof few, &few) == 0;
  }
  ~FewerProcessors() {
    if (changed_) sched_setaffinity(0, sizeof before_, &before_);
  }
  FewerProcessors(const FewerProcessors&) = delete;
  FewerProcessors& operator=(const FewerProcessors&) = delete;

 private:
  cpu_set_t before_{};
  bool changed_ = false;
};

/// Threads that compute nothing, as fast as they can.
class Neighbours {
 public:
  explicit Neighbours(int count) {
    for (int i = 0; i < count; ++i)
      threads_.emplace_back([](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
        }
      });
  }

 private:
  std::vector<std::jthread> threads_;
};

/// Of a process that its own parent has not looked after yet, too. The number of the process is read from text.
bool has_ended(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string stat;
  if (!std::getline(file, stat)) return true;
  const std::size_t name_end = stat.rfind(") ");  // the name may have brackets itself
  return name_end == std::string::npos || stat[name_end + 2] == 'Z';
}

pid_t start(const std::vector<std::string>& words, const ChildOptions& options, const FileActions& actions) {
  std::vector<std::string> own = options.environment;
  own.push_back(fmt::format("{}={}", parent_variable, ::getpid()));
  std::vector<std::string> arguments = words, settings = environment_with(own);
  const std::vector<char*> argv = pointers_to(arguments), variables = pointers_to(settings);
  const FewerProcessors fewer(options.processors);
  pid_t process = 0;
  if (const int error = posix_spawnp(&process, argv[0], actions.get(), nullptr, argv.data(), variables.data());
      error != 0)
    throw Error(fmt::format("run: '{}' cannot be started: {}", words.front(), std::strerror(error)));
  if (options.address_space != 0) {
    const rlimit limit{.rlim_cur = options.address_space, .rlim_max = options.address_space};
    prlimit(process, RLIMIT_AS, &limit, nullptr);
  }
  return process;
}

}  // namespace

ChildProcesses::ChildProcesses() {
  stopping_signal = 0;
  struct sigaction action {};
  action.sa_handler = &hand_on;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(signals[i], &action, nullptr);
  }
}

ChildProcesses::~ChildProcesses() {
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
}

ChildEnd ChildProcesses::run(const std::vector<std::string>& words, const ChildOptions& options) {
  FileActions actions;
  std::optional<OutputPipe> pipe;
  if (options.output == ChildOutput::none) actions.silence();
  if (options.output == ChildOutput::captured) actions.write_to(pipe.emplace().writing_end());
  const Neighbours neighbours(options.neighbours);
  const pid_t process = start(words, options, actions);
  child = process;
  if (stopping_signal != 0) kill(process, stopping_signal);  // it came before there was a child
  ChildEnd end;
  TimeLimit limit(process, options.limit);
  if (pipe) {
    pipe->close_writing_end();
    while (read_some(pipe->reading_end(), end.out)) limit.look();
  }
  end.status = wait_for(process, limit, options.limit.has_value());
  child = 0;
  end.out_of_time = limit.out_of_time();
  return end;
}

int ChildProcesses::stopped_by() const {
  return stopping_signal;
}

void end_with_parent() {
  const char* const text = std::getenv(parent_variable);
  if (text == nullptr) return;
  const std::string parent = text;
  ::unsetenv(parent_variable);  // what this process starts has another one
  if (parent == std::to_string(::getppid())) prctl(PR_SET_PDEATHSIG, SIGTERM);  // no shell is between us
  if (has_ended(parent)) std::raise(SIGTERM);
}

namespace lua {

template <>
struct Value<ChildEnd> {
  static void push(lua_State* L, const ChildEnd& end) {
    lua_createtable(L, 0, 3);
    Value<int>::push(L, end.status);
    lua_setfield(L, -2, "status");
    Value<std::string>::push(L, end.out);
    lua_setfield(L, -2, "out");
    Value<bool>::push(L, end.out_of_time);
    lua_setfield(L, -2, "out_of_time");
  }
};

namespace {

struct ProgramTable {
  std::optional<std::vector<std::string>> environment;
  std::optional<bool> silent, captured;
  std::optional<double> limit_s;
  static constexpr auto fields =
      std::tuple{field("environment", &ProgramTable::environment), field("silent", &ProgramTable::silent),
                 field("captured", &ProgramTable::captured), field("limit_s", &ProgramTable::limit_s)};
};

ChildEnd run_program(const std::vector<std::string>& words, const std::optional<ProgramTable>& table) {
  if (words.empty()) throw ArgumentError("the program's name is missing");
  ChildOptions options;
  if (table) {
    options.environment = table->environment.value_or(std::vector<std::string>{});
    if (table->silent.value_or(false)) options.output = ChildOutput::none;
    if (table->captured.value_or(false)) options.output = ChildOutput::captured;
    if (table->limit_s) options.limit = Seconds(*table->limit_s);
  }
  ChildProcesses processes;
  ChildEnd end = processes.run(words, options);
  if (processes.stopped_by() != 0) request_interrupt(processes.stopped_by());
  return end;
}

Info stored_call_of(const std::string& run) {
  const std::string file = run + "/run.json";
  const StoredCall call = stored_call(run, parse_json(read_file(file), file));
  return Info::Fields{{"script", call.script.string()},
                      {"options", Info::List(call.options.begin(), call.options.end())},
                      {"left_out", Info::List(call.left_out.begin(), call.left_out.end())}};
}

std::string text_for_shells(const std::vector<std::string>& words) {
  return shell_text(words);
}

}  // namespace

void open_child_processes(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  const Module host = native.submodule("host");
  host.function<&run_program>("run_program")
      .function<&stored_call_of>("stored_call")
      .function<&text_for_shells>("shell_text")
      .value("program", program_path().string());
}

}  // namespace lua
}  // namespace gpubench
