#include "core/train/files/model_files.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/codec/byte_source.h"
#include "core/codec/output_file.h"
#include "core/codec/safetensors.h"
#include "core/train/trainer.h"

namespace gpubench {
namespace {

constexpr const char* architecture_name = "architecture.json";
constexpr const char* weights_name = "weights.safetensors";

std::string read_text(const std::filesystem::path& path) {
  FileSource file(path);
  std::string text(static_cast<std::size_t>(file.left_at_most()), '\0');
  file.read(std::as_writable_bytes(std::span(text)), "the architecture");
  return text;
}

}  // namespace

void save_model(Runtime& runtime, const Model& model, const std::filesystem::path& folder) {
  const std::string json = architecture_to_json(model);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(fmt::format("cannot make the folder {}: {}", folder.string(), error.message()));
  save_weights(runtime, model, folder / weights_name);
  OutputFile file(folder / architecture_name);
  file.write(std::as_bytes(std::span(json)));
  file.commit();
}

ModelPtr load_model(Runtime& runtime, VariableFactory& factory, const std::filesystem::path& folder,
                    const DeviceId& device, const FindFunction& find_function) {
  const std::filesystem::path path = folder / architecture_name;
  const std::string json = read_text(path);
  ModelPtr model;
  try {
    model = architecture_from_json(json, device, find_function);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", path.string(), error.what()));
  }
  model->build(factory);
  load_weights(runtime, *model, folder / weights_name);
  return model;
}

void save_weights(Runtime& runtime, const Model& model, const std::filesystem::path& file) {
  if (!model.built()) throw Error(fmt::format("model '{}': has no weights yet, so it cannot be saved", model.name()));
  const std::vector<std::string> names = model.saved_names();
  const std::vector<HostTensor> values = read_weights(runtime, model);
  Safetensors contents;
  for (std::size_t i = 0; i < values.size(); ++i) contents.tensors.push_back({names[i], values[i]});
  write_safetensors(file, contents);
}

void load_weights(Runtime& runtime, const Model& model, const std::filesystem::path& file) {
  const Safetensors contents = read_safetensors(file);
  const std::vector<VariablePtr> variables = model.variables();
  const std::vector<std::string> names = model.saved_names();
  std::vector<HostTensor> values;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const auto found = std::ranges::find(contents.tensors, names[i], &NamedTensor::name);
    if (found == contents.tensors.end()) {
      throw Error(fmt::format("{}: has no tensor {}, which model '{}' needs", file.string(), names[i], model.name()));
    }
    if (found->tensor.type() != variables[i]->type) {
      throw Error(fmt::format("{}: tensor {} must be {}, found {}", file.string(), names[i],
                              to_string(variables[i]->type), to_string(found->tensor.type())));
    }
    values.push_back(found->tensor);
  }
  write_weights(runtime, model, values);
}

}  // namespace gpubench
