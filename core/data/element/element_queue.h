// Elements on their way from the threads that make them to the consumer, with errors in the places of those that could
// not be made: behind an error the queue goes on.
#pragma once
#include <chrono>
#include <exception>
#include <mutex>
#include <utility>

#include "core/base/bounded_queue.h"
#include "core/base/interrupt.h"
#include "core/data/element.h"

namespace gpubench {

/// Tells a stage that goes on behind an error from one that has stopped, which throws the same object again and again.
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

class ElementQueue {
 public:
  explicit ElementQueue(std::size_t capacity) : items_(capacity) {}

  /// False when nobody wants elements any more.
  bool push(Element& element) {
    Item item;
    item.element.swap(element);
    const bool wanted = items_.push(item);
    element.swap(item.element);
    return wanted;
  }
  bool push_error(std::exception_ptr error) {
    Item item{{}, std::move(error)};
    return items_.push(item);
  }
  /// Whoever asks for more than what is left gets `error`, or the end.
  void close(std::exception_ptr error = nullptr) {
    {
      const std::lock_guard lock(mutex_);
      if (!last_) last_ = std::move(error);
    }
    items_.close();
  }

  /// False at the end; throws what stands in the element's place. Ctrl-C ends the waiting.
  bool pop(Element& element) {
    Item item;
    item.element.swap(element);
    auto popped = Items::Pop::timed_out;
    while ((popped = items_.pop(item, interrupt_period)) == Items::Pop::timed_out) check_interrupt();
    element.swap(item.element);
    if (popped == Items::Pop::closed) item.error = last();
    if (item.error) std::rethrow_exception(item.error);
    return popped == Items::Pop::item;
  }

  void set_capacity(std::size_t capacity) { items_.set_capacity(capacity); }
  std::size_t capacity() const { return items_.capacity(); }
  std::size_t size() const { return items_.size(); }
  /// How long consumers waited for elements and makers for room, so far.
  std::pair<Seconds, Seconds> waited() const { return items_.waited(); }

 private:
  struct Item {
    Element element;
    std::exception_ptr error;
    friend void swap(Item& a, Item& b) noexcept {
      a.element.swap(b.element);
      a.error.swap(b.error);
    }
  };
  using Items = BoundedQueue<Item>;

  std::exception_ptr last() const {
    const std::lock_guard lock(mutex_);
    return last_;
  }

  Items items_;
  mutable std::mutex mutex_;  // for last_
  std::exception_ptr last_;
};

}  // namespace gpubench
