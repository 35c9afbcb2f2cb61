// Ops that apply one function of core/math/functions.h to each element: a class and a function in namespace ops for
// every row of its table. Two inputs must have the same dtype: casts are never implicit. Gradients that need more than
// one multiplication are their own ops, so that they take one pass over memory.
#pragma once
#include <array>

#include "core/math/functions.h"
#include "core/ops/simple_op.h"

namespace gpubench {

/// A row of the table.
struct ElementwiseFunction {
  /// The node whose gradient is computed: its inputs (`b` is none for one input), its output, and the output's
  /// gradient.
  struct Node {
    Graph& graph;
    Value a, b, output, gradient;
  };

  std::string_view name;
  math::Domain domain;
  int flops;
  /// The gradients of a and b in the output's shape, or as Op::gradient() says.
  std::array<Value, 2> (*derivatives)(const Node& node);
};

class ElementwiseOp : public Op {
 public:
  std::string_view name() const final { return function_.name; }
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const final;
  double flops(TensorTypes inputs, TensorTypes outputs) const final;

 protected:
  explicit ElementwiseOp(const ElementwiseFunction& function) : function_(function) {}
  /// Throws Error for types outside the function's domain.
  void check(const TensorType& type) const;
  math::Domain domain() const { return function_.domain; }

 private:
  ElementwiseFunction function_;
};

/// x -> y of the same type, which may overwrite x.
class UnaryOp : public ElementwiseOp {
 public:
  std::vector<TensorType> infer(TensorTypes inputs) const final;
  std::vector<Alias> aliases() const final { return {{0, 0, Alias::Kind::may_overwrite}}; }
  std::optional<BlockForm> block_form(std::span<const BlockInput>, std::int64_t) const final { return BlockForm{}; }

 protected:
  using ElementwiseOp::ElementwiseOp;
};

/// dy and the function's result or argument, of the same type -> dx.
class GradientOp : public ElementwiseOp {
 public:
  std::vector<TensorType> infer(TensorTypes inputs) const final;
  std::vector<Alias> aliases() const final {
    return {{0, 0, Alias::Kind::may_overwrite}, {0, 1, Alias::Kind::may_overwrite}};
  }

 protected:
  using ElementwiseOp::ElementwiseOp;
};

/// a, b -> c of their dtype, with broadcasting; c may overwrite an input that is not broadcast.
class ArithmeticOp : public ElementwiseOp {
 public:
  std::vector<TensorType> infer(TensorTypes inputs) const final;
  std::vector<Alias> aliases() const final {
    return {{0, 0, Alias::Kind::may_overwrite}, {0, 1, Alias::Kind::may_overwrite}};
  }
  std::optional<BlockForm> block_form(std::span<const BlockInput>, std::int64_t) const final {
    return BlockForm{.inputs = BlockForm::Inputs::stretched};
  }

 protected:
  using ElementwiseOp::ElementwiseOp;
};

/// a, b -> bool, with broadcasting. No gradient.
class PredicateOp : public ElementwiseOp {
 public:
  std::vector<TensorType> infer(TensorTypes inputs) const final;
  std::vector<Alias> aliases() const final;
  std::optional<BlockForm> block_form(std::span<const BlockInput>, std::int64_t) const final {
    return BlockForm{.inputs = BlockForm::Inputs::stretched};
  }

 protected:
  using ElementwiseOp::ElementwiseOp;
};

#define GPUBENCH_ROW(Kind, name, Type, domain, cost, flops) \
  class Type final : public Kind##Op {                      \
   public:                                                  \
    Type();                                                 \
  };
GPUBENCH_ELEMENTWISE_FUNCTIONS(GPUBENCH_ROW)
#undef GPUBENCH_ROW

/// bool condition, a, b -> a where the condition is true, else b; all three broadcast.
struct Select final : SimpleOp {
  Select();
};

namespace ops {

// Value relu(Graph& graph, Value x); Value add(Graph& graph, Value a, Value b); ...
#define GPUBENCH_ROW(Kind, name, Type, domain, cost, flops) Value name(Graph& graph, Value x);
GPUBENCH_FUNCTIONS_OF_ONE(GPUBENCH_ROW)
#undef GPUBENCH_ROW
#define GPUBENCH_ROW(Kind, name, Type, domain, cost, flops) Value name(Graph& graph, Value a, Value b);
GPUBENCH_FUNCTIONS_OF_TWO(GPUBENCH_ROW)
#undef GPUBENCH_ROW
Value select(Graph& graph, Value condition, Value a, Value b);

}  // namespace ops
}  // namespace gpubench
