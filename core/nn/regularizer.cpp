#include "core/nn/regularizer.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/nn/named_arguments.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/reduce.h"

namespace gpubench {
namespace {

constexpr double keras_default = 0.01;

struct NamedRegularizer {
  std::string_view name;
  Regularizer of;
  bool takes_l1, takes_l2;
};
constexpr std::array named_regularizers = {
    NamedRegularizer{"l1", {.l1 = keras_default}, true, false},
    NamedRegularizer{"l2", {.l2 = keras_default}, false, true},
    NamedRegularizer{"l1_l2", {}, true, true},
};

constexpr std::string_view initializer_end = "_initializer", option_end = "_regularizer";

/// The variable whose option this is: "kernel". Empty for other options.
std::string_view regularized_by(std::string_view option) {
  return option.ends_with(option_end) ? option.substr(0, option.size() - option_end.size()) : std::string_view();
}

/// The text of a regularizer's option; empty if it is not given, and for other options.
std::string_view given(const ConfigEntries::value_type& entry) {
  const auto* const text = std::get_if<std::string>(&entry.second);
  return regularized_by(entry.first).empty() || text == nullptr ? std::string_view() : std::string_view(*text);
}

/// Of "dense/kernel" and "attention/query/kernel": "kernel".
std::string_view last_name(const Variable& variable) {
  return std::string_view(variable.name).substr(variable.name.rfind('/') + 1);
}

/// Whether the option for `option_of`, such as "recurrent", is for this variable. Options are named after a kernel's
/// part where a layer has several kernels; DepthwiseConv2D has one.
bool regularizes(std::string_view option_of, std::string_view variable) {
  if (variable == option_of) return true;
  if (variable == "kernel") return option_of == "depthwise";
  return variable.starts_with(option_of) && variable.substr(option_of.size()) == "_kernel";
}

Value penalty_of(Graph& graph, const VariablePtr& variable, const Regularizer& regularizer) {
  const GraphScope scope(graph, variable->device, variable->owner);
  const Value weights = ops::cast(graph, graph.variable(variable), Dtype::f32);
  Value sum;
  const auto add = [&](double factor, Value values) {
    const Value part = ops::mul(graph, ops::reduce_sum(graph, values), ops::scalar(graph, factor, Dtype::f32));
    sum = sum ? ops::add(graph, sum, part) : part;
  };
  if (regularizer.l1 != 0) add(regularizer.l1, ops::abs(graph, weights));
  if (regularizer.l2 != 0) add(regularizer.l2, ops::square(graph, weights));
  return sum;
}

}  // namespace

Regularizer parse_regularizer(std::string_view text) {
  const auto parsed = parse_named_arguments(text);
  for (const NamedRegularizer& row : named_regularizers) {
    if (!parsed || row.name != parsed->name) continue;
    Regularizer regularizer = row.of;
    const std::string owner = fmt::format("regularizer '{}'", text);
    for (const auto& [name, value] : parsed->arguments) {
      const bool l1 = name == "l1" && row.takes_l1, l2 = name == "l2" && row.takes_l2;
      if (!l1 && !l2) throw Error(fmt::format("{}: unknown argument '{}'", owner, name));
      const double factor = parse_argument(value, owner);
      if (!(factor >= 0)) throw Error(fmt::format("{}: {} must be at least 0, got {}", owner, name, factor));
      (l1 ? regularizer.l1 : regularizer.l2) = factor;
    }
    return regularizer;
  }
  throw_unknown_name("unknown regularizer", text, names_of(named_regularizers, &NamedRegularizer::name),
                     "; or with factors, such as l2(l2=0.001)", "regularizer");
}

std::string to_string(const Regularizer& regularizer) {
  return fmt::format("l1_l2(l1={}, l2={})", regularizer.l1, regularizer.l2);
}

std::vector<ConfigField> regularizer_fields(const std::vector<ConfigField>& fields) {
  std::vector<ConfigField> options;
  for (const ConfigField& field : fields) {
    if (!field.name.ends_with(initializer_end)) continue;
    const std::string variable = field.name.substr(0, field.name.size() - initializer_end.size());
    options.push_back({variable + std::string(option_end), std::string()});
  }
  return options;
}

bool has_regularizer(const Config& config) {
  return std::ranges::any_of(config.entries(), [](const auto& entry) { return !given(entry).empty(); });
}

void check_regularizers(const Config& config) {
  for (const auto& entry : config.entries()) {
    const std::string& name = entry.first;
    if (given(entry).empty()) continue;
    try {
      parse_regularizer(given(entry));
    } catch (const Error& error) {
      throw Error(fmt::format("{}: option '{}': {}", config.owner(), name, error.what()));
    }
  }
}

Value penalty(Graph& graph, const Model& model) {
  Value sum;
  for (const LayerPtr& layer : model.layers()) {
    if (!layer->trainable()) continue;
    for (const auto& entry : layer->config().entries()) {
      if (given(entry).empty()) continue;
      const std::string_view regularized = regularized_by(entry.first);
      for (const VariablePtr& variable : layer->variables()) {
        if (!variable->trainable || !regularizes(regularized, last_name(*variable))) continue;
        const Value own = penalty_of(graph, variable, parse_regularizer(given(entry)));
        if (!own) continue;
        const GraphScope scope(graph, graph.node(own).device, "regularizers");
        sum = sum ? ops::add(graph, sum, own) : own;
      }
    }
  }
  return sum;
}

}  // namespace gpubench
