// Which layers to compute again so that a step fits into a budget of bytes, at the least work. Every set is judged by a
// plan of the whole step, since what a layer saves depends on its neighbours: a stretch of layers that are all computed
// again is alive at one time.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace gpubench {

/// A layer that may be computed again.
struct LayerWork {
  std::string name;
  double flops = 0;       ///< of its forward computation
  std::size_t bytes = 0;  ///< of what gradients read of it
};

/// In the order of `layers`, from a training step that computes nothing again.
std::vector<LayerWork> work_of_layers(const Graph& step, const std::vector<OwnerPtr>& layers);

/// What a step takes with some layers computed again.
struct RecomputePlan {
  std::size_t bytes = 0;
  double flops = 0;  ///< computed again
};

struct RecomputeChoice {
  std::vector<std::string> layers;  ///< in the order of the model
  RecomputePlan plan;
  std::size_t least_bytes = 0;  ///< of all sets that were looked at
  bool fits = false;
};

/// Looks at all layers but every second, third, ..., and at those with the fewest flops for each byte they save, more
/// and more of them. Of the sets within `budget` bytes it takes the one with the fewest flops, and then keeps again
/// whichever of its layers need not be in it, those with the most flops first.
RecomputeChoice choose_recomputed(const std::vector<LayerWork>& layers, std::size_t budget,
                                  const std::function<RecomputePlan(const std::vector<std::string>&)>& plan);

}  // namespace gpubench
