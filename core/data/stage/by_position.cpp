#include "core/data/stage/by_position.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view take_stage = "take";
constexpr std::string_view skip_stage = "skip";
constexpr std::string_view shard_stage = "shard";

/// Passes on some of the source's elements unchanged, as tensors or as row numbers.
class ByPositionCursor : public StageCursor {
 public:
  bool next(Element& element) final { return reach() && counted(source_->next(element), element); }
  bool next_into(std::span<const TensorView> slots) final {
    return reach() && counted(source_->next_into(slots), slots);
  }
  std::span<const HostTensor> tables() const final { return source_->tables(); }

 protected:
  using StageCursor::StageCursor;

 private:
  /// Skips elements until the source's next one belongs to this stage; false at the end.
  virtual bool reach() = 0;
  /// Called when the stage has produced an element.
  virtual void gave() {}

  template <class Given>
  bool counted(bool found, const Given& element) {
    if (!found) return false;
    gave();
    produced_.add(element);
    return true;
  }
};

class TakeCursor final : public ByPositionCursor {
 public:
  TakeCursor(std::unique_ptr<Cursor> source, TensorTypes types, std::int64_t count)
      : ByPositionCursor(take_stage, std::move(source), types), left_(count) {}

  std::int64_t skip(std::int64_t count) override {
    const std::int64_t skipped = source_->skip(std::min(count, left_));
    left_ -= skipped;
    return skipped;
  }

  std::size_t next_rows(std::span<std::int64_t> rows) override {
    const std::int64_t wanted = std::min<std::int64_t>(std::ssize(rows), left_);
    const std::size_t count = source_->next_rows(rows.first(static_cast<std::size_t>(wanted)));
    left_ -= static_cast<std::int64_t>(count);
    produced_.add_rows(count);
    return count;
  }

 private:
  bool reach() override { return left_ > 0; }
  void gave() override { --left_; }

  std::int64_t left_;
};

class TakeDataset final : public Transformation {
 public:
  TakeDataset(DatasetPtr source, std::int64_t count) : Transformation(std::move(source)), count_(count) {}
  std::string_view stage() const override { return take_stage; }
  DatasetPtr with_source(DatasetPtr source) const override { return take(std::move(source), count_); }
  Effect effect() const override { return Effect::by_position; }
  bool counts_elements() const override { return true; }
  std::string settings() const override { return fmt::format("count={}", count_); }
  std::optional<std::int64_t> size() const override {
    const std::optional<std::int64_t> elements = source().size();
    return elements ? std::optional(std::min(*elements, count_)) : std::nullopt;
  }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<TakeCursor>(source().open(epoch, options), element_types(), count_);
  }

 private:
  std::int64_t count_;
};

class SkipCursor final : public ByPositionCursor {
 public:
  SkipCursor(std::unique_ptr<Cursor> source, TensorTypes types, std::int64_t count)
      : ByPositionCursor(skip_stage, std::move(source), types), left_(count) {}

  std::int64_t skip(std::int64_t count) override { return reach() ? source_->skip(count) : 0; }

  std::size_t next_rows(std::span<std::int64_t> rows) override {
    if (!reach()) return 0;
    const std::size_t count = source_->next_rows(rows);
    produced_.add_rows(count);
    return count;
  }

 private:
  bool reach() override {
    if (left_ > 0) left_ -= source_->skip(left_);
    return left_ == 0;
  }

  std::int64_t left_;
};

class SkipDataset final : public Transformation {
 public:
  SkipDataset(DatasetPtr source, std::int64_t count) : Transformation(std::move(source)), count_(count) {}
  std::string_view stage() const override { return skip_stage; }
  DatasetPtr with_source(DatasetPtr source) const override { return skip(std::move(source), count_); }
  Effect effect() const override { return Effect::by_position; }
  bool counts_elements() const override { return true; }
  std::string settings() const override { return fmt::format("count={}", count_); }
  std::optional<std::int64_t> size() const override {
    const std::optional<std::int64_t> elements = source().size();
    if (!elements || *elements == endless) return elements;
    return *elements - count_;
  }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<SkipCursor>(source().open(epoch, options), element_types(), count_);
  }

 private:
  std::int64_t count_;
};

