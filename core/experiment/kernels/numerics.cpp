#include "core/experiment/kernels/numerics.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/graph/gradients.h"
#include "core/graph/leaf_ops.h"
#include "core/ops/cast.h"
#include "core/ops/state.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

struct Limits {
  double largest, smallest_normal, smallest;
};

Limits limits_of(Dtype dtype) {
  if (dtype == Dtype::f16) return {65504, 0x1p-14, 0x1p-24};
  if (dtype == Dtype::bf16) return {0x1.FEp127, 0x1p-126, 0x1p-133};
  if (dtype == Dtype::f32) return {0x1.FFFFFEp127, 0x1p-126, 0x1p-149};
  throw Error(fmt::format("numerics: values are judged as float32, float16 or bfloat16, not as {}", to_string(dtype)));
}

/// A watched value and its position in the graph.
struct Watched {
  LayerNumerics numerics;
  Value value;
};

std::string without_owner(const std::string& variable) {
  return variable.substr(variable.rfind('/') + 1);
}

class NumericsGraph {
 public:
  NumericsGraph(Trainer& trainer, const std::vector<TensorType>& types, std::optional<Dtype> judged_as)
      : model_(trainer.model()), config_(trainer.config()), judged_as_(judged_as) {
    trainer.prepare_training(types);
    const std::vector<Value> outputs = call_model(types);
    watch_layers(outputs);
    const Value loss = loss_of(outputs);
    std::vector<Value> values;
    for (const Watched& one : watched_) values.push_back(one.value);
    const std::vector<Value> by =
        gradients(graph_, config_.loss_scale ? config_.loss_scale->scaled(graph_, loss) : loss, values);
    watch_gradients(by);
  }

  const std::vector<Watched>& watched() const { return watched_; }

  /// Computes only the watched values, as float32: statistics do not change.
  Program program() {
    Program program{graph_, {}};
    for (const Watched& one : watched_) program.outputs.push_back(ops::cast(program.graph, one.value, Dtype::f32));
    const std::vector<Node>& nodes = program.graph.nodes();
    std::vector<bool> wanted(nodes.size(), false);
    for (const Value output : program.outputs) wanted[static_cast<std::size_t>(output.node)] = true;
    for (std::size_t index = nodes.size(); index-- > 0;) {
      if (dynamic_cast<const InputOp*>(nodes[index].op.get()) != nullptr) wanted[index] = true;
      if (!wanted[index]) continue;
      for (const Value input : nodes[index].inputs) wanted[static_cast<std::size_t>(input.node)] = true;
    }
    Rewriter rewriter(program);
    for (std::size_t index = 0; index < nodes.size(); ++index) {
      const auto at = static_cast<std::int32_t>(index);
      if (!wanted[index]) continue;
      if (dynamic_cast<const Assign*>(nodes[index].op.get()) != nullptr) {
        rewriter.replace({at, 0}, rewriter.map(nodes[index].inputs[1]));  // reads the value that would be written
      } else {
        rewriter.keep(at);
      }
    }
    return rewriter.finish();
  }

 private:
  /// The output of every call.
  std::vector<Value> call_model(const std::vector<TensorType>& types) {
    if (types.size() != model_.inputs().size() + model_.outputs().size()) {
      throw Error(fmt::format("numerics: an element must be {} inputs and {} labels, got a tuple of {}",
                              model_.inputs().size(), model_.outputs().size(), types.size()));
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
      const bool label = i >= model_.inputs().size();
      const std::size_t call = label ? model_.outputs()[i - model_.inputs().size()] : model_.inputs()[i];
      const GraphScope scope(graph_, model_.calls()[call].layer->device(), "");
      (label ? values_.labels : values_.inputs).push_back(graph_.input(types[i], label ? "y" : "x"));
    }
    return model_.call_each({graph_, true, graph_.variable(config_.optimizer->iterations())}, values_.inputs);
  }

  void watch_layers(const std::vector<Value>& outputs) {
    std::vector<const Layer*> seen;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Layer& layer = *model_.calls()[i].layer;
      if (!is_floating(graph_.type(outputs[i]).dtype)) continue;
      watch(layer, "output", outputs[i]);
      if (std::ranges::find(seen, &layer) != seen.end()) continue;
      seen.push_back(&layer);
      for (const VariablePtr& variable : layer.variables()) {
        if (variable->trainable && layer.trainable())
          watch(layer, without_owner(variable->name), graph_.variable(variable));
      }
    }
  }

  void watch(const Layer& layer, std::string what, Value value) {
    const Dtype own = graph_.type(value).dtype, computed = layer.policy().compute;
    const Dtype judged = judged_as_.value_or(is_floating(computed) && what != "output" ? computed : own);
    watched_.push_back({{layer.name(), std::move(what), false, own, judged, {}}, value});
  }

  void watch_gradients(const std::vector<Value>& by) {
    const std::vector<Watched> values = watched_;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!by[i]) continue;
      Watched gradient{values[i].numerics, by[i]};
      gradient.numerics.gradient = true;
      gradient.numerics.dtype = graph_.type(by[i]).dtype;
      watched_.push_back(std::move(gradient));
    }
  }

  Value loss_of(const std::vector<Value>& calls) {
    for (const std::size_t output : model_.outputs()) values_.outputs.push_back(calls[output]);
    return total_loss(graph_, model_, config_, values_);
  }

  const Model& model_;
  const CompileConfig& config_;
  std::optional<Dtype> judged_as_;
  Graph graph_;
  StepValues values_;
  std::vector<Watched> watched_;
};

}  // namespace

NumericRange numeric_range(std::span<const float> values, Dtype judged_as) {
  const Limits limits = limits_of(judged_as);
  NumericRange range;
  range.elements = static_cast<std::int64_t>(values.size());
  for (const float value : values) {
    const double magnitude = std::abs(static_cast<double>(value));
    if (!std::isfinite(magnitude)) {
      ++range.not_finite;
      continue;
    }
    if (magnitude == 0) {
      ++range.zeros;
      continue;
    }
    if (magnitude > limits.largest) ++range.overflows;
    if (magnitude < limits.smallest_normal) ++range.underflows;
    if (magnitude <= limits.smallest / 2) ++range.lost;  // a tie rounds to even: zero
    range.largest = std::max(range.largest, magnitude);
    range.smallest = range.smallest == 0 ? magnitude : std::min(range.smallest, magnitude);
  }
  return range;
}

std::vector<LayerNumerics> measure_numerics(Trainer& trainer, const Element& batch, std::optional<Dtype> judged_as) {
  if (batch.device != nullptr) {
    throw Error(fmt::format("numerics: the batch is on {}; give a dataset whose elements are in host memory",
                            to_string(*batch.device)));
  }
  if (judged_as) limits_of(*judged_as);
  std::vector<TensorType> types;
  std::vector<TensorView> views;
  for (const HostTensor& tensor : batch) {
    types.push_back(tensor.type());
    views.push_back(tensor.view());
  }
  NumericsGraph built(trainer, types, judged_as);
  Program program = built.program();
  const auto executor = make_executor(trainer.runtime(), std::move(program.graph), program.outputs);
  executor->run(views);
  std::vector<LayerNumerics> rows;
  for (std::size_t i = 0; i < built.watched().size(); ++i) {
    rows.push_back(built.watched()[i].numerics);
    const HostTensor values = executor->read(static_cast<int>(i));
    rows.back().range = numeric_range(values.values<float>(), rows.back().judged_as);
  }
  return rows;
}

}  // namespace gpubench
