// Runs the built program as a user does and keeps what it printed and how it ended.
#pragma once
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace gpubench {

struct Ended {
  /// Exit status, or 128 + the signal that killed it.
  int status = 0;
  std::string out;
  std::string err;
};

class StartedProgram {
 public:
  /// Starts it in `folder`; `environment` holds "NAME=value" beside this process' own.
  StartedProgram(const std::vector<std::string>& arguments, const std::string& folder,
                 const std::vector<std::string>& environment = {});
  ~StartedProgram();
  StartedProgram(const StartedProgram&) = delete;
  StartedProgram& operator=(const StartedProgram&) = delete;

  /// Blocks until the program has printed the text to stdout; false when it ended before.
  bool wait_for(std::string_view text);
  /// What it has printed so far, as far as wait_for() has read it.
  const Ended& so_far() const { return ended_; }
  void signal(int number) const;
  /// Signals again and again, because signals that come too fast are one; blocks until the program ends.
  Ended signal_until_end(int number);
  /// Blocks until it ends.
  Ended end();

 private:
  /// Blocks until there is output, at most so long; false when the program has closed its output.
  bool read_some(int milliseconds = -1);

  pid_t process_ = 0;
  int out_ = -1;
  int err_ = -1;
  Ended ended_;
};

/// Starts the program and waits for its end.
Ended run_program(const std::vector<std::string>& arguments, const std::string& folder = ".",
                  const std::vector<std::string>& environment = {});

}  // namespace gpubench
