#include "core/data/source/range.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/element/block_pool.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view range_stage = "range";

class RangeCursor final : public Cursor {
 public:
  RangeCursor(std::int64_t start, std::int64_t count, std::int64_t step, const CursorOptions& options)
      : next_(start), left_(count), step_(step), pool_(options.memory) {}

  bool next(Element& element) override {
    if (left_ == 0) return false;
    element.resize(1);
    pool_.allocate(number_type_, element[0]);
    *element[0].view().as<std::int64_t>() = draw();
    produced_.add(element);
    return true;
  }

  bool next_into(std::span<const TensorView> slots) override {
    if (left_ == 0) return false;
    *slots[0].as<std::int64_t>() = draw();
    produced_.add(slots);
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    const std::int64_t skipped = std::min(count, left_);
    advance(skipped);
    return skipped;
  }

  std::vector<StageStatistics> statistics() const override { return {produced_.row(range_stage)}; }

 private:
  std::int64_t draw() {
    if (passed_) throw Error("range: the next number is outside of int64");
    const std::int64_t number = next_;
    advance(1);
    return number;
  }
  /// The number after the last may overflow int64; it is never returned.
  void advance(std::int64_t count) {
    std::int64_t way = 0;
    if (__builtin_mul_overflow(count, step_, &way) || __builtin_add_overflow(next_, way, &next_)) passed_ = true;
    if (left_ != endless) left_ -= count;
  }

  const TensorType number_type_{{}, Dtype::i64};
  std::int64_t next_;
  std::int64_t left_;
  std::int64_t step_;
  bool passed_ = false;  // the next number would overflow int64
  BlockPool pool_;
  Produced produced_{{&number_type_, 1}};
};

class RangeDataset final : public Dataset {
 public:
  RangeDataset(std::int64_t start, std::int64_t count, std::int64_t step) : start_(start), count_(count), step_(step) {}
  std::string_view stage() const override { return range_stage; }
  std::string settings() const override {
    return fmt::format("start={} count={} step={}", start_, count_ == endless ? "endless" : std::to_string(count_),
                       step_);
  }
  const std::vector<TensorType>& element_types() const override { return types_; }
  std::optional<std::int64_t> size() const override { return count_; }
  std::unique_ptr<Cursor> open(std::uint64_t /*epoch*/, const CursorOptions& options) const override {
    return std::make_unique<RangeCursor>(start_, count_, step_, options);
  }

 private:
  std::int64_t start_;
  std::int64_t count_;
  std::int64_t step_;
  std::vector<TensorType> types_{{{}, Dtype::i64}};
};

/// A difference of two int64 may need 64 unsigned bits.
std::int64_t count_of(std::int64_t start, std::int64_t stop, std::int64_t step) {
  if (stop == endless && step > 0) return endless;
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const auto from = static_cast<std::uint64_t>(step > 0 ? start : stop);
  const auto to = static_cast<std::uint64_t>(step > 0 ? stop : start);
  const std::uint64_t stride = step > 0 ? static_cast<std::uint64_t>(step) : -static_cast<std::uint64_t>(step);
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>((to - from - 1) / stride + 1, static_cast<std::uint64_t>(endless)));
}

}  // namespace

DatasetPtr range(std::int64_t start, std::int64_t stop, std::int64_t step) {
  if (step == 0) throw Error(fmt::format("range: a step of 0 never gets from {} to {}", start, stop));
  return std::make_shared<RangeDataset>(start, count_of(start, stop, step), step);
}

}  // namespace gpubench
