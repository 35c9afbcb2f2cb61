// Sums and maxima over the replicas of a model. Each replica has its own graph. All replicas must run the same
// exchanges in the same order, even if this replica ignores a result. A pass joins exchanges of gradients into buckets,
// which run beside kernels. Executors carry out exchanges through a communicator.
#pragma once
#include "core/graph/graph.h"
#include "core/graph/op.h"
#include "core/tensor/tensor_view.h"

namespace gpubench {

/// Tensors of any types -> the same types, in place.
class ExchangeOp : public Op {
 public:
  std::vector<TensorType> infer(TensorTypes inputs) const override { return {inputs.begin(), inputs.end()}; }
  /// Each output shares memory with its input.
  std::vector<Alias> aliases() const override { return aliases_; }
  double flops(TensorTypes, TensorTypes) const override { return 0; }
  /// The communicator reports the exchanged bytes.
  double bytes(TensorTypes, TensorTypes) const override { return 0; }

 protected:
  explicit ExchangeOp(std::size_t tensors);

 private:
  std::vector<Alias> aliases_;
};

/// x... -> their sums (or maxima) over all replicas. The gradient of a sum over replicas is the sum of their gradients;
/// a maximum has no rule.
class AllReduce : public ExchangeOp {
 public:
  explicit AllReduce(std::size_t tensors, Reduction of = Reduction::sum, bool may_wait = false)
      : ExchangeOp(tensors), reduction(of), in_bucket(may_wait) {}
  std::string_view name() const override { return reduction == Reduction::sum ? "all_reduce" : "all_reduce_max"; }
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;

  const Reduction reduction;
  const bool in_bucket;  ///< may be joined with others; runs beside kernels until a node reads the result
};

/// Begins an all-reduce beside the kernels. The outputs are complete after AllReduceEnd.
class AllReduceBegin final : public ExchangeOp {
 public:
  explicit AllReduceBegin(std::size_t tensors) : ExchangeOp(tensors) {}
  std::string_view name() const override { return "all_reduce_begin"; }
};

/// The outputs of AllReduceBegin, complete.
class AllReduceEnd final : public ExchangeOp {
 public:
  explicit AllReduceEnd(std::size_t tensors) : ExchangeOp(tensors) {}
  std::string_view name() const override { return "all_reduce_end"; }
};

/// The sum of `x` over all replicas.
Value all_reduce(Graph& graph, Value x);
/// The same, AllReduce::in_bucket.
Value all_reduce_in_bucket(Graph& graph, Value x);
/// Element-wise maximum of `x` over all replicas.
Value all_reduce_max(Graph& graph, Value x);

}  // namespace gpubench
