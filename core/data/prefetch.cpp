#include "core/data/prefetch.h"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <thread>

#include "core/base/bounded_queue.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"

namespace gpubench {
namespace {

constexpr std::string_view stage_name = "prefetch";
constexpr std::size_t autotune_bytes = std::size_t{8} << 20;
constexpr std::size_t autotune_least = 2;
constexpr std::size_t autotune_most = 64;
/// How often a waiting consumer looks whether the user pressed Ctrl-C.
constexpr std::chrono::milliseconds interrupt_period{50};

std::size_t autotuned_capacity(const Element& element) {
  std::size_t bytes = 1;
  for (const HostTensor& tensor : element) bytes += tensor.bytes();
  return std::clamp(autotune_bytes / bytes, autotune_least, autotune_most);
}

class PrefetchCursor final : public Cursor {
 public:
  PrefetchCursor(std::unique_ptr<Cursor> source, std::int64_t capacity)
      : source_(std::move(source)),
        queue_(capacity == autotune ? autotune_least : static_cast<std::size_t>(capacity)),
        worker_([this, tunes = capacity == autotune] { work(tunes); }) {}

  ~PrefetchCursor() override {
    queue_.close();
    worker_.join();
  }

  bool next(Element& element) override {
    release(element);
    for (;;) {
      switch (queue_.pop(element, interrupt_period)) {
        case Queue::Pop::item:
          produced_.add(1);
          return true;
        case Queue::Pop::closed:
          if (error_) std::rethrow_exception(error_);
          return false;
        case Queue::Pop::timed_out:
          check_interrupt();
      }
    }
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = source_->statistics();
    const auto [starved, blocked] = queue_.waited();
    stages.push_back({.stage = stage_name,
                      .produced = produced_.get(),
                      .starved = starved,
                      .blocked = blocked,
                      .workers = 1,
                      .buffered = static_cast<std::int64_t>(queue_.size()),
                      .capacity = static_cast<std::int64_t>(queue_.capacity())});
    return stages;
  }

 private:
  using Queue = BoundedQueue<Element>;

  void work(bool tunes) {
    try {
      Element element;
      while (source_->next(element)) {
        if (tunes) queue_.set_capacity(autotuned_capacity(element));
        tunes = false;
        if (!queue_.push(element)) return;
      }
    } catch (...) {
      error_ = std::current_exception();  // seen by the consumer through the queue's mutex
    }
    queue_.close();
  }

  const std::unique_ptr<Cursor> source_;
  Queue queue_;
  std::exception_ptr error_;
  Tally<std::int64_t> produced_;
  std::thread worker_;  // last: it uses all the others
};

class PrefetchDataset final : public Transformation {
 public:
  PrefetchDataset(DatasetPtr source, std::int64_t capacity) : Transformation(std::move(source)), capacity_(capacity) {}
  std::string_view stage() const override { return stage_name; }
  std::string settings() const override {
    return capacity_ == autotune ? "buffer=autotune" : fmt::format("buffer={}", capacity_);
  }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<PrefetchCursor>(source().open(epoch, options), capacity_);
  }

 private:
  std::int64_t capacity_;
};

}  // namespace

DatasetPtr prefetch(DatasetPtr source, std::int64_t capacity) {
  if (capacity < 1 && capacity != autotune) {
    throw Error(fmt::format("prefetch: a buffer of {} elements; at least 1 is needed, or AUTOTUNE", capacity));
  }
  return std::make_shared<PrefetchDataset>(std::move(source), capacity);
}

}  // namespace gpubench
