#include "lua/host/workers.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

constexpr int error_status = 2, interrupted_status = 130;

std::string find_mpirun() {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path program = fs::path(folder.empty() ? "." : folder) / "mpirun";
    if (access(program.c_str(), X_OK) == 0) return program.string();
  }
  throw Error(
      fmt::format("run --workers: there is no mpirun on the PATH ({}); it starts the processes, and Debian's "
                  "package openmpi-bin has it: apt-get install openmpi-bin",
                  path ? path : "not set"));
}

std::vector<std::string> without_workers(const std::vector<std::string>& arguments) {
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--workers") {
      ++i;
    } else if (!arguments[i].starts_with("--workers=")) {
      rest.push_back(arguments[i]);
    }
  }
  return rest;
}

std::vector<std::string> command(int workers, const std::vector<std::string>& arguments) {
  // More processes than cores are fine, all cores are for all of them (each takes its share), and what went wrong we
  // say ourselves; rank 0 has some seconds to write what is finished, which mpirun waits out whenever a process fails.
  std::vector<std::string> words{find_mpirun(), "--oversubscribe",           "--bind-to", "none", "--quiet",
                                 "--mca",       "odls_base_sigkill_timeout", "3"};
  if (geteuid() == 0) words.emplace_back("--allow-run-as-root");
  words.insert(words.end(), {"-n", std::to_string(workers), fs::read_symlink("/proc/self/exe").string()});
  std::ranges::copy(without_workers(arguments), std::back_inserter(words));
  return words;
}

volatile std::sig_atomic_t mpirun_process = 0, told_to_end = 0;

// A terminal sends SIGINT to mpirun as well, and a second one would end it at once.
void take_signal(int signal) {
  told_to_end = 1;
  if (signal != SIGINT && mpirun_process > 0) kill(static_cast<pid_t>(mpirun_process), signal);
}

[[noreturn]] void become(const std::vector<std::string>& words) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // it ends with us
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  fmt::print(stderr, "gpubench: run --workers: {}: {}\n", words[0], std::strerror(errno));
  _exit(error_status);
}

}  // namespace

int run_workers(int workers, const std::vector<std::string>& arguments) {
  const std::vector<std::string> words = command(workers, arguments);
  const pid_t child = fork();
  if (child < 0) throw Error(fmt::format("run --workers: no process can be started: {}", std::strerror(errno)));
  if (child == 0) become(words);
  mpirun_process = child;
  std::signal(SIGINT, &take_signal);
  std::signal(SIGTERM, &take_signal);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (told_to_end != 0) return interrupted_status;
  if (!WIFEXITED(status)) return error_status;
  const int code = WEXITSTATUS(status);
  // Above 128: one died of a signal.
  return code > 128 && code != interrupted_status ? error_status : code;
}

}  // namespace gpubench
