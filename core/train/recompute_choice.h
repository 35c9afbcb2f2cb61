// Chooses the layers to recompute so that a step fits into a memory budget with the least extra work. Every set of
// layers is judged by a plan of the whole step, because a layer's saving depends on its neighbours: consecutive
// recomputed layers are alive at the same time.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace gpubench {

/// A layer that may be recomputed.
struct LayerWork {
  std::string name;
  double flops = 0;       ///< of its forward computation
  std::size_t bytes = 0;  ///< of its values that gradients read
};

/// In the order of `layers`, from a training step without recomputation.
std::vector<LayerWork> work_of_layers(const Graph& step, const std::vector<OwnerPtr>& layers);

/// The cost of a step with some layers recomputed.
struct RecomputePlan {
  std::size_t bytes = 0;
  double flops = 0;  ///< of the recomputation
};

struct RecomputeChoice {
  std::vector<std::string> layers;  ///< in the order of the model
  RecomputePlan plan;
  std::size_t least_bytes = 0;  ///< smallest of all examined sets
  bool fits = false;
};

/// Examines all layers except every second, third, ..., and growing sets of the layers with the fewest flops per saved
/// byte. Of the sets within `budget` bytes it takes the one with the fewest flops, then removes layers that are not
/// needed, starting with the most flops.
RecomputeChoice choose_recomputed(const std::vector<LayerWork>& layers, std::size_t budget,
                                  const std::function<RecomputePlan(const std::vector<std::string>&)>& plan);

}  // namespace gpubench
