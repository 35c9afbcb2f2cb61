#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <mutex>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/data/cache/cache.h"
#include "core/data/cache/memory_budget.h"
#include "core/data/dataset.h"
#include "core/data/element.h"
#include "core/data/element/rows.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view memory_cache_stage = "cache";

std::string bytes_text(std::int64_t bytes) {
  return format_bytes(static_cast<double>(bytes));
}

std::int64_t row_bytes(TensorTypes types) {
  return std::max<std::int64_t>(static_cast<std::int64_t>(element_bytes(types)), 1);
}

/// Throws if it is known beforehand that the elements do not fit.
void check_fits(const Dataset& source, const MemoryBudget& budget) {
  const std::optional<std::int64_t> elements = source.size();
  if (!elements || !is_fixed(source.element_types())) return;
  const std::int64_t bytes = row_bytes(source.element_types());
  if (*elements <= budget.bytes() / bytes) return;
  std::rethrow_exception(budget.error(fmt::format(
      "cache: {} elements of {} need {}, more than {}; {}", *elements, bytes_text(bytes),
      format_bytes(static_cast<double>(*elements) * static_cast<double>(bytes)), budget.what(), budget.advice())));
}

/// A complete epoch. Elements of fixed types are rows of tensors, others are kept unchanged.
struct Kept {
  std::optional<Rows> rows;
  std::vector<Element> elements;
};

/// Shared by the dataset and its cursors; filled by the first cursor that reaches the end.
class Place {
 public:
  std::shared_ptr<const Kept> kept() const {
    const std::lock_guard lock(mutex_);
    return kept_;
  }
  void keep(Kept kept) {
    const std::lock_guard lock(mutex_);
    if (!kept_) kept_ = std::make_shared<const Kept>(std::move(kept));
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Kept> kept_;
};

/// The common part of the recording cursors. skip() is not overridden, because skipped elements must be recorded too.
class RecordingCursor : public StageCursor {
 public:
  RecordingCursor(std::unique_ptr<Cursor> source, TensorTypes types, std::shared_ptr<Place> place, MemoryBudget budget)
      : StageCursor(memory_cache_stage, std::move(source), types),
        place_(std::move(place)),
        budget_(std::move(budget)) {}

  bool next(Element& element) override {
    if (full_) std::rethrow_exception(full_);
    if (ended_) return false;
    if (!record(element)) {
      ended_ = true;
      place_->keep(take_kept());
      return false;
    }
    produced_.add(element);
    return true;
  }

  std::vector<StageStatistics> statistics() const override {
    std::vector<StageStatistics> stages = StageCursor::statistics();
    stages.back().buffered = produced_.elements();
    stages.back().is_filling = true;
    return stages;
  }

 protected:
  virtual bool record(Element& element) = 0;
  virtual Kept take_kept() = 0;

  /// The cursor cannot continue: later calls throw the same object.
  [[noreturn]] void fail_full() {
    full_ = budget_.error(
        fmt::format("cache: {} is full after {} elements; {}", budget_.what(), produced_.elements(), budget_.advice()));
    std::rethrow_exception(full_);
  }

  const std::shared_ptr<Place> place_;
  MemoryBudget budget_;

 private:
  std::exception_ptr full_;
  bool ended_ = false;
};

/// The source writes directly into the rows of tensors. If the number of elements is unknown, the tensors are as large
/// as the limit allows: memory that is never written takes no physical pages.
class RowRecordingCursor final : public RecordingCursor {
 public:
  RowRecordingCursor(std::unique_ptr<Cursor> source, TensorTypes types, std::shared_ptr<Place> place,
                     MemoryBudget budget, std::int64_t most)
      : RecordingCursor(std::move(source), types, std::move(place), std::move(budget)), most_(most) {
    std::vector<HostTensor> tables;
    for (TensorType type : types) {
      type.shape.insert(type.shape.begin(), most);
      tables.emplace_back(std::move(type));
    }
    rows_.emplace(tables);
    slots_.resize(tables.size());
  }

 private:
  bool record(Element& element) override {
    const std::int64_t row = produced_.elements();
    if (row == most_) {
      if (!source_->next(element)) return false;
      fail_full();
    }
    rows_->view(row, slots_);
    if (!source_->next_into(slots_)) return false;
    if (!budget_.take(row_bytes(rows_->row_types()))) fail_full();
    rows_->view(row, element);
    return true;
  }

