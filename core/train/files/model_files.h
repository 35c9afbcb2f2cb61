// A saved model is a folder with two files: architecture.json (layers and their connections) and weights.safetensors.
#pragma once
#include <filesystem>

#include "core/exec/runtime.h"
#include "core/nn/architecture.h"
#include "core/nn/initializer.h"
#include "core/nn/model.h"

namespace gpubench {

/// The model must be built. Throws Error if the folder or a file cannot be written.
void save_model(Runtime& runtime, const Model& model, const std::filesystem::path& folder);
/// The model, built, with its weights. Throws Error naming the file and the fault.
ModelPtr load_model(Runtime& runtime, VariableFactory& factory, const std::filesystem::path& folder,
                    const DeviceId& device, const FindFunction& find_function = {});

/// The weights only, by the variables' names.
void save_weights(Runtime& runtime, const Model& model, const std::filesystem::path& file);
void load_weights(Runtime& runtime, const Model& model, const std::filesystem::path& file);

}  // namespace gpubench
