#include "lua/host/child_program.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "lua/bind/bind.h"
#include "lua/host/child_process.h"

namespace gpubench {
namespace {

// After SIGTERM a program finishes its step and writes its files.
constexpr Seconds patience_after_term{30.0};

struct OutputPipe {
  std::array<int, 2> ends{-1, -1};
  explicit OutputPipe(const std::string& operation) {
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw Error(fmt::format("{}: no pipe can be opened: {}", operation, std::strerror(errno)));
  }
  ~OutputPipe() {
    close_end(0);
    close_end(1);
  }
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;
  void close_end(std::size_t which) {
    if (ends[which] >= 0) ::close(ends[which]);
    ends[which] = -1;
  }
};

/// Appends what is there within `interrupt_period`. False at the end of the output.
bool read_some(int descriptor, std::string& text) {
  pollfd ready{.fd = descriptor, .events = POLLIN, .revents = 0};
  if (poll(&ready, 1, static_cast<int>(interrupt_period.count())) <= 0) return true;
  std::array<char, 4096> buffer{};
  const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR;
  text.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0;
}

/// Tells a process to end: once for a request of the user, once at its limit, and for good when it does not.
class Ending {
 public:
  Ending(pid_t process, std::optional<Seconds> limit) : process_(process), limit_(limit) {}

  void look() {
    if (interrupt_requested() && !handed_on_) {
      handed_on_ = true;
      kill(process_, interrupt_signal());
    }
    if (!limit_ || running_.elapsed() < *limit_) return;
    if (!out_of_time_) {
      out_of_time_ = true;
      kill(process_, SIGTERM);
    } else if (running_.elapsed() > *limit_ + patience_after_term) {
      kill(process_, SIGKILL);
    }
  }
  bool out_of_time() const { return out_of_time_; }

 private:
  pid_t process_;
  std::optional<Seconds> limit_;
  Stopwatch running_;
  bool handed_on_ = false, out_of_time_ = false;
};

/// `out`: the descriptor of its standard output.
pid_t start_program(const std::vector<std::string>& arguments, int out, const std::string& operation) {
  std::vector<std::string> words{own_program()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  pid_t process = 0;
  const int error = posix_spawn(&process, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw Error(fmt::format("{}: no process can be started: {}", operation, std::strerror(error)));
  return process;
}

int exit_status_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ChildEnd run_program_within(const std::vector<std::string>& arguments, std::optional<Seconds> limit,
                            const std::string& operation) {
  OutputPipe pipe(operation);
  const pid_t process = start_program(arguments, pipe.ends[1], operation);
  pipe.close_end(1);
  ChildEnd end;
  Ending ending(process, limit);
  while (read_some(pipe.ends[0], end.out)) ending.look();
  int status = 0;
  // It may have closed its output and go on.
  for (pid_t ended = 0; ended != process; ended = ::waitpid(process, &status, WNOHANG)) {
    if (ended < 0 && errno != EINTR) break;
    poll(nullptr, 0, 1);
    ending.look();
  }
  end.status = exit_status_of(status);
  end.out_of_time = ending.out_of_time();
  return end;
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

ChildEnd run_child(const std::vector<std::string>& arguments, std::optional<double> limit_s) {
  const TurnScope scope(Turn::program);  // the child ends by itself after a request
  return run_program_within(arguments, limit_s ? std::optional(Seconds(*limit_s)) : std::nullopt, "nightly");
}

}  // namespace

void open_programs(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  const Module programs = native.submodule("programs");
  programs.function<&run_child>("run");
}

}  // namespace lua
}  // namespace gpubench
