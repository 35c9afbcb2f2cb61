// The program: reads the command line, settles how OpenMP threads wait, runs.
#include <cstdio>
#include <exception>
#include <string>
#include <variant>
#include <vector>

#include "lua/host/command_line.h"
#include "lua/host/script_runner.h"
#include "lua/host/thread_policy.h"
#include "lua/host/workers.h"

namespace {

int run(const std::vector<std::string>& arguments, char** argv) {
  const auto parsed = gpubench::parse_command_line(arguments);
  if (const auto* answer = std::get_if<gpubench::Answer>(&parsed)) {
    std::fprintf(answer->status == 0 ? stdout : stderr, "%s\n", answer->text.c_str());
    return answer->status;
  }
  const auto& line = std::get<gpubench::CommandLine>(parsed);
  if (line.workers > 0) return gpubench::run_workers(line.workers, arguments);
  gpubench::ensure_thread_policy(argv);
  return gpubench::run_command(line, arguments);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int status = run({argv + 1, argv + argc}, argv);
    // A full disk shows no sooner than here.
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    std::fputs("gpubench: not all could be written to the standard output\n", stderr);
    return gpubench::error_status;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpubench: %s\n", error.what());
    return gpubench::error_status;
  }
}
