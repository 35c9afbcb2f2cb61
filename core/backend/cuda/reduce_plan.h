// Plans the launches of a reduction: pure functions of the shape and the GPU's size.
#pragma once
#include <vector>

#include "core/backend/cuda/kernels/reduce.h"
#include "core/backend/reduce_passes.h"

namespace gpubench::cuda {

/// The steps of one pass: two if there are too few results to give each multiprocessor its own blocks, else one.
/// `may_pack`: packs of elements may be read (ReduceStep::packed).
std::vector<ReduceStep> reduce_steps(const ReducePass& pass, bool may_pack, int multiprocessors);
std::vector<ReduceStep> reduce_steps(const std::vector<ReducePass>& passes, bool may_pack, int multiprocessors);

/// The step that combines [parts, results]; always a single one.
ReduceStep last_reduce_step(std::int64_t parts, std::int64_t results, bool may_pack);

/// Number of results that a step writes.
std::int64_t results_of(const ReduceStep& step);

/// Number of parts into which `indices` are divided among blocks for the gradient of a gather from [rows, columns].
std::int64_t gather_gradient_parts(std::int64_t indices, std::int64_t rows, std::int64_t columns, int multiprocessors);

}  // namespace gpubench::cuda