/// Skips `count` elements one by one and sets `count` to 0; false if the source ends before. One by one, so that an
/// error among them does not shift the shards: no shard counts damaged elements.
bool pass_singly(Cursor& source, std::int64_t& count) {
  for (; count > 0; --count) {
    if (source.skip(1) == 0) return false;
  }
  return true;
}

class ShardCursor final : public ByPositionCursor {
 public:
  ShardCursor(std::unique_ptr<Cursor> source, TensorTypes types, const ElementShare& share)
      : ByPositionCursor(shard_stage, std::move(source), types), count_(share.count), before_(share.index) {}

  std::int64_t skip(std::int64_t count) override {
    if (count < 1 || !reach()) return 0;
    // The elements of other shards after the last one are left for the next call.
    const std::int64_t most = (endless - 1) / count_;
    const std::int64_t wanted = (std::min(count, most) - 1) * count_ + 1;
    const std::int64_t found = source_->skip(wanted);
    const std::int64_t skipped = (found + count_ - 1) / count_;
    before_ = found > 0 ? count_ - 1 : 0;
    return skipped;
  }

  std::size_t next_rows(std::span<std::int64_t> rows) override {
    std::size_t count = 0;
    for (; count < rows.size() && reach() && source_->next_rows(rows.subspan(count, 1)) == 1; ++count) {
      gave();
    }
    produced_.add_rows(count);
    return count;
  }

 private:
  bool reach() override { return pass_singly(*source_, before_); }
  void gave() override { before_ = count_ - 1; }

  const std::int64_t count_;
  std::int64_t before_;  // elements of other shards before the first
};

/// Produces an element only if all shards have one in this round; for sources of unknown size.
class CompleteRoundsCursor final : public StageCursor {
 public:
  CompleteRoundsCursor(std::unique_ptr<Cursor> source, TensorTypes types, const ElementShare& share)
      : StageCursor(shard_stage, std::move(source), types), share_(share), before_(share.index) {}

  bool next(Element& element) override {
    release(element);
    if (!holds_) {
      if (!pass_singly(*source_, before_) || !source_->next(held_)) return false;
      holds_ = true;
      after_ = share_.count - 1 - share_.index;
    }
    if (!pass_singly(*source_, after_)) return false;
    holds_ = false;
    before_ = share_.index;
    element.swap(held_);
    produced_.add(element);
    return true;
  }

 private:
  const ElementShare share_;
  std::int64_t before_;     // elements of other shards before this shard's next one
  std::int64_t after_ = 0;  // and after the held one, in its round
  Element held_;
  bool holds_ = false;
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
  bool is_sharded() const override { return true; }
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

DatasetPtr take(DatasetPtr source, std::int64_t count) {
  if (count == -1) return source;
  if (count < 0) throw Error(fmt::format("take: a count of {}; 0 and more are possible, and -1 for all", count));
  return std::make_shared<TakeDataset>(std::move(source), count);
}

DatasetPtr skip(DatasetPtr source, std::int64_t count) {
  if (count < 0) throw Error(fmt::format("skip: a count of {}; 0 and more are possible", count));
  const std::optional<std::int64_t> elements = source->size();
  if (elements && *elements <= count) return take(std::move(source), 0);
  return std::make_shared<SkipDataset>(std::move(source), count);
}

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
    // With a known size the cursor need not search for the end.
    if (*elements % count != 0) source = take(std::move(source), *elements - *elements % count);
    rounds = Rounds::any;
  }
  return std::make_shared<ShardDataset>(std::move(source), ElementShare{.count = count, .index = index}, rounds);
}

}  // namespace gpubench
