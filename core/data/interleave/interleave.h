// Elements of several datasets in turn: `block_length` of one, then of the next, with `cycle_length` of them open; one
// that ends is replaced by the next that is waiting. Reading them by threads changes when elements are made, but not
// their order, unless that is allowed.
//
//   interleave(shards, {.cycle_length = 4})
#pragma once
#include <functional>
#include <vector>

#include "core/data/interleave/round_robin.h"

namespace gpubench {

/// The most inputs that can be made from the elements of a source.
inline constexpr std::int64_t most_interleaved = 1 << 20;

/// Throws Error when there are no datasets, their elements differ in more than their extents, or a figure is not
/// possible. An input that cannot be opened is an Error in the place of its first element.
DatasetPtr interleave(std::vector<DatasetPtr> inputs, const InterleaveOptions& options);

/// Makes an input from an element of the source. It is called for all elements when an epoch opens, in the thread that
/// opens it.
using InputFunction = std::function<DatasetPtr(const Element&)>;
/// The types are those of the first input. Throws Error also when the source never ends or is known to have more
/// elements than `most_interleaved`; where that turns out only when an epoch opens, open() throws it.
DatasetPtr interleave(DatasetPtr source, InputFunction function, const InterleaveOptions& options);

}  // namespace gpubench
