// Stacks consecutive elements along a new first dimension. Each row is copied once, into 64-byte aligned memory that is
// used again when the last holder of the batch lets go of it.
//
//   batch(digits, 32)  // (float32[?, 784], float32[?, 10]), the last batch of an epoch may be smaller
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

/// With `drop_remainder` an incomplete last batch is left out. Throws Error when that leaves nothing.
DatasetPtr batch(DatasetPtr source, std::int64_t size, bool drop_remainder = false);

/// What stages that make batches have in common.
class Batching : public Transformation {
 public:
  using Transformation::Transformation;
  virtual std::int64_t batch_size() const = 0;
  virtual bool drop_remainder() const = 0;
  /// The same, but of `size` elements of `source`.
  virtual DatasetPtr resized(DatasetPtr source, std::int64_t size) const = 0;
  DatasetPtr with_source(DatasetPtr source) const override { return resized(std::move(source), batch_size()); }
};

/// Throws Error naming `stage` for sizes below 1, AUTOTUNE among them: a dataset does not know what fits a model.
void require_batch_size(std::string_view stage, std::int64_t size);

}  // namespace gpubench
