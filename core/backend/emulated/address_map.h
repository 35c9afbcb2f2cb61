// Which addresses are memory of which emulated device, and which are page-locked memory of the host.
#pragma once
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>

namespace gpubench {

class AddressMap {
 public:
  /// Tracer index of the device that has the memory, or `pinned`.
  using Owner = int;
  static constexpr Owner pinned = -1;

  void add(const std::byte* memory, std::size_t bytes, Owner owner) {
    const std::unique_lock lock(mutex_);
    ranges_[memory] = {bytes, owner};
  }
  void remove(const std::byte* memory) {
    const std::unique_lock lock(mutex_);
    ranges_.erase(memory);
  }
  /// Nothing for ordinary memory of the host.
  std::optional<Owner> owner_of(const void* address) const {
    const std::shared_lock lock(mutex_);
    const auto* const at = static_cast<const std::byte*>(address);
    auto range = ranges_.upper_bound(at);
    if (range == ranges_.begin()) return std::nullopt;
    --range;
    if (at >= range->first + range->second.bytes) return std::nullopt;
    return range->second.owner;
  }

 private:
  struct Range {
    std::size_t bytes;
    Owner owner;
  };
  mutable std::shared_mutex mutex_;
  std::map<const std::byte*, Range> ranges_;
};

}  // namespace gpubench
