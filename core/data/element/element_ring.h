// Elements on their way from the one thread that makes them to the one that takes them, with errors in the places of
// elements that could not be made. Small elements lie side by side in the ring's own memory, where their maker writes
// them. No call locks or waits. That is why an interleave does not use BoundedQueue: its threads serve many inputs, and
// a thread that finds one input's buffer full goes on to another. All hand-overs are sequentially consistent: a side
// that announces that it waits, and then looks again, cannot miss the other side's step.
#pragma once
#include <atomic>
#include <cassert>
#include <cstddef>
#include <exception>
#include <span>
#include <vector>

#include "core/data/element.h"
#include "core/data/element/packed_elements.h"

namespace gpubench {

class ElementRing {
 public:
  /// What the maker fills in and the consumer swaps out, so that the elements' bookkeeping circulates.
  struct Slot {
    Element element;
    std::exception_ptr error;
  };

  /// `packed`: the types of elements that are written into the ring; none: they are swapped in and out.
  explicit ElementRing(std::size_t capacity, std::span<const TensorType> packed = {}) : slots_(capacity) {
    assert(capacity > 0);
    if (!packed.empty()) packed_.open(packed, static_cast<std::int64_t>(capacity));
  }

  /// For the maker: whether there is room when at most `limit` elements are to be in the ring.
  bool has_room(std::size_t limit) {
    assert(limit <= slots_.size());
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - seen_head_ < limit) return true;
    seen_head_ = head_.load();
    return tail - seen_head_ < limit;
  }
  Slot& back() { return slots_[back_index()]; }
  /// Where a packed element is to be written: `views`, one per tensor.
  void view_back(std::span<TensorView> views) const { packed_.view(static_cast<std::int64_t>(back_index()), views); }
  void push() { tail_.store(tail_.load(std::memory_order_relaxed) + 1); }

  /// For the consumer.
  bool has_element() {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (seen_tail_ != head) return true;
    seen_tail_ = tail_.load();
    return seen_tail_ != head;
  }
  Slot& front() { return slots_[front_index()]; }
  /// Where the packed element lies until pop().
  void view_front(std::span<TensorView> views) const { packed_.view(static_cast<std::int64_t>(front_index()), views); }
  void pop() { head_.store(head_.load(std::memory_order_relaxed) + 1); }

  /// For any thread; exact for one of the two while the other stands still.
  std::size_t size() const {
    const std::size_t head = head_.load();  // first, so that it is not beyond the tail
    return tail_.load() - head;
  }
  std::size_t capacity() const { return slots_.size(); }
  bool is_packed() const { return !packed_.empty(); }

 private:
  static constexpr std::size_t cache_line = 64;  // so that the two do not take each other's from the cache

  std::size_t back_index() const { return tail_.load(std::memory_order_relaxed) % slots_.size(); }
  std::size_t front_index() const { return head_.load(std::memory_order_relaxed) % slots_.size(); }

  std::vector<Slot> slots_;
  PackedElements packed_;
  alignas(cache_line) std::atomic<std::size_t> tail_{0};
  std::size_t seen_head_ = 0;
  alignas(cache_line) std::atomic<std::size_t> head_{0};
  std::size_t seen_tail_ = 0;
};

}  // namespace gpubench
