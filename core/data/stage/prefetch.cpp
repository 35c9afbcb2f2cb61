#include "core/data/stage/prefetch.h"

#include <algorithm>
#include <exception>
#include <fmt/format.h>

#include "core/base/bounded_queue.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/data/device/device_place.h"
#include "core/data/device/upload.h"
#include "core/data/element.h"
#include "core/data/linked_stop.h"
#include "core/data/tune/tuner.h"
#include "core/device/device.h"
#include "core/trace/pipeline_spans.h"

namespace gpubench {
namespace {

constexpr std::string_view prefetch_stage = "prefetch";
constexpr std::string_view prefetch_to_device_stage = "prefetch_to_device";
constexpr std::size_t autotune_bytes = std::size_t{8} << 20;
constexpr std::size_t autotune_least = 2;
constexpr std::size_t autotune_most = 64;

std::size_t autotuned_capacity(std::size_t bytes) {
  return std::clamp(autotune_bytes / (bytes + 1), autotune_least, autotune_most);
}

/// An element, or the error that replaces it.
struct Prefetched {
  Element element;
  std::exception_ptr error;
  friend void swap(Prefetched& a, Prefetched& b) noexcept {
    a.element.swap(b.element);
    a.error.swap(b.error);
  }
};

class PrefetchCursor final : public Cursor, private Tunable {
 public:
  PrefetchCursor(const Dataset& dataset, const Dataset& source, std::uint64_t epoch, std::int64_t capacity,
                 const CursorOptions& options)
      : stop_(options.stop),
        source_(source.open(epoch, stop_.with_stop(options))),
        key_(&dataset),
        stage_(dataset.stage()),
        tuner_(options.tuner),
        learnt_(capacity == autotune && tuner_ ? tuner_->learnt(dataset) : std::nullopt),
        queue_(first_capacity(capacity)),
        sizes_itself_(capacity == autotune && !learnt_),
        tuned_(std::in_place, tuner_, dataset, capacity == autotune ? Knob::buffer : Knob::none,
               static_cast<Tunable&>(*this)) {}

  ~PrefetchCursor() override {
    tuned_.reset();
    stop_.request();
    queue_.close();
    if (worker_) worker_->join();
  }

  bool next(Element& element) override {
    release(element);
    start();
    if (!pop(element)) return false;
    produced_.add(1);
    bytes_.add(static_cast<std::int64_t>(element_bytes(element)));
    return true;
  }

  /// Before the first element is requested, the source itself can skip elements.
  std::int64_t skip(std::int64_t count) override { return worker_ ? Cursor::skip(count) : source_->skip(count); }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = source_->statistics();
    const auto [starved, blocked] = queue_.waited();
    const WatchedThread* const worker = watched_.load(std::memory_order_acquire);
    stages.push_back({.stage = stage_,
                      .produced = produced_.get(),
                      .bytes = bytes_.get(),
                      .starved = starved,
                      .blocked = blocked,
                      .workers = 1,
                      .buffered = static_cast<std::int64_t>(queue_.size()),
                      .capacity = static_cast<std::int64_t>(queue_.capacity()),
                      .why = tuner_ ? tuner_->why(*key_) : "as it was opened",
                      .source = Seconds(source_time_.get()),
                      .threads = worker != nullptr ? worker->times() : ThreadTimes{},
                      .held = static_cast<std::int64_t>(queue_.size())});
    return stages;
  }

 private:
  std::size_t first_capacity(std::int64_t capacity) const {
    if (capacity != autotune) return static_cast<std::size_t>(capacity);
    return learnt_ ? static_cast<std::size_t>(*learnt_) : autotune_least;
  }

  void start() {
    if (worker_) return;
    worker_.emplace(std::string(stage_), [this] { work(); });
    watched_.store(&*worker_, std::memory_order_release);
  }

  void work() {
    LastError failed;
    for (Prefetched made;;) {
      try {
        if (!make(made.element)) return queue_.close();
      } catch (const Error&) {
        if (failed.repeats()) return fail();
        release(made.element);
        made.error = std::current_exception();
      } catch (...) {
        return fail();
      }
      if (!queue_.push(made)) return;
      made.error = nullptr;
    }
  }

  /// Call in a catch handler when the source cannot continue. The consumer gets the exception for each further element.
  void fail() {
    failed_ = std::current_exception();
    queue_.close();
  }

  /// False at the end; throws an error that replaces the element. Ctrl-C ends the wait.
  bool pop(Element& element) {
    using Pop = BoundedQueue<Prefetched>::Pop;
    Prefetched next;
    next.element.swap(element);
    Pop popped = Pop::timed_out;
    while ((popped = queue_.pop(next, interrupt_period)) == Pop::timed_out) check_interrupt();
    element.swap(next.element);
    if (popped == Pop::closed) next.error = failed_;
    if (next.error) std::rethrow_exception(next.error);
    return popped == Pop::item;
  }

