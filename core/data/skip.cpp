#include "core/data/skip.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view skip_stage = "skip";

class SkipCursor final : public Cursor {
 public:
  SkipCursor(std::unique_ptr<Cursor> source, std::span<const TensorType> types, std::int64_t count)
      : source_(std::move(source)), left_(count), produced_(types) {}

  bool next(Element& element) override { return skipped() && counted(source_->next(element), element); }
  bool next_into(std::span<const TensorView> slots) override {
    return skipped() && counted(source_->next_into(slots), slots);
  }
  std::int64_t skip(std::int64_t count) override { return skipped() ? source_->skip(count) : 0; }
  std::span<const HostTensor> tables() const override { return source_->tables(); }

  std::size_t next_rows(std::span<std::int64_t> rows) override {
    if (!skipped()) return 0;
    const std::size_t count = source_->next_rows(rows);
    produced_.add_rows(count);
    return count;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = source_->statistics();
    stages.push_back(produced_.row(skip_stage));
    return stages;
  }

 private:
  /// False when the source ends before.
  bool skipped() {
    if (left_ > 0) left_ -= source_->skip(left_);
    return left_ == 0;
  }
  template <class Given>
  bool counted(bool found, const Given& element) {
    if (found) produced_.add(element);
    return found;
  }

  std::unique_ptr<Cursor> source_;
  std::int64_t left_;
  Produced produced_;
};

class SkipDataset final : public Transformation {
 public:
  SkipDataset(DatasetPtr source, std::int64_t count) : Transformation(std::move(source)), count_(count) {}
  std::string_view stage() const override { return skip_stage; }
  DatasetPtr with_source(DatasetPtr source) const override { return skip(std::move(source), count_); }
  Effect effect() const override { return Effect::by_position; }
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
