// The window of a shuffle, over row numbers or over elements: what is drawn is replaced by what comes next.
#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/interrupt.h"
#include "core/data/element/counter_random.h"

namespace gpubench {

template <class Item>
class ShuffleWindow {
 public:
  /// `block`: how many items are asked for at a time.
  ShuffleWindow(std::size_t capacity, std::size_t block, CounterRandom random)
      : capacity_(capacity), incoming_(block), random_(random) {}

  /// Swaps the next drawn item with `out`; `pull(span)` fills a span and returns how many items it has, fewer than
  /// asked for only at the end.
  template <class Pull>
  bool next(Item& out, Pull&& pull) {
    using std::swap;
    if (!filled_) fill(pull);
    if (window_.empty()) return false;
    Item* const item = arriving(pull);  // first of all: it may throw, and then nothing has been drawn
    Item& drawn = window_[random_.below(window_.size(), drawn_++)];
    swap(out, drawn);
    if (item != nullptr) {
      swap(drawn, *item);
    } else {
      swap(drawn, window_.back());
      window_.pop_back();
    }
    return true;
  }

  std::size_t size() const { return window_.size(); }

 private:
  template <class Pull>
  void fill(Pull& pull) {
    while (window_.size() < capacity_) {
      check_interrupt();
      Item* const item = arriving(pull);
      if (item == nullptr) break;
      window_.push_back(std::move(*item));
    }
    filled_ = true;
  }

  template <class Pull>
  Item* arriving(Pull& pull) {
    if (position_ == arrived_ && !ended_) {
      position_ = arrived_ = 0;
      arrived_ = pull(std::span<Item>(incoming_));
      ended_ = arrived_ < incoming_.size();
    }
    return position_ < arrived_ ? &incoming_[position_++] : nullptr;
  }

  std::size_t capacity_;
  std::vector<Item> window_;
  std::vector<Item> incoming_;
  std::size_t position_ = 0;
  std::size_t arrived_ = 0;
  std::uint64_t drawn_ = 0;
  CounterRandom random_;
  bool filled_ = false;
  bool ended_ = false;
};

}  // namespace gpubench
