#include "core/nn/activation_function.h"

#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/ops/cast.h"
#include "core/ops/softmax.h"
#include "core/ops/unary.h"

namespace gpubench {
namespace {

struct Row {
  std::string_view name;
  Value (*apply)(Graph&, Value);
  bool in_float32 = false;  ///< under a mixed policy
};

constexpr std::array rows = {
    Row{"linear", [](Graph&, Value x) { return x; }},
    Row{"relu", [](Graph& graph, Value x) { return ops::relu(graph, x); }},
    Row{"sigmoid", [](Graph& graph, Value x) { return ops::sigmoid(graph, x); }},
    Row{"tanh", [](Graph& graph, Value x) { return ops::tanh(graph, x); }},
    Row{"gelu", [](Graph& graph, Value x) { return ops::gelu(graph, x); }},
    Row{"gelu_tanh", [](Graph& graph, Value x) { return ops::gelu_tanh(graph, x); }},
    Row{"softmax", [](Graph& graph, Value x) { return ops::softmax(graph, x); }, true},
};

const Row* find(std::string_view name) {
  if (name.empty()) return &rows[0];
  for (const Row& row : rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

void check_activation(std::string_view owner, std::string_view name) {
  if (find(name) != nullptr) return;
  std::string names;
  for (const Row& row : rows) names += (names.empty() ? "" : ", ") + std::string(row.name);
  throw Error(fmt::format("{}: unknown activation '{}' (known: {})", owner, name, names));
}

Dtype activated_dtype(std::string_view name, const DtypePolicy& policy) {
  return policy.mixed() && find(name)->in_float32 ? Dtype::f32 : policy.compute;
}

Value apply_activation(Graph& graph, std::string_view name, Value x, const DtypePolicy& policy) {
  return find(name)->apply(graph, ops::cast(graph, x, activated_dtype(name, policy)));
}

}  // namespace gpubench
