// The program: reads the command line, settles how OpenMP threads wait, runs.
#include <cstdio>
#include <exception>
#include <string>
#include <sys/prctl.h>
#include <variant>
#include <vector>

#include "core/base/program.h"
#include "core/base/terminal.h"
#include "lua/bind/error.h"
#include "lua/host/batch.h"
#include "lua/host/child_process.h"
#include "lua/host/command_line.h"
#include "lua/host/script_runner.h"
#include "lua/host/standard_streams.h"
#include "lua/host/thread_policy.h"
#include "lua/host/workers.h"

namespace {

int run(const std::vector<std::string>& arguments, char** argv) {
  const auto parsed = gpubench::parse_command_line(arguments);
  if (const auto* answer = std::get_if<gpubench::Answer>(&parsed)) {
    std::fprintf(answer->status == 0 ? stdout : stderr, "%s\n", answer->text.c_str());
    return answer->status;
  }
  gpubench::end_with_parent();
  const auto& line = std::get<gpubench::CommandLine>(parsed);
  if (!line.scripts.empty()) return gpubench::run_each(line.scripts, line.options, line.quiet || line.json);
  if (line.workers > 0) return gpubench::run_workers(line.workers, line.script, arguments);
  gpubench::ensure_thread_policy(argv);
  return gpubench::run_command(line, arguments);
}

}  // namespace

int main(int argc, char** argv) {
  gpubench::open_standard_streams();
  gpubench::outlive_closed_pipes();
  try {
    // What ps and nvidia-smi show; where a loader was started, its name would be it.
    prctl(PR_SET_NAME, gpubench::program_path().filename().c_str());
    return gpubench::end_standard_output(run({argv + 1, argv + argc}, argv));
  } catch (const std::exception& error) {
    gpubench::print_message("gpubench: " + gpubench::lua::text_of(error));
    return gpubench::error_status;
  }
}
