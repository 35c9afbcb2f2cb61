#include "core/nn/loss.h"

#include <array>
#include <fmt/format.h>
#include <utility>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/nn/labels.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/loss.h"
#include "core/ops/reduce.h"
#include "core/ops/softmax.h"

namespace gpubench {
namespace {

using Names = std::pair<std::string_view, std::string_view>;
/// Keras' short names.
constexpr std::array short_names = {
    Names{"cosine", "cosine_similarity"}, Names{"huber_loss", "huber"},       Names{"kld", "kl_divergence"},
    Names{"mae", "mean_absolute_error"},  Names{"mse", "mean_squared_error"},
};

struct ReductionName {
  std::string_view name;
  LossReduction reduction;
};
constexpr std::array reduction_names = {
    ReductionName{"sum_over_batch_size", LossReduction::mean},
    ReductionName{"mean", LossReduction::mean},
    ReductionName{"sum", LossReduction::sum},
    ReductionName{"none", LossReduction::none},
};

LossReduction parse_reduction(const Config& config) {
  const std::string& given = config.text("reduction");
  for (const ReductionName& row : reduction_names) {
    if (row.name == given) return row.reduction;
  }
  throw_unknown_name(fmt::format("{}: unknown reduction", config.owner()), given,
                     names_of(reduction_names, &ReductionName::name));
}

Value number(Graph& graph, double value) {
  return ops::scalar(graph, value, Dtype::f32);
}

/// The labels, moved towards `middle` by the share label_smoothing.
Value smoothed(Graph& graph, const Config& config, Value labels, double middle) {
  const double smoothing = config.number("label_smoothing");
  if (smoothing == 0) return labels;
  const Value kept = ops::mul(graph, labels, number(graph, 1 - smoothing));
  return ops::add(graph, kept, number(graph, smoothing * middle));
}

Value clipped(Graph& graph, Value probabilities) {
  const Value most = ops::minimum(graph, probabilities, number(graph, 1 - smallest_probability));
  return ops::maximum(graph, most, number(graph, smallest_probability));
}

/// Whether a softmax gave the predictions, so that they are probabilities.
bool are_probabilities(const Graph& graph, Value predictions) {
  while (op_as<Cast>(graph.node(predictions)) != nullptr) predictions = graph.node(predictions).inputs[0];
  return op_as<Softmax>(graph.node(predictions)) != nullptr;
}

/// For predictions that may be anything, as Keras computes it: divided by their sum, and within the limits of
/// probabilities, so that the loss is never below 0.
Value cross_entropy_of_any(Graph& graph, Value predictions, Value targets) {
  const Value sum = ops::reduce_sum(graph, predictions, {-1}, true);
  const Value probabilities = clipped(graph, ops::div(graph, predictions, sum));
  return ops::neg(graph, ops::reduce_sum(graph, ops::mul(graph, targets, ops::log(graph, probabilities)), {-1}));
}

Value categorical_crossentropy(Graph& graph, const Config& config, Value labels, Value predictions) {
  expect_classes(graph, config.owner(), predictions);
  const auto classes = static_cast<double>(graph.type(predictions).shape.back());
  const Value one_hot = matching_labels(graph, config.owner(), labels, predictions);
  const Value targets = smoothed(graph, config, one_hot, 1 / classes);
  if (config.flag("from_logits")) return ops::softmax_cross_entropy(graph, predictions, targets);
  if (!are_probabilities(graph, predictions)) return cross_entropy_of_any(graph, predictions, targets);
  return ops::cross_entropy(graph, predictions, targets);
}

Value sparse_categorical_crossentropy(Graph& graph, const Config& config, Value labels, Value predictions) {
  const Value indices = class_indices(graph, config.owner(), labels, predictions);
  if (config.flag("from_logits")) return ops::softmax_cross_entropy(graph, predictions, indices);
  if (!are_probabilities(graph, predictions)) {  // as Keras: limited first, then divided by their sum
    return ops::softmax_cross_entropy(graph, ops::log(graph, clipped(graph, predictions)), indices);
  }
  return ops::cross_entropy(graph, predictions, indices);
}

Value binary_crossentropy(Graph& graph, const Config& config, Value labels, Value predictions) {
  const Value targets = smoothed(graph, config, matching_labels(graph, config.owner(), labels, predictions), 0.5);
  return ops::binary_cross_entropy(graph, predictions, targets, config.flag("from_logits"));
}

Value error_of(Graph& graph, const Config& config, Value labels, Value predictions) {
  return ops::sub(graph, predictions, matching_labels(graph, config.owner(), labels, predictions));
}

Value mean_squared_error(Graph& graph, const Config& config, Value labels, Value predictions) {
  return ops::square(graph, error_of(graph, config, labels, predictions));
}

Value mean_absolute_error(Graph& graph, const Config& config, Value labels, Value predictions) {
  return ops::abs(graph, error_of(graph, config, labels, predictions));
}

/// With q = min(|error|, delta): q (|error| - q / 2), which is error^2 / 2 up to delta and a straight line from there.
Value huber(Graph& graph, const Config& config, Value labels, Value predictions) {
  const Value error = ops::abs(graph, error_of(graph, config, labels, predictions));
  const Value within = ops::minimum(graph, error, number(graph, config.number("delta")));
  return ops::mul(graph, within, ops::sub(graph, error, ops::mul(graph, within, number(graph, 0.5))));
}

/// The last dimension, which must exist.
std::vector<std::int64_t> last_axis(const Graph& graph, const Config& config, Value predictions) {
  const TensorType& type = graph.type(predictions);
  if (type.rank() >= 2) return {-1};
  throw Error(fmt::format("{}: predictions must be [batch, ...], got {}", config.owner(), to_string(type)));
}

Value kl_divergence(Graph& graph, const Config& config, Value labels, Value predictions) {
  const std::vector<std::int64_t> axis = last_axis(graph, config, predictions);
  const auto probabilities = [&](Value x) {
    return ops::minimum(graph, ops::maximum(graph, x, number(graph, smallest_probability)), number(graph, 1));
  };
  const Value truth = probabilities(matching_labels(graph, config.owner(), labels, predictions));
  const Value ratio = ops::div(graph, truth, probabilities(predictions));
  return ops::reduce_sum(graph, ops::mul(graph, truth, ops::log(graph, ratio)), axis);
}

/// Minus the cosine, so that training aligns both.
Value cosine_similarity(Graph& graph, const Config& config, Value labels, Value predictions) {
  const std::vector<std::int64_t> axis = last_axis(graph, config, predictions);
  constexpr double least_square = 1e-14;  // of a norm, Keras' epsilon
  const auto direction = [&](Value x) {
    const Value square = ops::reduce_sum(graph, ops::square(graph, x), axis, true);
    return ops::mul(graph, x, ops::rsqrt(graph, ops::maximum(graph, square, number(graph, least_square))));
  };
  const Value truth = direction(matching_labels(graph, config.owner(), labels, predictions));
  return ops::neg(graph, ops::reduce_sum(graph, ops::mul(graph, truth, direction(predictions)), axis));
}

/// A row of the table with its options.
class NamedLoss final : public Loss {
 public:
  NamedLoss(const LossKind& kind, Config config)
      : kind_(kind), config_(std::move(config)), reduction_(parse_reduction(config_)) {
    for (const auto& [name, value] : config_.entries()) {
      if (name == "label_smoothing") config_.number_within(name, 0, 1);
      if (name == "delta" && !(std::get<double>(value) > 0)) {
        throw Error(fmt::format("{}: delta must be above 0, got {}", kind_.name, to_string(value)));
      }
    }
  }
  std::string name() const override { return kind_.name; }
  LossReduction reduction() const override { return reduction_; }
  bool takes_class_indices() const override { return kind_.takes_class_indices; }
  Value values(Graph& graph, Value labels, Value predictions) const override {
    return kind_.values(graph, config_, labels, predictions);
  }

