// Layers that change numbers at random in training and pass them on otherwise: noise that is added or multiplied, and
// dropping of whole channels. A row of the batch draws the same in every division of the batch.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/nn/dropout.h"
#include "core/nn/layer_kind.h"
#include "core/nn/sliding.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/random.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {
namespace {

Value constant_like(Graph& graph, double value, Value x) {
  return ops::scalar(graph, value, graph.type(x).dtype);
}

/// The deviation of factors around 1 that disturb as much as dropping does.
double deviation_of_rate(double rate) {
  return std::sqrt(rate / (1 - rate));
}

/// What a selu gives for very small numbers takes the place of what is dropped; then mean and deviation are restored
/// (Klambauer et al., "Self-Normalizing Neural Networks"). `noise` is uniform from 0 to 1.
Value alpha_dropped(Graph& graph, Value x, Value noise, double rate) {
  constexpr double lowest = -1.6732632423543772 * 1.0507009873554805;
  const double scale = 1 / std::sqrt((1 - rate) * (1 + rate * lowest * lowest));
  const Value kept = ops::greater_equal(graph, noise, constant_like(graph, rate, noise));
  const Value filled = ops::select(graph, kept, x, constant_like(graph, lowest, x));
  return ops::add(graph, ops::mul(graph, filled, constant_like(graph, scale, x)),
                  constant_like(graph, -scale * lowest * rate, x));
}

struct NoiseKind {
  const char* kind;
  const char* default_name;
  const char* option;
  double below;  ///< what the option must be at least 0 and below
  /// One number for each of an example's, by the number of its row.
  Value (*draw)(Graph&, Value rows, Shape example, double option, std::uint64_t seed);
  Value (*change)(Graph&, Value x, Value noise, double option);
};

constexpr std::array noise_kinds = {
    NoiseKind{"AlphaDropout", "alpha_dropout", "rate", 1,
              [](Graph& graph, Value rows, Shape example, double, std::uint64_t seed) {
                return ops::random_uniform(graph, rows, std::move(example), 0, 1, seed);
              },
              &alpha_dropped},
    NoiseKind{"GaussianDropout", "gaussian_dropout", "rate", 1,
              [](Graph& graph, Value rows, Shape example, double rate, std::uint64_t seed) {
                return ops::random_normal(graph, rows, std::move(example), 1, deviation_of_rate(rate), seed);
              },
              [](Graph& graph, Value x, Value noise, double) {
                return ops::mul(graph, x, ops::cast(graph, noise, graph.type(x).dtype));
              }},
    NoiseKind{"GaussianNoise", "gaussian_noise", "stddev", std::numeric_limits<double>::infinity(),
              [](Graph& graph, Value rows, Shape example, double stddev, std::uint64_t seed) {
                return ops::random_normal(graph, rows, std::move(example), 0, stddev, seed);
              },
              [](Graph& graph, Value x, Value noise, double) {
                return ops::add(graph, x, ops::cast(graph, noise, graph.type(x).dtype));
              }},
};

const NoiseKind& noise_kind_of(std::string_view kind) {
  return *std::ranges::find(noise_kinds, kind, [](const NoiseKind& row) { return std::string_view(row.kind); });
}

const std::uint64_t* seed_of_noise(const Node& node) {
  if (const auto* const normal = op_as<RandomNormal>(node)) return &normal->seed;
  const auto* const uniform = op_as<RandomUniform>(node);
  return uniform != nullptr ? &uniform->seed : nullptr;
}

class NoiseLayer final : public SeededLayer {
 public:
  NoiseLayer(Config given, DeviceId device)
      : SeededLayer(std::move(given), std::move(device)),
        kind_(noise_kind_of(kind())),
        amount_(config().number_within(kind_.option, 0, kind_.below)) {}
  std::string default_name() const override { return kind_.default_name; }
  MaskRule mask_rule() const override { return MaskRule::passes; }
  bool draws() const override { return amount_ > 0; }
  TensorType output_type(TensorTypes inputs) const override { return only_input(inputs, -1, ""); }

 private:
  Value apply(const CallContext& context, Values inputs) const override {
    if (!context.training || amount_ == 0) return inputs[0];
    Graph& graph = context.graph;
    const Shape shape = graph.type(inputs[0]).shape;
    HostTensor indices(TensorType{{shape[0]}, Dtype::i64});
    std::iota(indices.values<std::int64_t>().begin(), indices.values<std::int64_t>().end(), 0);
    const Value rows = ops::add(graph, first_number(*this, context), graph.constant(indices));
    const Value noise = kind_.draw(graph, rows, Shape(shape.begin() + 1, shape.end()), amount_,
                                   unused_seed(context, seed(), &seed_of_noise));
    return kind_.change(graph, inputs[0], noise, amount_);
  }

  const NoiseKind& kind_;
  double amount_;
};

/// Drops channels of sequences or images as a whole.
template <int spatial>
class SpatialDropout final : public SeededLayer {
 public:
  SpatialDropout(Config given, DeviceId device)
      : SeededLayer(std::move(given), std::move(device)), rate_(config().number_within("rate", 0, 1)) {}
  std::string default_name() const override { return spatial == 1 ? "spatial_dropout1d" : "spatial_dropout2d"; }
  MaskRule mask_rule() const override { return MaskRule::passes; }
  bool draws() const override { return rate_ > 0; }
  TensorType output_type(TensorTypes inputs) const override {
    return only_input(inputs, spatial + 1, sliding_form(spatial));
  }

 private:
  Value apply(const CallContext& context, Values inputs) const override {
    if (!context.training || rate_ == 0) return inputs[0];
    Graph& graph = context.graph;
    const Value x = inputs[0];
    Shape channels = graph.type(x).shape;
    std::fill(channels.begin() + 1, channels.end() - 1, 1);
    const Value ones = ops::broadcast_to(graph, constant_like(graph, 1, x), channels);
    return ops::mul(graph, x, dropped(*this, context, ones, rate_, seed()));
  }

  double rate_;
};

LayerKind noise_kind(const char* name) {
  const char* const option = noise_kind_of(name).option;
  return {name, {option}, {{option, 0.0, true}, {"seed", std::int64_t{-1}}}, &construct_layer<NoiseLayer>};
}

template <int spatial>
LayerKind spatial_kind(const char* name) {
  return {name, {"rate"}, {{"rate", 0.0, true}, {"seed", std::int64_t{-1}}}, &construct_layer<SpatialDropout<spatial>>};
}

}  // namespace

LayerKind alpha_dropout() {
  return noise_kind("AlphaDropout");
}
LayerKind gaussian_dropout() {
  return noise_kind("GaussianDropout");
}
LayerKind gaussian_noise() {
  return noise_kind("GaussianNoise");
}
LayerKind spatial_dropout1d() {
  return spatial_kind<1>("SpatialDropout1D");
}
LayerKind spatial_dropout2d() {
  return spatial_kind<2>("SpatialDropout2D");
}

}  // namespace gpubench::nn
