#include "core/exec/runtime.h"

#include "core/base/error.h"

namespace gpubench {

Arena::Claim Runtime::claim_arena(const DeviceId& device, std::size_t bytes, std::string_view label) {
  std::shared_ptr<Arena>& arena = arenas_[device];
  if (arena == nullptr) arena = std::make_shared<Arena>(devices_.device(device).memory());
  return {arena, bytes, label};
}

std::size_t Runtime::arena_bytes(const DeviceId& device) const {
  const auto arena = arenas_.find(device);
  return arena == arenas_.end() ? 0 : arena->second->bytes();
}

Arena::Claim Runtime::claim_host_arena(const DeviceId& device, std::size_t bytes, std::string_view label) {
  std::shared_ptr<Arena>& arena = host_arenas_[device];
  if (arena == nullptr) arena = std::make_shared<Arena>(devices_.host_side(device));
  return {arena, bytes, label};
}

void Runtime::synchronize() {
  for (const DeviceId& id : devices_.ids()) devices_.device(id).stream().synchronize();
}

void Runtime::drain() noexcept {
  for (const DeviceId& id : devices_.ids()) {
    try {
      devices_.device(id).stream().synchronize();
    } catch (const DeviceError&) {
    }
  }
}

}  // namespace gpubench
