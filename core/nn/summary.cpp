// Model summaries as Keras prints them.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <set>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/nn/model.h"

namespace gpubench {
namespace {

using Line = std::array<std::string, 4>;

std::int64_t count(const std::vector<VariablePtr>& variables) {
  std::int64_t total = 0;
  for (const VariablePtr& variable : variables) total += variable->type.elements();
  return total;
}

std::string batched(const Shape& shape) {
  std::string text = "[batch";
  for (const std::int64_t size : shape) text += fmt::format(", {}", size);
  return text + "]";
}

std::string shapes_of(const Model::Call& call) {
  std::string shapes;
  for (const TensorType& type : call.symbol->application()->types) {
    shapes += (shapes.empty() ? "" : ", ") + batched(type.shape);
  }
  return shapes;
}

std::string names_of(const Model& model, const Model::Call& call) {
  std::string names;
  for (const std::size_t input : call.inputs) {
    names += (names.empty() ? "" : ", ") + model.calls()[input].layer->name();
  }
  return names;
}

/// Calls in the order of their layers.
std::vector<std::size_t> calls_by_layer(const Model& model) {
  std::map<LayerPtr, std::size_t> places;
  for (const LayerPtr& layer : model.layers()) places.emplace(layer, places.size());
  std::vector<std::size_t> calls(model.calls().size());
  std::iota(calls.begin(), calls.end(), 0);
  std::ranges::stable_sort(calls, {}, [&](std::size_t call) { return places.at(model.calls()[call].layer); });
  return calls;
}

std::size_t bytes_of(const Model& model) {
  std::size_t bytes = 0;
  for (const VariablePtr& variable : model.variables()) bytes += variable->type.bytes();
  return bytes;
}

}  // namespace

std::string summary(const Model& model) {
  if (!model.built()) {
    throw Error(
        fmt::format("model '{}': summary needs a built model; give the first layer input_shape, start with "
                    "Input, or pass data first",
                    model.name()));
  }
  std::vector<Line> lines = {{"Layer (type)", "Output shape", "Parameters", model.sequential() ? "" : "Connected to"}};
  std::set<const Layer*> counted;
  for (const std::size_t i : calls_by_layer(model)) {
    const Model::Call& call = model.calls()[i];
    if (model.sequential() && call.inputs.empty()) continue;  // as in Keras, a chain's input is not listed
    if (call.application != i) continue;                      // another output of a layer that is listed
    const bool first = counted.insert(call.layer.get()).second;
    const auto& variables = call.layer->variables();
    const std::int64_t parameters = first ? count(variables) : 0;
    lines.push_back({fmt::format("{} ({})", call.layer->name(), call.layer->kind()), shapes_of(call),
                     format_count(parameters), model.sequential() ? "" : names_of(model, call)});
  }

  const std::size_t columns = model.sequential() ? 3 : 4;
  std::array<std::size_t, 4> widths{};
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text = fmt::format("Model: {}\n", model.name());
  for (const Line& line : lines) {
    std::string row = fmt::format("{:<{}}  {:<{}}  {:>{}}", line[0], widths[0], line[1], widths[1], line[2], widths[2]);
    if (columns == 4 && !line[3].empty()) row += "  " + line[3];
    text += row + "\n";
    if (&line == &lines.front()) text += std::string(row.size(), '-') + "\n";
  }
  const std::int64_t all = count(model.variables()), trainable = count(model.trainable_variables());
  text +=
      fmt::format("Total parameters: {} ({})\n", format_count(all), format_bytes(static_cast<double>(bytes_of(model))));
  text += fmt::format("Trainable: {}, not trainable: {}\n", format_count(trainable), format_count(all - trainable));
  return text;
}

}  // namespace gpubench
