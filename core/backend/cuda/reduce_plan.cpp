#include "core/backend/cuda/reduce_plan.h"

#include <algorithm>
#include <bit>

#include "core/backend/cuda/kernels/indexing.h"

namespace gpubench::cuda {
namespace {

constexpr std::int64_t warp = 32, pack = 4;
/// Rows up to here are a few loads for each lane of a warp; longer ones are worth a block.
constexpr std::int64_t longest_row_of_lanes = 1024;
/// Extents up to here are left to one thread, which needs no barrier.
constexpr std::int64_t longest_of_thread = 16;
/// Blocks that keep a multiprocessor's memory requests coming, and the least that a part of a result gives a thread.
constexpr std::int64_t blocks_per_multiprocessor = 8, least_per_thread = 16;

int width_for(std::int64_t items) {
  return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(items, 1, warp))));
}

ReduceStep step_by_blocks(const ReducePass& pass, bool may_pack, std::int64_t most_blocks) {
  ReduceStep step{pass.before, pass.extent, pass.after, 1, ReduceBy::blocks, 1, false};
  const bool rows = pass.after == 1;
  step.packed = may_pack && (rows ? pass.extent : pass.after) % pack == 0;
  const std::int64_t extent = rows && step.packed ? pass.extent / pack : pass.extent;
  const std::int64_t columns = !rows && step.packed ? pass.after / pack : pass.after;
  step.width = width_for(columns);
  const std::int64_t blocks = pass.before * ((columns + step.width - 1) / step.width);
  if (blocks == 0) return step;
  const std::int64_t threads = block_threads / step.width;  // that share an extent
  const std::int64_t wanted = most_blocks / blocks;
  step.parts = std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, extent / (threads * least_per_thread)));
  return step;
}

/// Shares results out in parts only where that makes no more than `most_blocks`.
ReduceStep first_step(const ReducePass& pass, bool may_pack, std::int64_t most_blocks) {
  if (pass.after == 1 && pass.extent <= longest_row_of_lanes) {
    return {pass.before, pass.extent, 1, 1, ReduceBy::lanes, width_for(pass.extent), false};
  }
  if (pass.after > 1 && pass.extent <= longest_of_thread) {
    return {pass.before, pass.extent, pass.after, 1, ReduceBy::threads, 1, false};
  }
  return step_by_blocks(pass, may_pack, most_blocks);
}

}  // namespace

std::vector<ReduceStep> reduce_steps(const ReducePass& pass, bool may_pack, int multiprocessors) {
  std::vector<ReduceStep> steps{first_step(pass, may_pack, multiprocessors * blocks_per_multiprocessor)};
  if (const std::int64_t parts = steps[0].parts; parts > 1) {
    steps.push_back(last_reduce_step(parts, pass.before * pass.after, may_pack));
  }
  return steps;
}

std::vector<ReduceStep> reduce_steps(const std::vector<ReducePass>& passes, bool may_pack, int multiprocessors) {
  std::vector<ReduceStep> steps;
  for (const ReducePass& pass : passes) {
    const std::vector<ReduceStep> more = reduce_steps(pass, may_pack, multiprocessors);
    steps.insert(steps.end(), more.begin(), more.end());
  }
  return steps;
}

ReduceStep last_reduce_step(std::int64_t parts, std::int64_t results, bool may_pack) {
  return first_step({1, parts, results}, may_pack, 1);
}

std::int64_t results_of(const ReduceStep& step) {
  return step.parts * step.before * step.after;
}

std::int64_t gather_gradient_parts(std::int64_t indices, std::int64_t rows, std::int64_t columns, int multiprocessors) {
  // Enough blocks to go round, and enough indices to each that the sum over the parts is the smaller work.
  constexpr std::int64_t blocks_per_multiprocessor = 4, least_indices = 1024;
  const std::int64_t row_tiles = (rows + gather_tile - 1) / gather_tile;
  const std::int64_t tiles = std::max<std::int64_t>(1, row_tiles * ((columns + gather_tile - 1) / gather_tile));
  return std::clamp<std::int64_t>(multiprocessors * blocks_per_multiprocessor / tiles, 1,
                                  std::max<std::int64_t>(1, indices / least_indices));
}

}  // namespace gpubench::cuda
