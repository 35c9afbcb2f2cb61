// A lock-free ring of elements from one producer thread to one consumer thread; a failed element is represented by its
// error. Small elements lie in the ring's own memory, where the producer writes them. No call blocks: an interleave's
// threads serve many inputs, and a thread that finds one input's buffer full moves on to another (BoundedQueue would
// block it). All hand-overs are sequentially consistent: a side that announces that it waits, and then checks again,
// cannot miss the other side's update.
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
  /// Filled by the producer and swapped out by the consumer, so that the elements' vectors are reused.
  struct Slot {
    Element element;
    std::exception_ptr error;
  };

  /// `packed`: the types of elements that are written into the ring; empty: elements are swapped in and out.
  explicit ElementRing(std::size_t capacity, TensorTypes packed = {}) : slots_(capacity) {
    assert(capacity > 0);
    if (!packed.empty()) packed_.open(packed, static_cast<std::int64_t>(capacity));
  }

  /// Producer: whether the ring has room, if it may hold at most `limit` elements.
  bool has_room(std::size_t limit) {
    assert(limit <= slots_.size());
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - seen_head_ < limit) return true;
    seen_head_ = head_.load();
    return tail - seen_head_ < limit;
  }
  Slot& back() { return slots_[back_index()]; }
  /// Producer: where to write a packed element; `views` has one per tensor.
  void view_back(std::span<TensorView> views) const { packed_.view(static_cast<std::int64_t>(back_index()), views); }
  void push() { tail_.store(tail_.load(std::memory_order_relaxed) + 1); }

  /// Consumer.
  bool has_element() {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (seen_tail_ != head) return true;
    seen_tail_ = tail_.load();
    return seen_tail_ != head;
  }
  Slot& front() { return slots_[front_index()]; }
  /// Consumer: the packed element, valid until pop().
  void view_front(std::span<TensorView> views) const { packed_.view(static_cast<std::int64_t>(front_index()), views); }
  void pop() { head_.store(head_.load(std::memory_order_relaxed) + 1); }

  /// Any thread; exact only while one of the two sides is idle.
  std::size_t size() const {
    const std::size_t head = head_.load();  // read first, so that it cannot exceed the tail
    return tail_.load() - head;
  }
  std::size_t capacity() const { return slots_.size(); }
  bool is_packed() const { return !packed_.empty(); }

 private:
  static constexpr std::size_t cache_line = 64;  // so that the two sides do not share a cache line

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
