// The file of counters of one process (agent/README.md), read for agent_files.cpp while the process may write into it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/watch/agent_files.h"

namespace gpubench {

/// A regular file, whatever lies there meanwhile: opening a pipe or following a link must not harm.
class AgentFile {
 public:
  /// Throws Error with the reason alone.
  explicit AgentFile(const std::filesystem::path& path);
  ~AgentFile();
  AgentFile(const AgentFile&) = delete;
  AgentFile& operator=(const AgentFile&) = delete;

  std::uint64_t bytes() const { return bytes_; }
  /// What lies there of [offset, offset + count).
  std::string read(std::uint64_t offset, std::uint64_t count) const;

 private:
  const int descriptor_;
  std::uint64_t bytes_ = 0;
};

/// Collects what could not be read, and how often.
class AgentFaults {
 public:
  explicit AgentFaults(std::vector<std::string>& texts) : texts_(texts) {}
  void add(const std::filesystem::path& file, std::string_view what);
  /// Adds how many there were beyond most_agent_faults.
  void finish();

 private:
  std::vector<std::string>& texts_;
  std::size_t count_ = 0;
};

/// Fills `process`, whose number is known from the file's name, with what can be read.
void read_agent_counters(const std::filesystem::path& path, AgentDetail detail, AgentProcess& process,
                         AgentFaults& faults);

}  // namespace gpubench
