// One input of an interleave while it is read: its cursor, and the elements ready for the consumer. One thread at a
// time, the holder, reads the input. When the consumer has taken all elements, the lane serves another input.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <span>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/data/element/element_ring.h"
#include "core/data/interleave/open_inputs.h"

namespace gpubench {

/// Number of elements of `bytes` that fit into an input's buffer.
inline std::size_t fitting_elements(std::size_t bytes, std::size_t most) {
  constexpr std::size_t buffer_bytes = std::size_t{2} << 20;
  constexpr std::size_t least = 2;
  return std::clamp(buffer_bytes / (bytes + 1), std::min(least, most), most);
}

class InputLane {
 public:
  /// `packed`: see ElementRing.
  InputLane(OpenInputs& inputs, std::size_t capacity, TensorTypes packed) : ring(capacity, packed), inputs_(inputs) {}

  /// Makes the lane serve `input`.
  void assign(std::size_t input) {
    input_ = input;
    opened_ = false;
    cursor_.reset();
    ended.store(false);
    elements = 0;
    set_limit(ring.capacity());
  }

  /// Holder. An Error is kept and thrown in place of the first element; no elements follow it.
  void open() {
    opened_ = true;
    try {
      cursor_ = inputs_.open(input_);
    } catch (const Error&) {
      failed_ = std::current_exception();
    }
  }
  /// Holder: whether `take` got an element from the cursor, which is opened when needed and closed at its end.
  template <class Take>
  bool read(const Take& take) {
    if (!opened_) open();
    if (failed_) std::rethrow_exception(std::exchange(failed_, nullptr));
    if (!cursor_) return false;
    if (take(*cursor_)) return true;
    close();
    return false;
  }
  std::int64_t skip(std::int64_t count) {
    std::int64_t skipped = 0;
    read([&](Cursor& cursor) { return (skipped = cursor.skip(count)) == count; });
    return skipped;
  }

  /// Consumer: whether an element, an error or the end is available without waiting.
  bool is_ready() { return ring.has_element() || ended.load(); }

  /// Holder: lowers the number of elements in the ring if elements are as large as `bytes`.
  void fit(std::size_t bytes) {
    const std::size_t fitting = fitting_elements(bytes, limit);
    if (fitting < limit) set_limit(fitting);
  }

  // Accessed by the holder; by the consumer once `ended` is set.
  std::int64_t elements = 0;  ///< read, errors included
  std::size_t limit = 0;      ///< most elements in the ring
  LastError last_error;
  std::exception_ptr stopped;  ///< exception that ended it, if any

  // Accessed by both.
  ElementRing ring;
  std::atomic<bool> ended{false};         ///< nothing follows the ring's content
  std::atomic<bool> in_cycle{false};      ///< false: it enters the cycle next
  std::atomic<bool> parked{false};        ///< its buffer is full; no thread holds it
  std::atomic<std::size_t> refill_at{0};  ///< parked until at most this many elements are left

 private:
  void close() { inputs_.close(input_, std::move(cursor_)); }
  void set_limit(std::size_t elements_in_ring) {
    limit = elements_in_ring;
    refill_at = elements_in_ring / 2;
  }

  OpenInputs& inputs_;
  std::size_t input_ = 0;
  bool opened_ = false;
  std::unique_ptr<Cursor> cursor_;
  std::exception_ptr failed_;  // thrown when it was opened
};

/// Limits the time for which a thread reads one input of an interleave while others wait. Checks the clock less and
/// less often, because elements may cost less than a check.
class ReaderTurn {
 public:
  /// The cost of switching to another input (locks, waking a thread) is a small part of this.
  static constexpr std::chrono::microseconds least{50};

  /// Call after each block; an element that takes longer than the limit is a turn of its own.
  bool is_over() {
    if (++asked_ < next_look_) return false;
    next_look_ *= 2;
    return watch_.elapsed() > least;
  }

 private:
  Stopwatch watch_;
  int asked_ = 0;
  int next_look_ = 1;
};

}  // namespace gpubench