 private:
  const LossKind& kind_;
  Config config_;
  LossReduction reduction_;
};

class CustomLoss final : public Loss {
 public:
  CustomLoss(std::string name, GraphFunction function) : name_(std::move(name)), function_(std::move(function)) {}
  std::string name() const override { return name_; }
  Value values(Graph& graph, Value labels, Value predictions) const override {
    expect_no_broadcast(graph, fmt::format("loss '{}'", name_), labels, predictions);
    const Value value = function_(graph, labels, predictions);
    if (!value || !is_floating(graph.type(value).dtype)) {
      throw Error(fmt::format("loss '{}': must return a floating-point tensor", name_));
    }
    return value;
  }

 private:
  std::string name_;
  GraphFunction function_;
};

}  // namespace

Value Loss::call(Graph& graph, Value labels, Value predictions, Values inputs) const {
  const Value wide = in_float32(graph, predictions);
  const Value values = values_with_inputs(graph, meeting_labels(graph, labels, wide), wide, inputs);
  const Shape& shape = graph.type(values).shape;
  const bool per_element = shape.size() >= 2 && shape == graph.type(wide).shape;
  return per_element && reduction() != LossReduction::mean ? ops::reduce_mean(graph, values, {-1}) : values;
}

Value Loss::values_with_inputs(Graph& graph, Value labels, Value predictions, Values /*inputs*/) const {
  return values(graph, labels, predictions);
}

const std::vector<LossKind>& loss_kinds() {
  static const ConfigField logits{"from_logits", false}, smoothing{"label_smoothing", 0.0};
  static const std::vector<LossKind> kinds = {
      {"binary_crossentropy", {logits, smoothing}, &binary_crossentropy},
      {"categorical_crossentropy", {logits, smoothing}, &categorical_crossentropy},
      {"cosine_similarity", {}, &cosine_similarity},
      {"huber", {{"delta", 1.0}}, &huber},
      {"kl_divergence", {}, &kl_divergence},
      {"mean_absolute_error", {}, &mean_absolute_error},
      {"mean_squared_error", {}, &mean_squared_error},
      {"sparse_categorical_crossentropy", {logits}, &sparse_categorical_crossentropy, true},
  };
  return kinds;
}

LossPtr make_loss(std::string_view name, const ConfigEntries& options) {
  for (const auto& [given, meant] : short_names) {
    if (name == given) name = meant;
  }
  for (const LossKind& kind : loss_kinds()) {
    if (kind.name != name) continue;
    std::vector<ConfigField> fields = kind.fields;
    fields.push_back({"reduction", std::string(reduction_names[0].name)});
    return std::make_shared<const NamedLoss>(kind, Config(kind.name, fields, options));
  }
  throw_unknown_name("unknown loss", name, names_of(loss_kinds(), &LossKind::name),
                     "; or a function of labels and predictions", "loss");
}

LossPtr make_custom_loss(std::string name, GraphFunction function) {
  return std::make_shared<const CustomLoss>(std::move(name), std::move(function));
}

}  // namespace gpubench
