// Differentiates ops as they are applied to tensors: eager ops are recorded into a graph next to their results; inside
// a trace, gradient nodes are added to the traced graph. Both use core/graph/gradients.cpp. Outer tapes record what an
// inner tape computes.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "core/exec/dispatcher.h"

namespace gpubench {

class GradientTape final : public Tape {
 public:
  /// Records until stop() or destruction.
  explicit GradientTape(Dispatcher& dispatcher);
  ~GradientTape() override { stop(); }
  GradientTape(const GradientTape&) = delete;
  GradientTape& operator=(const GradientTape&) = delete;

  void stop() noexcept { dispatcher_.remove_tape(this); }
  /// d target / d source for each source; an empty Tensor if the target does not depend on it. Throws Error if `target`
  /// is not a floating scalar or was computed outside the tape, and where a gradient needs the value of a variable that
  /// has been written since it was read.
  std::vector<Tensor> gradient(const Tensor& target, std::span<const Tensor> sources);

  void record(const OpPtr& op, std::span<const Tensor> inputs, std::span<const Tensor> outputs, const DeviceId& device,
              const std::string& label) override;

 private:
  /// The memory of a variable, as it was when it was read.
  struct VariableRead {
    VariablePtr variable;
    std::uint64_t writes = 0;
  };
  Value value_of(const Tensor& tensor);
  bool is_current(const VariableRead& read) const;
  std::vector<Tensor> symbolic_gradient(const Tensor& target, std::span<const Tensor> sources);
  void evaluate(std::size_t first, Values wanted);
  void require_current(std::size_t node) const;

  Dispatcher& dispatcher_;
  Graph graph_;
  std::map<const void*, Value> known_;                 // by tensor or variable: its value in the graph
  std::map<const void*, std::vector<Value>> earlier_;  // by variable: its values before it was written
  std::map<std::int32_t, VariableRead> reads_;         // by node whose value is a variable's memory
  std::vector<std::vector<Tensor>> values_;            // by node and output
};

}  // namespace gpubench
