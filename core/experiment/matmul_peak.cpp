#include "core/experiment/matmul_peak.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/experiment/kernel_case.h"
#include "core/experiment/planned_kernel.h"

namespace gpubench {
namespace {

/// Large enough to be on the flat part of the curve, small enough to be done in milliseconds and not to be the largest
/// thing in the memory of a process that trains small models (1536 took 45 MiB more).
constexpr std::array<std::int64_t, 3> extents = {1024, 768, 512};
constexpr Seconds time_per_extent{0.15};

double best_flops(Device& device, const Backend& backend, Dtype dtype, std::int64_t extent) {
  const KernelCase product = matmul_case({extent, extent, extent}, dtype);
  PlannedKernel kernel(backend, device, *product.description, product.inputs);
  double best = 0;
  const Stopwatch watch;
  while (watch.elapsed() < time_per_extent) {
    const Stopwatch run;
    kernel.run();
    kernel.synchronize();
    best = std::max(best, kernel.flops() / run.elapsed().count());
    check_interrupt();
  }
  return best;
}

}  // namespace

std::optional<double> best_matmul_flops(Device& device, const Backend& backend, Dtype dtype) {
  std::optional<double> best = 0;
  try {
    for (const std::int64_t extent : extents) best = std::max(*best, best_flops(device, backend, dtype, extent));
  } catch (const OutOfMemory&) {
    best = std::nullopt;
  }
  // A point's memory is what the point takes.
  device.memory().trim();
  return best;
}

void mark_impossible_mfu(Record& record) {
  constexpr double highest = 1.02;
  const auto* const mfu = std::get_if<double>(&record.get("mfu"));
  if (mfu == nullptr || *mfu <= highest) return;
  record.set("quality",
             fmt::format("unreliable: {:.0f} % of the best matrix product's rate, so that was measured while "
                         "the machine was busy",
                         100 * *mfu));
}

std::optional<double> MatmulPeak::flops_per_s(Device& device, const Backend& backend, Dtype dtype) {
  const std::pair key(to_string(device.id()) + " " + device.description(), dtype);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  const std::optional<double> best = best_matmul_flops(device, backend, dtype);
  if (best) known_[key] = *best;
  return best;
}

}  // namespace gpubench
