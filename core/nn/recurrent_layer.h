// LSTM and GRU over sequences [steps, features]: one product of all steps' inputs with the kernel, then the recurrence
// (core/ops/recurrent.h). A second input [steps] of integers or bools is a mask: 0 for steps that leave the state as it
// is. Bidirectional runs the same layer with two sets of weights.
#pragma once
#include <functional>
#include <string>

#include "core/nn/layer.h"
#include "core/ops/recurrent.h"

namespace gpubench::nn {

/// Weights of one direction, as in Keras: kernel [features, gates * units], recurrent [units, gates * units], bias
/// [gates * units], of a GRU that resets after the product [2, gates * units]: of the input's product and of the
/// state's. Null for no bias.
struct RecurrentWeights {
  VariablePtr kernel, recurrent, bias;
  std::uint64_t seed = 0;  ///< of its dropout
};

/// The inputs of a recurrent layer, the time first.
struct Sequence {
  Value x;       ///< [steps, batch, features]
  Value mask{};  ///< bool [steps, batch]; none: no masked steps
};
Sequence sequence_of(Graph& graph, Values inputs);
/// Fails as `layer` unless the inputs behind the first are none or a mask for the first one's steps.
void check_mask(const Layer& layer, TensorTypes inputs);

class RecurrentLayer final : public Layer {
 public:
  static std::vector<ConfigField> fields(RecurrentCell cell);
  RecurrentLayer(Config config, DeviceId device);
  std::string default_name() const override { return cell_ == RecurrentCell::lstm ? "lstm" : "gru"; }
  bool draws() const override { return dropout_ > 0 || recurrent_dropout_ > 0; }
  TensorType output_type(TensorTypes inputs) const override;

  std::int64_t units() const { return units_; }
  bool returns_sequences() const { return config().flag("return_sequences"); }
  bool goes_backwards() const { return config().flag("go_backwards"); }

  /// Makes a variable of this name.
  using Make = std::function<VariablePtr(const std::string& name, const HostTensor& initial)>;
  RecurrentWeights make_weights(VariableFactory& factory, std::int64_t features, const Make& make) const;
  /// The states [steps, batch, units] in the order of the steps.
  Value run(const CallContext& context, const Sequence& sequence, const RecurrentWeights& weights,
            bool backwards) const;

 private:
  void make_variables(VariableFactory& factory, TensorTypes inputs) override;
  Value apply(const CallContext& context, Values inputs) const override;

  struct Biases {
    Value input;  ///< none for no bias
    Value inner;  ///< gru: of the state's part of the candidate
  };
  Biases biases(const CallContext& context, const VariablePtr& bias) const;
  /// x times the kernel: [steps * batch, gates * units].
  Value input_product(const CallContext& context, Value x, const RecurrentWeights& weights) const;
  /// Factors [batch, width] of dropout in training; none if nothing is dropped.
  Value factors(const CallContext& context, std::int64_t batch, std::int64_t width, double rate,
                std::uint64_t seed) const;

  RecurrentCell cell_;
  std::int64_t units_;
  double dropout_, recurrent_dropout_;
  RecurrentWeights weights_;
};

/// [batch, steps, features] <-> [steps, batch, features]
Value swap_batch_and_steps(Graph& graph, Value x);
/// The state [batch, units] that the recurrence computed last.
Value last_state(Graph& graph, Value states, bool backwards);

}  // namespace gpubench::nn
