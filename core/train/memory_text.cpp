#include "core/train/memory_text.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/units.h"

namespace gpubench {
namespace {

constexpr std::size_t holders_shown = 12;

std::string memory_text_of(std::size_t bytes) {
  return format_bytes(static_cast<double>(bytes));
}

std::string line(std::string_view layer, std::string_view kind, std::size_t bytes, std::size_t of) {
  const double share = of == 0 ? 0 : 100 * static_cast<double>(bytes) / static_cast<double>(of);
  return fmt::format("  {:<24} {:<12} {:>10} {:>5.1f} %\n", layer, kind, memory_text_of(bytes), share);
}

std::string memory_text_of(const DeviceMemory& memory) {
  const std::size_t total = memory.total();
  std::string text = fmt::format("{}: {} for a training step, {} of them planned for what dies within it\n",
                                 to_string(memory.device), memory_text_of(total), memory_text_of(memory.arena));
  if (memory.peak_launch < memory.timeline.size()) {
    const LaunchMemory& peak = memory.timeline[memory.peak_launch];
    text += fmt::format("  most is alive at launch {} of {}: {} of {}\n", memory.peak_launch + 1,
                        memory.timeline.size(), peak.op, peak.label);
  }
  std::size_t others = 0;
  for (std::size_t i = 0; i < memory.at_peak.size(); ++i) {
    const MemoryHolder& holder = memory.at_peak[i];
    if (i < holders_shown) {
      text += line(holder.layer, to_string(holder.kind), holder.bytes, total);
    } else {
      others += holder.bytes;
    }
  }
  if (others > 0) text += line(fmt::format("{} others", memory.at_peak.size() - holders_shown), "", others, total);
  if (memory.arena > memory.lower_bound) text += line("gaps", "", memory.arena - memory.lower_bound, total);
  if (memory.offloaded > 0) {
    text += fmt::format("  and {} of the host's memory, where activations wait for their gradients\n",
                        memory_text_of(memory.offloaded));
  }
  return text;
}

}  // namespace

std::string memory_text(std::span<const DeviceMemory> memory) {
  std::string text;
  for (const DeviceMemory& device : memory) text += memory_text_of(device);
  return text;
}

}  // namespace gpubench
