// The cursor of interleave: takes elements from its inputs in turn; reader threads or the consumer's thread read them.
#pragma once
#include <memory>
#include <optional>

#include "core/data/interleave/open_inputs.h"

namespace gpubench {

struct InterleaveOptions {
  /// Inputs that are read in turn.
  std::int64_t cycle_length = 1;
  /// Elements taken from one input before the next.
  std::int64_t block_length = 1;
  /// Threads that read inputs, one input each at a time: the inputs of the cycle first, then as many following inputs
  /// as there are threads. 0: the consumer reads. Each input's buffer holds up to 256 elements (1024 if they have at
  /// most 512 bytes and are packed) or 2 MiB, but at least two elements; the inputs of a long cycle share 1024 elements
  /// (8192), or two blocks each if that is more.
  /// autotune: starts with a thread per core. Threads are added when they wait for their inputs (as for a slow disk)
  /// while the consumer waits for them, up to one per input of the cycle and the pipeline's thread limit.
  std::int64_t parallel = 0;
  /// False: elements come in the order in which threads have them ready. Absent: the setting of options(), else true.
  std::optional<bool> deterministic{};
};

/// Upper limit of `parallel`.
inline constexpr std::int64_t most_interleaving_threads = 128;

/// An epoch of `dataset`, whose types the elements have; the cursor shares ownership of the inputs.
std::unique_ptr<Cursor> open_interleaved(const Dataset& dataset, Inputs inputs, const InterleaveOptions& settings,
                                         std::uint64_t epoch, const CursorOptions& options);

}  // namespace gpubench
