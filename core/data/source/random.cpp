#include "core/data/source/random.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

#include "core/data/element/block_pool.h"
#include "core/data/element/random_fill.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view random_stage = "random";

/// Sums of the weights up to each index; empty: numbers without weights.
using WeightSums = std::vector<double>;

class RandomCursor final : public Cursor {
 public:
  RandomCursor(const WeightSums& sums, const CounterRandom& random, const CursorOptions& options)
      : sums_(sums), random_(random), pool_(options.memory) {}

  bool next(Element& element) override {
    element.resize(1);
    pool_.allocate(number_type_, element[0]);
    *element[0].view().as<std::int64_t>() = draw();
    produced_.add(element);
    return true;
  }

  bool next_into(std::span<const TensorView> slots) override {
    *slots[0].as<std::int64_t>() = draw();
    produced_.add(slots);
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    position_ += static_cast<std::uint64_t>(count);
    return count;
  }

  std::vector<StageStatistics> statistics() const override { return {produced_.row(random_stage)}; }

 private:
  std::int64_t draw() {
    const std::uint64_t bits = random_.bits(position_++);
    if (sums_.empty()) return static_cast<std::int64_t>(bits >> 32);
    const double at = static_cast<double>(bits >> 11) * 0x1p-53 * sums_.back();
    return std::upper_bound(sums_.begin(), sums_.end() - 1, at) - sums_.begin();
  }

  const TensorType number_type_{{}, Dtype::i64};
  const WeightSums sums_;
  const CounterRandom random_;
  std::uint64_t position_ = 0;
  BlockPool pool_;
  Produced produced_{{&number_type_, 1}};
};

class RandomDataset final : public Dataset {
 public:
  RandomDataset(WeightSums sums, const RandomOptions& options) : sums_(std::move(sums)), options_(options) {}
  std::string_view stage() const override { return random_stage; }
  std::string settings() const override {
    return fmt::format("seed={}{}{}{}", options_.seed, options_.rerandomize_each_iteration ? " anew every epoch" : "",
                       sums_.empty() ? "" : " sums of weights=", fmt::join(sums_, ","));
  }
  const std::vector<TensorType>& element_types() const override { return types_; }
  std::optional<std::int64_t> size() const override { return endless; }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    const CounterRandom random(options_.seed, options_.rerandomize_each_iteration ? epoch : 0);
    return std::make_unique<RandomCursor>(sums_, random, options);
  }

 private:
  WeightSums sums_;
  RandomOptions options_;
  std::vector<TensorType> types_{{{}, Dtype::i64}};
};

}  // namespace

DatasetPtr random_numbers(const RandomOptions& options) {
  return std::make_shared<RandomDataset>(WeightSums{}, options);
}

DatasetPtr random_choices(const std::vector<double>& weights, const RandomOptions& options) {
  assert(!weights.empty());
  WeightSums sums(weights.size());
  std::partial_sum(weights.begin(), weights.end(), sums.begin());
  return std::make_shared<RandomDataset>(std::move(sums), options);
}

}  // namespace gpubench
