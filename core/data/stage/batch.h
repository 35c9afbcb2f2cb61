// Stacks consecutive elements along a new first dimension. Each row is copied once, into 64-byte aligned memory that is
// reused when the last owner of the batch releases it.
//
//   batch(digits, 32)  // (float32[?, 784], float32[?, 10]), the last batch of an epoch may be smaller
#pragma once
#include "core/data/dataset.h"

namespace gpubench {

/// `drop_remainder` drops an incomplete last batch. Throws Error if no batch is left.
DatasetPtr batch(DatasetPtr source, std::int64_t size, bool drop_remainder = false);

/// Base of the stages that create batches.
class Batching : public Transformation {
 public:
  using Transformation::Transformation;
  virtual std::int64_t batch_size() const = 0;
  virtual bool drop_remainder() const = 0;
  /// The same stage, but with batches of `size` elements of `source`.
  virtual DatasetPtr resized(DatasetPtr source, std::int64_t size) const = 0;
  DatasetPtr with_source(DatasetPtr source) const override { return resized(std::move(source), batch_size()); }
};

/// Throws Error naming `stage` for sizes below 1, including AUTOTUNE: a dataset does not know what fits a model.
void require_batch_size(std::string_view stage, std::int64_t size);

}  // namespace gpubench
