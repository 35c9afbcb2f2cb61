// One executor for all replicas of this process: a run is one step of all of them, each on its own thread with its rows
// of the inputs.
#pragma once
#include <memory>
#include <vector>

#include "core/exec/executor.h"
#include "core/exec/replicas.h"

namespace gpubench {

/// The graph of one replica, on the first replica's device and variables; without inputs if the replica has no rows.
struct ReplicaGraph {
  Graph graph;
  std::vector<Value> outputs;
};

class ReplicatedExecutor final : public Executor {
 public:
  /// One graph and one range of input rows for each replica. The communicator of `options` is ignored. Throws as
  /// make_executor.
  ReplicatedExecutor(ReplicasPtr replicas, std::vector<ReplicaGraph> graphs, std::vector<BatchShare> rows,
                     const ExecutorOptions& options);
  ~ReplicatedExecutor() override;

  /// Inputs in host memory; their first dimension covers the rows of all replicas.
  void run(std::span<const TensorView> inputs) override;
  /// The same with separate inputs for each replica.
  void run_each(const std::vector<std::vector<TensorView>>& inputs);
  void run_again() override;
  int inputs_in_flight() const override;
  void wait_for_inputs() override;
  /// The first replica's output.
  TensorView result(int index) const override { return executors_[0]->result(index); }
  /// The rows of all replicas, concatenated.
  HostTensor read(int index) override;
  /// The sum over all replicas.
  PlanFacts facts() const override;
  std::vector<NodeWork> work() const override { return executors_[0]->work(); }
  Executor& replica(int index) { return *executors_[static_cast<std::size_t>(index)]; }

 private:
  template <class Run>
  void step(Run&& run);
  /// The inputs, copied where backends need alignment: rows in the middle of a batch may begin at any address.
  std::span<const TensorView> aligned(int replica, const std::vector<TensorView>& inputs);

  ReplicasPtr replicas_;
  std::vector<BatchShare> rows_;
  std::vector<MirroredVariablePtr> variables_;
  std::vector<std::unique_ptr<Executor>> executors_;
  std::vector<std::vector<TensorType>> types_;  // by replica and input, set by the first inputs
  std::vector<std::vector<TensorView>> views_;
  struct Aligned {
    std::vector<HostTensor> copies;  // by input; empty until one is needed
    std::vector<TensorView> views;
  };
  std::vector<Aligned> aligned_;  // by replica
};

}  // namespace gpubench
