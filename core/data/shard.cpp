#include "core/data/shard.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/produced.h"
#include "core/data/take.h"

namespace gpubench {
namespace {

constexpr std::string_view shard_stage = "shard";

class ShardCursor final : public Cursor {
 public:
  ShardCursor(std::unique_ptr<Cursor> source, std::span<const TensorType> types, const ElementShare& share)
      : source_(std::move(source)), count_(share.count), before_(share.index), produced_(types) {}

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
    stages.push_back(produced_.row(shard_stage));
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

/// Gives an element only when the others of its round were there, too; for sources whose end is not known beforehand.
class CompleteRoundsCursor final : public Cursor {
 public:
  CompleteRoundsCursor(std::unique_ptr<Cursor> source, std::span<const TensorType> types, const ElementShare& share)
      : source_(std::move(source)), share_(share), before_(share.index), produced_(types) {}

  bool next(Element& element) override {
    release(element);
    if (!holds_) {
      if (!pass(before_) || !source_->next(held_)) return false;
      holds_ = true;
      after_ = share_.count - 1 - share_.index;
    }
    if (!pass(after_)) return false;
    holds_ = false;
    before_ = share_.index;
    element.swap(held_);
    produced_.add(element);
    return true;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = source_->statistics();
    stages.push_back(produced_.row(shard_stage));
    return stages;
  }

 private:
  /// One by one, as in ShardCursor.
  bool pass(std::int64_t& count) {
    for (; count > 0; --count) {
      if (source_->skip(1) == 0) return false;
    }
    return true;
  }

  const std::unique_ptr<Cursor> source_;
  const ElementShare share_;
  std::int64_t before_;     // elements of other shards that come before the next of this
  std::int64_t after_ = 0;  // and after the held one, in its round
  Element held_;
  bool holds_ = false;
  Produced produced_;
};

class ShardDataset final : public Transformation {
 public:
  ShardDataset(DatasetPtr source, const ElementShare& share, Rounds rounds)
      : Transformation(std::move(source)), share_(share), rounds_(rounds) {}
  std::string_view stage() const override { return shard_stage; }
  std::string settings() const override {
    return fmt::format("count={} index={}{}", share_.count, share_.index,
                       rounds_ == Rounds::complete ? " complete rounds" : "");
  }
  Effect effect() const override { return Effect::by_position; }
  DatasetPtr with_source(DatasetPtr source) const override {
    return shard(std::move(source), share_.count, share_.index, rounds_);
  }
  ElementShare share() const override {
    const ElementShare of = source().share();
    return {.count = of.count * share_.count, .index = of.index + share_.index * of.count};
  }
  std::optional<std::int64_t> size() const override {
    const std::optional<std::int64_t> elements = source().size();
    if (!elements || *elements == endless) return elements;
    return rounds_ == Rounds::complete ? *elements / share_.count : (*elements - share_.index - 1) / share_.count + 1;
  }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    std::unique_ptr<Cursor> cursor = source().open(epoch, options);
    if (rounds_ == Rounds::complete && source().size() != endless) {
      return std::make_unique<CompleteRoundsCursor>(std::move(cursor), element_types(), share_);
    }
    return std::make_unique<ShardCursor>(std::move(cursor), element_types(), share_);
  }

 private:
  ElementShare share_;
  Rounds rounds_;
};

}  // namespace

DatasetPtr shard(DatasetPtr source, std::int64_t count, std::int64_t index, Rounds rounds) {
  if (count < 1) throw Error(fmt::format("shard: a count of {}; at least 1 is needed", count));
  if (index < 0 || index >= count) {
    throw Error(fmt::format("shard: index {} of {} shards; 0 to {} are possible", index, count, count - 1));
  }
  const std::optional<std::int64_t> elements = source->size();
  if (elements && *elements <= (rounds == Rounds::complete ? count - 1 : index)) {
    throw Error(fmt::format("shard: shard {} of {} gets nothing of a dataset of {} elements", index, count, *elements));
  }
  if (rounds == Rounds::complete && elements && *elements != endless) {
    // Where the end is known, nobody has to look for it.
    if (*elements % count != 0) source = take(std::move(source), *elements - *elements % count);
    rounds = Rounds::any;
  }
  return std::make_shared<ShardDataset>(std::move(source), ElementShare{.count = count, .index = index}, rounds);
}

}  // namespace gpubench
