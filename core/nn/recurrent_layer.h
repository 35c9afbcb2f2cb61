// LSTM and GRU over sequences [steps, features]: one product of all steps' inputs with the kernel, then the recurrence
// (core/ops/recurrent.h). Bidirectional runs the same layer with two sets of weights.
#pragma once
#include <functional>
#include <string>

#include "core/nn/layer.h"
#include "core/ops/recurrent.h"

namespace gpubench::nn {

/// Weights of one direction, as in Keras: kernel [features, gates * units], recurrent [units, gates * units], bias
/// [gates * units], of a GRU [2, gates * units]: of the input's product and of the state's. Null for no bias.
struct RecurrentWeights {
  VariablePtr kernel, recurrent, bias;
};

class RecurrentLayer final : public Layer {
 public:
  static std::vector<ConfigField> fields(RecurrentCell cell);
  RecurrentLayer(Config config, DeviceId device);
  std::string default_name() const override { return std::string(to_string(cell_)); }
  TensorType output_type(std::span<const TensorType> inputs) const override;

  std::int64_t units() const { return units_; }
  bool returns_sequences() const { return config().flag("return_sequences"); }
  bool goes_backwards() const { return config().flag("go_backwards"); }

  /// Makes a variable of this name.
  using Make = std::function<VariablePtr(const std::string& name, const HostTensor& initial)>;
  RecurrentWeights make_weights(VariableFactory& factory, std::int64_t features, const Make& make) const;
  /// x [steps, batch, features] -> the states [steps, batch, units] in the order of the steps.
  Value run(const CallContext& context, Value x, const RecurrentWeights& weights, bool backwards) const;

 private:
  void make_variables(VariableFactory& factory, std::span<const TensorType> inputs) override;
  Value apply(const CallContext& context, std::span<const Value> inputs) const override;

  struct Biases {
    Value input;  ///< none for no bias
    Value inner;  ///< gru: of the state's part of the candidate
  };
  Biases biases(const CallContext& context, const VariablePtr& bias) const;

  RecurrentCell cell_;
  std::int64_t units_;
  RecurrentWeights weights_;
};

/// [batch, steps, ...] <-> [steps, batch, ...]
Value swap_batch_and_steps(Graph& graph, Value x);
/// The state [batch, units] that the recurrence computed last.
Value last_state(Graph& graph, Value states, bool backwards);

}  // namespace gpubench::nn
