#include "core/train/compile_config.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ranges>

#include "core/base/error.h"
#include "core/nn/linear_layer.h"

namespace gpubench {
namespace {

const DeviceId host{};

void require_kept(const Model& model, const CompileConfig& config) {
  for (const std::string& name : config.offload.layers) {
    if (std::ranges::find(config.recompute, name) == config.recompute.end()) continue;
    throw Error(
        fmt::format("model '{}': layer '{}' is in recompute and in offload; its activations can be computed "
                    "again or kept on the host, not both",
                    model.name(), name));
  }
}

[[noreturn]] void refuse_offload_from_host(const Model& model, std::string_view which) {
  throw Error(
      fmt::format("model '{}': offload moves activations from a device to the host's memory, and {} on {}, which is "
                  "the host; place "
                  "it on a GPU or on another logical CPU device (gb.config.set_logical_devices, gb.device)",
                  model.name(), which, to_string(host)));
}

}  // namespace

std::vector<MetricPtr> metrics_of(const CompileConfig& config, std::size_t output) {
  std::vector<MetricPtr> metrics = config.metrics;
  if (config.output_metrics.empty()) return metrics;
  const std::vector<MetricPtr>& own = config.output_metrics[output];
  metrics.insert(metrics.end(), own.begin(), own.end());
  return metrics;
}

std::vector<Figure> figures_of(const Model& model, const CompileConfig& config) {
  std::vector<Figure> figures = {{"loss"}};
  const std::vector<std::string> outputs = model.output_names();
  const std::vector<TensorType> types = model.output_types();
  const bool several = outputs.size() > 1;
  for (const std::string& output : outputs) {
    if (several) figures.push_back({output + "_loss"});
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const MetricPtr& metric : metrics_of(config, i)) {
      figures.push_back(
          {several ? outputs[i] + "_" + metric->name() : metric->name(), metric, metric->state_size(types[i])});
    }
  }
  return figures;
}

std::vector<OwnerPtr> layers_named(const Model& model, const std::vector<std::string>& names,
                                   std::string_view purpose) {
  std::vector<OwnerPtr> known;
  for (const Model::Call& call : model.calls()) {
    const bool listed = std::ranges::find(known, call.layer->owner()) != known.end();
    if (!call.inputs.empty() && !listed) known.push_back(call.layer->owner());  // an Input computes nothing
  }
  const auto name_of = [](const OwnerPtr& layer) { return std::string_view(layer->name); };
  std::vector<OwnerPtr> layers;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(known, name, name_of);
    if (found == known.end()) {
      std::vector<std::string_view> possible;
      for (const OwnerPtr& layer : known) possible.push_back(layer->name);
      throw Error(fmt::format("model '{}': there is no layer '{}' to {} (layers: {})", model.name(), name, purpose,
                              fmt::join(possible, ", ")));
    }
    layers.push_back(*found);
  }
  return layers;
}

void require_gradients(const Model& model) {
  for (const LayerPtr& layer : model.layers()) {
    if (layer->linear() == nullptr || !layer->linear()->integer()) continue;
    throw Error(fmt::format("model '{}': layer '{}' {}", model.name(), layer->name(), LinearLayer::untrainable));
  }
}

void require_plain_step(const Model& model, const CompileConfig& config) {
  const auto refuse = [&](std::string_view option) {
    throw Error(
        fmt::format("model '{}': its train_step replaces the step that {} would change; leave {} out of compile",
                    model.name(), option, option));
  };
  if (config.gradient_accumulation_steps > 1) refuse("gradient_accumulation_steps");
  if (!config.recompute.empty()) refuse("recompute");
  if (config.recompute_budget > 0) refuse("recompute_budget");
}

std::vector<VariablePtr> optimizer_state(const Model& model, const CompileConfig& config) {
  if (config.train_step) return {};
  std::vector<VariablePtr> state = config.optimizer->state_of(model.trainable_variables());
  if (config.loss_scale) std::ranges::copy(config.loss_scale->variables(), std::back_inserter(state));
  return state;
}

ExecutorOptions training_executor_options(const Model& model, const CompileConfig& config) {
  ExecutorOptions options = config.executor;
  options.passes.offload = {.layers = layers_named(model, config.offload.layers, "offload"),
                            .ahead = config.offload.ahead};
  require_kept(model, config);
  for (const Model::Call& call : model.calls()) {
    if (call.inputs.empty()) continue;
    const std::string& name = call.layer->name();
    const bool named = std::ranges::find(config.offload.layers, name) != config.offload.layers.end();
    const bool on_host = call.layer->device() == host;
    if (named && on_host) refuse_offload_from_host(model, fmt::format("layer '{}' is", name));
    const bool again = std::ranges::find(config.recompute, name) != config.recompute.end();
    if (config.offload.all && !on_host && !again) options.passes.offload.layers.push_back(call.layer->owner());
  }
  if (config.offload.all && options.passes.offload.layers.empty() && config.recompute.empty())
    refuse_offload_from_host(model, "all its layers are");
  return options;
}

}  // namespace gpubench
