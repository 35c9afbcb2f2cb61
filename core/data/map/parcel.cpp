#include "core/data/map/parcel.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/dataset.h"
#include "core/data/types.h"

namespace gpubench {
namespace {

/// Throws Error unless a result has the type that the function declared (with varying extents): other stages and the
/// memory for results depend on it.
void require_declared(const TensorType& type, const TensorType& declared) {
  const auto agree = [](std::int64_t extent, std::int64_t expected) {
    return expected == varying || extent == expected;
  };
  if (type.dtype == declared.dtype && std::ranges::equal(type.shape, declared.shape, agree)) return;
  throw Error(
      fmt::format("map: the function gave {} for an element, where it declares {}", to_text(type), to_text(declared)));
}

/// The common part of both: one segment that is filled row by row.
class RowOutputs : public ParcelOutputs {
 public:
  explicit RowOutputs(BlockPool& pool) : pool_(pool) {}
  void begin(std::int64_t first, std::int64_t count) override {
    first_ = first;
    count_ = count;
  }

 protected:
  std::byte* row(const Segment& segment, std::size_t index, const TensorType& type) const {
    return segment.tensors[index].data() + static_cast<std::size_t>(first_) * type.bytes();
  }

  BlockPool& pool_;
  Parcel* parcel_ = nullptr;
  std::int64_t first_ = 0;
  std::int64_t count_ = 0;
};

/// A parcel's elements in one block of memory.
class FixedElements final : public RowOutputs {
 public:
  FixedElements(BlockPool& pool, TensorTypes types)
      : RowOutputs(pool), row_types_(types.begin(), types.end()), types_(stacked(types, 1)) {}

  void open(Parcel& parcel, std::int64_t count) override {
    parcel_ = &parcel;
    for (TensorType& type : types_) type.shape.front() = count;
    Segment& segment = parcel.add_segment();
    segment.row_types = row_types_;
    pool_.allocate(types_, segment.tensors);
    for (const HostTensor& tensor : segment.tensors) parcel.bytes += static_cast<std::int64_t>(tensor.bytes());
  }
  std::byte* place(std::size_t index, const TensorType& type) override {
    require_declared(type, row_types_[index]);
    return row(current(), index, type);
  }
  void finish() override { current().count += count_; }
  bool fail(std::exception_ptr error) override {
    const Element tensors = current().tensors;
    Segment& failed = parcel_->add_segment();
    failed.count = 1;
    failed.error = std::move(error);
    Segment& rest = parcel_->add_segment();
    rest.tensors = tensors;
    rest.row_types = row_types_;
    rest.first_row = first_ + 1;
    return true;
  }

 private:
  Segment& current() { return parcel_->segments[parcel_->used - 1]; }

  std::vector<TensorType> row_types_;
  std::vector<TensorType> types_;
};

/// Elements whose extents become known one by one: each block of the function gets its own memory.
class VaryingElements final : public ParcelOutputs {
 public:
  VaryingElements(BlockPool& pool, TensorTypes declared)
      : pool_(pool), declared_(declared.begin(), declared.end()), types_(declared.size()) {}

  void open(Parcel& parcel, std::int64_t /*count*/) override { parcel_ = &parcel; }
  void begin(std::int64_t /*first*/, std::int64_t count) override {
    if (attempt_ != nullptr) --parcel_->used;  // the block failed and is retried element by element
    attempt_ = &parcel_->add_segment();
    attempt_->row_types.resize(types_.size());
    attempt_->tensors.resize(types_.size());
    count_ = count;
  }
  std::byte* place(std::size_t index, const TensorType& type) override {
    require_declared(type, declared_[index]);
    attempt_->row_types[index] = type;
    TensorType& all = types_[index];
    all.dtype = type.dtype;
    all.shape.assign(1, count_);
    all.shape.insert(all.shape.end(), type.shape.begin(), type.shape.end());
    pool_.allocate(all, attempt_->tensors[index]);
    parcel_->bytes += static_cast<std::int64_t>(all.bytes());
    return attempt_->tensors[index].data();
  }
  void finish() override {
    attempt_->count = count_;
    attempt_ = nullptr;
  }
  bool fail(std::exception_ptr error) override {
    if (attempt_ == nullptr) attempt_ = &parcel_->add_segment();
    release(attempt_->tensors);
    attempt_->count = 1;
    attempt_->error = std::move(error);
    attempt_ = nullptr;
    return true;
  }

 private:
  BlockPool& pool_;
  const std::vector<TensorType> declared_;
  std::vector<TensorType> types_;
  Parcel* parcel_ = nullptr;
  Segment* attempt_ = nullptr;
  std::int64_t count_ = 0;
};

class BatchRows final : public RowOutputs {
 public:
  BatchRows(BlockPool& pool, TensorTypes types)
      : RowOutputs(pool), fixed_(is_fixed(types)), row_types_(types.begin(), types.end()), types_(stacked(types, 1)) {}

  void open(Parcel& parcel, std::int64_t count) override {
    parcel_ = &parcel;
    Segment& batch = parcel.add_segment();
    batch.tensors.resize(types_.size());
    batch.row_types = row_types_;
    for (TensorType& type : types_) type.shape.front() = count;
    if (!fixed_) return;
    pool_.allocate(types_, batch.tensors);
    for (const HostTensor& tensor : batch.tensors) parcel.bytes += static_cast<std::int64_t>(tensor.bytes());
  }
  std::byte* place(std::size_t index, const TensorType& type) override {
    Segment& batch = parcel_->segments.front();
    HostTensor& rows = batch.tensors[index];
    if (rows.empty()) {  // with varying shapes, the first element sets the type of the others
      const std::int64_t count = types_[index].shape.front();
      batch.row_types[index] = type;
      types_[index] = type;
      types_[index].shape.insert(types_[index].shape.begin(), count);
      pool_.allocate(types_[index], rows);
      parcel_->bytes += static_cast<std::int64_t>(rows.bytes());
    } else if (type != batch.row_types[index]) {
      throw unequal_shapes(type, batch.row_types[index]);
    }
    return row(batch, index, type);
  }
  void finish() override {
    Segment& batch = parcel_->segments.front();
    batch.count += count_;
  }
  bool fail(std::exception_ptr error) override {
    parcel_->segments.front().error = std::move(error);
    return false;
  }

 private:
  bool fixed_;
  std::vector<TensorType> row_types_;
  std::vector<TensorType> types_;
};

}  // namespace

std::unique_ptr<ParcelOutputs> element_outputs(BlockPool& pool, TensorTypes types) {
  if (is_fixed(types)) return std::make_unique<FixedElements>(pool, types);
  return std::make_unique<VaryingElements>(pool, types);
}

std::unique_ptr<ParcelOutputs> batch_outputs(BlockPool& pool, TensorTypes types) {
  return std::make_unique<BatchRows>(pool, types);
}

}  // namespace gpubench
