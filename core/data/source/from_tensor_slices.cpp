#include "core/data/source/from_tensor_slices.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "core/base/error.h"
#include "core/data/element/rows.h"
#include "core/data/produced.h"

namespace gpubench {
namespace {

constexpr std::string_view from_tensor_slices_stage = "from_tensor_slices";

class SlicesCursor final : public Cursor {
 public:
  explicit SlicesCursor(const Rows& rows) : rows_(rows), produced_(rows.row_types()) {}

  bool next(Element& element) override {
    if (position_ == rows_.count()) return false;
    rows_.view(position_++, element);
    produced_.add(element);
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    const std::int64_t skipped = std::min(count, rows_.count() - position_);
    position_ += skipped;
    return skipped;
  }

  std::span<const HostTensor> tables() const override { return rows_.tables(); }

  std::size_t next_rows(std::span<std::int64_t> rows) override {
    const std::int64_t count = std::min<std::int64_t>(std::ssize(rows), rows_.count() - position_);
    std::iota(rows.begin(), rows.begin() + count, position_);
    position_ += count;
    produced_.add_rows(static_cast<std::size_t>(count));
    return static_cast<std::size_t>(count);
  }

  std::vector<StageStatistics> statistics() const override { return {produced_.row(from_tensor_slices_stage)}; }

 private:
  const Rows rows_;
  std::int64_t position_ = 0;
  Produced produced_;
};

class SlicesDataset final : public Dataset {
 public:
  explicit SlicesDataset(const std::vector<HostTensor>& tensors) : rows_(tensors) {}
  std::string_view stage() const override { return from_tensor_slices_stage; }
  const std::vector<TensorType>& element_types() const override { return rows_.row_types(); }
  std::optional<std::int64_t> size() const override { return rows_.count(); }
  std::unique_ptr<Cursor> open(std::uint64_t /*epoch*/, const CursorOptions& /*options*/) const override {
    return std::make_unique<SlicesCursor>(rows_);
  }

 private:
  const Rows rows_;
};

}  // namespace

DatasetPtr from_tensor_slices(std::vector<HostTensor> tensors) {
  if (tensors.empty()) throw Error("from_tensor_slices: no tensors given; at least one is needed");
  for (const HostTensor& tensor : tensors) {
    if (tensor.type().rank() == 0) {
      throw Error(fmt::format("from_tensor_slices: {} is a scalar and has no rows", to_string(tensor.type())));
    }
  }
  const std::int64_t rows = tensors.front().shape()[0];
  for (const HostTensor& tensor : tensors) {
    if (tensor.shape()[0] != rows) {
      throw Error(fmt::format("from_tensor_slices: first dimensions differ: {} has {} rows, {} has {}",
                              to_string(tensors.front().type()), rows, to_string(tensor.type()), tensor.shape()[0]));
    }
  }
  if (rows == 0) {
    throw Error(fmt::format("from_tensor_slices: the dataset is empty: {} has no rows", to_string(tensors[0].type())));
  }
  return std::make_shared<SlicesDataset>(tensors);
}

DatasetPtr from_tensors(const std::vector<HostTensor>& tensors) {
  if (tensors.empty()) throw Error("from_tensors: no tensors given; at least one is needed");
  std::vector<HostTensor> rows;
  for (const HostTensor& tensor : tensors) {
    Shape shape = tensor.shape();
    shape.insert(shape.begin(), 1);
    rows.push_back(tensor.reshaped(std::move(shape)));
  }
  return from_tensor_slices(std::move(rows));
}

}  // namespace gpubench
