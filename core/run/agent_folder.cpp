#include "core/run/agent_folder.h"

#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <system_error>

#include "core/base/resources.h"

namespace gpubench {

namespace fs = std::filesystem;

AgentFolder::AgentFolder() {
  std::error_code none;
  fs::path folder = fs::temp_directory_path(none);
  if (none) folder = "/tmp";
  std::string name = (folder / "gpubench-agent-XXXXXX").string();
  if (::mkdtemp(name.data()) != nullptr) path_ = name;
}

AgentFolder::~AgentFolder() {
  std::error_code none;
  if (!path_.empty()) fs::remove_all(path_, none);
}

JobCommand agent_command(const std::vector<std::string>& words, const fs::path& folder, const std::string& window,
                         const std::vector<std::string>& remedies) {
  // What this program has set for itself is not the job's.
  JobCommand command{.words = words, .python_path = resource("agent")};
  command.removed = {"GPUBENCH_THREAD_POLICY", "GPUBENCH_PARENT"};
  if (std::getenv("GPUBENCH_THREAD_POLICY") != nullptr) command.removed.emplace_back("GOMP_SPINCOUNT");
  command.settings = {"GPUBENCH_AGENT=" + folder.string(), "GPUBENCH_AGENT_WINDOW=" + window,
                      fmt::format("GPUBENCH_AGENT_REMEDIES={}", fmt::join(remedies, ","))};
  return command;
}

bool is_call_of_batches(const AgentProcess& process) {
  return process.step_mark.starts_with("keras");
}

}  // namespace gpubench
