#include "core/data/stage/shuffle.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <span>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/data/element/random_fill.h"
#include "core/data/element/rows.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view shuffle_stage = "shuffle";
constexpr std::size_t shuffled_rows = 256;

/// The window of a shuffle, over row numbers or elements: a drawn item is replaced by the next one of the source.
template <class Item>
class ShuffleWindow {
 public:
  /// `block`: number of items requested at a time.
  ShuffleWindow(std::size_t capacity, std::size_t block, CounterRandom random)
      : capacity_(capacity), incoming_(block), random_(random) {}

  /// Swaps the next drawn item with `out`. `pull(span)` fills a span and returns the number of items, fewer than
  /// requested only at the end.
  template <class Pull>
  bool next(Item& out, Pull&& pull) {
    using std::swap;
    if (!filled_) fill(pull);
    if (window_.empty()) return false;
    Item* const item = arriving(pull);  // first, because it may throw, and then nothing must have been drawn
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

/// The common part of both shuffles: the buffer's statistics.
class ShuffleCursor : public StageCursor {
 public:
  ShuffleCursor(std::unique_ptr<Cursor> source, TensorTypes types, std::size_t buffer)
      : StageCursor(shuffle_stage, std::move(source), types), buffer_(buffer) {}

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = StageCursor::statistics();
    stages.back().buffered = buffered_.get();
    stages.back().capacity = static_cast<std::int64_t>(buffer_);
    stages.back().held = buffered_.get();
    return stages;
  }

 protected:
  void buffered(std::size_t count) { buffered_.set(static_cast<std::int64_t>(count)); }

 private:
  const std::size_t buffer_;
  Tally<std::int64_t> buffered_;
};

/// For rows of tensors: the window holds row numbers.
class RowShuffleCursor final : public ShuffleCursor {
 public:
  RowShuffleCursor(std::unique_ptr<Cursor> source, TensorTypes types, std::size_t buffer, CounterRandom random)
      : ShuffleCursor(std::move(source), types, buffer),
        rows_(source_->tables()),
        window_(buffer, shuffled_rows, random) {}

  bool next(Element& element) override {
    std::int64_t row = 0;
    if (next_rows({&row, 1}) == 0) return false;
    rows_.view(row, element);
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    std::array<std::int64_t, shuffled_rows> skipped;
    std::int64_t left = count;
    while (left > 0) {
      const auto wanted = std::min<std::int64_t>(std::ssize(skipped), left);
      const auto found =
          static_cast<std::int64_t>(next_rows(std::span(skipped).first(static_cast<std::size_t>(wanted))));
      left -= found;
      if (found < wanted) break;
    }
    return count - left;
  }

  std::span<const HostTensor> tables() const override { return rows_.tables(); }

  std::size_t next_rows(std::span<std::int64_t> rows) override {
    const auto pull = [this](std::span<std::int64_t> incoming) { return source_->next_rows(incoming); };
    std::size_t count = 0;
    while (count < rows.size() && window_.next(rows[count], pull)) ++count;
    produced_.add_rows(count);
    buffered(window_.size());
    return count;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = ShuffleCursor::statistics();
    // Row numbers cost nothing, unless a filter selected them.
    const bool chosen =
        std::ranges::any_of(stages, [](const StageStatistics& stage) { return stage.busy.count() > 0; });
    if (!chosen) stages.back().held = 0;
    return stages;
  }

 private:
  const Rows rows_;
  ShuffleWindow<std::int64_t> window_;
};

/// For other elements: the window holds the elements, with their memory.
class ElementShuffleCursor final : public ShuffleCursor {
 public:
  ElementShuffleCursor(std::unique_ptr<Cursor> source, TensorTypes types, std::size_t buffer, CounterRandom random)
      : ShuffleCursor(std::move(source), types, buffer), window_(buffer, 1, random) {}

  bool next(Element& element) override {
    release(element);
    const auto pull = [this](std::span<Element> incoming) {
      return std::size_t{source_->next(incoming.front()) ? 1U : 0U};
    };
    if (!window_.next(element, pull)) return false;
    produced_.add(element);
    buffered(window_.size());
    return true;
  }

 private:
  ShuffleWindow<Element> window_;
};

class ShuffleDataset final : public Transformation {
 public:
  ShuffleDataset(DatasetPtr source, const ShuffleOptions& options)
      : Transformation(std::move(source)), options_(options) {}

  std::string_view stage() const override { return shuffle_stage; }
  DatasetPtr with_source(DatasetPtr source) const override { return shuffle(std::move(source), options_); }
  Effect effect() const override { return Effect::by_position; }
  std::string settings() const override {
    return fmt::format("buffer={} seed={}{}", options_.buffer, options_.seed,
                       options_.reshuffle_each_iteration ? "" : " same order every epoch");
  }

  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    // The window's elements are in ordinary memory.
    std::unique_ptr<Cursor> cursor = source().open(epoch, options.for_sources());
    const CounterRandom random(options_.seed, options_.reshuffle_each_iteration ? epoch : 0);
    const auto buffer = static_cast<std::size_t>(options_.buffer);
    if (!cursor->tables().empty()) {
      return std::make_unique<RowShuffleCursor>(std::move(cursor), element_types(), buffer, random);
    }
    return std::make_unique<ElementShuffleCursor>(std::move(cursor), element_types(), buffer, random);
  }

 private:
  ShuffleOptions options_;
};

}  // namespace

DatasetPtr shuffle(DatasetPtr source, const ShuffleOptions& options) {
  require_host_elements(*source, "shuffle");
  if (options.buffer < 1) {
    throw Error(fmt::format("shuffle: a buffer of {} elements; at least 1 is needed", options.buffer));
  }
  return std::make_shared<ShuffleDataset>(std::move(source), options);
}

}  // namespace gpubench
