// The unit of work of a map: a block of inputs and their results, in segments of contiguous elements (new memory for
// elements, or the rows of a batch). Parcels circulate between workers and consumer, so that a warm map allocates
// nothing.
#pragma once
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "core/base/clock.h"
#include "core/data/element.h"
#include "core/data/element/block_pool.h"
#include "core/data/element/input_block.h"
#include "core/data/function/block_function.h"

namespace gpubench {

struct Segment {
  /// Number of elements: rows first_row, first_row + 1, ... of the tensors. An error is a segment of one element
  /// without tensors.
  std::int64_t count = 0;
  std::int64_t first_row = 0;
  Element tensors;
  std::vector<TensorType> row_types;
  std::exception_ptr error;
};

struct Parcel {
  InputBlock inputs;
  /// Index of the first element in the epoch.
  std::int64_t index = 0;
  /// Time that the source took for the inputs.
  Seconds pulling{};
  std::vector<Segment> segments;
  std::size_t used = 0;  ///< segments
  std::int64_t bytes = 0;

  Segment& add_segment() {
    if (used == segments.size()) segments.emplace_back();
    Segment& segment = segments[used++];
    segment.count = 0;
    segment.first_row = 0;
    segment.error = nullptr;
    release(segment.tensors);
    return segment;
  }
  /// Releases the results.
  void clear() {
    for (Segment& segment : segments) {
      release(segment.tensors);
      segment.error = nullptr;
    }
    used = 0;
    bytes = 0;
  }
};

/// Provides the memory of the results. One per worker.
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
std::unique_ptr<ParcelOutputs> element_outputs(BlockPool& pool, TensorTypes types);
/// For one batch per parcel. place() throws Error if an element's type differs from the earlier ones.
std::unique_ptr<ParcelOutputs> batch_outputs(BlockPool& pool, TensorTypes types);

}  // namespace gpubench
