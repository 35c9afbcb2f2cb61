#include "core/nn/regularizer.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/nn/named_arguments.h"
#include "core/nn/weight_options.h"
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

}  // namespace

Value penalty_of(Graph& graph, Value values, const Regularizer& regularizer) {
  const Value numbers = ops::cast(graph, values, Dtype::f32);
  Value sum;
  const auto add = [&](double factor, Value each) {
    const Value part = ops::mul(graph, ops::reduce_sum(graph, each), ops::scalar(graph, factor, Dtype::f32));
    sum = sum ? ops::add(graph, sum, part) : part;
  };
  if (regularizer.l1 != 0) add(regularizer.l1, ops::abs(graph, numbers));
  if (regularizer.l2 != 0) add(regularizer.l2, ops::square(graph, numbers));
  return sum;
}

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

std::vector<Value> penalties(Graph& graph, std::span<const LayerPtr> layers) {
  std::vector<Value> all;
  for (const LayerPtr& layer : layers) {
    if (!layer->trainable()) continue;
    for (const Owner::WeightText& given : layer->regularizers()) {
      for (const VariablePtr& variable : layer->variables()) {
        if (!variable->trainable || !holds_for(given.variable, *variable)) continue;
        const GraphScope scope(graph, variable->device, variable->owner);
        const Value own = penalty_of(graph, graph.variable(variable), parse_regularizer(given.text));
        if (own) all.push_back(own);
      }
    }
    const std::vector<Value> inner = penalties(graph, layer->parts());
    all.insert(all.end(), inner.begin(), inner.end());
  }
  return all;
}

Value sum_of_penalties(Graph& graph, Values penalties) {
  Value sum;
  for (const Value own : penalties) {
    const GraphScope scope(graph, graph.node(own).device, "regularizers");
    sum = sum ? ops::add(graph, sum, own) : own;
  }
  return sum;
}

}  // namespace gpubench
