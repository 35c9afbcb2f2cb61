// Which launches a reduction becomes: pure functions of the shape and the GPU's size.
#pragma once
#include <vector>

#include "core/backend/cuda/kernels/reduce.h"
#include "core/backend/reduce_passes.h"

namespace gpubench::cuda {

/// The steps of one pass: one, or two where there are too few results to give each multiprocessor blocks of its own.
/// `may_pack` where packs of elements can be read (ReduceStep::packed).
std::vector<ReduceStep> reduce_steps(const ReducePass& pass, bool may_pack, int multiprocessors);
std::vector<ReduceStep> reduce_steps(const std::vector<ReducePass>& passes, bool may_pack, int multiprocessors);

/// The step that joins [parts, results]; never one of several.
ReduceStep last_reduce_step(std::int64_t parts, std::int64_t results, bool may_pack);

/// Results that a step leaves.
std::int64_t results_of(const ReduceStep& step);

/// In how many parts the blocks that sum a gradient of gather of [rows, columns] share `indices` of them.
std::int64_t gather_gradient_parts(std::int64_t indices, std::int64_t rows, std::int64_t columns, int multiprocessors);

}  // namespace gpubench::cuda
