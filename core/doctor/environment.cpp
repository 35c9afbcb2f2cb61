// Variables that somebody has set, often long ago and for another purpose.
#include <array>
#include <fmt/format.h>

#include "core/doctor/checks.h"
#include "core/telemetry/proc/proc_file.h"

namespace gpubench {
namespace {

bool is_on(const std::string& value, const Machine&) {
  return !value.empty() && value != "0";
}
/// "ALL" and "DEFAULT" limit nothing.
bool limits_isa(const std::string& value, const Machine&) {
  return !value.empty() && value != "ALL" && value != "DEFAULT" && value != "all" && value != "default";
}
bool is_verbose(const std::string& value, const Machine&) {
  return !value.empty() && value != "0" && value != "none";
}
bool below_processors(const std::string& value, const Machine& machine) {
  const auto threads = leading_number(value);
  return threads && *threads > 0 && *threads < static_cast<double>(machine.sources().processors.size());
}
bool logs_much(const std::string& value, const Machine&) {
  return value == "INFO" || value == "TRACE" || value == "info" || value == "trace";
}

struct VariableRow {
  const char* name;
  bool (*slows)(const std::string& value, const Machine& machine);
  std::string_view consequence;
};

constexpr std::array variables = {
    VariableRow{"CUDA_LAUNCH_BLOCKING", &is_on, "the host waits for every kernel: nothing overlaps"},
    VariableRow{"CUDA_DISABLE_PTX_JIT", &is_on, "kernels that were compiled for other GPUs are refused"},
    VariableRow{"NVIDIA_TF32_OVERRIDE", [](const std::string& value, const Machine&) { return value == "0"; },
                "float32 products never use tensor cores, also where TF32 is allowed"},
    VariableRow{"NCCL_P2P_DISABLE", &is_on, "GPUs exchange through the host's memory"},
    VariableRow{"NCCL_SHM_DISABLE", &is_on, "GPUs exchange through the network stack"},
    VariableRow{"NCCL_DEBUG", &logs_much, "every exchange is logged"},
    VariableRow{"ONEDNN_MAX_CPU_ISA", &limits_isa, "kernels on the CPU use fewer instructions than the processor has"},
    VariableRow{"DNNL_MAX_CPU_ISA", &limits_isa, "kernels on the CPU use fewer instructions than the processor has"},
    VariableRow{"ONEDNN_VERBOSE", &is_verbose, "every kernel on the CPU prints a line"},
    VariableRow{"DNNL_VERBOSE", &is_verbose, "every kernel on the CPU prints a line"},
    VariableRow{"OMP_THREAD_LIMIT", &below_processors,
                "kernels on the CPU use fewer threads than there are processors"},
};

}  // namespace

CheckResult check_environment(const Machine& machine) {
  std::string found, consequence, remedy;
  for (const VariableRow& row : variables) {
    const auto value = machine.variable(row.name);
    if (!value || !row.slows(*value, machine)) continue;
    const std::string_view separator = found.empty() ? "" : ", ";
    found += fmt::format("{}{}={}", separator, row.name, *value);
    if (consequence.find(row.consequence) == std::string::npos)
      consequence += fmt::format("{}{}", consequence.empty() ? "" : "; ", row.consequence);
    remedy += fmt::format("{}{}", remedy.empty() ? "unset " : " ", row.name);
  }
  return found.empty() ? ok("no variable slows anything down") : costs_speed(found, consequence, remedy);
}

}  // namespace gpubench
