// The cells of recurrent layers: SimpleRNN, LSTM and GRU with the options of Keras. A cell runs over a whole sequence:
// by the op of core/ops/recurrent.h where that computes its functions, else step by step in the graph.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/nn/layer.h"
#include "core/ops/recurrent.h"

namespace gpubench::nn {

enum class CellKind : std::uint8_t { simple, lstm, gru };

/// Weights of one direction, as in Keras: kernel [features, gates * units], recurrent [units, gates * units], bias
/// [gates * units], of a GRU that resets after the product [2, gates * units]: of the input's product and of the
/// state's. Null for no bias.
struct RecurrentWeights {
  VariablePtr kernel, recurrent, bias;
  std::uint64_t seed = 0;  ///< of its dropout
};

/// The inputs of a recurrent layer, the time first.
struct Sequence {
  Value x;                      ///< [steps, batch, ...]
  Value mask{};                 ///< bool [steps, batch]; none: no masked steps
  std::vector<Value> states{};  ///< [batch, size] before the first step; empty: zeros
};

/// What is asked of a run.
struct Wanted {
  bool outputs = false;  ///< of all steps; else the last one
  bool states = false;   ///< after the last step
};

/// What a recurrent layer computes from a sequence; what is not wanted may be missing.
struct RecurrentRun {
  Value outputs{};  ///< [steps, batch, units] in the order of the steps
  Value last{};     ///< the output that was computed last, [batch, units]
  std::vector<Value> states{};
};

/// One step: from its index and the states, the output and the new states behind it.
using RecurrentBody = std::function<std::vector<Value>(std::int64_t step, const std::vector<Value>& states)>;
/// Step by step. At masked steps, the states stay, and the output is that of the step before; 0 before the first.
RecurrentRun unrolled(Graph& graph, const Sequence& sequence, const Shape& state_sizes, Dtype dtype, bool backwards,
                      Wanted wanted, const RecurrentBody& body);

/// What a cell computes. `layer` has the options of fields(), and must outlive the object.
class Cell {
 public:
  static std::vector<ConfigField> fields(CellKind kind);
  Cell(const Layer& layer, CellKind kind);

  CellKind kind() const { return kind_; }
  std::int64_t units() const { return units_; }
  /// The sizes of its states: of an LSTM the output and the memory.
  Shape state_sizes() const { return Shape(kind_ == CellKind::lstm ? 2 : 1, units_); }
  bool draws() const { return dropout_ > 0 || recurrent_dropout_ > 0; }

  /// Makes a variable of this name.
  using Make = std::function<VariablePtr(const std::string& name, const HostTensor& initial)>;
  RecurrentWeights make_weights(VariableFactory& factory, std::int64_t features, const Make& make) const;
  RecurrentRun run(const CallContext& context, const Sequence& sequence, const RecurrentWeights& weights,
                   bool backwards, Wanted wanted) const;

 private:
  struct Biases {
    Value input;  ///< none for no bias
    Value inner;  ///< gru that resets after the product: of the state's part of the candidate
  };
  /// The part of a step that is the same in all steps.
  struct Prepared {
    Value recurrent, inner, factors;
  };

  std::int64_t gates() const { return kind_ == CellKind::simple ? 1 : kind_ == CellKind::lstm ? 4 : 3; }
  bool resets_after() const { return kind_ == CellKind::gru && layer_.config().flag("reset_after"); }
  /// Whether the op computes these functions.
  bool has_op() const;
  Biases biases(const CallContext& context, const VariablePtr& bias) const;
  /// x times the kernel, plus the bias: [steps, batch, gates * units].
  Value input_sums(const CallContext& context, Value x, const RecurrentWeights& weights, Value bias) const;
  Value input_product(const CallContext& context, Value x, const RecurrentWeights& weights) const;
  /// Factors [batch, width] of dropout in training; none if nothing is dropped.
  Value factors(const CallContext& context, std::int64_t batch, std::int64_t width, double rate,
                std::uint64_t seed) const;
  RecurrentRun run_op(const CallContext& context, const Sequence& sequence, Value sums, const Prepared& prepared,
                      bool backwards, Wanted wanted) const;
  std::vector<Value> step(Graph& graph, Value sums, const Prepared& prepared, const std::vector<Value>& states) const;
  std::vector<Value> gru_step(Graph& graph, Value sums, const Prepared& prepared, Value state) const;
  /// The state times the recurrent kernel of the gates from `first` to before `last`.
  Value product(Graph& graph, const Prepared& prepared, Value state, std::int64_t first, std::int64_t last) const;
  Value activated(Graph& graph, const char* option, Value x) const;

  const Layer& layer_;
  CellKind kind_;
  std::int64_t units_;
  double dropout_, recurrent_dropout_;
};

/// A cell by itself: [features] and its states -> the output and the new states.
class CellLayer final : public Layer {
 public:
  CellLayer(Config config, DeviceId device);
  std::string default_name() const override;
  bool draws() const override { return cell_.draws(); }
  Shape state_sizes() const override { return cell_.state_sizes(); }
  TensorType output_type(TensorTypes inputs) const override { return output_types(inputs, {}).front(); }
  const Cell& cell() const { return cell_; }
  const RecurrentWeights& weights() const { return weights_; }

 private:
  std::vector<TensorType> output_types(TensorTypes inputs, TensorTypes states) const override;
  void make_variables(VariableFactory& factory, TensorTypes inputs) override;
  Value apply(const CallContext& context, Values inputs) const override {
    return apply_all(context, {.inputs = inputs}).values.front();
  }
  LayerOutputs apply_all(const CallContext& context, const LayerArguments& given) const override;

  Cell cell_;
  RecurrentWeights weights_;
};

/// Fails as `layer` unless there is a floating-point state [size] for each size, or, if `optional`, none.
void check_states(const Layer& layer, const Shape& sizes, TensorTypes states, bool optional);
/// Row `row` of the first dimension.
Value row_of(Graph& graph, Value x, std::int64_t row);

}  // namespace gpubench::nn
