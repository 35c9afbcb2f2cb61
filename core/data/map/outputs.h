// Provides the memory of a map's results: new memory for elements, or the rows of a batch.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/data/element/block_pool.h"
#include "core/data/function/block_function.h"
#include "core/data/map/parcel.h"

namespace gpubench {

/// One per worker.
class ParcelOutputs : public BlockOutputs {
 public:
  /// Starts a parcel of `count` inputs.
  virtual void open(Parcel& parcel, std::int64_t count) = 0;
  /// The elements of the last begin() are complete.
  virtual void finish() = 0;
  /// The element of the last begin() failed. Returns whether the parcel's other elements are still needed.
  virtual bool fail(std::exception_ptr error) = 0;
};

/// For results as elements; the elements of one parcel share memory if their types are fixed.
std::unique_ptr<ParcelOutputs> element_outputs(BlockPool& pool, std::span<const TensorType> types);
/// For one batch per parcel. place() throws Error if an element's type differs from the earlier ones.
std::unique_ptr<ParcelOutputs> batch_outputs(BlockPool& pool, std::span<const TensorType> types);

}  // namespace gpubench
