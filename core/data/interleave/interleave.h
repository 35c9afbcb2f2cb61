// Elements of several datasets in turn: `block_length` of one, then of the next, with `cycle_length` of them open; one
// that ends is replaced by the next that is waiting. Reading them by threads changes when elements are made, but not
// their order, unless that is allowed.
//
//   interleave(shards, {.cycle_length = 4})
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "core/data/dataset.h"

namespace gpubench {

struct InterleaveOptions {
  /// Inputs that are read in turn.
  std::int64_t cycle_length = 1;
  /// Elements from one input before the next has its turn.
  std::int64_t block_length = 1;
  /// Threads that read inputs, each one at a time: those of the cycle first, then as many of those that come next as
  /// there are threads. 0: the consumer reads them. What is read ahead of an input is up to 256 elements (1024 of at
  /// most 512 bytes, which are copied side by side) or 2 MiB, but two elements at least; the inputs of a long cycle
  /// share 1024 elements (8192), unless two blocks are more.
  /// autotune: a thread for each core to begin with, and where these wait for their inputs, as for a slow disk, and the
  /// consumer for them, up to one for each input in the cycle; all within the pipeline's threads.
  std::int64_t parallel = 0;
  /// False: elements of the cycle's inputs come as the threads have them ready. Without a value, options() say; true
  /// where they do not either.
  std::optional<bool> deterministic{};
};

/// The most that `parallel` can be.
inline constexpr std::int64_t most_interleaving_threads = 128;
/// The most inputs that can be made from the elements of a source.
inline constexpr std::int64_t most_interleaved = 1 << 20;

/// Throws Error when there are no datasets, their elements differ in more than their extents, or a figure is not
/// possible. An input that cannot be opened is an Error in the place of its first element.
DatasetPtr interleave(std::vector<DatasetPtr> inputs, const InterleaveOptions& options);

/// Makes an input from an element of the source. It is called for all elements when an epoch opens, in the thread that
/// opens it.
using InputFunction = std::function<DatasetPtr(const Element&)>;
/// The first input tells the types. Throws Error also when the source never ends or is known to have more elements
/// than `most_interleaved`; where that turns out only when an epoch opens, open() throws it.
DatasetPtr interleave(DatasetPtr source, InputFunction function, const InterleaveOptions& options);

}  // namespace gpubench
