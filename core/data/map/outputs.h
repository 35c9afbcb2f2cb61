// The memory of a map's results: new memory for elements, or the rows of a batch.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/data/element/block_pool.h"
#include "core/data/function/block_function.h"
#include "core/data/map/parcel.h"

namespace gpubench {

/// One for each worker.
class ParcelOutputs : public BlockOutputs {
 public:
  /// For a parcel of `count` inputs.
  virtual void open(Parcel& parcel, std::int64_t count) = 0;
  /// The elements begun last are complete.
  virtual void finish() = 0;
  /// The element begun last failed. Whether the parcel's other elements are still wanted.
  virtual bool fail(std::exception_ptr error) = 0;
};

/// Elements of one parcel share memory where their types are fixed.
std::unique_ptr<ParcelOutputs> element_outputs(BlockPool& pool, std::span<const TensorType> types);
/// A batch of each parcel. Throws Error in place() when an element is not like the ones before.
std::unique_ptr<ParcelOutputs> batch_outputs(BlockPool& pool, std::span<const TensorType> types);

}  // namespace gpubench
