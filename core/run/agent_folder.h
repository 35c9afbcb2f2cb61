// What a job needs so that the agent loads in its Python processes: a folder for the agent's files, and the command's
// environment.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/watch/agent_files.h"
#include "core/watch/job.h"

namespace gpubench {

/// A folder for what the agent writes, which goes away with it. Empty where none can be made: the job runs in any case,
/// and its agent does nothing then.
class AgentFolder {
 public:
  static constexpr const char* why_none =
      "there is no folder for the agent's files: the temporary folder (TMPDIR) cannot be written";

  AgentFolder();
  ~AgentFolder();
  AgentFolder(const AgentFolder&) = delete;
  AgentFolder& operator=(const AgentFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// `window`: as GPUBENCH_AGENT_WINDOW has it. `remedies`: NAME or NAME=VALUE.
JobCommand agent_command(const std::vector<std::string>& words, const std::filesystem::path& folder,
                         const std::string& window, const std::vector<std::string>& remedies);

/// Keras' `steps_per_execution` makes one call, and one record, of several batches.
bool is_call_of_batches(const AgentProcess& process);

}  // namespace gpubench
