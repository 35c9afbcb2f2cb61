// The ops that executors carry out themselves: inputs, variables, constants and copies between devices. No backend
// plans them, except add_n, which is here because autodiff needs it.
#pragma once
#include "core/graph/op.h"
#include "core/graph/variable.h"
#include "core/tensor/host_tensor.h"

namespace gpubench {

/// A tensor provided by the caller of Executor::run.
class InputOp final : public Op {
 public:
  InputOp(int index, TensorType type) : index_(index), type_(std::move(type)) {}
  std::string_view name() const override { return "input"; }
  std::vector<TensorType> infer(TensorTypes) const override { return {type_}; }
  double flops(TensorTypes, TensorTypes) const override { return 0; }
  int index() const { return index_; }

 private:
  int index_;
  TensorType type_;
};

/// The memory of a variable, in the store of the replica that runs the graph.
class VariableOp final : public Op {
 public:
  explicit VariableOp(VariablePtr variable) : variable_(std::move(variable)) {}
  std::string_view name() const override { return "variable"; }
  std::vector<TensorType> infer(TensorTypes) const override { return {variable_->type}; }
  double flops(TensorTypes, TensorTypes) const override { return 0; }
  const VariablePtr& variable() const { return variable_; }

 private:
  VariablePtr variable_;
};

/// A value known when the graph is built; copied to the device once, at plan time.
class ConstantOp final : public Op {
 public:
  explicit ConstantOp(HostTensor value) : value_(std::move(value)) {}
  std::string_view name() const override { return "constant"; }
  std::vector<TensorType> infer(TensorTypes) const override { return {value_.type()}; }
  double flops(TensorTypes, TensorTypes) const override { return 0; }
  const HostTensor& value() const { return value_; }

 private:
  HostTensor value_;
};

/// Copies `x` from another device to the device of this node.
class Transfer final : public Op {
 public:
  std::string_view name() const override { return "transfer"; }
  std::vector<TensorType> infer(TensorTypes inputs) const override { return {inputs[0]}; }
  /// The gradient is a transfer back to the device of `x`.
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  double flops(TensorTypes, TensorTypes) const override { return 0; }
};

/// x [parts * n, ...] -> [n, ...]: one of `parts` equal parts along the first dimension. A view, so parts after the
/// first must begin at an aligned address; ops::batch_part copies the others.
class BatchPart final : public Op {
 public:
  /// 0 <= index < parts.
  BatchPart(std::int64_t index, std::int64_t parts) : index_(index), parts_(parts) {}
  std::string_view name() const override { return "batch_part"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::view}}; }
  double flops(TensorTypes, TensorTypes) const override { return 0; }
  double bytes(TensorTypes, TensorTypes) const override { return 0; }
  std::int64_t index() const { return index_; }

 private:
  std::int64_t index_, parts_;
};

/// Byte offset of the output of `op`, a view of type `output`, in the memory of its input.
std::size_t view_offset(const Op& op, const TensorType& output);

/// Adds the gradients of one value over several paths: inputs of one type, one output.
class AddN final : public Op {
 public:
  std::string_view name() const override { return "add_n"; }
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }
  bool adds_inputs() const override { return true; }
  double flops(TensorTypes inputs, TensorTypes outputs) const override;
  std::optional<BlockForm> block_form(std::span<const BlockInput>, std::int64_t) const override { return BlockForm{}; }
};

}  // namespace gpubench
