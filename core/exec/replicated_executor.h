// One executor for the replicas of this process: a run is one step of all of them, each on its own thread, with its
// rows of the inputs.
#pragma once
#include <memory>
#include <vector>

#include "core/exec/executor.h"
#include "core/exec/replicas.h"

namespace gpubench {

/// What one replica computes, on the first replica's device and variables; where it has no rows, without inputs.
struct ReplicaGraph {
  Graph graph;
  std::vector<Value> outputs;
};

class ReplicatedExecutor final : public Executor {
 public:
  /// One graph for each replica, with the rows of the inputs that it takes; `options` but for the communicator. Throws
  /// what make_executor throws.
  ReplicatedExecutor(ReplicasPtr replicas, std::vector<ReplicaGraph> graphs, std::vector<BatchShare> rows,
                     const ExecutorOptions& options);
  ~ReplicatedExecutor() override;

  /// Inputs in the host's memory, whose first dimensions are all replicas' rows.
  void run(std::span<const TensorView> inputs) override;
  /// The same with inputs for each replica of its own.
  void run_each(const std::vector<std::vector<TensorView>>& inputs);
  void run_again() override;
  int inputs_in_flight() const override;
  void wait_for_inputs() override;
  /// Of the first replica.
  TensorView result(int index) const override { return executors_[0]->result(index); }
  /// The rows of all replicas, one after the other.
  HostTensor read(int index) override;
  /// Of all replicas together.
  PlanFacts facts() const override;
  Executor& replica(int index) { return *executors_[static_cast<std::size_t>(index)]; }

 private:
  template <class Run>
  void step(Run&& run);
  /// The inputs where backends may read them: rows in the middle of a batch may begin at any address.
  std::span<const TensorView> aligned(int replica, const std::vector<TensorView>& inputs);

  ReplicasPtr replicas_;
  std::vector<BatchShare> rows_;
  std::vector<MirroredVariablePtr> variables_;
  std::vector<std::unique_ptr<Executor>> executors_;
  std::vector<std::vector<TensorType>> types_;  // by replica and input, once inputs have been seen
  std::vector<std::vector<TensorView>> views_;
  struct Aligned {
    std::vector<HostTensor> copies;  // by input; empty where none was needed yet
    std::vector<TensorView> views;
  };
  std::vector<Aligned> aligned_;  // by replica
};

}  // namespace gpubench
