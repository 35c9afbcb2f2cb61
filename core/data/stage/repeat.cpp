#include "core/data/stage/repeat.h"

#include <exception>
#include <fmt/format.h>
#include <mutex>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/data/produced.h"
#include "core/data/stage_totals.h"

namespace gpubench {
namespace {

constexpr std::string_view repeat_stage = "repeat";

class RepeatCursor final : public Cursor {
 public:
  RepeatCursor(DatasetPtr source, std::int64_t count, std::uint64_t epoch, const CursorOptions& options)
      : source_(std::move(source)),
        left_(count),
        epoch_(epoch),
        options_(options),
        cursor_(source_->open(epoch_, options_)),
        produced_(source_->element_types()) {}

  bool next(Element& element) override {
    if (advance([&] { return std::size_t{cursor_->next(element) ? 1U : 0U}; }) == 0) return false;
    produced_.add(element);
    return true;
  }
  bool next_into(std::span<const TensorView> slots) override {
    if (advance([&] { return std::size_t{cursor_->next_into(slots) ? 1U : 0U}; }) == 0) return false;
    produced_.add(slots);
    return true;
  }
  std::int64_t skip(std::int64_t count) override {
    std::int64_t skipped = 0;
    const auto some = [&] { return static_cast<std::size_t>(cursor_->skip(count - skipped)); };
    while (skipped < count) {
      const std::size_t more = advance(some);
      if (more == 0) break;
      skipped += static_cast<std::int64_t>(more);
    }
    return skipped;
  }
  std::span<const HostTensor> tables() const override { return cursor_->tables(); }

  std::size_t next_rows(std::span<std::int64_t> rows) override {
    std::size_t count = 0;
    while (count < rows.size()) {
      const std::size_t more = advance([&] { return cursor_->next_rows(rows.subspan(count)); });
      if (more == 0) break;
      count += more;
    }
    produced_.add_rows(count);
    return count;
  }

  std::vector<StageStatistics> statistics() const override {
    const std::lock_guard lock(mutex_);
    std::vector<StageStatistics> stages = totals_.totals(cursor_->statistics());
    stages.push_back(produced_.row(repeat_stage));
    return stages;
  }

 private:
  /// Always throws the same object, the sign that the cursor cannot continue.
  [[noreturn]] void fail_empty() {
    if (!empty_) {
      empty_ = std::make_exception_ptr(Error("repeat: the dataset is empty; there is nothing to repeat"));
    }
    std::rethrow_exception(empty_);
  }

  /// The result of `take` on the source, which is reopened as needed; 0 after the last repetition.
  template <class Take>
  std::size_t advance(Take&& take) {
    for (;;) {
      if (const std::size_t count = take(); count > 0) {
        in_repetition_ = true;
        return count;
      }
      if (!in_repetition_) fail_empty();
      if (left_ != endless && --left_ <= 0) return 0;
      in_repetition_ = false;
      check_interrupt();
      std::unique_ptr<Cursor> following = source_->open(++epoch_, options_);
      const std::lock_guard lock(mutex_);
      totals_.end_epoch(cursor_->statistics());
      cursor_.swap(following);
    }
  }

  DatasetPtr source_;
  std::int64_t left_;
  std::uint64_t epoch_;
  CursorOptions options_;
  mutable std::mutex mutex_;  // guards these two: the consumer changes them, any thread may ask for statistics
  std::unique_ptr<Cursor> cursor_;
  StageTotals totals_;
  bool in_repetition_ = false;
  std::exception_ptr empty_;
  Produced produced_;
};

class RepeatDataset final : public Transformation {
 public:
  RepeatDataset(DatasetPtr source, std::int64_t count) : Transformation(std::move(source)), count_(count) {}
  std::string_view stage() const override { return repeat_stage; }
  DatasetPtr with_source(DatasetPtr source) const override { return repeat(std::move(source), count_); }
  Effect effect() const override { return Effect::by_position; }
  std::string settings() const override { return count_ == endless ? "" : fmt::format("count={}", count_); }
  std::optional<std::int64_t> size() const override {
    const std::optional<std::int64_t> elements = source().size();
    if (count_ == endless) return endless;
    if (!elements) return elements;
    return *elements > endless / count_ ? endless : *elements * count_;
  }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<RepeatCursor>(sources().front(), count_, first_source_epoch(epoch), options);
  }

 private:
  /// Each epoch of the repetition has its own range of source epochs, so none is repeated.
  std::uint64_t first_source_epoch(std::uint64_t epoch) const {
    constexpr int bits_for_endless = 32;
    return count_ == endless ? epoch << bits_for_endless : epoch * static_cast<std::uint64_t>(count_);
  }

  std::int64_t count_;
};

}  // namespace

DatasetPtr repeat(DatasetPtr source, std::int64_t count) {
  if (count < 1) throw Error(fmt::format("repeat: a count of {}; at least 1 is needed", count));
  return std::make_shared<RepeatDataset>(std::move(source), count);
}

}  // namespace gpubench
