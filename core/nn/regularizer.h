// Penalties for large weights, added to the loss: l1 sum(|w|) + l2 sum(w^2). A layer with the option
// "kernel_initializer" also has "kernel_regularizer" for its variables of that name, and likewise for other variables.
#pragma once
#include <string>
#include <string_view>

#include "core/nn/model.h"

namespace gpubench {

struct Regularizer {
  double l1 = 0, l2 = 0;
};

/// "l1", "l2", "l1_l2", or with arguments "l1_l2(l1=0.01, l2=0.02)". Throws Error listing the names.
Regularizer parse_regularizer(std::string_view text);
std::string to_string(const Regularizer& regularizer);

/// The option "kernel_regularizer" for each field "kernel_initializer".
std::vector<ConfigField> regularizer_fields(const std::vector<ConfigField>& fields);
/// Whether any option is a regularizer's.
bool has_regularizer(const Config& config);
/// Throws Error naming the option and the regularizers.
void check_regularizers(const Config& config);

/// The sum of the penalties of the model's trained variables, float32 []; none if it has no regularizers.
Value penalty(Graph& graph, const Model& model);

}  // namespace gpubench
