#include "core/data/skip.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr std::string_view stage_name = "skip";

class SkipCursor final : public Cursor {
 public:
  SkipCursor(std::unique_ptr<Cursor> source, std::int64_t count) : source_(std::move(source)), left_(count) {}

  bool next(Element& element) override {
    while (left_ > 0 && source_->next(element)) --left_;
    return left_ == 0 && counted(source_->next(element));
  }

  bool next_into(std::span<const TensorView> slots) override {
    while (left_ > 0 && source_->next(skipped_)) --left_;
    release(skipped_);
    return left_ == 0 && counted(source_->next_into(slots));
  }

  std::span<const HostTensor> tables() const override { return source_->tables(); }

  std::size_t next_rows(std::span<std::int64_t> rows) override {
    std::array<std::int64_t, 256> skipped;
    while (left_ > 0) {
      const std::size_t wanted = std::min(skipped.size(), static_cast<std::size_t>(left_));
      const std::size_t count = source_->next_rows(std::span(skipped).first(wanted));
      left_ -= static_cast<std::int64_t>(count);
      if (count < wanted) return 0;
    }
    const std::size_t count = source_->next_rows(rows);
    produced_.add(static_cast<std::int64_t>(count));
    return count;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = source_->statistics();
    stages.push_back({.stage = stage_name, .produced = produced_.get()});
    return stages;
  }

 private:
  bool counted(bool found) {
    if (found) produced_.add(1);
    return found;
  }

  std::unique_ptr<Cursor> source_;
  std::int64_t left_;
  Element skipped_;
  Tally<std::int64_t> produced_;
};

class SkipDataset final : public Transformation {
 public:
  SkipDataset(DatasetPtr source, std::int64_t count) : Transformation(std::move(source)), count_(count) {}
  std::string_view stage() const override { return stage_name; }
  std::string settings() const override { return fmt::format("count={}", count_); }
  std::optional<std::int64_t> size() const override {
    const std::optional<std::int64_t> elements = source().size();
    if (!elements || *elements == endless) return elements;
    return *elements - count_;
  }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<SkipCursor>(source().open(epoch, options), count_);
  }

 private:
  std::int64_t count_;
};

}  // namespace

DatasetPtr skip(DatasetPtr source, std::int64_t count) {
  if (count < 0) throw Error(fmt::format("skip: a count of {}; it cannot be negative", count));
  const std::optional<std::int64_t> elements = source->size();
  if (elements && *elements <= count) {
    throw Error(fmt::format("skip: {} elements of a dataset of {} leave nothing; skip at most {}", count, *elements,
                            *elements - 1));
  }
  return std::make_shared<SkipDataset>(std::move(source), count);
}

}  // namespace gpubench
