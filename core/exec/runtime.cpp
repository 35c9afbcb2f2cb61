#include "core/exec/runtime.h"

#include "core/base/error.h"
#include "core/device/device.h"

namespace gpubench {

Stream& Runtime::stream(const DeviceId& device) {
  return devices_.device(device).stream();
}

HostSpans* Runtime::copy_spans(const DeviceId& device) const {
  return spans_ != nullptr && devices_.device(device).shares_host_memory() ? spans_ : nullptr;
}

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
  for (const DeviceId& id : devices_.ids()) {
    Device& device = devices_.device(id);
    if (device.in_use()) device.stream().synchronize();
  }
}

void Runtime::drain() noexcept {
  for (const DeviceId& id : devices_.ids()) {
    try {
      Device& device = devices_.device(id);
      if (device.in_use()) device.stream().synchronize();
    } catch (const DeviceError&) {
    }
  }
}

Arena::Claim::Claim(std::shared_ptr<Arena> arena, std::size_t bytes, std::string_view label) : bytes_(bytes) {
  if (bytes > arena->buffer_.bytes()) {
    arena->buffer_ = {};  // freed before the larger one is allocated, because both together may not fit
    // Otherwise the smaller arena's block would stay reserved, too small for any later arena.
    MemoryPool& memory = arena->memory_;
    if (memory.options().growth) memory.trim();
    ++arena->generation_;
    try {
      arena->buffer_ = arena->memory_.allocate(bytes, label);
    } catch (...) {
      if (!arena->claims_.empty()) {
        arena->buffer_ = arena->memory_.allocate(*arena->claims_.rbegin(), label);
      }
      throw;
    }
  }
  arena->claims_.insert(bytes);
  arena_ = std::move(arena);
}

Arena::Claim::~Claim() {
  if (arena_ == nullptr) return;
  arena_->claims_.erase(arena_->claims_.find(bytes_));
  if (!arena_->claims_.empty()) return;
  arena_->buffer_ = {};
  ++arena_->generation_;
}

}  // namespace gpubench
