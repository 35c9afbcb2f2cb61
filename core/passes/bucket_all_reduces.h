// Joins the all-reduces of gradients in buckets, in the order in which the program has them, so that all replicas make
// the same ones. A bucket's exchange begins when its last tensor is there and ends before the first that is read; what
// is computed between the two runs beside it. A bucket with nothing beside it is one all-reduce at its place.
#pragma once
#include <cstddef>

#include "core/passes/pass.h"

namespace gpubench {

/// Tensors share a bucket up to so many bytes; a larger one has its own. For programs that have been through the other
/// passes.
Program bucket_all_reduces(Program program, std::size_t bucket_bytes);

/// All-reduces are in place. This gives each one a copy of a tensor that others read too, or that is an input, a
/// constant or a variable.
Program copy_exchanged(Program program);

}  // namespace gpubench
