// A slow source whose waiting only makes an invented clock go on.
#pragma once
#include <memory>

#include "core/data/source/range.h"
#include "core/data/stage/throttle.h"

namespace gpubench::support {

class InventedTime final : public Ticker {
 public:
  Clock::time_point now() const override { return now_; }
  bool wait_until(Clock::time_point time, const std::stop_token&) override {
    now_ = time;
    return true;
  }
  Seconds passed() const { return now_ - Clock::time_point(); }

 private:
  Clock::time_point now_{};
};

/// The same elements, each of which takes a millisecond.
inline DatasetPtr slowed(DatasetPtr source, const std::shared_ptr<InventedTime>& time) {
  return throttle(std::move(source), {.latency = Seconds(0.001)}, time);
}

}  // namespace gpubench::support
