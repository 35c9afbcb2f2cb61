// RNN, which runs any cell over a sequence, and StackedRNNCells, several cells as one. The option `cell` is a cell's
// description, a list of them, or the function of a custom layer with a state_size.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/nn/architecture.h"
#include "core/nn/layer_function.h"
#include "core/nn/layer_kind.h"
#include "core/nn/recurrent_layer.h"

namespace gpubench::nn {
namespace {

/// A cell for `outer`, which must compute in its type.
LayerPtr checked_cell(const Layer& outer, LayerPtr cell) {
  if (cell->state_sizes().empty()) {
    throw Error(
        fmt::format("{}: a cell is expected, got {}: cells are SimpleRNNCell, LSTMCell, GRUCell, "
                    "StackedRNNCells, and gb.layers.custom with a state_size",
                    outer.kind(), cell->kind()));
  }
  if (cell->policy().name != outer.policy().name) {
    throw Error(fmt::format("{}: the layer's dtype is {}, that of {} is {}; both must be equal", outer.kind(),
                            outer.policy().name, cell->kind(), cell->policy().name));
  }
  if (!cell->config().text("activity_regularizer").empty()) {
    throw Error(fmt::format("{}: its {} has an activity_regularizer, which a cell does not take; give it to {}",
                            outer.kind(), cell->kind(), outer.kind()));
  }
  return cell;
}

std::vector<LayerPtr> cells_of(const Layer& outer, const std::string& text) {
  try {
    return layers_from_text(text, outer.device());
  } catch (const Error& error) {
    throw Error(
        fmt::format("{}: its cells: {}; a custom cell stands alone in gb.layers.RNN", outer.kind(), error.what()));
  }
}

/// Each cell reads the output of the one before it. The states are those of the first cell, then those of the second
/// and so on.
class StackedRnnCells final : public Layer {
 public:
  StackedRnnCells(Config given, DeviceId device) : Layer(std::move(given), std::move(device)) {
    for (LayerPtr& cell : cells_of(*this, config().text("cells"))) {
      cells_.push_back(checked_cell(*this, std::move(cell)));
    }
    if (cells_.empty()) throw Error("StackedRNNCells: needs at least one cell");
  }
  std::string default_name() const override { return "stacked_rnn_cells"; }
  bool draws() const override {
    return std::ranges::any_of(cells_, [](const LayerPtr& cell) { return cell->draws(); });
  }
  std::vector<LayerPtr> parts() const override { return cells_; }
  Shape state_sizes() const override {
    Shape all;
    for (const LayerPtr& cell : cells_) {
      const Shape own = cell->state_sizes();
      all.insert(all.end(), own.begin(), own.end());
    }
    return all;
  }
  TensorType output_type(TensorTypes inputs) const override { return output_types(inputs, {}).front(); }

 private:
  std::vector<TensorType> output_types(TensorTypes inputs, TensorTypes states) const override {
    check_states(*this, state_sizes(), states, false);
    std::vector<TensorType> outputs{only_input(inputs, 1, "[features]")};
    for (const LayerPtr& cell : cells_) {
      const std::size_t own = cell->state_sizes().size();
      std::vector<TensorType> given{outputs[0]};
      given.insert(given.end(), states.begin(), states.begin() + static_cast<std::ptrdiff_t>(own));
      states = states.subspan(own);
      const std::vector<TensorType> results = cell->infer(given, {.states = own});
      outputs[0] = results[0];
      outputs.insert(outputs.end(), results.begin() + 1, results.end());
    }
    return outputs;
  }
  void make_variables(VariableFactory& factory, TensorTypes inputs) override {
    TensorType input = inputs[0];
    std::size_t number = 0;
    for (const LayerPtr& cell : cells_) {
      cell->join(*this, fmt::format("cell_{}", ++number));
      std::vector<TensorType> given{input};
      const Shape sizes = cell->state_sizes();
      for (const std::int64_t size : sizes) given.push_back({{size}, input.dtype});
      const CallForm form{.states = sizes.size()};
      cell->build(factory, given, form);
      adopt_variables(*cell);
      input = cell->infer(given, form)[0];
    }
  }
  Value apply(const CallContext& context, Values inputs) const override {
    return apply_all(context, {.inputs = inputs}).values.front();
  }
  LayerOutputs apply_all(const CallContext& context, const LayerArguments& given) const override {
    LayerOutputs outputs{{given.inputs[0]}, {}};
    Values states = given.states;
    for (const LayerPtr& cell : cells_) {
      const std::size_t own = cell->state_sizes().size();
      std::vector<Value> arguments{outputs.values[0]};
      arguments.insert(arguments.end(), states.begin(), states.begin() + static_cast<std::ptrdiff_t>(own));
      states = states.subspan(own);
      const LayerOutputs results = cell->call(context, arguments, {.states = own}, {});
      outputs.values[0] = results.values[0];
      outputs.values.insert(outputs.values.end(), results.values.begin() + 1, results.values.end());
    }
    return outputs;
  }

