#include "core/data/take.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr std::string_view stage_name = "take";

class TakeCursor final : public Cursor {
 public:
  TakeCursor(std::unique_ptr<Cursor> source, std::int64_t count) : source_(std::move(source)), left_(count) {}

  bool next(Element& element) override { return left_ > 0 && counted(source_->next(element)); }
  bool next_into(std::span<const TensorView> slots) override { return left_ > 0 && counted(source_->next_into(slots)); }
  std::span<const HostTensor> tables() const override { return source_->tables(); }

  std::size_t next_rows(std::span<std::int64_t> rows) override {
    const std::int64_t wanted = std::min<std::int64_t>(std::ssize(rows), left_);
    const std::size_t count = source_->next_rows(rows.first(static_cast<std::size_t>(wanted)));
    advance(static_cast<std::int64_t>(count));
    return count;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = source_->statistics();
    stages.push_back({.stage = stage_name, .produced = produced_.get()});
    return stages;
  }

 private:
  bool counted(bool found) {
    if (found) advance(1);
    return found;
  }
  void advance(std::int64_t count) {
    left_ -= count;
    produced_.add(count);
  }

  std::unique_ptr<Cursor> source_;
  std::int64_t left_;
  Tally<std::int64_t> produced_;
};

class TakeDataset final : public Transformation {
 public:
  TakeDataset(DatasetPtr source, std::int64_t count) : Transformation(std::move(source)), count_(count) {}
  std::string_view stage() const override { return stage_name; }
  std::string settings() const override { return fmt::format("count={}", count_); }
  std::optional<std::int64_t> size() const override {
    const std::optional<std::int64_t> elements = source().size();
    return elements ? std::optional(std::min(*elements, count_)) : std::nullopt;
  }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<TakeCursor>(source().open(epoch, options), count_);
  }

 private:
  std::int64_t count_;
};

}  // namespace

DatasetPtr take(DatasetPtr source, std::int64_t count) {
  if (count < 1) throw Error(fmt::format("take: a count of {}; at least 1 is needed", count));
  return std::make_shared<TakeDataset>(std::move(source), count);
}

}  // namespace gpubench
