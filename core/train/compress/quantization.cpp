#include "core/train/compress/quantization.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "core/base/error.h"
#include "core/nn/linear_layer.h"
#include "core/ops/quantize.h"
#include "core/train/compress/rebuilt_model.h"

namespace gpubench {
namespace {

using Quantization = LinearLayer::Quantization;

Quantization quantization_of(const Layer& layer) {
  return layer.linear() != nullptr ? layer.linear()->quantization() : Quantization::none;
}

void require_weights(const Model& model) {
  if (model.built()) return;
  throw Error(
      fmt::format("quantize: model '{}' has no weights yet; give its first layer an input_shape", model.name()));
}

/// The layers that are to be quantized, by name.
std::set<std::string> chosen_layers(const Model& model, const std::vector<std::string>& names) {
  const std::vector<LayerPtr> all = model.layers();
  std::set<std::string> chosen;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name, [](const LayerPtr& layer) { return layer->name(); });
    if (found == all.end()) throw Error(fmt::format("quantize: model '{}' has no layer '{}'", model.name(), name));
    if ((*found)->linear() == nullptr) {
      throw Error(
          fmt::format("quantize: layer '{}' ({}) has no int8 form; Dense and Conv2D have", name, (*found)->kind()));
    }
    chosen.insert(name);
  }
  for (const LayerPtr& layer : all) {
    if (names.empty() && layer->linear() != nullptr) chosen.insert(layer->name());
    if (chosen.contains(layer->name()) && layer->policy().compute != Dtype::f32) {
      throw Error(
          fmt::format("quantize: layer '{}' has dtype {}; int8 is made of layers of float32. Name the others in layers",
                      layer->name(), layer->policy().name));
    }
  }
  if (chosen.empty()) {
    throw Error(fmt::format("quantize: model '{}' has no layer with an int8 form, Dense or Conv2D", model.name()));
  }
  return chosen;
}

/// Throws Error where a layer has `refused` as its quantization.
void refuse(const Model& model, Quantization refused, std::string_view computes) {
  for (const LayerPtr& layer : model.layers()) {
    if (quantization_of(*layer) != refused) continue;
    throw Error(
        fmt::format("quantize: model '{}' is quantized already: layer '{}' {}", model.name(), layer->name(), computes));
  }
}

using SavedValues = std::map<std::string, HostTensor>;  // of variables, by Model::saved_names()

SavedValues read_all(Runtime& runtime, const Model& model) {
  runtime.synchronize();
  const std::vector<VariablePtr> variables = model.variables();
  const std::vector<std::string> names = model.saved_names();
  SavedValues values;
  for (std::size_t i = 0; i < names.size(); ++i) values.emplace(names[i], runtime.variables().read(*variables[i]));
  return values;
}

void write_known(Runtime& runtime, const Model& model, const SavedValues& values) {
  const std::vector<VariablePtr> variables = model.variables();
  const std::vector<std::string> names = model.saved_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto known = values.find(names[i]);
    if (known != values.end()) runtime.variables().write(*variables[i], known->second);
  }
}

ConfigEntries quantized_options(const Layer& layer, const std::string& quantization) {
  ConfigEntries options = layer.config().entries();
  set_option(options, "quantization", quantization);
  return options;
}

/// Batch normalizations that alone read a linear layer of `chosen`, which alone is called once, as calls.
SkippedCalls folded_norms(const Model& model, const std::set<std::string>& chosen) {
  const std::vector<Model::Call>& calls = model.calls();
  const auto calls_of = [&](const LayerPtr& layer) { return std::ranges::count(calls, layer, &Model::Call::layer); };
  SkippedCalls folded;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    // One that gives another type, or the statistics of its batch, stays what it is.
    if (calls[i].form.training.value_or(false)) continue;
    if (!calls[i].layer->normalization() || calls[i].layer->policy().compute != Dtype::f32) continue;
    const std::size_t before = calls[i].inputs[0];
    const Layer& linear = *calls[before].layer;
    if (!chosen.contains(linear.name()) || calls_of(calls[i].layer) != 1 || calls_of(calls[before].layer) != 1)
      continue;
    if (linear.linear()->has_activation()) continue;
    std::ptrdiff_t readers = std::ranges::count(model.outputs(), before);
    for (const Model::Call& call : calls) readers += std::ranges::count(call.inputs, before);
    if (readers == 1) folded[i] = before;
  }
  return folded;
}

