#include "core/comm/nccl/stall_watch.h"

#include <utility>

#include "core/base/error.h"

namespace gpubench::nccl {

Progress::Progress(Device& device) : watched_(device.new_event()), newer_(device.new_event()) {}

void Progress::expect(Stream& stream) {
  const std::lock_guard lock(mutex_);
  if (waits_) {
    stream.record(*newer_);
    has_newer_ = true;
    return;
  }
  stream.record(*watched_);
  waits_ = true;
  since_ = Clock::now();
}

std::optional<Seconds> Progress::stalled() {
  const std::lock_guard lock(mutex_);
  if (!waits_) return std::nullopt;
  try {
    if (!watched_->ready()) return Clock::now() - since_;
  } catch (const Error&) {  // the GPU failed: whoever waits for the stream is told so
    waits_ = has_newer_ = false;
    return std::nullopt;
  }
  if (!has_newer_) {
    waits_ = false;
    return std::nullopt;
  }
  std::swap(watched_, newer_);
  has_newer_ = false;
  since_ = Clock::now();
  return std::nullopt;
}

}  // namespace gpubench::nccl
