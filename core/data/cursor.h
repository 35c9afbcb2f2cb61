// One running epoch of a dataset, with one consumer. The consumer takes elements as tensors, has them written into its
// own memory, or takes row numbers where all elements are rows of the same tensors. With row numbers, a shuffle moves
// eight bytes an element and a batch copies each row once.
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

/// What one stage has done so far in the epoch.
struct StageStatistics {
  std::string_view stage;
  std::int64_t produced = 0;  ///< elements
  std::int64_t bytes = 0;     ///< of what was produced
  std::int64_t errors = 0;    ///< elements left out because they could not be made
  Seconds busy{};             ///< own work, without its sources'
  Seconds starved{};          ///< consumer waited for the stage's buffer to fill
  Seconds blocked{};          ///< worker waited for the stage's buffer to empty
  int workers = 0;            ///< threads of the stage's own
  std::int64_t buffered = 0;  ///< elements in the stage's buffer now
  std::int64_t capacity = 0;
  std::string why{};      ///< how workers and capacity came about
  Seconds waiting{};      ///< of busy: did nothing but wait, as for a slow disk
  Seconds source{};       ///< the stage's own threads were in their sources' calls
  ThreadTimes threads{};  ///< of the stage's own threads
  /// Elements that the source has given and the consumer has not got yet: work done ahead of the consumer. Row numbers
  /// and the contents of a cache do not count, since reading them again costs nothing.
  std::int64_t held = 0;
};

class Cursor {
 public:
  Cursor() = default;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  /// Stops and joins the threads of the stage and its sources.
  virtual ~Cursor() = default;

  /// Replaces `element` by the next one; false at the end of the epoch. Rethrows the error of a worker. After an Error
  /// the next call gives the element behind the one that could not be made. A stage that cannot go on returns false
  /// from then on, or throws the same exception object again.
  virtual bool next(Element& element) = 0;
  /// Writes the next element into `slots`, one per tensor; false ends the epoch. Throws Error when the element's types
  /// are not the slots'.
  virtual bool next_into(std::span<const TensorView> slots);
  /// Passes over the next `count` elements, without making them where that is possible. Returns how many there were,
  /// fewer than `count` only at the end. The elements behind them are the same as if next() had been called.
  virtual std::int64_t skip(std::int64_t count);

  /// The tensors of which every element is a row, the same for all epochs of the dataset; empty when elements are not
  /// rows of tensors. The span is valid until the cursor's next call.
  virtual std::span<const HostTensor> tables() const { return {}; }
  /// Only for cursors with tables: the row numbers of the next elements; fewer than asked for only at the end.
  virtual std::size_t next_rows(std::span<std::int64_t> rows);

  /// One row per stage, sources first. Any thread may ask while the epoch runs.
  virtual std::vector<StageStatistics> statistics() const = 0;

 private:
  Element passing_;
};

/// Detects a source that cannot go on behind an error: it throws the same exception object again and again.
class LastError {
 public:
  /// In a handler: whether the exception is the one of the last call.
  bool repeats() {
    const std::exception_ptr now = std::current_exception();
    return std::exchange(last_, now) == now;
  }

 private:
  std::exception_ptr last_;
};

/// A figure that one thread changes while others may read it.
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