  std::vector<LayerPtr> cells_;
};

class Rnn final : public RecurrentBase {
 public:
  Rnn(Config given, DeviceId device)
      : RecurrentBase(std::move(given), std::move(device)), cell_(checked_cell(*this, described_cell())) {}
  std::string default_name() const override { return "rnn"; }
  bool draws() const override { return cell_->draws(); }
  std::vector<LayerPtr> parts() const override { return {cell_}; }

 private:
  LayerPtr described_cell() const {
    const ConfigEntries common{{"dtype", policy().name}};
    if (const LayerFunctionPtr function = config().function("cell")) {
      return make_layer("custom", {{"function", function}, common[0]}, this->device());
    }
    const std::string& text = config().text("cell");
    if (text.starts_with('[')) return make_layer("StackedRNNCells", {{"cells", text}, common[0]}, this->device());
    try {
      return layer_from_text(text, this->device());
    } catch (const Error& error) {
      throw Error(fmt::format("RNN: the option 'cell': {}", error.what()));
    }
  }
  Shape sizes() const override { return cell_->state_sizes(); }
  /// A step and the states beside it, per example.
  std::vector<TensorType> arguments_of(const TensorType& step) const {
    std::vector<TensorType> given{step};
    for (const std::int64_t size : sizes()) given.push_back({{size}, step.dtype});
    return given;
  }
  CallForm form() const { return {.states = sizes().size()}; }
  std::int64_t output_size(const TensorType& step) const override {
    const TensorType output = cell_->infer(arguments_of(step), form())[0];
    if (output.rank() != 1) fail(fmt::format("its cell must return [units] per example, got {}", to_string(output)));
    return output.shape[0];
  }
  void check_step(TensorTypes inputs) const override {
    if (inputs[0].rank() >= 1) return;
    fail(fmt::format("expects [steps, ...] per example, got {}", to_string(inputs[0])));
  }
  void make_weights(VariableFactory& factory, TensorTypes inputs) override {
    const TensorType& input = inputs[0];
    cell_->join(*this, "cell");
    cell_->build(factory, arguments_of({Shape(input.shape.begin() + 1, input.shape.end()), input.dtype}), form());
    adopt_variables(*cell_);
  }
  RecurrentRun run(const CallContext& context, const Sequence& sequence, Wanted wanted) const override {
    Graph& graph = context.graph;
    if (const auto* const own = dynamic_cast<const CellLayer*>(cell_.get())) {
      return own->cell().run(context, sequence, own->weights(), goes_backwards(), wanted);
    }
    return unrolled(graph, sequence, sizes(), policy().compute, goes_backwards(), wanted,
                    [&](std::int64_t step, const std::vector<Value>& states) {
                      std::vector<Value> arguments{row_of(graph, sequence.x, step)};
                      arguments.insert(arguments.end(), states.begin(), states.end());
                      return cell_->call(context, arguments, form(), {}).values;
                    });
  }

  LayerPtr cell_;
};

}  // namespace

LayerKind rnn() {
  return {"RNN", {"cell"}, RecurrentBase::fields({{"cell", std::string(), true, true}}), &construct_layer<Rnn>};
}
LayerKind stacked_rnn_cells() {
  return {"StackedRNNCells", {"cells"}, {{"cells", std::string(), true}}, &construct_layer<StackedRnnCells>};
}

}  // namespace gpubench::nn
