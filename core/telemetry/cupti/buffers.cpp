#include "core/telemetry/cupti/buffers.h"

namespace gpubench {

ActivityBuffers::ActivityBuffers(std::size_t count, std::size_t bytes) : bytes_(bytes) {
  free_.reserve(count);
  filled_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    memory_.push_back(std::make_unique<std::uint64_t[]>(bytes / sizeof(std::uint64_t)));
    free_.push_back(reinterpret_cast<std::uint8_t*>(memory_.back().get()));
  }
}

std::uint8_t* ActivityBuffers::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return nullptr;
  std::uint8_t* const buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void ActivityBuffers::give_back(std::uint8_t* buffer, std::size_t valid) {
  const std::lock_guard lock(mutex_);
  if (valid == 0) {
    free_.push_back(buffer);
  } else {
    filled_.push_back({buffer, valid});
  }
}

std::vector<ActivityBuffers::Filled> ActivityBuffers::filled() const {
  const std::lock_guard lock(mutex_);
  return filled_;
}

void ActivityBuffers::clear() {
  const std::lock_guard lock(mutex_);
  for (const Filled& one : filled_) free_.push_back(one.memory);
  filled_.clear();
}

}  // namespace gpubench
