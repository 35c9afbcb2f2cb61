#include "core/exec/device_copy.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

/// A device that really copies cannot read the addresses of one that only has times.
Device& checked_source(Device& source, const Device& destination) {
  const bool reads_nothing = !source.emulation().empty() && destination.emulation().empty();
  if (!reads_nothing || destination.shares_host_memory()) return source;
  throw Error(fmt::format("a copy from {} to {}: the memory of an emulated device holds no values; go through cpu:0",
                          to_string(source.id()), to_string(destination.id())));
}

}  // namespace

DeviceCopy::DeviceCopy(Device& source, Device& destination)
    : source_(checked_source(source, destination)),
      destination_(destination),
      copier_(destination.shares_host_memory() ? source : destination),
      source_ready_(source.new_event()),
      copied_(copier_.new_event()) {}

void DeviceCopy::queue(std::byte* to, const std::byte* from, std::size_t bytes) {
  Stream& stream = copier_.stream();
  source_.stream().record(*source_ready_);
  stream.wait_for(*source_ready_);
  stream.copy(to, from, bytes);
  stream.record(*copied_);
  destination_.stream().wait_for(*copied_);
}

SideCopy::SideCopy(Device& device, Stream& beside, std::byte* to, const std::byte* from, std::size_t bytes)
    : beside_(beside), to_(to), from_(from), bytes_(bytes), reached_(device.new_event()), copied_(device.new_event()) {}

void SideCopy::begin(Stream& kernels) {
  kernels.record(*reached_);
  beside_.wait_for(*reached_);
  beside_.copy(to_, from_, bytes_);
  beside_.record(*copied_);
}

}  // namespace gpubench
