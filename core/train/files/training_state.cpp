#include "core/train/files/training_state.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <iterator>
#include <map>

#include "core/base/error.h"
#include "core/codec/safetensors.h"

namespace gpubench {
namespace {

using Number = std::int64_t TrainingPosition::*;
constexpr std::pair<const char*, Number> numbers[] = {{"epoch", &TrainingPosition::epoch},
                                                      {"step", &TrainingPosition::step},
                                                      {"data_epoch", &TrainingPosition::data_epoch},
                                                      {"data_position", &TrainingPosition::data_position}};

/// In a fixed order; names need not be unique.
std::vector<VariablePtr> variables_of(Trainer& trainer) {
  std::vector<VariablePtr> variables = trainer.model().variables();
  std::ranges::move(optimizer_state(trainer.model(), trainer.config()), std::back_inserter(variables));
  std::ranges::move(trainer.metric_variables(), std::back_inserter(variables));
  return variables;
}

std::string name_of(const std::vector<VariablePtr>& variables, std::size_t i) {
  return fmt::format("{} {}", i, variables[i]->name);
}

/// Of the file, by the names of variables; tensors of one name in the order of their numbers. The numbers alone do not
/// say which variable it is: earlier versions had another order of layers.
std::map<std::string, std::map<std::size_t, const HostTensor*>> tensors_by_name(const Safetensors& contents) {
  std::map<std::string, std::map<std::size_t, const HostTensor*>> known;
  for (const NamedTensor& tensor : contents.tensors) {
    const std::size_t space = std::min(tensor.name.find(' '), tensor.name.size());
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(tensor.name.data(), tensor.name.data() + space, number);
    if (error != std::errc() || end != tensor.name.data() + space || space == tensor.name.size()) continue;
    known[tensor.name.substr(space + 1)][number] = &tensor.tensor;
  }
  return known;
}

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& reason) {
  throw Error(fmt::format("fit: {}: {}; remove the file to start anew", file.string(), reason));
}

TrainingPosition position_in(const Safetensors& contents, const std::filesystem::path& file) {
  TrainingPosition position;
  for (const auto& [name, member] : numbers) {
    const auto found = contents.metadata.find(name);
    if (found == contents.metadata.end()) fail(file, "is no saved training");
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), position.*member);
    if (error != std::errc() || end != text.data() + text.size() || position.*member < 0) {
      fail(file, fmt::format("has '{}' as {}", text, name));
    }
  }
  return position;
}

}  // namespace

void save_training(Trainer& trainer, const std::filesystem::path& file, const TrainingPosition& position) {
  Runtime& runtime = trainer.runtime();
  runtime.synchronize();
  const std::vector<VariablePtr> variables = variables_of(trainer);
  Safetensors contents;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    contents.tensors.push_back({name_of(variables, i), runtime.variables().read(*variables[i])});
  }
  for (const auto& [name, member] : numbers) contents.metadata[name] = std::to_string(position.*member);
  write_safetensors(file, contents);
}

TrainingPosition load_training(Trainer& trainer, const std::filesystem::path& file) {
  const Safetensors contents = read_safetensors(file);
  const TrainingPosition position = position_in(contents, file);
  const std::vector<VariablePtr> variables = variables_of(trainer);
  if (contents.tensors.size() != variables.size()) {
    fail(file, fmt::format("has {} variables, model, optimizer and metrics have {}", contents.tensors.size(),
                           variables.size()));
  }
  std::vector<const HostTensor*> values(variables.size());
  auto left = tensors_by_name(contents);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    auto& same_name = left[variables[i]->name];
    if (same_name.empty()) fail(file, fmt::format("has no variable '{}'", variables[i]->name));
    values[i] = same_name.extract(same_name.begin()).mapped();
    if (values[i]->type() == variables[i]->type) continue;
    fail(file, fmt::format("variable '{}' is {} there and {} here", variables[i]->name, to_string(values[i]->type()),
                           to_string(variables[i]->type)));
  }
  Runtime& runtime = trainer.runtime();
  runtime.synchronize();
  for (std::size_t i = 0; i < variables.size(); ++i) runtime.variables().write(*variables[i], *values[i]);
  return position;
}

}  // namespace gpubench
