#include "core/experiment/kernels/matmul_peak.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <span>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/device/device.h"
#include "core/experiment/kernels/kernel_case.h"
#include "core/experiment/steps/step_measurement.h"

namespace gpubench {
namespace {

/// On the host: large enough for the flat part of the curve, small enough to take milliseconds and not to dominate the
/// memory of a process with small models (1536 took 45 MiB more). Accelerators reach their flat part later, and have
/// their own memory.
constexpr std::array<std::int64_t, 3> host_extents = {512, 768, 1024};
constexpr std::array<std::int64_t, 6> accelerator_extents = {256, 512, 1024, 2048, 4096, 8192};
constexpr Seconds time_per_extent{0.15}, time_per_group{0.01};
constexpr int most_in_a_group = 1000;

/// The best rate of the runs that fit into the time, by the device's clock; `wall` becomes the wall time of one run,
/// which is longer where the device is simulated. It stays 0 where the backend knows the time without a run.
double best_flops(Device& device, const Backend& backend, Dtype dtype, std::int64_t extent, Seconds& wall) {
  const KernelCase product = matmul_case({extent, extent, extent}, dtype);
  PlannedKernel kernel(backend, device, *product.description, product.inputs);
  if (const auto time = kernel.known_time()) return kernel.flops() / time->count();
  const std::unique_ptr<Event> begin = device.new_timed_event(), end = device.new_timed_event();
  const bool queues = !device.shares_host_memory();
  const auto time_of = [&](int group) {
    const Stopwatch watch;
    if (queues) kernel.run();  // while it runs, the host queues the others
    device.stream().record(*begin);
    for (int run = 0; run < group; ++run) kernel.run();
    device.stream().record(*end);
    kernel.synchronize();
    wall = watch.elapsed() / (queues ? group + 1 : group);
    return end->since(*begin) / group;
  };
  static_cast<void>(time_of(1));  // triggers lazy loading in libraries
  const Stopwatch watch;
  Seconds fastest = time_of(1);
  // On an accelerator, launching a run overlaps the previous one, and the final wait is shared.
  const int group = queues ? std::clamp(static_cast<int>(time_per_group / wall), 1, most_in_a_group) : 1;
  while (watch.elapsed() < time_per_extent) {
    fastest = std::min(fastest, time_of(group));
    check_interrupt();
  }
  return kernel.flops() / fastest.count();
}

}  // namespace

std::optional<double> best_matmul_flops(Device& device, const Backend& backend, Dtype dtype) {
  const std::span<const std::int64_t> extents =
      device.shares_host_memory() ? std::span<const std::int64_t>(host_extents) : accelerator_extents;
  std::optional<double> best;
  try {
    for (const std::int64_t extent : extents) {
      Seconds wall{};
      best = std::max(best.value_or(0), best_flops(device, backend, dtype, extent, wall));
      if (8 * wall > time_per_extent && !device.shares_host_memory()) break;  // twice the extent would take longer
    }
  } catch (const OutOfMemory&) {
    if (device.shares_host_memory()) best = std::nullopt;  // the largest extent so far is not on the flat part
  }
  // Memory of the measurement must not count for the point.
  device.memory().trim();
  return best;
}

void set_mfu(Record& record, double flops, double best_flops_per_s, const Estimate& time) {
  constexpr double highest = 1.05;
  const double mfu = flops / best_flops_per_s / time.value;
  if (mfu <= highest) {
    set_rate(record, "mfu", flops / best_flops_per_s, time);
    return;
  }
  const std::string detail = to_text(record.get("detail"));
  record.set("detail",
             fmt::format("{}{}no mfu: {:.0f} % of the best matrix product's rate, so that was measured while the "
                         "machine was busy",
                         detail, detail.empty() ? "" : "; ", 100 * mfu));
}

std::optional<double> MatmulPeak::flops_per_s(Device& device, const Backend& backend, Dtype dtype) {
  const std::pair key(to_string(device.id()) + " " + device.description(), dtype);
  const auto known = known_.find(key);
  if (known != known_.end() && device.emulation().empty()) return known->second;
  const std::optional<double> best = best_matmul_flops(device, backend, dtype);
  if (best) known_[key] = *best;
  return best;
}

}  // namespace gpubench
