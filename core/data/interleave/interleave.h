// Interleaves elements of several datasets: `block_length` of one, then of the next, with `cycle_length` of them open.
// A dataset that ends is replaced by the next one waiting. Reading by threads changes when elements are produced, but
// not their order, unless `deterministic` is false.
//
//   interleave(shards, {.cycle_length = 4})
#pragma once
#include <functional>
#include <vector>

#include "core/data/interleave/round_robin.h"

namespace gpubench {

/// The largest number of inputs created from the elements of a source.
inline constexpr std::int64_t most_interleaved = 1 << 20;

/// Throws Error if there are no datasets, if their elements differ in more than extents, or for an invalid option. An
/// input that cannot be opened gives an Error in place of its first element.
DatasetPtr interleave(std::vector<DatasetPtr> inputs, const InterleaveOptions& options);

/// Creates an input from an element of the source. Called for all elements when an epoch opens, in the thread that
/// opens it.
using InputFunction = std::function<DatasetPtr(const Element&)>;
/// The types are those of the first input. Also throws Error if the source is infinite or is known to have more than
/// `most_interleaved` elements; if that turns out only when an epoch opens, open() throws it.
DatasetPtr interleave(DatasetPtr source, InputFunction function, const InterleaveOptions& options);

}  // namespace gpubench
