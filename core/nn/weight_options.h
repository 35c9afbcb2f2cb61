// Options of layers about their weights: a layer with the option "kernel_initializer" also has "kernel_regularizer" and
// "kernel_constraint" for its variables of that name, and likewise for other variables.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/variable.h"
#include "core/nn/config.h"

namespace gpubench {

constexpr std::string_view regularizer_end = "_regularizer", constraint_end = "_constraint";

/// An option with a text.
struct WeightOption {
  std::string_view option;    ///< "kernel_regularizer"
  std::string_view variable;  ///< "kernel"
  std::string_view text;      ///< "l2(l2=0.01)"
};

/// The options "kernel_regularizer" and "kernel_constraint" for each field "kernel_initializer".
std::vector<ConfigField> weight_option_fields(const std::vector<ConfigField>& fields);
/// Those with this end that are given. They live as long as `config`.
std::vector<WeightOption> weight_options(const Config& config, std::string_view end);
/// Calls parse(text) for each of them. Throws its Error with the option's name.
void check_weight_options(const Config& config, std::string_view end,
                          const std::function<void(std::string_view text)>& parse);
/// Whether an option of "kernel" holds for the variable. Options are named after a kernel's part where a layer has
/// several kernels; DepthwiseConv2D has one.
bool holds_for(std::string_view option_of, const Variable& variable);

}  // namespace gpubench
