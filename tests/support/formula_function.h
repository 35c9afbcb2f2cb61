// A layer's function in C++, in place of a script's: a formula of the first input and, if there is one, a scalar
// weight.
#pragma once
#include <functional>
#include <memory>

#include "core/nn/layer.h"
#include "core/nn/layer_function.h"

namespace gpubench::support {

using Formula = std::function<Value(Graph& graph, Value x, const VariablePtr& weight)>;

struct FormulaBody final : FunctionBody {
  FormulaBody(Formula of, bool weighted) : formula(std::move(of)), has_weight(weighted) {}
  void build(const AddWeight& add, TensorTypes) override {
    if (has_weight) weight = add("scale", {}, parse_initializer("ones"), true);
  }
  Value call(const CallContext& context, Values inputs) override { return formula(context.graph, inputs[0], weight); }
  Value trial(const AddWeight& add, TensorTypes types, const CallContext& context, Values inputs) override {
    build(add, types);
    return call(context, inputs);
  }
  Formula formula;
  bool has_weight;
  VariablePtr weight;
};

struct FormulaFunction final : LayerFunction {
  FormulaFunction(Formula of, bool weighted) : formula(std::move(of)), has_weight(weighted) {}
  std::string name() const override { return "formula"; }
  std::string stored() const override { return R"({"function": "here"})"; }
  bool has_weights() const override { return has_weight; }
  std::unique_ptr<FunctionBody> body(const Layer&) const override {
    return std::make_unique<FormulaBody>(formula, has_weight);
  }
  Formula formula;
  bool has_weight;
};

inline LayerFunctionPtr formula_function(Formula formula, bool weighted = false) {
  return std::make_shared<FormulaFunction>(std::move(formula), weighted);
}

}  // namespace gpubench::support
