#include "core/data/source/synthetic.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <mutex>

#include "core/base/error.h"
#include "core/data/element.h"
#include "core/data/element/block_pool.h"
#include "core/data/element/random_fill.h"
#include "core/data/element/rows.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view synthetic_stage = "synthetic";
constexpr std::size_t resident_bytes = std::size_t{64} << 20;

/// Draws whole elements: every tensor of every element has its own numbers.
class Drawer {
 public:
  explicit Drawer(const SyntheticOptions& options) : classes_(options.classes) {
    for (const TensorType& type : options.types) {
      parts_.push_back({random_fill(type.dtype), type.elements(), draws_});
      draws_ += static_cast<std::uint64_t>(type.elements() + 1) / 2;
    }
  }

  void draw(const CounterRandom& random, std::int64_t index, std::size_t tensor, std::byte* to) const {
    const Part& part = parts_[tensor];
    part.fill(to, part.elements, random, static_cast<std::uint64_t>(index) * draws_ + part.offset, classes_);
  }

 private:
  struct Part {
    RandomFill fill;
    std::int64_t elements;
    std::uint64_t offset;
  };
  std::vector<Part> parts_;
  std::uint64_t draws_ = 0;
  std::int64_t classes_;
};

class FreshCursor final : public Cursor {
 public:
  FreshCursor(const SyntheticOptions& settings, std::uint64_t epoch, const CursorOptions& options)
      : types_(settings.types),
        count_(settings.count),
        drawer_(settings),
        random_(settings.seed, epoch),
        pool_(options.memory),
        produced_(types_) {}

  bool next(Element& element) override {
    if (position_ == count_) return false;
    const Stopwatch watch;
    pool_.allocate(types_, element);
    for (std::size_t i = 0; i < types_.size(); ++i) drawer_.draw(random_, position_, i, element[i].data());
    produced_.add(element);
    finish(watch);
    return true;
  }

  bool next_into(std::span<const TensorView> slots) override {
    if (position_ == count_) return false;
    const Stopwatch watch;
    for (std::size_t i = 0; i < types_.size(); ++i) drawer_.draw(random_, position_, i, slots[i].data);
    produced_.add(slots);
    finish(watch);
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    const std::int64_t skipped = std::min(count, count_ - position_);
    position_ += skipped;
    return skipped;
  }

  std::vector<StageStatistics> statistics() const override {
    StageStatistics row = produced_.row(synthetic_stage);
    row.busy = Seconds(busy_.get());
    return {row};
  }

 private:
  void finish(const Stopwatch& watch) {
    ++position_;
    busy_.add(watch.elapsed().count());
  }

  const std::vector<TensorType> types_;
  const std::int64_t count_;
  const Drawer drawer_;
  const CounterRandom random_;
  BlockPool pool_;
  std::int64_t position_ = 0;
  Produced produced_;
  Tally<double> busy_;
};

/// Repeats the rows of tensors.
class ResidentCursor final : public Cursor {
 public:
  ResidentCursor(const Rows& rows, std::int64_t count) : rows_(rows), count_(count), produced_(rows.row_types()) {}

  bool next(Element& element) override {
    if (position_ == count_) return false;
    rows_.view(position_++ % rows_.count(), element);
    produced_.add(element);
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    const std::int64_t skipped = std::min(count, count_ - position_);
    position_ += skipped;
    return skipped;
  }

  std::span<const HostTensor> tables() const override { return rows_.tables(); }

  std::size_t next_rows(std::span<std::int64_t> rows) override {
    const auto count = static_cast<std::size_t>(std::min<std::int64_t>(std::ssize(rows), count_ - position_));
    for (std::int64_t& row : rows.first(count)) row = position_++ % rows_.count();
    produced_.add_rows(count);
    return count;
  }

  std::vector<StageStatistics> statistics() const override { return {produced_.row(synthetic_stage)}; }

 private:
  const Rows rows_;
  const std::int64_t count_;
  std::int64_t position_ = 0;
  Produced produced_;
};

class SyntheticDataset final : public Dataset {
 public:
  explicit SyntheticDataset(const SyntheticOptions& options) : options_(options) {}
  std::string_view stage() const override { return synthetic_stage; }
  std::string settings() const override {
    return fmt::format("{} count={} seed={}", options_.resident ? "resident" : "fresh",
                       options_.count == endless ? "endless" : std::to_string(options_.count), options_.seed);
  }
  const std::vector<TensorType>& element_types() const override { return options_.types; }
  std::optional<std::int64_t> size() const override { return options_.count; }

  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    if (!options_.resident) return std::make_unique<FreshCursor>(options_, epoch, options);
    std::call_once(drawn_, [this] { draw_rows(); });
    return std::make_unique<ResidentCursor>(*rows_, options_.count);
  }

 private:
  void draw_rows() const {
    const std::size_t bytes = 1 + element_bytes(options_.types);
    const auto most = static_cast<std::int64_t>(std::max<std::size_t>(1, resident_bytes / bytes));
    const std::int64_t count = std::min(options_.count, most);
    const Drawer drawer(options_);
    const CounterRandom random(options_.seed, 0);
    std::vector<HostTensor> tables;
    for (std::size_t i = 0; i < options_.types.size(); ++i) {
      TensorType type = options_.types[i];
      const std::size_t row_bytes = type.bytes();
      type.shape.insert(type.shape.begin(), count);
      HostTensor& table = tables.emplace_back(std::move(type));
      for (std::int64_t row = 0; row < count; ++row) {
        drawer.draw(random, row, i, table.data() + static_cast<std::size_t>(row) * row_bytes);
      }
    }
    rows_.emplace(tables);
  }

  SyntheticOptions options_;
  mutable std::once_flag drawn_;  // at the first read, not when the dataset is described
  mutable std::optional<Rows> rows_;
};

}  // namespace

DatasetPtr synthetic(const SyntheticOptions& options) {
  if (options.types.empty()) throw Error("synthetic: no types given; at least one is needed");
  if (!is_fixed(options.types)) {
    throw Error(fmt::format("synthetic: {} has an extent that varies; give it a number", to_string(options.types)));
  }
  if (options.count < 1) throw Error(fmt::format("synthetic: a count of {}; at least 1 is needed", options.count));
  if (options.classes < 1 || options.classes > std::numeric_limits<std::int32_t>::max()) {
    throw Error(fmt::format("synthetic: {} classes; 1 to 2147483647 are possible", options.classes));
  }
  for (const TensorType& type : options.types) static_cast<void>(random_fill(type.dtype));
  return std::make_shared<SyntheticDataset>(options);
}

}  // namespace gpubench