/// Changes kernel and bias of `linear` so that it gives what `norm` makes of its result in inference.
void fold(SavedValues& values, const Layer& linear, const Layer& norm) {
  const auto of = [&](const char* name) { return values.at(norm.name() + "/" + name).values<float>(); };
  const auto mean = of("moving_mean"), variance = of("moving_variance");
  const auto learned = [&](const VariablePtr& variable, const char* name, float constant) {
    if (variable == nullptr) return std::vector<float>(mean.size(), constant);
    return std::vector<float>(of(name).begin(), of(name).end());
  };
  const std::vector<float> gamma = learned(norm.normalization()->gamma, "gamma", 1);
  const std::vector<float> beta = learned(norm.normalization()->beta, "beta", 0);
  const double epsilon = norm.normalization()->epsilon;
  HostTensor& kernel = values.at(linear.name() + "/kernel");
  const std::string bias_name = linear.name() + "/bias";
  if (!values.contains(bias_name)) {
    values.emplace(bias_name, HostTensor::zeros({{static_cast<std::int64_t>(gamma.size())}, Dtype::f32}));
  }
  const auto bias = values.at(bias_name).values<float>();
  const auto weights = kernel.values<float>();
  for (std::size_t channel = 0; channel < gamma.size(); ++channel) {
    const double scale = gamma[channel] / std::sqrt(variance[channel] + epsilon);
    bias[channel] = static_cast<float>((bias[channel] - mean[channel]) * scale + beta[channel]);
    for (std::size_t i = channel; i < weights.size(); i += gamma.size()) {
      weights[i] = static_cast<float>(weights[i] * scale);
    }
  }
}

/// Throws Error if int8 cannot represent the kernel. Called before data is read, so that the data is not blamed.
void check_kernel(const SavedValues& values, const std::string& layer) {
  const HostTensor& kernel = values.at(layer + "/kernel");
  const auto weights = kernel.values<float>();
  const auto wrong = std::ranges::find_if_not(weights, [](float weight) { return std::isfinite(weight); });
  if (wrong != weights.end()) {
    throw Error(fmt::format("quantize: the kernel of layer '{}' has a weight that is {}", layer, *wrong));
  }
  constexpr std::int64_t most_terms = std::numeric_limits<std::int32_t>::max() / (128 * 128);
  const std::int64_t terms = static_cast<std::int64_t>(weights.size()) / kernel.shape().back();
  if (terms > most_terms) {
    throw Error(
        fmt::format("quantize: layer '{}' adds up {} products, but the 32 bits of an int8 sum hold {}; name the "
                    "other layers in layers",
                    layer, terms, most_terms));
  }
}

/// Replaces the kernel by one in int8 with a scale for each channel.
void quantize_kernel(SavedValues& values, const std::string& layer) {
  const HostTensor kernel = values.at(layer + "/kernel");
  const auto weights = kernel.values<float>();
  const auto channels = static_cast<std::size_t>(kernel.shape().back());
  HostTensor scales({{kernel.shape().back()}, Dtype::f32}), quantized({kernel.shape(), Dtype::i8});
  const auto scale = scales.values<float>();
  std::ranges::fill(scale, 0.0F);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    scale[i % channels] = std::max(scale[i % channels], std::abs(weights[i]));
  }
  for (float& one : scale) one = one > 0 ? one / int8_steps : 1;  // of nothing but zeros
  for (std::size_t i = 0; i < weights.size(); ++i) {
    quantized.values<std::int8_t>()[i] = static_cast<std::int8_t>(std::nearbyint(weights[i] / scale[i % channels]));
  }
  values.insert_or_assign(layer + "/kernel", std::move(quantized));
  values.insert_or_assign(layer + "/kernel_scale", std::move(scales));
}

