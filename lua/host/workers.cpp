#include "lua/host/workers.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/program.h"
#include "core/base/terminal.h"
#include "core/group/join.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

constexpr int worker_error_status = 2, worker_interrupted_status = 128 + SIGINT;

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
  // say ourselves; the time that mpirun gives processes to end it takes itself where they have.
  std::vector<std::string> words{find_mpirun(), "--oversubscribe",           "--bind-to", "none", "--quiet",
                                 "--mca",       "odls_base_sigkill_timeout", "1"};
  if (geteuid() == 0) words.emplace_back("--allow-run-as-root");
  words.insert(words.end(), {"-n", std::to_string(workers), program_path().string()});
  std::ranges::copy(without_workers(arguments), std::back_inserter(words));
  return words;
}

volatile std::sig_atomic_t asked_to_end = 0, asked_by = 0;

void ask_to_end(int signal) {
  asked_by = signal;
  asked_to_end = asked_to_end + 1;
}

void catch_signal(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  if (signal == SIGHUP && action.sa_handler == SIG_IGN) return;  // nohup
  action = {};
  action.sa_handler = &ask_to_end;  // without SA_RESTART: the wait for mpirun ends
  sigaction(signal, &action, nullptr);
}

/// The processes that `process` has started, by any of its threads.
std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  std::error_code ignored;
  for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", process), ignored)) {
    std::ifstream list(task.path() / "children");
    for (pid_t child = 0; list >> child;) children.push_back(child);
  }
  return children;
}

/// Forwards Ctrl-C to the workers: mpirun itself would kill them after half a second, before the report is written. At
/// the second request mpirun may do so.
void end_workers(pid_t mpirun, int times) {
  const std::vector<pid_t> workers = times == 1 ? children_of(mpirun) : std::vector<pid_t>{};
  // SIGTERM is what mpirun itself sends, to processes that are too many: they would look for one that is lost.
  for (const pid_t worker : workers) kill(worker, asked_by == SIGTERM ? SIGINT : asked_by);
  if (workers.empty()) kill(mpirun, SIGTERM);
}

[[noreturn]] void become(const std::vector<std::string>& words) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // it ends with us
  setpgid(0, 0);                     // a terminal's Ctrl-C comes to us, and from us to the workers
  if (std::freopen("/dev/null", "r", stdin) == nullptr) _exit(worker_error_status);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  print_message(fmt::format("gpubench: run --workers: {}: {}", words[0], std::strerror(errno)));
  _exit(worker_error_status);
}

}  // namespace

int run_workers(int workers, const std::string& script, const std::vector<std::string>& arguments) {
  if (fs::exists(script) && !fs::is_regular_file(script)) {
    throw Error(fmt::format(
        "run --workers: '{}' is no file: each process reads the script, and a pipe can be read once", script));
  }
  if (const auto launch = find_launch([](const char* name) { return std::getenv(name); })) {
    throw Error(
        fmt::format("run --workers: a launcher has started this process already, as one of many ({}); leave --workers "
                    "out, and give the number of processes to the launcher",
                    launch->by));
  }
  const std::vector<std::string> words = command(workers, arguments);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) catch_signal(signal);
  const pid_t child = fork();
  if (child < 0) throw Error(fmt::format("run --workers: no process can be started: {}", std::strerror(errno)));
  if (child == 0) become(words);
  int status = 0;
  for (int heard = 0; waitpid(child, &status, 0) < 0 && errno == EINTR;) {
    if (heard != asked_to_end) end_workers(child, heard = asked_to_end);
  }
  if (asked_to_end != 0) return 128 + asked_by;
  if (!WIFEXITED(status)) {
    fmt::print(stderr, "gpubench: run --workers: mpirun was ended by signal {} ({})\n", WTERMSIG(status),
               strsignal(WTERMSIG(status)));
    return worker_error_status;
  }
  const int code = WEXITSTATUS(status);
  if (code <= 128 || code == worker_interrupted_status) return code;
  // One that dies before the processes have met is missed by no other.
  fmt::print(stderr, "gpubench: run --workers: a process was ended by signal {} ({})\n", code - 128,
             strsignal(code - 128));
  return worker_error_status;
}

}  // namespace gpubench
