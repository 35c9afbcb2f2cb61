// Element-wise ops of one tensor. Gradients that need more than one multiplication are ops of their own, so that one
// pass over memory does them.
#pragma once
#include "core/graph/graph.h"
#include "core/graph/op.h"

namespace gpubench {

/// One input, one output of the same type, which may take the input's memory.
class UnaryOp : public Op {
 public:
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const final;
  std::vector<Value> gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                              std::span<const Value> output_gradients) const final;
  std::vector<Alias> aliases() const final { return {{0, 0, Alias::Kind::may_overwrite}}; }
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const final;
  std::optional<BlockForm> block_form(std::span<const BlockInput>, std::int64_t) const final { return BlockForm{}; }

 protected:
  /// Throws Error for types that the op is not defined on. The default: floating-point only.
  virtual void check(const TensorType& type) const;
  /// d loss / d x for y = f(x); none where no gradient flows.
  virtual Value derivative(Graph& graph, Value x, Value y, Value dy) const = 0;
  /// A division, a root or a transcendental function counts one.
  virtual int flops_per_element() const { return 1; }
};

class Neg final : public UnaryOp {
 public:
  std::string_view name() const override { return "neg"; }

 protected:
  void check(const TensorType& type) const override;
  Value derivative(Graph& graph, Value x, Value y, Value dy) const override;
};

class Abs final : public UnaryOp {
 public:
  std::string_view name() const override { return "abs"; }

 protected:
  void check(const TensorType& type) const override;
  Value derivative(Graph& graph, Value x, Value y, Value dy) const override;
};

/// -1, 0 or 1. No gradient.
class Sign final : public UnaryOp {
 public:
  std::string_view name() const override { return "sign"; }

 protected:
  void check(const TensorType& type) const override;
  Value derivative(Graph&, Value, Value, Value) const override { return {}; }
};

class Square final : public UnaryOp {
 public:
  std::string_view name() const override { return "square"; }

 protected:
  void check(const TensorType& type) const override;
  Value derivative(Graph& graph, Value x, Value y, Value dy) const override;
};

class Sqrt final : public UnaryOp {
 public:
  std::string_view name() const override { return "sqrt"; }

 protected:
  Value derivative(Graph& graph, Value x, Value y, Value dy) const override;
};

class Rsqrt final : public UnaryOp {
 public:
  std::string_view name() const override { return "rsqrt"; }

 protected:
  Value derivative(Graph& graph, Value x, Value y, Value dy) const override;
  int flops_per_element() const override { return 2; }
};

class Exp final : public UnaryOp {
 public:
  std::string_view name() const override { return "exp"; }

 protected:
  Value derivative(Graph& graph, Value x, Value y, Value dy) const override;
};

class Log final : public UnaryOp {
 public:
  std::string_view name() const override { return "log"; }

 protected:
  Value derivative(Graph& graph, Value x, Value y, Value dy) const override;
};

/// No gradient.
class Floor final : public UnaryOp {
 public:
  std::string_view name() const override { return "floor"; }

 protected:
  Value derivative(Graph&, Value, Value, Value) const override { return {}; }
};

/// No gradient.
class Ceil final : public UnaryOp {
 public:
  std::string_view name() const override { return "ceil"; }

 protected:
  Value derivative(Graph&, Value, Value, Value) const override { return {}; }
};

/// To the nearest whole number, halves to the even one. No gradient.
class Round final : public UnaryOp {
 public:
  std::string_view name() const override { return "round"; }

 protected:
  Value derivative(Graph&, Value, Value, Value) const override { return {}; }
};

class Relu final : public UnaryOp {
 public:
  std::string_view name() const override { return "relu"; }

 protected:
  Value derivative(Graph& graph, Value x, Value y, Value dy) const override;
};

class Sigmoid final : public UnaryOp {
 public:
  std::string_view name() const override { return "sigmoid"; }

 protected:
  Value derivative(Graph& graph, Value x, Value y, Value dy) const override;
  int flops_per_element() const override { return 4; }
};

class Tanh final : public UnaryOp {
 public:
  std::string_view name() const override { return "tanh"; }

 protected:
  Value derivative(Graph& graph, Value x, Value y, Value dy) const override;
};

/// x * Phi(x) with the exact normal distribution (erf), not the tanh approximation.
class Gelu final : public UnaryOp {
 public:
  std::string_view name() const override { return "gelu"; }

 protected:
  Value derivative(Graph& graph, Value x, Value y, Value dy) const override;
  int flops_per_element() const override { return 5; }
};

/// The approximation of gelu by tanh: x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
class GeluTanh final : public UnaryOp {
 public:
  std::string_view name() const override { return "gelu_tanh"; }

 protected:
  Value derivative(Graph& graph, Value x, Value y, Value dy) const override;
  int flops_per_element() const override { return 8; }
};

class LogicalNot final : public UnaryOp {
 public:
  std::string_view name() const override { return "logical_not"; }

 protected:
  void check(const TensorType& type) const override;
  Value derivative(Graph&, Value, Value, Value) const override { return {}; }
};

/// dy and the activation's output (gelu and gelu_tanh: its input), of one floating type -> dx.
class ActivationGradientOp : public Op {
 public:
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const final;
  std::vector<Alias> aliases() const final {
    return {{0, 0, Alias::Kind::may_overwrite}, {0, 1, Alias::Kind::may_overwrite}};
  }
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const final;

 protected:
  virtual int flops_per_element() const = 0;
};

class ReluGradient final : public ActivationGradientOp {
 public:
  std::string_view name() const override { return "relu_gradient"; }

 protected:
  int flops_per_element() const override { return 1; }
};

class SigmoidGradient final : public ActivationGradientOp {
 public:
  std::string_view name() const override { return "sigmoid_gradient"; }

 protected:
  int flops_per_element() const override { return 3; }
};

class TanhGradient final : public ActivationGradientOp {
 public:
  std::string_view name() const override { return "tanh_gradient"; }

 protected:
  int flops_per_element() const override { return 3; }
};

class GeluGradient final : public ActivationGradientOp {
 public:
  std::string_view name() const override { return "gelu_gradient"; }

 protected:
  int flops_per_element() const override { return 11; }
};

class GeluTanhGradient final : public ActivationGradientOp {
 public:
  std::string_view name() const override { return "gelu_tanh_gradient"; }

 protected:
  int flops_per_element() const override { return 15; }
};

namespace ops {

Value neg(Graph& graph, Value x);
Value abs(Graph& graph, Value x);
Value sign(Graph& graph, Value x);
Value square(Graph& graph, Value x);
Value sqrt(Graph& graph, Value x);
Value rsqrt(Graph& graph, Value x);
Value exp(Graph& graph, Value x);
Value log(Graph& graph, Value x);
Value floor(Graph& graph, Value x);
Value relu(Graph& graph, Value x);
Value sigmoid(Graph& graph, Value x);
Value tanh(Graph& graph, Value x);
Value gelu(Graph& graph, Value x);
Value gelu_tanh(Graph& graph, Value x);
Value logical_not(Graph& graph, Value x);

Value relu_gradient(Graph& graph, Value dy, Value y);
Value sigmoid_gradient(Graph& graph, Value dy, Value y);
Value tanh_gradient(Graph& graph, Value dy, Value y);
Value gelu_gradient(Graph& graph, Value dy, Value x);
Value gelu_tanh_gradient(Graph& graph, Value dy, Value x);

}  // namespace ops
}  // namespace gpubench
