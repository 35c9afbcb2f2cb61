#include "core/data/stage/unbatch.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view unbatch_stage = "unbatch";

TensorType row_type(TensorType type) {
  type.shape.erase(type.shape.begin());
  return type;
}

class UnbatchCursor final : public StageCursor {
 public:
  /// `rows`: rows of every element of the source except the last, or `varying`.
  UnbatchCursor(std::unique_ptr<Cursor> source, TensorTypes types, std::int64_t rows)
      : StageCursor(unbatch_stage, std::move(source), types), rows_per_batch_(rows) {}

  bool next(Element& element) override {
    release(element);
    if (!has_row()) return false;
    element.resize(batch_.size());
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      const TensorType& type = row_types_[i];
      std::byte* const start = batch_[i].data() + static_cast<std::size_t>(row_) * type.bytes();
      element[i].assign(type, std::shared_ptr<std::byte>(batch_[i].memory(), start));
    }
    produced_.add(element);
    if (++row_ == rows_) release(batch_);
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    std::int64_t skipped = 0;
    while (skipped < count) {
      if (row_ == rows_ && rows_per_batch_ > 0 && count - skipped >= rows_per_batch_) {
        const std::int64_t batches = source_->skip((count - skipped) / rows_per_batch_);
        skipped += batches * rows_per_batch_;
        if (batches > 0) continue;
      }
      if (!has_row()) break;
      const std::int64_t step = std::min(count - skipped, rows_ - row_);
      row_ += step;
      skipped += step;
    }
    if (row_ == rows_) release(batch_);
    return skipped;
  }

 private:
  bool has_row() {
    while (row_ == rows_) {
      row_ = rows_ = 0;
      if (!source_->next(batch_)) return false;
      const std::int64_t rows = batch_.front().shape()[0];
      row_types_.clear();
      for (const HostTensor& tensor : batch_) {
        row_types_.push_back(row_type(tensor.type()));
        if (tensor.shape()[0] == rows) continue;
        throw Error(fmt::format("unbatch: an element has {} with {} rows and {} with {}",
                                to_string(batch_.front().type()), rows, to_string(tensor.type()), tensor.shape()[0]));
      }
      rows_ = rows;
    }
    return true;
  }

  const std::int64_t rows_per_batch_;
  Element batch_;
  std::vector<TensorType> row_types_;
  std::int64_t row_ = 0;
  std::int64_t rows_ = 0;
};

class UnbatchDataset final : public Transformation {
 public:
  explicit UnbatchDataset(DatasetPtr source) : Transformation(std::move(source)) {
    for (const TensorType& type : this->source().element_types()) types_.push_back(row_type(type));
  }
  std::string_view stage() const override { return unbatch_stage; }
  Effect effect() const override { return Effect::splits; }
  DatasetPtr with_source(DatasetPtr source) const override { return unbatch(std::move(source)); }
  const std::vector<TensorType>& element_types() const override { return types_; }
  std::optional<std::int64_t> size() const override {
    const std::optional<std::int64_t> elements = source().size();
    if (elements == endless) return elements;
    if (!elements || rows() == varying) return std::nullopt;
    return *elements * rows();
  }
  std::int64_t examples_per_element() const override {
    const std::int64_t examples = source().examples_per_element();
    // For a batch with a remainder only the number of examples is known: each row is one example.
    return rows() > 0 && examples % rows() == 0 ? examples / rows() : 1;
  }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    return std::make_unique<UnbatchCursor>(source().open(epoch, options), types_, rows());
  }

 private:
  std::int64_t rows() const { return source().element_types().front().shape.front(); }

  std::vector<TensorType> types_;
};

}  // namespace

DatasetPtr unbatch(DatasetPtr source) {
  require_host_elements(*source, "unbatch");
  const std::vector<TensorType>& types = source->element_types();
  for (const TensorType& type : types) {
    if (type.rank() == 0) throw Error(fmt::format("unbatch: {} is a scalar and has no rows", to_text(type)));
  }
  for (const TensorType& type : types) {
    const std::int64_t rows = types.front().shape.front(), others = type.shape.front();
    if (rows == others || rows == varying || others == varying) continue;
    throw Error(fmt::format("unbatch: first extents differ: {}", to_string(types)));
  }
  return std::make_shared<UnbatchDataset>(std::move(source));
}

}  // namespace gpubench
