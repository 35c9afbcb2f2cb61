// The cursor of interleave: takes elements from its inputs in turn, whether the consumer's thread or others read them.
#pragma once
#include <memory>
#include <optional>

#include "core/data/interleave/open_inputs.h"

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

/// An epoch of `dataset`, which has the elements' types; the cursor shares ownership of the inputs.
std::unique_ptr<Cursor> open_interleaved(const Dataset& dataset, Inputs inputs, const InterleaveOptions& settings,
                                         std::uint64_t epoch, const CursorOptions& options);

}  // namespace gpubench
