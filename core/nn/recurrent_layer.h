// Recurrent layers over sequences [steps, ...]: what they have in common whatever their cell is, and SimpleRNN, LSTM
// and GRU. A second input [steps] of integers or bools is a mask, as one that comes with the sequence: 0 for steps that
// leave the state as it is. Bidirectional runs the same layer with two sets of weights.
#pragma once
#include <string>
#include <vector>

#include "core/nn/recurrent_cell.h"

namespace gpubench::nn {

/// The inputs of a recurrent layer, the time first; `states`: those that are given.
Sequence sequence_of(Graph& graph, const LayerArguments& given);
/// Fails as `layer` unless the inputs behind the first are none or a mask for the first one's steps.
void check_mask(const Layer& layer, TensorTypes inputs);
/// [batch, steps, ...] <-> [steps, batch, ...]
Value swap_batch_and_steps(Graph& graph, Value x);
/// The mask of a recurrent layer's inputs; none: no mask.
Value mask_of_steps(const LayerArguments& given);

class RecurrentBase : public Layer {
 public:
  /// return_sequences and what follows it in Keras.
  static std::vector<ConfigField> fields(std::vector<ConfigField> own);
  MaskRule mask_rule() const final { return returns_sequences() ? MaskRule::makes : MaskRule::ends; }
  bool reads_masks() const final { return true; }
  TensorType output_type(TensorTypes inputs) const final { return output_types(inputs, {}).front(); }

  bool returns_sequences() const { return config().flag("return_sequences"); }
  bool returns_state() const { return config().flag("return_state"); }
  bool goes_backwards() const { return config().flag("go_backwards"); }
  std::vector<VariablePtr> kept_states() const final { return kept_; }

 protected:
  using Layer::Layer;
  /// The sizes of the cell's states, and the size of its output.
  virtual Shape sizes() const = 0;
  virtual std::int64_t output_size(const TensorType& step) const = 0;
  /// Fails for a step of another type than the one that the weights were built for.
  virtual void check_step(TensorTypes inputs) const = 0;
  virtual RecurrentRun run(const CallContext& context, const Sequence& sequence, Wanted wanted) const = 0;
  virtual void make_weights(VariableFactory& factory, TensorTypes inputs) = 0;

 private:
  void make_variables(VariableFactory& factory, TensorTypes inputs) final;
  /// The kept states as they are now, for a sequence that is given none.
  std::vector<Value> states_before(const CallContext& context, std::int64_t rows) const;

  std::vector<TensorType> output_types(TensorTypes inputs, TensorTypes states) const final;
  Value apply(const CallContext& context, Values inputs) const final {
    return apply_all(context, {.inputs = inputs}).values.front();
  }
  LayerOutputs apply_all(const CallContext& context, const LayerArguments& given) const final;
  std::vector<Value> output_masks(const CallContext& context, const LayerArguments& given) const final;

  std::vector<VariablePtr> kept_;
};

/// SimpleRNN, LSTM or GRU.
class RecurrentLayer final : public RecurrentBase {
 public:
  RecurrentLayer(Config config, DeviceId device);
  std::string default_name() const override;
  bool draws() const override { return cell_.draws(); }
  const Cell& cell() const { return cell_; }

 private:
  Shape sizes() const override { return cell_.state_sizes(); }
  std::int64_t output_size(const TensorType&) const override { return cell_.units(); }
  void check_step(TensorTypes inputs) const override;
  void make_weights(VariableFactory& factory, TensorTypes inputs) override;
  RecurrentRun run(const CallContext& context, const Sequence& sequence, Wanted wanted) const override {
    return cell_.run(context, sequence, weights_, goes_backwards(), wanted);
  }

  Cell cell_;
  RecurrentWeights weights_;
};

}  // namespace gpubench::nn
