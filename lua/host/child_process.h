// Runs other processes of this program, one at a time, and hands on the signals that would end this one.
#pragma once
#include <array>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"

struct lua_State;

namespace gpubench {

enum class ChildOutput {
  ours,     ///< it writes where this process writes
  none,     ///< without standard output
  captured  ///< into ChildEnd::out
};

struct ChildOptions {
  /// "NAME=value" beside this process' own.
  std::vector<std::string> environment = {};
  ChildOutput output = ChildOutput::ours;
  /// When its time is up it gets SIGTERM, and SIGKILL half a minute later.
  std::optional<Seconds> limit = {};
  /// It runs on so many of the processors of this process only, its first ones; 0: on all.
  int processors = 0;
  /// The limit of its address space in bytes; 0: none.
  std::uint64_t address_space = 0;
  /// So many threads of this process keep a processor busy until it ends.
  int neighbours = 0;
};

struct ChildEnd {
  int status = 0;   ///< the exit status, or 128 + the signal that ended it
  std::string out;  ///< its standard output, if captured
  /// It was stopped because its time was up. Its files are complete unless it had to be killed.
  bool out_of_time = false;
};

/// While it lives, SIGINT, SIGTERM and SIGHUP end the process that runs.
class ChildProcesses {
 public:
  ChildProcesses();
  ~ChildProcesses();
  ChildProcesses(const ChildProcesses&) = delete;
  ChildProcesses& operator=(const ChildProcesses&) = delete;

  /// Blocks until it ends. `words`: program and arguments, a program without '/' is looked up on the PATH. Throws Error
  /// if it cannot be started.
  ChildEnd run(const std::vector<std::string>& words, const ChildOptions& options = {});
  /// The signal that has come; 0: none.
  int stopped_by() const;

 private:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, signals.size()> before_{};
};

/// If ChildProcesses of another gpubench has started this process: it gets SIGTERM when that ends, however it ends.
void end_with_parent();

namespace lua {
/// gb._native.host, for commands of the library only, because a script must not start programs:
///   run_program(words, { environment, silent, captured, limit_s }) -> { status, out, out_of_time }. After a signal the
///                      script stops at its next check_interrupt()
///   program            what starts this program again (core/base/program.h)
///   stored_call(run)   -> { script, options, left_out }: how the run in this folder is measured again (stored_call.h)
///   shell_text(words)  a command as text (shell_text.h)
void open_child_processes(lua_State* L);
}  // namespace lua

}  // namespace gpubench
