// Copies a trained model, with some layers removed and other options for some layers.
#pragma once
#include <functional>
#include <map>
#include <string>

#include "core/nn/initializer.h"
#include "core/nn/model.h"

namespace gpubench {

/// By the index of a removed call of the old model: the index of the call whose output replaces its output.
using SkippedCalls = std::map<std::size_t, std::size_t>;

/// The layers under their names and on their devices, with the options that `options_of(layer)` returns; built.
ModelPtr rebuilt_model(VariableFactory& factory, const Model& model,
                       const std::function<ConfigEntries(const Layer&)>& options_of, const SkippedCalls& skipped);

/// Replaces an option.
void set_option(ConfigEntries& options, std::string_view name, ConfigValue value);

}  // namespace gpubench
