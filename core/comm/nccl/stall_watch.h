// Whether what a rank has queued gets done: two marks in its streams, the older of which a watching thread looks at,
// and the newer of which takes its turn. It costs a mark a call, however much is queued.
#pragma once
#include <memory>
#include <mutex>
#include <optional>

#include "core/base/clock.h"
#include "core/device/device.h"

namespace gpubench::nccl {

class Progress {
 public:
  explicit Progress(Device& device);
  /// What is queued on `stream`, which is not recorded, has to be done in time from now on.
  void expect(Stream& stream);
  /// How long nothing has been done, though something is to be; none while nothing is. Any thread.
  std::optional<Seconds> stalled();

 private:
  std::mutex mutex_;
  std::unique_ptr<Event> watched_, newer_;
  bool waits_ = false, has_newer_ = false;
  Clock::time_point since_;
};

}  // namespace gpubench::nccl
