// Interprets a graph node by node with the eager kernels: the same ops as the graph executor, at eager cost per op.
// Intermediate tensors return to the pool after their last reader.
#pragma once
#include <utility>
#include <vector>

#include "core/exec/eager.h"
#include "core/exec/executor.h"
#include "core/exec/step_fence.h"

namespace gpubench {

class EagerExecutor final : public Executor {
 public:
  /// `communicator` carries out the program's exchanges; nullptr if it has none.
  EagerExecutor(Runtime& runtime, Program program, bool inputs_on_device, Communicator* communicator = nullptr);

  void run(std::span<const TensorView> inputs) override;
  void run_again() override;
  void wait_for_inputs() override { fence_.wait(); }
  TensorView result(int index) const override;
  HostTensor read(int index) override;
  int inputs_in_flight() const override { return fence_.empty() ? 0 : StepFence::steps_in_flight; }
  PlanFacts facts() const override { return facts_; }

 private:
  /// `ready`: an input or a constant.
  enum class Kind : std::uint8_t { ready, variable, exchange, op };

  void run_nodes();
  void name_nodes();
  Eager::Part part(std::size_t index) const;
  void run_node(std::size_t index);
  /// All-reduces copies of the node's inputs, because other nodes may read the inputs too.
  std::vector<Tensor> all_reduce(std::size_t index);

  Eager eager_;
  Program program_;
  PlanFacts facts_;
  std::vector<Kind> kinds_;  // by node: to find it out by casts takes a quarter of a small op's time
  std::vector<std::pair<std::size_t, std::size_t>> inputs_;  // nodes of the inputs, and which each is
  std::vector<std::vector<Tensor>> values_;                  // by node
  std::vector<std::vector<std::size_t>> dies_;               // by node: the nodes whose values no later node reads
  std::vector<Tensor> gathered_;
  std::vector<Tensor> results_;
  std::vector<NodeId>
      traced_;  // by node: its number in the trace that began when the runtime had traced_in_ recordings
  std::uint64_t traced_in_ = 0;
  std::vector<Tensor> ready_;  // by node: the constants and the latest run's inputs, empty for other nodes
  StepFence fence_;            // for the devices to which inputs are copied
  bool inputs_on_device_;
  Communicator* communicator_;
};

}  // namespace gpubench
