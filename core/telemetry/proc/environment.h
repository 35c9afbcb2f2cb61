// Facts of the machine that a reader of old results needs to judge them. What cannot be found out is absent.
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gpubench {

using Fact = std::variant<std::int64_t, double, std::string>;
using Facts = std::vector<std::pair<std::string, Fact>>;

/// host, kernel, operating_system, cpu_model, cpus, cpus_allowed, cpu_mhz, cpu_governor, virtual_machine, memory_bytes,
/// cpu_mhz, load_1min, virtualization. `root` is the root directory; tests give their own.
Facts machine_facts(const std::filesystem::path& root = "/");

}  // namespace gpubench
