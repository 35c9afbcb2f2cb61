#include "core/data/repeat.h"

#include <fmt/format.h>
#include <mutex>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr std::string_view stage_name = "repeat";

class RepeatCursor final : public Cursor {
 public:
  RepeatCursor(DatasetPtr source, std::int64_t count, std::uint64_t epoch, const CursorOptions& options)
      : source_(std::move(source)),
        left_(count),
        epoch_(epoch),
        options_(options),
        cursor_(source_->open(epoch_, options_)) {}

  bool next(Element& element) override {
    return advance([&] { return std::size_t{cursor_->next(element) ? 1U : 0U}; }) != 0;
  }
  bool next_into(std::span<const TensorView> slots) override {
    return advance([&] { return std::size_t{cursor_->next_into(slots) ? 1U : 0U}; }) != 0;
  }
  std::span<const HostTensor> tables() const override { return cursor_->tables(); }

  std::size_t next_rows(std::span<std::int64_t> rows) override {
    std::size_t count = 0;
    while (count < rows.size()) {
      const std::size_t more = advance([&] { return cursor_->next_rows(rows.subspan(count)); });
      if (more == 0) break;
      count += more;
    }
    return count;
  }

  /// The sources' figures are those of the repetition under way.
  std::vector<StageStatistics> statistics() const override {
    const std::lock_guard lock(mutex_);
    std::vector<StageStatistics> stages = cursor_->statistics();
    stages.push_back({.stage = stage_name, .produced = produced_.get()});
    return stages;
  }

 private:
  /// What `take` gets from the source, reopened as often as needed; 0 after the last repetition.
  template <class Take>
  std::size_t advance(Take&& take) {
    for (;;) {
      if (const std::size_t count = take(); count > 0) {
        produced_.add(static_cast<std::int64_t>(count));
        in_repetition_ = true;
        return count;
      }
      if (!in_repetition_) throw Error("repeat: the dataset is empty; there is nothing to repeat");
      if (left_ != endless && --left_ <= 0) return 0;
      in_repetition_ = false;
      std::unique_ptr<Cursor> following = source_->open(++epoch_, options_);
      const std::lock_guard lock(mutex_);
      cursor_.swap(following);
    }
  }

  DatasetPtr source_;
  std::int64_t left_;
  std::uint64_t epoch_;
  CursorOptions options_;
  mutable std::mutex mutex_;  // for cursor_: changed by the consumer, read by whoever asks for statistics
  std::unique_ptr<Cursor> cursor_;
  bool in_repetition_ = false;
  Tally<std::int64_t> produced_;
};

class RepeatDataset final : public Transformation {
 public:
  RepeatDataset(DatasetPtr source, std::int64_t count) : Transformation(std::move(source)), count_(count) {}
  std::string_view stage() const override { return stage_name; }
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
  /// Epochs of the source never serve twice: each epoch of the repetition has a range of its own.
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
