#include "core/data/stage/batch.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/element/rows.h"

namespace gpubench {
namespace {

constexpr std::string_view batch_stage = "batch";
/// Rows of no bytes take no memory, but their numbers do: 2 GiB for so many.
constexpr std::int64_t most_rows = std::int64_t{1} << 28;

void resize(std::vector<TensorType>& types, std::int64_t rows) {
  for (TensorType& type : types) type.shape.front() = rows;
}

/// For rows of tensors: copies each row once, directly from the tensors.
class RowBatchCursor final : public BatchCursor {
 public:
  RowBatchCursor(std::unique_ptr<Cursor> source, TensorTypes types, std::int64_t size, bool drop_remainder,
                 const CursorOptions& options)
      : BatchCursor(batch_stage, std::move(source), stacked(types, varying), size, drop_remainder, options),
        rows_(source_->tables()),
        types_(stacked(rows_.row_types(), size)),
        numbers_(static_cast<std::size_t>(size)),
        destinations_(types_.size()) {}

  bool next(Element& element) override {
    const auto count = static_cast<std::int64_t>(source_->next_rows(numbers_));
    if (!complete(count)) return false;
    const Stopwatch watch;
    resize(types_, count);
    pool_.allocate(types_, element);
    for (std::size_t i = 0; i < element.size(); ++i) destinations_[i] = element[i].data();
    rows_.gather(std::span(numbers_).first(static_cast<std::size_t>(count)), destinations_);
    produced_.add(element);
    busy_.add(watch.elapsed().count());
    return true;
  }

 private:
  const Rows rows_;
  std::vector<TensorType> types_;
  std::vector<std::int64_t> numbers_;
  std::vector<std::byte*> destinations_;
};

/// For other elements: the source writes them into the batch's rows.
class ElementBatchCursor final : public BatchCursor {
 public:
  ElementBatchCursor(std::unique_ptr<Cursor> source, TensorTypes types, std::int64_t size, bool drop_remainder,
                     const CursorOptions& options)
      : BatchCursor(batch_stage, std::move(source), stacked(types, varying), size, drop_remainder, options),
        varies_(!is_fixed(types)) {
    if (!varies_) use_types(types);
  }

  bool next(Element& element) override {
    release(element);
    if (varies_ && !adopt_first_types()) return false;
    pool_.allocate(types_, element);
    std::int64_t count = 0;
    if (varies_) store_first(element, count++);
    while (count < size_ && source_->next_into(slots(element, count))) ++count;
    if (!complete(count)) return false;
    if (count < size_) {
      for (HostTensor& tensor : element) tensor = tensor.rows(0, count);
    }
    produced_.add(element);
    return true;
  }

 private:
  void use_types(TensorTypes types) {
    row_types_.assign(types.begin(), types.end());
    types_ = stacked(row_types_, size_);
    slots_.resize(row_types_.size());
  }

  /// With varying shapes, the first element of a batch sets the types of the others.
  bool adopt_first_types() {
    if (!source_->next(first_)) return false;
    std::vector<TensorType> types;
    for (const HostTensor& tensor : first_) types.push_back(tensor.type());
    use_types(types);
    return true;
  }

  void store_first(const Element& batch, std::int64_t row) {
    const std::span<const TensorView> to = slots(batch, row);
    for (std::size_t i = 0; i < to.size(); ++i) std::memcpy(to[i].data, first_[i].data(), first_[i].bytes());
    release(first_);
  }

  std::span<const TensorView> slots(const Element& batch, std::int64_t row) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      slots_[i] = {&row_types_[i], batch[i].data() + static_cast<std::size_t>(row) * row_types_[i].bytes()};
    }
    return slots_;
  }

  const bool varies_;
  Element first_;
  std::vector<TensorType> row_types_;
  std::vector<TensorType> types_;
  std::vector<TensorView> slots_;
};

class BatchDataset final : public Batching {
 public:
  BatchDataset(DatasetPtr source, std::int64_t size, bool drop_remainder)
      : Batching(std::move(source), size, drop_remainder), types_(stacked(this->source().element_types(), rows())) {}

  std::string_view stage() const override { return batch_stage; }
  DatasetPtr resized(DatasetPtr source, std::int64_t size) const override {
    return batch(std::move(source), size, drop_remainder());
  }
  const std::vector<TensorType>& element_types() const override { return types_; }

  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    // Allocate no more than there are elements.
    const std::int64_t size = std::clamp<std::int64_t>(elements_or(batch_size()), 1, batch_size());
    if (size > most_rows) {
      throw Error(fmt::format("batch: at most {} rows are possible in a batch, got {}", most_rows, size));
    }
    if (auto batches = source().open_batches({size, drop_remainder()}, epoch, options)) return batches;
    std::unique_ptr<Cursor> cursor = source().open(epoch, options.for_sources());
    const std::vector<TensorType>& types = source().element_types();
    if (!cursor->tables().empty()) {
      return std::make_unique<RowBatchCursor>(std::move(cursor), types, size, drop_remainder(), options);
    }
    return std::make_unique<ElementBatchCursor>(std::move(cursor), types, size, drop_remainder(), options);
  }

 private:
  std::int64_t elements_or(std::int64_t unknown) const {
    const std::optional<std::int64_t> elements = source().size();
    return !elements || *elements == endless ? unknown : *elements;
  }

  std::vector<TensorType> types_;
};

}  // namespace

std::string Batching::settings() const {
  return fmt::format("size={}{}", batch_size_, drop_remainder_ ? " drop_remainder" : "");
}

std::optional<std::int64_t> Batching::size() const {
  const std::optional<std::int64_t> elements = source().size();
  if (!elements || *elements == endless) return elements;
  return *elements / batch_size_ + (!drop_remainder_ && *elements % batch_size_ != 0 ? 1 : 0);
}

std::int64_t Batching::rows() const {
  const std::optional<std::int64_t> elements = source().size();
  const bool always_full = drop_remainder_ || elements == endless || (elements && *elements % batch_size_ == 0);
  return always_full ? batch_size_ : varying;
}

void require_batch_size(std::string_view stage, std::int64_t size) {
  if (size == autotune) {
    throw Error(fmt::format(
        "{}: gb.AUTOTUNE is no size of a batch: what fits depends on the model, for which gb.find_batch_size(model, "
        "dataset) finds it",
        stage));
  }
  if (size < 1) throw Error(fmt::format("{}: a size of {}; at least 1 is needed", stage, size));
}

DatasetPtr batch(DatasetPtr source, std::int64_t size, bool drop_remainder) {
  require_host_elements(*source, "batch");
  require_batch_size("batch", size);
  const std::optional<std::int64_t> elements = source->size();
  if (drop_remainder && elements && *elements < size) {
    throw Error(
        fmt::format("batch: a size of {} with drop_remainder leaves nothing of a dataset of {} elements; use at "
                    "most {}, or keep the remainder",
                    size, *elements, *elements));
  }
  return std::make_shared<BatchDataset>(std::move(source), size, drop_remainder);
}

}  // namespace gpubench
