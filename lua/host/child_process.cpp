#include "lua/host/child_process.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "lua/bind/bind.h"

namespace gpubench {
namespace {

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

class FileActions {
 public:
  explicit FileActions(bool silent) {
    posix_spawn_file_actions_init(&actions_);
    if (silent) posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

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

int ChildProcesses::run(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                        bool silent) {
  std::vector<std::string> arguments = words, settings = environment_with(environment);
  const std::vector<char*> argv = pointers_to(arguments), variables = pointers_to(settings);
  const FileActions actions(silent);
  pid_t process = 0;
  if (const int error = posix_spawnp(&process, argv[0], actions.get(), nullptr, argv.data(), variables.data());
      error != 0)
    throw Error(fmt::format("run: '{}' cannot be started: {}", words.front(), std::strerror(error)));
  child = process;
  if (stopping_signal != 0) kill(process, stopping_signal);  // it came before there was a child
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  child = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int ChildProcesses::stopped_by() const {
  return stopping_signal;
}

std::string own_program() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

namespace lua {
namespace {

int run_program(const std::vector<std::string>& words, const std::vector<std::string>& environment, bool silent) {
  if (words.empty()) throw ArgumentError("the program's name is missing");
  ChildProcesses processes;
  const int status = processes.run(words, environment, silent);
  if (processes.stopped_by() == 0) return status;
  request_interrupt(processes.stopped_by());
  throw Interrupted();
}

}  // namespace

void open_child_processes(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  const Module host = native.submodule("host");
  host.function<&run_program>("run_program").value("program", own_program());
}

}  // namespace lua
}  // namespace gpubench
