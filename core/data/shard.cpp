#include "core/data/shard.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view stage_name = "shard";

class ShardCursor final : public Cursor {
 public:
  ShardCursor(std::unique_ptr<Cursor> source, std::span<const TensorType> types, std::int64_t count, std::int64_t index)
      : source_(std::move(source)), count_(count), before_(index), produced_(types) {}

  bool next(Element& element) override { return passed() && counted(source_->next(element), element); }
  bool next_into(std::span<const TensorView> slots) override {
    return passed() && counted(source_->next_into(slots), slots);
  }

  std::int64_t skip(std::int64_t count) override {
    if (count < 1 || !passed()) return 0;
    // The elements of other shards after the last of these are left for the next call.
    const std::int64_t most = (endless - 1) / count_;
    const std::int64_t wanted = (std::min(count, most) - 1) * count_ + 1;
    const std::int64_t found = source_->skip(wanted);
    const std::int64_t skipped = (found + count_ - 1) / count_;
    before_ = found > 0 ? count_ - 1 : 0;
    return skipped;
  }

  std::span<const HostTensor> tables() const override { return source_->tables(); }

  std::size_t next_rows(std::span<std::int64_t> rows) override {
    std::size_t count = 0;
    for (; count < rows.size() && passed() && source_->next_rows(rows.subspan(count, 1)) == 1; ++count) {
      before_ = count_ - 1;
    }
    produced_.add_rows(count);
    return count;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = source_->statistics();
    stages.push_back(produced_.row(stage_name));
    return stages;
  }

 private:
  /// One by one, so that an error among them does not move all shards: damaged elements count in none.
  bool passed() {
    for (; before_ > 0; --before_) {
      if (source_->skip(1) == 0) return false;
    }
    return true;
  }
  template <class Given>
  bool counted(bool found, const Given& element) {
    if (!found) return false;
    before_ = count_ - 1;
    produced_.add(element);
    return true;
  }

  const std::unique_ptr<Cursor> source_;
  const std::int64_t count_;
  std::int64_t before_;  // elements of other shards that come first
  Produced produced_;
};

class ShardDataset final : public Transformation {
 public:
  ShardDataset(DatasetPtr source, std::int64_t count, std::int64_t index)
      : Transformation(std::move(source)), count_(count), index_(index) {}
  std::string_view stage() const override { return stage_name; }
  std::string settings() const override { return fmt::format("count={} index={}", count_, index_); }
  std::optional<std::int64_t> size() const override {
    const std::optional<std::int64_t> elements = source().size();
    if (!elements || *elements == endless) return elements;
    return (*elements - index_ - 1) / count_ + 1;
  }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<ShardCursor>(source().open(epoch, options), element_types(), count_, index_);
  }

 private:
  std::int64_t count_;
  std::int64_t index_;
};

}  // namespace

DatasetPtr shard(DatasetPtr source, std::int64_t count, std::int64_t index) {
  if (count < 1) throw Error(fmt::format("shard: a count of {}; at least 1 is needed", count));
  if (index < 0 || index >= count) {
    throw Error(fmt::format("shard: index {} of {} shards; 0 to {} are possible", index, count, count - 1));
  }
  const std::optional<std::int64_t> elements = source->size();
  if (elements && *elements <= index) {
    throw Error(fmt::format("shard: shard {} of {} gets nothing of a dataset of {} elements", index, count, *elements));
  }
  return std::make_shared<ShardDataset>(std::move(source), count, index);
}

}  // namespace gpubench
