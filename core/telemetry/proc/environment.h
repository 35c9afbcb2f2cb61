// MachineFacts about the machine that readers of old results need. Unknown facts are absent.
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gpubench {

using Fact = std::variant<std::int64_t, double, std::string>;
using MachineFacts = std::vector<std::pair<std::string, Fact>>;

/// host, kernel, operating_system, cpu_model, cpus, cpus_allowed, cpu_mhz, cpu_governor, virtual_machine, memory_bytes,
/// cpu_mhz, load_1min, virtualization. `root` is the root directory; tests pass their own.
MachineFacts machine_facts(const std::filesystem::path& root = "/");

}  // namespace gpubench
