// Element-wise ops of two tensors (and Select of three) with NumPy's broadcasting. Both inputs have one dtype: a cast
// is never implied.
#pragma once
#include <array>

#include "core/graph/graph.h"
#include "core/graph/op.h"

namespace gpubench {

/// a, b -> c of their dtype; c may take the memory of an input that was not stretched.
class ArithmeticOp : public Op {
 public:
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const final;
  std::vector<Value> gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                              std::span<const Value> output_gradients) const final;
  std::vector<Alias> aliases() const final {
    return {{0, 0, Alias::Kind::may_overwrite}, {0, 1, Alias::Kind::may_overwrite}};
  }
  std::optional<BlockForm> block_form(std::span<const BlockInput>, std::int64_t) const final {
    return BlockForm{.inputs = BlockForm::Inputs::stretched};
  }

 protected:
  /// Throws Error for types that the op is not defined on. The default: anything numeric.
  virtual void check(const TensorType& type) const;
  /// The gradients of a and b in the shape of c.
  virtual std::array<Value, 2> derivatives(Graph& graph, Value a, Value b, Value c, Value dc) const = 0;
};

class Add final : public ArithmeticOp {
 public:
  std::string_view name() const override { return "add"; }

 protected:
  std::array<Value, 2> derivatives(Graph& graph, Value a, Value b, Value c, Value dc) const override;
};

class Sub final : public ArithmeticOp {
 public:
  std::string_view name() const override { return "sub"; }

 protected:
  std::array<Value, 2> derivatives(Graph& graph, Value a, Value b, Value c, Value dc) const override;
};

class Mul final : public ArithmeticOp {
 public:
  std::string_view name() const override { return "mul"; }

 protected:
  std::array<Value, 2> derivatives(Graph& graph, Value a, Value b, Value c, Value dc) const override;
};

/// Floating-point only: an integer division by zero has no result.
class Div final : public ArithmeticOp {
 public:
  std::string_view name() const override { return "div"; }

 protected:
  void check(const TensorType& type) const override;
  std::array<Value, 2> derivatives(Graph& graph, Value a, Value b, Value c, Value dc) const override;
};

/// Floating-point only. The exponent's gradient is 0 where the base is not positive.
class Pow final : public ArithmeticOp {
 public:
  std::string_view name() const override { return "pow"; }

 protected:
  void check(const TensorType& type) const override;
  std::array<Value, 2> derivatives(Graph& graph, Value a, Value b, Value c, Value dc) const override;
};

/// a / b rounded down; integers divided by 0 are 0. No gradient.
class FloorDiv final : public ArithmeticOp {
 public:
  std::string_view name() const override { return "floor_div"; }

 protected:
  std::array<Value, 2> derivatives(Graph&, Value, Value, Value, Value) const override { return {}; }
};

/// What floor_div leaves, of the sign of b; 0 for integers divided by 0.
class FloorMod final : public ArithmeticOp {
 public:
  std::string_view name() const override { return "floor_mod"; }

 protected:
  std::array<Value, 2> derivatives(Graph& graph, Value a, Value b, Value c, Value dc) const override;
};

/// Where both are equal, the gradient goes to a.
class Maximum final : public ArithmeticOp {
 public:
  std::string_view name() const override { return "maximum"; }

 protected:
  std::array<Value, 2> derivatives(Graph& graph, Value a, Value b, Value c, Value dc) const override;
};

/// Where both are equal, the gradient goes to a.
class Minimum final : public ArithmeticOp {
 public:
  std::string_view name() const override { return "minimum"; }

 protected:
  std::array<Value, 2> derivatives(Graph& graph, Value a, Value b, Value c, Value dc) const override;
};

/// a, b -> bool. No gradient.
class ComparisonOp : public Op {
 public:
  std::optional<BlockForm> block_form(std::span<const BlockInput>, std::int64_t) const final {
    return BlockForm{.inputs = BlockForm::Inputs::stretched};
  }
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const final;
};

class Equal final : public ComparisonOp {
 public:
  std::string_view name() const override { return "equal"; }
};

class NotEqual final : public ComparisonOp {
 public:
  std::string_view name() const override { return "not_equal"; }
};

class Less final : public ComparisonOp {
 public:
  std::string_view name() const override { return "less"; }
};

class LessEqual final : public ComparisonOp {
 public:
  std::string_view name() const override { return "less_equal"; }
};

class Greater final : public ComparisonOp {
 public:
  std::string_view name() const override { return "greater"; }
};

class GreaterEqual final : public ComparisonOp {
 public:
  std::string_view name() const override { return "greater_equal"; }
};

/// bool, bool -> bool. No gradient.
class LogicalOp : public Op {
 public:
  std::optional<BlockForm> block_form(std::span<const BlockInput>, std::int64_t) const final {
    return BlockForm{.inputs = BlockForm::Inputs::stretched};
  }
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const final;
  std::vector<Alias> aliases() const final {
    return {{0, 0, Alias::Kind::may_overwrite}, {0, 1, Alias::Kind::may_overwrite}};
  }
};

class LogicalAnd final : public LogicalOp {
 public:
  std::string_view name() const override { return "logical_and"; }
};

class LogicalOr final : public LogicalOp {
 public:
  std::string_view name() const override { return "logical_or"; }
};

/// bool condition, a, b -> a where the condition holds, else b; all three broadcast.
class Select final : public Op {
 public:
  std::string_view name() const override { return "select"; }
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Value> gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                              std::span<const Value> output_gradients) const override;
  std::vector<Alias> aliases() const override {
    return {{0, 1, Alias::Kind::may_overwrite}, {0, 2, Alias::Kind::may_overwrite}};
  }
  std::optional<BlockForm> block_form(std::span<const BlockInput>, std::int64_t) const override {
    return BlockForm{.inputs = BlockForm::Inputs::stretched};
  }
};

namespace ops {

Value add(Graph& graph, Value a, Value b);
Value sub(Graph& graph, Value a, Value b);
Value mul(Graph& graph, Value a, Value b);
Value div(Graph& graph, Value a, Value b);
Value pow(Graph& graph, Value a, Value b);
Value maximum(Graph& graph, Value a, Value b);
Value minimum(Graph& graph, Value a, Value b);
Value equal(Graph& graph, Value a, Value b);
Value not_equal(Graph& graph, Value a, Value b);
Value less(Graph& graph, Value a, Value b);
Value less_equal(Graph& graph, Value a, Value b);
Value greater(Graph& graph, Value a, Value b);
Value greater_equal(Graph& graph, Value a, Value b);
Value logical_and(Graph& graph, Value a, Value b);
Value logical_or(Graph& graph, Value a, Value b);
Value select(Graph& graph, Value condition, Value a, Value b);

}  // namespace ops
}  // namespace gpubench
