// Runs other processes of this program, one at a time, and hands on the signals that would end this one.
#pragma once
#include <array>
#include <csignal>
#include <string>
#include <vector>

struct lua_State;

namespace gpubench {

/// While it lives, SIGINT, SIGTERM and SIGHUP end the process that runs.
class ChildProcesses {
 public:
  ChildProcesses();
  ~ChildProcesses();
  ChildProcesses(const ChildProcesses&) = delete;
  ChildProcesses& operator=(const ChildProcesses&) = delete;

  /// Blocks until it ends; its exit status, or 128 + the signal that ended it. `words`: program and arguments, a
  /// program without '/' is looked up on the PATH. `environment`: "NAME=value" beside this process' own. `silent`:
  /// without standard output. Throws Error if it cannot be started.
  int run(const std::vector<std::string>& words, const std::vector<std::string>& environment = {}, bool silent = false);
  /// The signal that has come; 0: none.
  int stopped_by() const;

 private:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, signals.size()> before_{};
};

/// This program's file.
std::string own_program();

namespace lua {
/// gb._native.host: run_program(words, environment, silent) -> status, and the path `program`. A signal ends the script
/// like Ctrl-C.
void open_child_processes(lua_State* L);
}  // namespace lua

}  // namespace gpubench
