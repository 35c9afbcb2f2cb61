// A model's layers and their connections as JSON, without weights.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "core/nn/model.h"

namespace gpubench {

/// Finds the function of a layer, by what LayerFunction::stored() returned. Throws Error if there is none.
using FindFunction = std::function<LayerFunctionPtr(const std::string& layer, const std::string& stored)>;

/// The model must be defined. Functions of layers are stored by name only.
std::string architecture_to_json(const Model& model);
/// An unbuilt model with the same layers and names. Throws Error with the fault in `json`.
ModelPtr architecture_from_json(std::string_view json, const DeviceId& device, const FindFunction& find_function = {});

/// One layer's kind and options, for layers around another.
std::string layer_to_text(const Layer& layer);
/// An unbuilt layer. Throws Error with the fault in `text`.
LayerPtr layer_from_text(std::string_view text, const DeviceId& device);
/// The same for several layers: a text that begins with '['.
std::string layers_to_text(const std::vector<LayerPtr>& layers);
std::vector<LayerPtr> layers_from_text(std::string_view text, const DeviceId& device);

}  // namespace gpubench
