#include "core/exec/runtime.h"

namespace gpubench {

Stream& Runtime::stream(const DeviceId& device) {
  std::unique_ptr<Stream>& stream = streams_[device];
  if (stream == nullptr) stream = devices_.device(device).new_stream();
  return *stream;
}

Arena::Claim Runtime::claim_arena(const DeviceId& device, std::size_t bytes, std::string_view label) {
  std::shared_ptr<Arena>& arena = arenas_[device];
  if (arena == nullptr) arena = std::make_shared<Arena>(devices_.device(device));
  return {arena, bytes, label};
}

void Runtime::synchronize() {
  for (const auto& [device, stream] : streams_) stream->synchronize();
}

}  // namespace gpubench
