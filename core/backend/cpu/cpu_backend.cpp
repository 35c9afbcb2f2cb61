#include "core/backend/cpu/cpu_backend.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <malloc.h>
#include <optional>
#include <sys/resource.h>
#include <unistd.h>

#include "core/backend/cpu/cpu_kernels.h"
#include "core/backend/cpu/onednn.h"
#include "core/backend/cpu/processor.h"
#include "core/base/error.h"
#include "core/base/units.h"
#include "core/ops/fused_matmul.h"
#include "core/trace/timeline.h"

namespace gpubench {
namespace {

// Room for generated code. oneDNN writes kernels into memory that it maps when they are planned or run first, also in
// its worker threads, and does not check whether it got any: without room it ends the program.

/// oneDNN generates its float32 products at their first run, in every worker thread: some 25 MB with two of them. 64
/// MiB are for these, and 64 MiB for the arena of malloc that worker threads share.
constexpr double needed_bytes = 128 << 20;

double used_bytes() {
  double pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// None: there is no limit.
std::optional<double> limit_of_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<double>(limit.rlim_cur);
}

/// Where the address space is limited, lets all threads but the main one share an arena of malloc. Otherwise each of
/// them reserves 64 MiB, and what was left at planning may be gone at the first run.
void limit_arenas() {
  if (limit_of_address_space()) mallopt(M_ARENA_MAX, 2);
}

/// Throws OutOfMemory if the process's limit of address space (ulimit -v) leaves too little. Costs one system call
/// where there is no limit.
void require_address_space() {
  const std::optional<double> allowed = limit_of_address_space();
  if (!allowed) return;
  const double left = std::max(0.0, *allowed - used_bytes());
  if (left >= needed_bytes) return;
  throw OutOfMemory(fmt::format(
      "cpu: the limit of {} on this process's address space (ulimit -v) leaves {}; generated kernels may need {}",
      format_bytes(*allowed), format_bytes(left), format_bytes(needed_bytes)));
}

std::vector<CpuDeviceOptions> device_options(const BackendConfig& config) {
  const std::vector<LogicalDevice> devices = config.devices.value_or(CpuBackend::physical_devices());
  const int threads = config.own<CpuOptions>().threads;
  int left = threads > 0 ? threads : std::min(usable_cores(), team_limit());
  int unset = 0;
  for (const LogicalDevice& device : devices) {
    left -= device.threads;
    unset += device.threads == 0 ? 1 : 0;
  }
  std::vector<CpuDeviceOptions> options;
  for (const LogicalDevice& device : devices) {
    int own = device.threads;
    if (own == 0) {
      own = std::max(1, left / unset);
      left -= own;
      --unset;
    }
    options.push_back({.memory = device.memory, .threads = own});
  }
  place_on_memory_nodes(options);
  return options;
}

}  // namespace

CpuBackend::CpuBackend(const BackendConfig& config) : CpuBackend(device_options(config)) {}

CpuBackend::CpuBackend(std::span<const CpuDeviceOptions> devices) {
  if (devices.empty()) throw Error("cpu: needs at least one logical device");
  limit_arenas();
  for (const CpuDeviceOptions& options : devices) {
    const DeviceId id{DeviceId::Kind::cpu, static_cast<std::int16_t>(devices_.size()), {}};
    devices_.push_back(std::make_unique<HostDevice>(id, options));
  }
}

std::unique_ptr<Tracer> CpuBackend::new_tracer() const {
  return nullptr;
}

std::string CpuBackend::library() const {
  return cpu::onednn_version();
}

bool CpuBackend::fuses(const Op& op, const Signature& signature, Device&) const {
  // A product is added to its sum in less time than it takes apart. 16 bits are computed in float32: a sum in them
  // would be widened at every product.
  return dynamic_cast<const MatmulAccumulate*>(&op) != nullptr && signature.outputs[0].dtype == Dtype::f32;
}

std::unique_ptr<Kernel> CpuBackend::plan(const Op& op, const Signature& signature, Device& device) const {
  require_address_space();
  return cpu::plan_kernel(op, signature, device);
}

}  // namespace gpubench
