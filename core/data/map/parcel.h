// The unit of work of a map: a block of inputs and their results, in segments whose elements lie side by side in
// memory. Parcels circulate between workers and consumer, so that a warm map allocates nothing.
#pragma once
#include <exception>
#include <vector>

#include "core/base/clock.h"
#include "core/data/element.h"
#include "core/data/element/input_block.h"

namespace gpubench {

struct Segment {
  /// Elements in it: rows first_row, first_row + 1, ... of the tensors. One, and no tensors, where there is an error.
  std::int64_t count = 0;
  std::int64_t first_row = 0;
  Element tensors;
  std::vector<TensorType> row_types;
  std::exception_ptr error;
};

struct Parcel {
  InputBlock inputs;
  /// Of the first element, in the epoch.
  std::int64_t index = 0;
  /// What the source took for the inputs.
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
  /// Lets go of the results.
  void clear() {
    for (Segment& segment : segments) {
      release(segment.tensors);
      segment.error = nullptr;
    }
    used = 0;
    bytes = 0;
  }
};

}  // namespace gpubench
