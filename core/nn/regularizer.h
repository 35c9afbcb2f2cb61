// Penalties for large weights and outputs, added to the loss: l1 sum(|x|) + l2 sum(x^2). The options are those of
// weight_options.h, and "activity_regularizer" of all layers.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/nn/layer.h"

namespace gpubench {

struct Regularizer {
  double l1 = 0, l2 = 0;
};

/// "l1", "l2", "l1_l2", or with arguments "l1_l2(l1=0.01, l2=0.02)". Throws Error listing the names.
Regularizer parse_regularizer(std::string_view text);
std::string to_string(const Regularizer& regularizer);

/// Of these numbers, float32 []; none if both factors are 0.
Value penalty_of(Graph& graph, Value values, const Regularizer& regularizer);
/// The penalties of the layers' trained variables, float32 [] each, with those of layers inside of them.
std::vector<Value> penalties(Graph& graph, std::span<const LayerPtr> layers);
/// None of none.
Value sum_of_penalties(Graph& graph, Values penalties);

}  // namespace gpubench
