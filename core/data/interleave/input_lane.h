// One input of an interleave while it is read: its cursor, and the elements that are ready for the consumer. One thread
// at a time, the holder, reads the input. When the consumer has taken all elements, the lane serves another input.
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

/// So many elements of `bytes` fit into an input's buffer.
inline std::size_t fitting_elements(std::size_t bytes, std::size_t most) {
  constexpr std::size_t buffer_bytes = std::size_t{2} << 20;
  constexpr std::size_t least = 2;
  return std::clamp(buffer_bytes / (bytes + 1), std::min(least, most), most);
}

class InputLane {
 public:
  /// `packed`: see ElementRing.
  InputLane(OpenInputs& inputs, std::size_t capacity, std::span<const TensorType> packed)
      : ring(capacity, packed), inputs_(inputs) {}

  /// From here on it serves `input`.
  void assign(std::size_t input) {
    input_ = input;
    opened_ = false;
    cursor_.reset();
    ended.store(false);
    elements = 0;
    set_limit(ring.capacity());
  }

  /// For the holder. An Error is kept and thrown in place of the first element; behind it there are none.
  void open() {
    opened_ = true;
    try {
      cursor_ = inputs_.open(input_);
    } catch (const Error&) {
      failed_ = std::current_exception();
    }
  }
  /// For the holder: whether `take` got an element from the cursor, which is opened for it and closed at its end.
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

  /// For the consumer: whether it would get an element, an error or the end now.
  bool is_ready() { return ring.has_element() || ended.load(); }

  /// For the holder: elements are of up to `bytes`, so that fewer are to be in the ring.
  void fit(std::size_t bytes) {
    const std::size_t fitting = fitting_elements(bytes, limit);
    if (fitting < limit) set_limit(fitting);
  }

  // The holder's; for the consumer once `ended` is set.
  std::int64_t elements = 0;  ///< read, errors included
  std::size_t limit = 0;      ///< of elements in the ring
  LastError last_error;
  std::exception_ptr stopped;  ///< why it ended, if not well

  // For both.
  ElementRing ring;
  std::atomic<bool> ended{false};         ///< nothing comes behind what is in the ring
  std::atomic<bool> in_cycle{false};      ///< else it comes next
  std::atomic<bool> parked{false};        ///< its buffer is full; no thread holds it
  std::atomic<std::size_t> refill_at{0};  ///< parked until no more than so many elements are left

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
  std::exception_ptr failed_;  // when it was opened
};

/// How long a thread has read one input of an interleave, where others are waiting for it. Looks at the clock ever more
/// seldom, since elements may cost less than that.
class ReaderTurn {
 public:
  /// What turning to another input costs, its locks and a thread that is woken, is a small part of this.
  static constexpr std::chrono::microseconds least{50};

  /// To be asked after each block; an element that takes longer than that is a turn of its own.
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
