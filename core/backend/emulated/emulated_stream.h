// Streams that are clocks: work that is queued is booked at once, at the time at which an accelerator would run it, and
// nothing is computed. Recorded work is booked when the recording is launched.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/backend/emulated/engine.h"
#include "core/device/stream.h"
#include "core/device/work_order.h"
#include "core/trace/timeline.h"

namespace gpubench {

class EmulatedCapture;
class EmulatedDevice;
class EmulatedEvent;

/// Work of a stream that takes a known time on one of the device's engines.
struct BookedWork {
  Engine* engine = nullptr;
  Clock::duration length{};
  SpanClass span_class = SpanClass::compute;
  std::shared_ptr<const std::string> name;
};

class EmulatedStream final : public Stream {
 public:
  EmulatedStream(EmulatedDevice& device, std::string name);

  void record(Event& event) override;
  void wait_for(const Event& event) override;
  /// A copy from ordinary host memory keeps the calling thread busy until it has ended; one to the host fills it with
  /// bytes of ones, which are NaN in every floating-point type. Large page-locked memory stays as it is: it holds what
  /// is offloaded, which nothing reads.
  void copy(void* destination, const void* source, std::size_t bytes) override;
  void synchronize() override;

  /// Charges the host the launch, and queues the work after it.
  void launch(const BookedWork& work);
  /// When everything queued so far has ended.
  Clock::time_point end() const;
  /// Makes later work start at `time` or after.
  void wait_until(Clock::time_point time);
  /// Books a recording's work behind what is queued.
  void replay(const EmulatedCapture& capture);

  EmulatedDevice& device() const { return device_; }
  const std::shared_ptr<const std::string>& lane() const { return lane_; }

 private:
  friend class EmulatedCapture;
  Booking book(const BookedWork& work, Clock::time_point submitted, std::uint32_t correlation);

  EmulatedDevice& device_;
  std::shared_ptr<const std::string> lane_;
  mutable std::mutex mutex_;
  Clock::time_point end_ = Clock::time_point::min();
  std::shared_ptr<EmulatedCapture> capture_;  // while its work is recorded
  std::size_t capture_lane_ = 0;
};

/// Charges the calling thread a launch, and returns when the device has what was launched.
Clock::time_point launch_on_host(const EmulatedDevice& device, std::uint32_t correlation);

/// The mark of an event in a recording; it counts as long as that is being recorded.
struct RecordedMark {
  std::weak_ptr<EmulatedCapture> capture;
  std::size_t index = 0;
};

class EmulatedEvent final : public Event {
 public:
  explicit EmulatedEvent(const EmulatedDevice& device) : device_(device) {}

  bool ready() const override { return Clock::now() >= at(); }
  void wait() const override;
  Seconds since(const Event& earlier) const override {
    return Seconds(at() - static_cast<const EmulatedEvent&>(earlier).at());
  }
  Clock::time_point at() const { return Clock::time_point(Clock::duration(ticks_.load())); }

 private:
  friend class EmulatedStream;
  const EmulatedDevice& device_;
  std::atomic<Clock::rep> ticks_{0};
  RecordedMark recorded_;
};

/// Work that was recorded on one stream, and on other streams that waited for it meanwhile.
class EmulatedCapture : public std::enable_shared_from_this<EmulatedCapture> {
 public:
  /// The stream's work is recorded from now on.
  void join(EmulatedStream& stream);
  /// The streams run their work again.
  void end();
  bool is_open() const { return !streams_.empty(); }

 private:
  friend class EmulatedStream;
  struct Step {
    enum class Kind { work, mark, wait };
    Kind kind = Kind::work;
    std::size_t lane = 0;
    std::size_t mark = 0;
    BookedWork work{};
  };

  std::vector<EmulatedStream*> streams_;  // by lane; the first is the origin
  std::vector<std::shared_ptr<const std::string>> lanes_;
  std::vector<Step> steps_;
  std::size_t marks_ = 0;
};

/// The counterpart of a CUDA graph. Its kernels run one after the other, as all of the emulated device do.
class EmulatedRecording final : public Recording {
 public:
  EmulatedRecording(EmulatedStream& recorder, std::span<const RecordedWork> work);
  void launch(Stream& stream) override { static_cast<EmulatedStream&>(stream).replay(*capture_); }

 private:
  std::shared_ptr<EmulatedCapture> capture_;
};

}  // namespace gpubench
