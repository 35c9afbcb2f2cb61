// The losses: what each computes from labels and predictions, with Keras' names and formulas, and the list of them.
#include <algorithm>
#include <fmt/format.h>
#include <numbers>
#include <utility>

#include "core/base/error.h"
#include "core/nn/labels.h"
#include "core/nn/loss.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/loss.h"
#include "core/ops/reduce.h"
#include "core/ops/softmax.h"

namespace gpubench {
namespace {

/// Keras' epsilon.
constexpr double epsilon = 1e-7;

Value number(Graph& graph, double value) {
  return ops::scalar(graph, value, Dtype::f32);
}

bool takes_mean(const Config& config) {
  const std::string& reduction = config.text("reduction");
  return reduction != "sum" && reduction != "none";
}

Value one_minus(Graph& graph, Value x) {
  return ops::sub(graph, number(graph, 1), x);
}

/// value * base^exponent. A base of 0 has the gradient 0 for the usual exponents.
Value times_power(Graph& graph, Value value, Value base, double exponent) {
  if (exponent == 0) return value;
  if (exponent == 1) return ops::mul(graph, value, base);
  if (exponent == 2) return ops::mul(graph, value, ops::square(graph, base));
  return ops::mul(graph, value, ops::pow(graph, base, number(graph, exponent)));
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

Value sparse_cross_entropy(Graph& graph, const Config& config, Value indices, Value predictions) {
  if (config.flag("from_logits")) return ops::softmax_cross_entropy(graph, predictions, indices);
  if (!are_probabilities(graph, predictions)) {  // as Keras: limited first, then divided by their sum
    return ops::softmax_cross_entropy(graph, ops::log(graph, clipped(graph, predictions)), indices);
  }
  return ops::cross_entropy(graph, predictions, indices);
}

Value sparse_categorical_crossentropy(Graph& graph, const Config& config, Value labels, Value predictions) {
  Value indices = class_indices(graph, config.owner(), labels, predictions);
  const std::int64_t ignored = config.integer("ignore_class");
  if (ignored == no_class) return sparse_cross_entropy(graph, config, indices, predictions);
  indices = ops::cast(graph, indices, Dtype::i64);
  const Value counts = ops::not_equal(graph, indices, ops::scalar(graph, static_cast<double>(ignored), Dtype::i64));
  indices = ops::select(graph, counts, indices, ops::scalar(graph, 0, Dtype::i64));
  const Value all = sparse_cross_entropy(graph, config, indices, predictions);
  const Value values = ops::select(graph, counts, all, number(graph, 0));
  if (!takes_mean(config)) return values;
  // The mean over all places is that of those that count, as in Keras.
  const auto places = static_cast<double>(graph.type(values).elements());
  const Value counted = ops::reduce_sum(graph, ops::cast(graph, counts, Dtype::f32));
  const Value share = ops::div(graph, ops::add(graph, counted, number(graph, epsilon)), number(graph, places));
  return ops::div(graph, values, share);
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

/// The axis of the option, which is not the batch's.
std::vector<std::int64_t> own_axis(const Graph& graph, const Config& config, Value predictions) {
  const std::int64_t rank = graph.type(predictions).rank(), given = config.integer("axis");
  const std::int64_t axis = given < 0 ? given + rank : given;
  if (axis >= 1 && axis < rank) return {axis};
  throw Error(fmt::format("{}: axis must be one of the predictions {} but the first, got {}", config.owner(),
                          to_string(graph.type(predictions)), given));
}

/// Minus the cosine, so that training aligns both.
Value cosine_similarity(Graph& graph, const Config& config, Value labels, Value predictions) {
  last_axis(graph, config, predictions);
  const std::vector<std::int64_t> axis = own_axis(graph, config, predictions);
  constexpr double least_square = 1e-14;  // of a norm, Keras' epsilon
  const auto direction = [&](Value x) {
    const Value square = ops::reduce_sum(graph, ops::square(graph, x), axis, true);
    return ops::mul(graph, x, ops::rsqrt(graph, ops::maximum(graph, square, number(graph, least_square))));
  };
  const Value truth = direction(matching_labels(graph, config.owner(), labels, predictions));
  return ops::neg(graph, ops::reduce_sum(graph, ops::mul(graph, truth, direction(predictions)), axis));
}

Value mean_absolute_percentage_error(Graph& graph, const Config& config, Value labels, Value predictions) {
  const Value truth = matching_labels(graph, config.owner(), labels, predictions);
  const Value whole = ops::maximum(graph, ops::abs(graph, truth), number(graph, epsilon));
  const Value share = ops::abs(graph, ops::div(graph, ops::sub(graph, truth, predictions), whole));
  return ops::mul(graph, share, number(graph, 100));
}

Value mean_squared_logarithmic_error(Graph& graph, const Config& config, Value labels, Value predictions) {
  const auto logarithm = [&](Value x) {
    return ops::log(graph, ops::add(graph, ops::maximum(graph, x, number(graph, epsilon)), number(graph, 1)));
  };
  const Value truth = logarithm(matching_labels(graph, config.owner(), labels, predictions));
  return ops::square(graph, ops::sub(graph, logarithm(predictions), truth));
}

/// log(cosh(x)) = x + softplus(-2 x) - log(2), which does not overflow.
Value log_cosh(Graph& graph, const Config& config, Value labels, Value predictions) {
  const Value error = error_of(graph, config, labels, predictions);
  const Value rest = ops::softplus(graph, ops::mul(graph, error, number(graph, -2)));
  return ops::sub(graph, ops::add(graph, error, rest), number(graph, std::numbers::ln2));
}

Value poisson(Graph& graph, const Config& config, Value labels, Value predictions) {
  const Value counts = matching_labels(graph, config.owner(), labels, predictions);
  const Value logarithm = ops::log(graph, ops::add(graph, predictions, number(graph, epsilon)));
  return ops::sub(graph, predictions, ops::mul(graph, counts, logarithm));
}

/// Labels of -1 and 1; all of a batch that has no others than 0 and 1 become these, as in Keras.
Value hinge(Graph& graph, const Config& config, Value labels, Value predictions) {
  Value signs = matching_labels(graph, config.owner(), labels, predictions);
  const Value less = ops::sub(graph, signs, number(graph, 1));
  const Value others = ops::not_equal(graph, ops::mul(graph, signs, less), number(graph, 0));
  const Value binary = one_minus(graph, ops::reduce_max(graph, ops::cast(graph, others, Dtype::f32)));
  signs = ops::add(graph, signs, ops::mul(graph, binary, less));
  return ops::maximum(graph, one_minus(graph, ops::mul(graph, signs, predictions)), number(graph, 0));
}

Value squared_hinge(Graph& graph, const Config& config, Value labels, Value predictions) {
  return ops::square(graph, hinge(graph, config, labels, predictions));
}

Value categorical_hinge(Graph& graph, const Config& config, Value labels, Value predictions) {
  const std::vector<std::int64_t> axis = last_axis(graph, config, predictions);
  const Value one_hot = matching_labels(graph, config.owner(), labels, predictions);
  const Value own = ops::reduce_sum(graph, ops::mul(graph, one_hot, predictions), axis);
  const Value other = ops::reduce_max(graph, ops::mul(graph, one_minus(graph, one_hot), predictions), axis);
  return ops::maximum(graph, ops::add(graph, ops::sub(graph, other, own), number(graph, 1)), number(graph, 0));
}

/// Cross-entropy times (1 - p)^gamma, with p the probability of the label (Lin et al., "Focal Loss for Dense Object
/// Detection", 2017).
Value binary_focal_crossentropy(Graph& graph, const Config& config, Value labels, Value predictions) {
  const Value targets = smoothed(graph, config, matching_labels(graph, config.owner(), labels, predictions), 0.5);
  const Value chances = config.flag("from_logits") ? ops::sigmoid(graph, predictions) : predictions;
  const auto of_both = [&](Value positive, Value negative) {
    return ops::add(graph, ops::mul(graph, targets, positive), ops::mul(graph, one_minus(graph, targets), negative));
  };
  const Value right = of_both(chances, one_minus(graph, chances)), limited = clipped(graph, chances);
  const Value entropy = ops::neg(graph, of_both(ops::log(graph, limited), ops::log(graph, one_minus(graph, limited))));
  const Value focal = times_power(graph, entropy, one_minus(graph, right), config.number("gamma"));
  if (!config.flag("apply_class_balancing")) return focal;
  const double alpha = config.number("alpha");
  return ops::mul(graph, of_both(number(graph, alpha), number(graph, 1 - alpha)), focal);
}

Value categorical_focal_crossentropy(Graph& graph, const Config& config, Value labels, Value predictions) {
  expect_classes(graph, config.owner(), predictions);
  const std::int64_t classes = graph.type(predictions).shape.back();
  const Numbers& alpha = config.numbers("alpha");
  if (alpha.size() != 1 && std::ssize(alpha) != classes) {
    throw Error(fmt::format("{}: alpha must be one number or one for each of {} classes, got {}", config.owner(),
                            classes, alpha.size()));
  }
  HostTensor weights(TensorType{{std::ssize(alpha)}, Dtype::f32});
  std::ranges::transform(alpha, weights.values<float>().begin(), [](double one) { return static_cast<float>(one); });
  const Value one_hot = matching_labels(graph, config.owner(), labels, predictions);
  const Value targets = smoothed(graph, config, one_hot, 1 / static_cast<double>(classes));
  const Value shares = config.flag("from_logits") ? ops::softmax(graph, predictions) : predictions;
  const Value sum = ops::reduce_sum(graph, shares, {-1}, true);
  const Value probabilities = clipped(graph, ops::div(graph, shares, sum));
  const Value entropy = ops::mul(graph, targets, ops::neg(graph, ops::log(graph, probabilities)));
  const Value weighted = ops::mul(graph, entropy, graph.constant(std::move(weights)));
  const Value focal = times_power(graph, weighted, one_minus(graph, probabilities), config.number("gamma"));
  return ops::reduce_sum(graph, focal, {-1});
}

/// The axes of the option, counted from 0; none: all.
std::vector<std::int64_t> overlap_axes(const Graph& graph, const Config& config, Value predictions) {
  std::vector<std::int64_t> axes;
  const std::int64_t rank = graph.type(predictions).rank();
  for (const std::int64_t given : config.shape("axis")) {
    axes.push_back(given < 0 ? given + rank : given);
    if (axes.back() >= 0 && axes.back() < rank) continue;
    throw Error(fmt::format("{}: the predictions {} have no axis {}", config.owner(),
                            to_string(graph.type(predictions)), given));
  }
  return axes;
}

/// 1 - part / (whole + epsilon): one number for the batch where its axis was summed over, reduced here, as values are
/// an example's elsewhere.
Value one_minus_share(Graph& graph, const Config& config, std::span<const std::int64_t> axes, Value part, Value whole) {
  const Value share = ops::div(graph, part, ops::add(graph, whole, number(graph, epsilon)));
  const Value values = one_minus(graph, share);
  const bool of_batch = std::ranges::find(axes, 0) != axes.end();
  if (!of_batch || config.text("reduction") == "none") return values;
  return takes_mean(config) ? ops::reduce_mean(graph, values) : ops::reduce_sum(graph, values);
}

Value dice(Graph& graph, const Config& config, Value labels, Value predictions) {
  const std::vector<std::int64_t> axes = overlap_axes(graph, config, predictions);
  const Value truth = matching_labels(graph, config.owner(), labels, predictions);
  const auto sum = [&](Value x) { return ops::reduce_sum(graph, x, axes); };
  const Value both = ops::mul(graph, sum(ops::mul(graph, truth, predictions)), number(graph, 2));
  return one_minus_share(graph, config, axes, both, ops::add(graph, sum(truth), sum(predictions)));
}

Value tversky(Graph& graph, const Config& config, Value labels, Value predictions) {
  const std::vector<std::int64_t> axes = overlap_axes(graph, config, predictions);
  const Value truth = matching_labels(graph, config.owner(), labels, predictions);
  const auto sum = [&](Value a, Value b) { return ops::reduce_sum(graph, ops::mul(graph, a, b), axes); };
  const Value both = sum(truth, predictions);
  const Value alpha = number(graph, config.number("alpha")), beta = number(graph, config.number("beta"));
  const Value missed = sum(ops::mul(graph, truth, alpha), one_minus(graph, predictions));
  const Value wrong = sum(one_minus(graph, truth), ops::mul(graph, predictions, beta));
  return one_minus_share(graph, config, axes, both, ops::add(graph, ops::add(graph, both, missed), wrong));
}

}  // namespace

const std::vector<LossKind>& loss_kinds() {
  static const ConfigField logits{"from_logits", false}, smoothing{"label_smoothing", 0.0}, gamma{"gamma", 2.0},
      axes{"axis", Shape{}};
  static const std::vector<LossKind> kinds = {
      {"binary_crossentropy", {logits, smoothing}, &binary_crossentropy},
      {"binary_focal_crossentropy",
       {{"apply_class_balancing", false}, {"alpha", 0.25}, gamma, logits, smoothing},
       &binary_focal_crossentropy},
      {"categorical_crossentropy", {logits, smoothing}, &categorical_crossentropy},
      {"categorical_focal_crossentropy",
       {{"alpha", Numbers{0.25}}, gamma, logits, smoothing},
       &categorical_focal_crossentropy},
      {"categorical_hinge", {}, &categorical_hinge},
      {"cosine_similarity", {{"axis", std::int64_t{-1}}}, &cosine_similarity},
      {"dice", {axes}, &dice},
      {"hinge", {}, &hinge},
      {"huber", {{"delta", 1.0}}, &huber},
      {"kl_divergence", {}, &kl_divergence},
      {"log_cosh", {}, &log_cosh},
      {"mean_absolute_error", {}, &mean_absolute_error},
      {"mean_absolute_percentage_error", {}, &mean_absolute_percentage_error},
      {"mean_squared_error", {}, &mean_squared_error},
      {"mean_squared_logarithmic_error", {}, &mean_squared_logarithmic_error},
      {"poisson", {}, &poisson},
      {"sparse_categorical_crossentropy", {logits, {"ignore_class", no_class}}, &sparse_categorical_crossentropy, true},
      {"squared_hinge", {}, &squared_hinge},
      {"tversky", {{"alpha", 0.5}, {"beta", 0.5}, axes}, &tversky},
  };
  return kinds;
}

}  // namespace gpubench