  bool make(Element& element) {
    const PipelineSpan span("make element");
    const Stopwatch watch;
    if (!source_->next(element)) return false;
    const std::size_t bytes = element_bytes(element);
    if (sizes_itself_ && made_.get() == 0) queue_.set_capacity(fitting_capacity(bytes));
    element_bytes_.set(std::max(element_bytes_.get(), static_cast<std::int64_t>(bytes)));
    source_time_.add(watch.elapsed().count());
    made_.add(1);
    return true;
  }

  std::size_t fitting_capacity(std::size_t bytes) const {
    const std::size_t capacity = autotuned_capacity(bytes);
    if (!tuner_) return capacity;
    const auto element = static_cast<std::int64_t>(bytes);  // besides the buffer, the worker holds one element
    return static_cast<std::size_t>(tuner_->first_setting(*key_, static_cast<int>(capacity), element, element));
  }

  StageProgress progress() const override {
    const auto [starved, blocked] = queue_.waited();
    const WatchedThread* const worker = watched_.load(std::memory_order_acquire);
    return {.computed = made_.get(),
            .taken = produced_.get(),
            .source = Seconds(source_time_.get()),
            .starved = starved,
            .blocked = blocked,
            .threads = worker != nullptr ? worker->times() : ThreadTimes{},
            .unit_bytes = element_bytes_.get(),
            .fixed_bytes = element_bytes_.get()};
  }
  int setting() const override { return static_cast<int>(queue_.capacity()); }
  void set(int capacity) override { queue_.set_capacity(static_cast<std::size_t>(capacity)); }

  LinkedStop stop_;
  const std::unique_ptr<Cursor> source_;
  const Dataset* const key_;  // may be destroyed
  const std::string_view stage_;
  const std::shared_ptr<Tuner> tuner_;
  const std::optional<int> learnt_;
  BoundedQueue<Prefetched> queue_;
  std::exception_ptr failed_;  // set before the worker closes the queue
  const bool sizes_itself_;
  Tally<std::int64_t> made_;
  Tally<std::int64_t> produced_;
  Tally<std::int64_t> bytes_;
  Tally<std::int64_t> element_bytes_;
  Tally<double> source_time_;
  std::optional<WatchedThread> worker_;  // starts when the first element is requested
  std::atomic<const WatchedThread*> watched_{nullptr};
  std::optional<TunedStage> tuned_;
};

class PrefetchDataset final : public Transformation {
 public:
  PrefetchDataset(DatasetPtr source, std::int64_t capacity) : Transformation(std::move(source)), capacity_(capacity) {}
  std::string_view stage() const override { return prefetch_stage; }
  DatasetPtr with_source(DatasetPtr source) const override { return prefetch(std::move(source), capacity_); }
  Effect effect() const override { return Effect::one_to_one; }
  std::string settings() const override {
    return capacity_ == autotune ? "buffer=autotune" : fmt::format("buffer={}", capacity_);
  }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<PrefetchCursor>(*this, source(), epoch, capacity_, options);
  }

 private:
  std::int64_t capacity_;
};

class PrefetchToDeviceDataset final : public Transformation {
 public:
  PrefetchToDeviceDataset(DatasetPtr source, const DevicePlace& place, std::int64_t capacity)
      : Transformation(std::move(source)), place_(place), apart_(place.apart()), capacity_(capacity) {}
  std::string_view stage() const override { return prefetch_to_device_stage; }
  DatasetPtr with_source(DatasetPtr source) const override {
    return prefetch_to_device(std::move(source), place_, capacity_);
  }
  Effect effect() const override { return Effect::one_to_one; }
  std::string settings() const override { return fmt::format("device={} buffer={}", to_string(place_.id), capacity_); }
  const DeviceId* device() const override { return apart_ ? &place_.id : nullptr; }

  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    if (apart_) {
      require_taker(options, prefetch_to_device_stage, place_.id);
      return open_uploaded_ahead(sources().front(), place_, [&](const Dataset& uploads) {
        return std::make_unique<PrefetchCursor>(*this, uploads, epoch, capacity_, options);
      });
    }
    CursorOptions asked = options;
    asked.memory = &place_.device().memory();
    return std::make_unique<PrefetchCursor>(*this, source(), epoch, capacity_, asked);
  }

 private:
  const DevicePlace place_;
  const bool apart_;
  const std::int64_t capacity_;
};

}  // namespace

DatasetPtr prefetch(DatasetPtr source, std::int64_t capacity) {
  require_host_elements(*source, "prefetch");
  constexpr std::int64_t most = 1 << 20;  // buffers are allocated when an epoch starts
  if (capacity != autotune && (capacity < 1 || capacity > most)) {
    throw Error(fmt::format("prefetch: a buffer of {} elements; 1 to {} are possible, or AUTOTUNE", capacity, most));
  }
  return std::make_shared<PrefetchDataset>(std::move(source), capacity);
}

DatasetPtr prefetch_to_device(DatasetPtr source, const DevicePlace& place, std::int64_t capacity) {
  require_host_elements(*source, prefetch_to_device_stage);
  if (capacity < 1) {
    throw Error(fmt::format("{}: a buffer of {} elements; at least 1 is needed", prefetch_to_device_stage, capacity));
  }
  return std::make_shared<PrefetchToDeviceDataset>(std::move(source), place, capacity);
}

}  // namespace gpubench
