// One running epoch of a dataset, for one consumer. The consumer takes elements as tensors, has them written into its
// own memory, or takes row numbers if all elements are rows of the same tensors. With row numbers, a shuffle moves
// eight bytes per element and a batch copies each row once.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/data/element.h"
#include "core/data/thread_times.h"
#include "core/tensor/tensor_view.h"

namespace gpubench {

/// What one stage has done so far in this epoch.
struct StageStatistics {
  std::string_view stage;
  std::int64_t produced = 0;  ///< elements
  std::int64_t bytes = 0;     ///< of the produced elements
  std::int64_t errors = 0;    ///< elements skipped because producing them failed
  Seconds busy{};             ///< the stage's own work, without its sources'
  Seconds starved{};          ///< time in which the consumer waited because the stage's buffer was empty
  Seconds blocked{};          ///< time in which workers waited because the stage's buffer was full
  int workers = 0;            ///< the stage's own threads
  std::int64_t buffered = 0;  ///< elements in the stage's buffer now
  std::int64_t capacity = 0;
  std::string why{};      ///< why workers and capacity have these values
  Seconds waiting{};      ///< part of `busy` spent waiting, as for a slow disk
  Seconds source{};       ///< time of the stage's own threads inside calls of their sources
  ThreadTimes threads{};  ///< of the stage's own threads
  /// Elements that the source has produced and the consumer has not received: work done ahead. Row numbers and the
  /// contents of a cache do not count, because reading them again costs nothing.
  std::int64_t held = 0;
  /// A cache that keeps what its source gives, and serves it from the next epoch on.
  bool is_filling = false;
};

class Cursor {
 public:
  Cursor() = default;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  /// Stops and joins the threads of the stage and its sources.
  virtual ~Cursor() = default;

  /// Replaces `element` by the next one; false at the end of the epoch. Rethrows a worker's error. After an Error, the
  /// next call continues with the following element. A stage that cannot continue returns false from then on, or throws
  /// the same exception object again.
  virtual bool next(Element& element) = 0;
  /// Writes the next element into `slots`, one per tensor; false at the end of the epoch. Throws Error if the element's
  /// types differ from the slots'.
  virtual bool next_into(std::span<const TensorView> slots);
  /// Skips the next `count` elements, without producing them if possible. Returns how many were skipped, fewer than
  /// `count` only at the end. The following elements are the same as if next() had been called `count` times.
  virtual std::int64_t skip(std::int64_t count);

  /// The tensors whose rows are the elements, the same in all epochs; empty if elements are not rows of tensors. The
  /// span is valid until the cursor's next call.
  virtual std::span<const HostTensor> tables() const { return {}; }
  /// For cursors with tables only: the row numbers of the next elements; fewer than requested only at the end.
  virtual std::size_t next_rows(std::span<std::int64_t> rows);

  /// One row per stage, sources first. Thread-safe while the epoch runs.
  virtual std::vector<StageStatistics> statistics() const = 0;

 private:
  Element passing_;
};

/// Detects a source that cannot continue after an error: it throws the same exception object repeatedly.
class LastError {
 public:
  /// Call in a catch handler: whether the exception object is the same as in the previous call.
  bool repeats() {
    const std::exception_ptr now = std::current_exception();
    return std::exchange(last_, now) == now;
  }

 private:
  std::exception_ptr last_;
};

/// A number that one thread changes while others read it.
template <class T>
class Tally {
 public:
  void add(T amount) { value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed); }
  void set(T value) { value_.store(value, std::memory_order_relaxed); }
  T get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<T> value_{};
};

}  // namespace gpubench
