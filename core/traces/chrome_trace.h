// Reads Chrome's JSON as PyTorch's profiler (Kineto) and those of TensorFlow and JAX write it.
#pragma once
#include <memory>
#include <vector>

#include "core/codec/byte_source.h"
#include "core/traces/foreign_trace.h"

namespace gpubench {

/// One trace for each rank of a file: several where ranks were merged into one, with their names in brackets in front
/// of the processes' ids. Throws Error for a text that is no trace, saying what it is where that is known.
std::vector<ForeignTrace> read_chrome_trace(std::unique_ptr<ByteSource> source);

}  // namespace gpubench
