#include "core/nn/activation_function.h"

#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/softmax.h"

namespace gpubench {
namespace {

struct NamedActivation {
  std::string_view name;
  Value (*apply)(Graph&, Value);
  bool in_float32 = false;  ///< under a mixed policy
};

constexpr std::array named_activations = {
    NamedActivation{"linear", [](Graph&, Value x) { return x; }},
    NamedActivation{"relu", [](Graph& graph, Value x) { return ops::relu(graph, x); }},
    NamedActivation{"sigmoid", [](Graph& graph, Value x) { return ops::sigmoid(graph, x); }},
    NamedActivation{"tanh", [](Graph& graph, Value x) { return ops::tanh(graph, x); }},
    NamedActivation{"gelu", [](Graph& graph, Value x) { return ops::gelu(graph, x); }},
    NamedActivation{"gelu_tanh", [](Graph& graph, Value x) { return ops::gelu_tanh(graph, x); }},
    NamedActivation{"softmax", [](Graph& graph, Value x) { return ops::softmax(graph, x); }, true},
};

const NamedActivation* find_activation(std::string_view name) {
  if (name.empty()) return &named_activations[0];
  for (const NamedActivation& row : named_activations) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

void check_activation(std::string_view owner, std::string_view name) {
  if (find_activation(name) != nullptr) return;
  std::string names;
  for (const NamedActivation& row : named_activations) names += (names.empty() ? "" : ", ") + std::string(row.name);
  throw Error(fmt::format("{}: unknown activation '{}' (known: {})", owner, name, names));
}

Dtype activated_dtype(std::string_view name, const DtypePolicy& policy) {
  return policy.mixed() && find_activation(name)->in_float32 ? Dtype::f32 : policy.compute;
}

Value apply_activation(Graph& graph, std::string_view name, Value x, const DtypePolicy& policy) {
  return find_activation(name)->apply(graph, ops::cast(graph, x, activated_dtype(name, policy)));
}

}  // namespace gpubench