  Kept take_kept() override {
    std::vector<HostTensor> tables;
    for (const HostTensor& table : rows_->tables()) tables.push_back(table.rows(0, produced_.elements()));
    return {Rows(tables), {}};
  }

  const std::int64_t most_;
  std::optional<Rows> rows_;
  std::vector<TensorView> slots_;
};

class ElementRecordingCursor final : public RecordingCursor {
 public:
  using RecordingCursor::RecordingCursor;

 private:
  bool record(Element& element) override {
    release(element);
    if (!source_->next(element)) return false;
    std::int64_t bytes = 0;
    for (const HostTensor& tensor : element) bytes += static_cast<std::int64_t>(tensor.bytes());
    if (!budget_.take(bytes)) fail_full();
    elements_.push_back(element);
    return true;
  }
  Kept take_kept() override { return {std::nullopt, std::move(elements_)}; }

  std::vector<Element> elements_;
};

class KeptCursor final : public Cursor {
 public:
  KeptCursor(std::shared_ptr<const Kept> kept, TensorTypes types)
      : kept_(std::move(kept)),
        count_(kept_->rows ? kept_->rows->count() : static_cast<std::int64_t>(kept_->elements.size())),
        produced_(types) {}

  bool next(Element& element) override {
    if (position_ == count_) return false;
    if (kept_->rows) {
      kept_->rows->view(position_, element);
    } else {
      element = kept_->elements[static_cast<std::size_t>(position_)];
    }
    ++position_;
    produced_.add(element);
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    const std::int64_t skipped = std::min(count, count_ - position_);
    position_ += skipped;
    return skipped;
  }

  std::span<const HostTensor> tables() const override {
    return kept_->rows ? std::span<const HostTensor>(kept_->rows->tables()) : std::span<const HostTensor>();
  }

  std::size_t next_rows(std::span<std::int64_t> rows) override {
    const auto count = static_cast<std::size_t>(std::min<std::int64_t>(std::ssize(rows), count_ - position_));
    for (std::int64_t& row : rows.first(count)) row = position_++;
    produced_.add_rows(count);
    return count;
  }

  std::vector<StageStatistics> statistics() const override {
    StageStatistics row = produced_.row(memory_cache_stage);
    row.buffered = row.capacity = count_;
    return {row};
  }

 private:
  const std::shared_ptr<const Kept> kept_;
  const std::int64_t count_;
  std::int64_t position_ = 0;
  Produced produced_;
};

class MemoryCacheDataset final : public Transformation {
 public:
  MemoryCacheDataset(DatasetPtr source, std::int64_t limit) : Transformation(std::move(source)), limit_(limit) {}
  std::string_view stage() const override { return memory_cache_stage; }
  DatasetPtr with_source(DatasetPtr source) const override {
    return cache(std::move(source), static_cast<std::size_t>(limit_));
  }
  Effect effect() const override { return Effect::one_to_one; }
  std::string settings() const override { return limit_ == 0 ? "" : fmt::format("limit={}", bytes_text(limit_)); }

  std::unique_ptr<Cursor> open(std::uint64_t /*epoch*/, const CursorOptions& options) const override {
    const std::vector<TensorType>& types = element_types();
    if (std::shared_ptr<const Kept> kept = place_->kept()) return std::make_unique<KeptCursor>(std::move(kept), types);
    MemoryBudget budget(limit_);
    check_fits(source(), budget);
    std::unique_ptr<Cursor> cursor = source().open(0, options.for_sources());
    if (!is_fixed(types)) {
      return std::make_unique<ElementRecordingCursor>(std::move(cursor), types, place_, std::move(budget));
    }
    const std::int64_t most = budget.bytes() / row_bytes(types);
    const std::int64_t rows = std::min(most, source().size().value_or(most));
    return std::make_unique<RowRecordingCursor>(std::move(cursor), types, place_, std::move(budget), rows);
  }

 private:
  std::int64_t limit_;
  std::shared_ptr<Place> place_ = std::make_shared<Place>();
};

}  // namespace

DatasetPtr cache(DatasetPtr source, std::size_t limit) {
  require_host_elements(*source, "cache");
  if (source->size() == endless) throw Error("cache: the dataset never ends; use take");
  const auto most = static_cast<std::int64_t>(std::min(limit, static_cast<std::size_t>(endless)));
  if (limit > 0) check_fits(*source, MemoryBudget(most, [] { return endless; }));
  return std::make_shared<MemoryCacheDataset>(std::move(source), most);
}

}  // namespace gpubench
