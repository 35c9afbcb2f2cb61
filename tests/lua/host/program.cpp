#include "tests/lua/host/program.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <stdexcept>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace gpubench {
namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
    read_end = ends[0];
    write_end = ends[1];
  }
};

// Appends what is there; closes and forgets the descriptor at its end.
void drain(int& descriptor, std::string& text) {
  std::array<char, 4096> buffer{};
  const ssize_t count = read(descriptor, buffer.data(), buffer.size());
  if (count > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  } else if (count == 0 || errno != EINTR) {
    close(descriptor);
    descriptor = -1;
  }
}

/// That the machine is busy, as it is while tests run beside each other, is no matter of theirs.
void leave_out_notice(std::string& err) {
  constexpr std::string_view begin = "the machine is busy: ";
  for (std::size_t at = err.find(begin); at != std::string::npos; at = err.find(begin)) {
    err.erase(at, err.find('\n', at) - at + 1);
  }
}

}  // namespace

StartedProgram::StartedProgram(const std::vector<std::string>& arguments, const std::string& folder,
                               const std::vector<std::string>& environment) {
  std::string name = GPUBENCH_PROGRAM;
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv{name.data()};
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::vector<std::string> settings = environment;

  const Pipe out;
  const Pipe err;
  process_ = fork();
  if (process_ == 0) {
    dup2(out.write_end, STDOUT_FILENO);
    dup2(err.write_end, STDERR_FILENO);
    if (chdir(folder.c_str()) != 0) _exit(127);
    for (std::string& setting : settings) putenv(setting.data());
    execv(GPUBENCH_PROGRAM, argv.data());
    _exit(127);
  }
  close(out.write_end);
  close(err.write_end);
  out_ = out.read_end;
  err_ = err.read_end;
}

StartedProgram::~StartedProgram() {
  if (process_ == 0) return;
  signal(SIGKILL);
  end();
}

bool StartedProgram::read_some(int milliseconds) {
  std::array<pollfd, 2> ready{pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
  if (out_ < 0 && err_ < 0) return false;
  poll(ready.data(), ready.size(), milliseconds);
  if (ready[0].revents != 0) drain(out_, ended_.out);
  if (ready[1].revents != 0) drain(err_, ended_.err);
  return true;
}

bool StartedProgram::wait_for(std::string_view text) {
  while (ended_.out.find(text) == std::string::npos)
    if (!read_some()) return false;
  return true;
}

void StartedProgram::signal(int number) const {
  kill(process_, number);
}

Ended StartedProgram::signal_until_end(int number) {
  do {
    signal(number);
  } while (read_some(10));
  return end();
}

Ended StartedProgram::end() {
  while (read_some()) continue;
  leave_out_notice(ended_.err);
  int status = 0;
  waitpid(process_, &status, 0);
  process_ = 0;
  ended_.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return ended_;
}

Ended run_program(const std::vector<std::string>& arguments, const std::string& folder,
                  const std::vector<std::string>& environment) {
  return StartedProgram(arguments, folder, environment).end();
}

}  // namespace gpubench
