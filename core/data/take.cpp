#include "core/data/take.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view take_stage = "take";

class TakeCursor final : public Cursor {
 public:
  TakeCursor(std::unique_ptr<Cursor> source, std::span<const TensorType> types, std::int64_t count)
      : source_(std::move(source)), left_(count), produced_(types) {}

  bool next(Element& element) override { return left_ > 0 && counted(source_->next(element), element); }
  bool next_into(std::span<const TensorView> slots) override {
    return left_ > 0 && counted(source_->next_into(slots), slots);
  }
  std::int64_t skip(std::int64_t count) override {
    const std::int64_t skipped = source_->skip(std::min(count, left_));
    left_ -= skipped;
    return skipped;
  }

  std::span<const HostTensor> tables() const override { return source_->tables(); }

  std::size_t next_rows(std::span<std::int64_t> rows) override {
    const std::int64_t wanted = std::min<std::int64_t>(std::ssize(rows), left_);
    const std::size_t count = source_->next_rows(rows.first(static_cast<std::size_t>(wanted)));
    left_ -= static_cast<std::int64_t>(count);
    produced_.add_rows(count);
    return count;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = source_->statistics();
    stages.push_back(produced_.row(take_stage));
    return stages;
  }

 private:
  template <class Given>
  bool counted(bool found, const Given& element) {
    if (!found) return false;
    --left_;
    produced_.add(element);
    return true;
  }

  std::unique_ptr<Cursor> source_;
  std::int64_t left_;
  Produced produced_;
};

class TakeDataset final : public Transformation {
 public:
  TakeDataset(DatasetPtr source, std::int64_t count) : Transformation(std::move(source)), count_(count) {}
  std::string_view stage() const override { return take_stage; }
  DatasetPtr with_source(DatasetPtr source) const override { return take(std::move(source), count_); }
  Effect effect() const override { return Effect::by_position; }
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

}  // namespace

DatasetPtr take(DatasetPtr source, std::int64_t count) {
  if (count < 1) throw Error(fmt::format("take: a count of {}; at least 1 is needed", count));
  return std::make_shared<TakeDataset>(std::move(source), count);
}

}  // namespace gpubench
