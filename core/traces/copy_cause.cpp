#include "core/traces/copy_cause.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "core/base/units.h"
#include "core/results/host_cause.h"

namespace gpubench {
namespace {

bool is_to_device(CopyPath path) {
  return path == CopyPath::pageable_to_device || path == CopyPath::pinned_to_device || path == CopyPath::host_to_device;
}

/// Of one path.
struct Copies {
  double time = 0, on_compute_stream = 0;  ///< in nanoseconds, of copies that may overlap
  double bytes = 0;
  std::size_t count = 0;
  std::map<std::int64_t, std::size_t> sizes{};

  /// Whether most of them have a size that comes again; so it is taken to be where sizes are unknown.
  bool repeat() const {
    std::size_t again = 0;
    for (const auto& [size, times] : sizes) again += times > 1 ? times : 0;
    return bytes == 0 || 2 * again > count;
  }
};

std::map<CopyPath, Copies> copies_of(const TraceAnalysis& analysis) {
  std::set<std::pair<std::uint16_t, std::int32_t>> compute_streams;
  for (const DeviceEvent& event : analysis.trace.device)
    if (event.work == DeviceWork::kernel) compute_streams.emplace(event.device, event.stream);
  std::map<CopyPath, Copies> paths;
  for (const DeviceEvent& event : analysis.trace.device) {
    if (event.work != DeviceWork::copy || !analysis.window.contains(event.time.begin)) continue;
    Copies& own = paths[event.path];
    const auto time = static_cast<double>(event.time.length());
    own.time += time;
    if (compute_streams.contains({event.device, event.stream})) own.on_compute_stream += time;
    own.bytes += static_cast<double>(event.bytes);
    ++own.count;
    if (event.bytes > 0) ++own.sizes[event.bytes];
  }
  return paths;
}

/// Weights and states that wait in host memory: many copies a step of sizes that come again, between the kernels. XLA
/// names the memory on a TPU.
bool is_offload(const TraceAnalysis& analysis, CopyPath path, const Copies& copies, double copies_a_step) {
  constexpr double many = 10;
  const bool is_tpu = analysis.trace.devices.front().name.starts_with("tpu");
  if (is_tpu) return is_to_device(path) || path == CopyPath::device_to_host;
  return is_to_device(path) && copies_a_step > many && copies.repeat() && 2 * copies.on_compute_stream > copies.time;
}

}  // namespace

void set_copy_cause(Record& row, const TraceAnalysis& analysis) {
  const std::map<CopyPath, Copies> paths = copies_of(analysis);
  if (paths.empty()) return;
  const auto& [path, most] = *std::ranges::max_element(paths, {}, [](const auto& one) { return one.second.time; });
  const double scale = 1.0 / std::max(analysis.counted_steps(), 1) / static_cast<double>(analysis.trace.devices.size());
  const double copies_a_step = static_cast<double>(most.count) * scale;
  std::string text = fmt::format("{:.0f} copies{} {}", copies_a_step, analysis.unit(), to_string(path));
  if (most.bytes > 0 && most.time > 0)
    text +=
        fmt::format(", {} at {}/s", format_bytes(most.bytes * scale), format_bytes(most.bytes / (most.time * 1e-9)));
  const CopyCauseKind kind =
      is_offload(analysis, path, most, copies_a_step) ? CopyCauseKind::offload : usual_cause(path);
  row.set("copy_cause", text);
  row.set("copy_cause_kind", std::string(to_string(kind)));
}

}  // namespace gpubench
