#include "core/nn/distillation.h"

#include <cmath>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/nn/labels.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/loss.h"
#include "core/ops/softmax.h"

namespace gpubench {
namespace {

constexpr std::string_view own_name = "distillation";

class DistillationLoss final : public Loss {
 public:
  DistillationLoss(ModelPtr teacher, LossPtr labels_loss, const DistillationOptions& options)
      : teacher_(std::move(teacher)), labels_loss_(std::move(labels_loss)), options_(options) {
    constexpr double highest = 1e6;  // its square scales the loss, in float32
    if (!(options.temperature > 0 && options.temperature <= highest)) {
      throw Error(fmt::format("distillation: temperature must be above 0 and at most {:g}, got {}", highest,
                              options.temperature));
    }
    if (labels_loss_->reads_inputs())
      throw Error("distillation: its loss on the labels cannot be a distillation itself");
    if (labels_loss_->reduction() != LossReduction::mean)
      throw Error("distillation: its loss on the labels must have the reduction 'sum_over_batch_size'");
    if (!(options.weight >= 0 && options.weight <= 1)) {
      throw Error(fmt::format("distillation: weight must be a share from 0 to 1, got {}", options.weight));
    }
    if (!teacher_->built()) {
      throw Error(
          fmt::format("distillation: the teacher '{}' has no weights yet; train or load it first", teacher_->name()));
    }
    if (teacher_->outputs().size() != 1) {
      throw Error(fmt::format("distillation: the teacher '{}' must have one output, it has {}", teacher_->name(),
                              teacher_->outputs().size()));
    }
  }

  std::string name() const override { return std::string(own_name); }
  bool takes_class_indices() const override { return labels_loss_->takes_class_indices(); }
  std::optional<std::int64_t> ignored_class() const override { return labels_loss_->ignored_class(); }
  bool reads_inputs() const override { return true; }

 private:
  Value values(Graph& graph, Value labels, Value predictions) const override {
    return values_with_inputs(graph, labels, predictions, {});
  }

  Value values_with_inputs(Graph& graph, Value labels, Value predictions, Values inputs) const override {
    if (inputs.empty()) {
      throw Error("distillation: the teacher needs the model's inputs: loss(labels, predictions, inputs)");
    }
    expect_classes(graph, own_name, predictions);
    const Value taught = teach(graph, predictions, inputs);
    const Value learned = softened(graph, predictions);
    const Value soft = ops::softmax_cross_entropy(graph, learned, ops::softmax(graph, taught));
    const Value hard = labels_loss_->call(graph, labels, predictions);
    if (graph.type(hard).shape != graph.type(soft).shape) {
      throw Error(fmt::format("distillation: the loss {} must give one value per example, it gives {}",
                              labels_loss_->name(), to_string(graph.type(hard))));
    }
    const double soft_share = options_.weight * options_.temperature * options_.temperature;
    return ops::add(graph, scaled(graph, ops::cast(graph, hard, Dtype::f32), 1 - options_.weight),
                    scaled(graph, soft, soft_share));
  }

  /// The teacher's softened logits.
  Value teach(Graph& graph, Value predictions, Values inputs) const {
    const GraphScope scope(graph, "teacher");
    const Value said = teacher_->call({graph}, inputs).values.front();
    const Shape wanted = graph.type(predictions).shape;
    if (graph.type(said).shape != wanted) {
      throw Error(
          fmt::format("distillation: the teacher '{}' gives {} where the model gives {}; both need the same classes",
                      teacher_->name(), to_string(graph.type(said).shape), to_string(wanted)));
    }
    return softened(graph, said);
  }

  Value softened(Graph& graph, Value outputs) const {
    Value logits = ops::cast(graph, outputs, Dtype::f32);
    if (!options_.from_logits) {
      const Value least = ops::scalar(graph, smallest_probability, Dtype::f32);
      logits = ops::log(graph, ops::maximum(graph, logits, least));
    }
    return scaled(graph, logits, 1 / options_.temperature);
  }

  static Value scaled(Graph& graph, Value x, double factor) {
    return ops::mul(graph, x, ops::scalar(graph, factor, Dtype::f32));
  }

  ModelPtr teacher_;
  LossPtr labels_loss_;
  DistillationOptions options_;
};

}  // namespace

LossPtr make_distillation_loss(ModelPtr teacher, LossPtr labels_loss, DistillationOptions options) {
  return std::make_shared<const DistillationLoss>(std::move(teacher), std::move(labels_loss), options);
}

}  // namespace gpubench
