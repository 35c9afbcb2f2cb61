// Layers that draw in training: their seeds, their numbers, and dropping as the layer Dropout does it.
#pragma once
#include <algorithm>
#include <span>

#include "core/nn/layer.h"

namespace gpubench::nn {

/// A layer with the option "seed"; below 0, its seed is one of the global sequence.
class SeededLayer : public Layer {
 protected:
  SeededLayer(Config given, DeviceId device)
      : Layer(std::move(given), std::move(device)), seed_(static_cast<std::uint64_t>(config().integer("seed"))) {}
  std::uint64_t seed() const { return seed_; }
  void make_variables(VariableFactory& factory, TensorTypes) override {
    const std::uint64_t drawn = factory.next_seed();
    if (config().integer("seed") < 0) seed_ = drawn;
  }

 private:
  std::uint64_t seed_;
};

/// The number by which row 0 of a call draws, int64 []; row i draws by the i-th number behind it. No two steps share a
/// number. Fails as `layer` without a step.
Value first_number(const Layer& layer, const CallContext& context);

/// x [batch, ...] with a share `rate` of its elements 0 and the rest scaled up. Draws by the step, and for each row as
/// in the whole batch; a call with the same seed in this part of the graph draws differently. Fails as `layer` without
/// a step.
Value dropped(const Layer& layer, const CallContext& context, Value x, double rate, std::uint64_t seed);

/// A layer that is applied several times in a graph draws differently each time. The first of seed, seed + 2^32, ...
/// that no op `seed_of` knows uses in this part of the graph. `seed_of(node)` is a pointer to the seed of the node's
/// op, null for other ops.
template <class SeedOf>
std::uint64_t unused_seed(const CallContext& context, std::uint64_t seed, const SeedOf& seed_of) {
  const auto nodes = std::span(context.graph.nodes()).subspan(context.first_node);
  const auto uses = [&](const Node& node) {
    const std::uint64_t* const used = seed_of(node);
    return used != nullptr && *used == seed;
  };
  while (std::ranges::any_of(nodes, uses)) seed += std::uint64_t{1} << 32;
  return seed;
}

}  // namespace gpubench::nn