/// By name: the range of the layer's input. What training found goes before what a calibration finds.
std::map<std::string, float> input_ranges(Runtime& runtime, const Model& model, const std::set<std::string>& chosen,
                                          const SavedValues& values,
                                          const std::optional<CalibrationOptions>& calibration) {
  std::map<std::string, float> ranges;
  std::set<std::string> unknown;
  for (const LayerPtr& layer : model.layers()) {
    if (!chosen.contains(layer->name())) continue;
    const bool aware = quantization_of(*layer) == Quantization::aware;
    const float range = aware ? values.at(layer->name() + "/input_range").values<float>()[0] : 0;
    if (aware && !std::isfinite(range)) {
      throw Error(fmt::format("quantize: the input of layer '{}' was {} in training", layer->name(), range));
    }
    if (range > 0) {
      ranges[layer->name()] = range;
    } else if (calibration) {
      unknown.insert(layer->name());
    } else {
      throw Error(fmt::format("quantize: the range of layer '{}' is not known: {}", layer->name(),
                              aware ? "train the model first, or give a calibration set"
                                    : "give a calibration set, or train what gb.quantize.aware makes of the model"));
    }
  }
  if (!unknown.empty()) ranges.merge(calibrate(runtime, model, unknown, *calibration));
  return ranges;
}

}  // namespace

ModelPtr quantization_aware(Runtime& runtime, VariableFactory& factory, const Model& model,
                            const std::vector<std::string>& layers) {
  require_weights(model);
  refuse(model, Quantization::int8, "computes in int8");
  refuse(model, Quantization::aware, "is quantization-aware");
  const std::set<std::string> chosen = chosen_layers(model, layers);
  const auto options_of = [&](const Layer& layer) {
    return chosen.contains(layer.name()) ? quantized_options(layer, "aware") : layer.config().entries();
  };
  ModelPtr made = rebuilt_model(factory, model, options_of, {});
  write_known(runtime, *made, read_all(runtime, model));
  return made;
}

ModelPtr quantize_int8(Runtime& runtime, VariableFactory& factory, const Model& model,
                       const std::vector<std::string>& layers, const std::optional<CalibrationOptions>& calibration) {
  if (calibration) check(*calibration);
  require_weights(model);
  refuse(model, Quantization::int8, "computes in int8");
  const std::set<std::string> chosen = chosen_layers(model, layers);
  SavedValues values = read_all(runtime, model);
  for (const std::string& layer : chosen) check_kernel(values, layer);
  const auto ranges = input_ranges(runtime, model, chosen, values, calibration);

  const SkippedCalls folded = folded_norms(model, chosen);
  std::set<std::string> biased;
  for (const auto& [norm, linear] : folded) {
    const Layer& layer = *model.calls()[linear].layer;
    fold(values, layer, *model.calls()[norm].layer);
    biased.insert(layer.name());
  }
  const auto options_of = [&](const Layer& layer) {
    if (!chosen.contains(layer.name())) return layer.config().entries();
    ConfigEntries options = quantized_options(layer, "int8");
    if (biased.contains(layer.name())) set_option(options, "use_bias", true);
    return options;
  };
  ModelPtr made = rebuilt_model(factory, model, options_of, folded);
  for (const auto& [layer, range] : ranges) {
    quantize_kernel(values, layer);
    values.insert_or_assign(layer + "/input_scale", HostTensor::scalar<float>(range / int8_steps));
  }
  write_known(runtime, *made, values);
  return made;
}

}  // namespace gpubench
