#include "core/train/compress/pruning.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "core/base/error.h"
#include "core/nn/linear_layer.h"
#include "core/ops/elementwise.h"
#include "core/ops/state.h"
#include "core/train/trainer.h"

namespace gpubench {
namespace {

VariablePtr kernel_of(const Layer& layer) {
  return layer.linear() != nullptr ? layer.linear()->kernel() : nullptr;
}

}  // namespace

bool SparsitySchedule::is_due(std::int64_t step) const {
  if (step < begin_step || (end_step && step > *end_step)) return false;
  const bool first = step == std::max<std::int64_t>(begin_step, 1);
  return first || (step - begin_step) % frequency == 0 || step == end_step;
}

double SparsitySchedule::at(std::int64_t step) const {
  if (!end_step) return final_sparsity;
  const double left = static_cast<double>(*end_step - step) / static_cast<double>(*end_step - begin_step);
  return final_sparsity + (initial_sparsity - final_sparsity) * std::pow(std::clamp(left, 0.0, 1.0), power);
}

void check(const SparsitySchedule& schedule, std::string_view what) {
  for (const double share : {schedule.initial_sparsity, schedule.final_sparsity}) {
    if (share >= 0 && share < 1) continue;
    throw Error(fmt::format("{}: a sparsity must be a share of at least 0 and below 1, got {}", what, share));
  }
  if (schedule.begin_step < 0 || (schedule.end_step && *schedule.end_step <= schedule.begin_step)) {
    throw Error(fmt::format("{}: steps must begin at 0 or later and end behind that, got {} to {}", what,
                            schedule.begin_step, schedule.end_step.value_or(0)));
  }
  if (schedule.frequency < 1) {
    throw Error(fmt::format("{}: frequency must be at least 1 step, got {}", what, schedule.frequency));
  }
  if (!(schedule.power > 0) || !std::isfinite(schedule.power)) {
    throw Error(fmt::format("{}: power must be above 0, got {}", what, schedule.power));
  }
}

MagnitudePruning::MagnitudePruning(Runtime& runtime, ModelPtr model, const SparsitySchedule& schedule,
                                   std::vector<std::string> layers)
    : runtime_(runtime), model_(std::move(model)), schedule_(schedule), layers_(std::move(layers)) {
  check(schedule_, "pruning");
  if (!model_->built()) {
    throw Error(
        fmt::format("pruning: model '{}' has no weights yet; give its first layer an input_shape", model_->name()));
  }
  choose_kernels();
  Graph graph;
  for (const Kernel& kernel : kernels_) {
    const GraphScope scope(graph, {kernel.weights->device, "pruning", kernel.weights->owner, Role::update});
    const Value weights = graph.variable(kernel.weights);
    ops::assign(graph, weights, ops::mul(graph, weights, graph.variable(kernel.mask)));
  }
  apply_ = make_executor(runtime_, std::move(graph), {});
}

void MagnitudePruning::choose_kernels() {
  std::vector<LayerPtr> chosen;
  const std::vector<LayerPtr> all = model_->layers();
  for (const LayerPtr& layer : all) {
    if (layers_.empty() && kernel_of(*layer) != nullptr) chosen.push_back(layer);
  }
  if (chosen.size() > 1) chosen.pop_back();  // the answers' layer is small, and every weight of it counts
  for (const std::string& name : layers_) {
    const auto found = std::ranges::find(all, name, [](const LayerPtr& layer) { return layer->name(); });
    if (found == all.end()) throw Error(fmt::format("pruning: model '{}' has no layer '{}'", model_->name(), name));
    chosen.push_back(*found);
  }
  for (const LayerPtr& layer : chosen) {
    const VariablePtr weights = kernel_of(*layer);
    if (weights == nullptr || weights->type.dtype != Dtype::f32) {
      throw Error(fmt::format("pruning: layer '{}' ({}) has no kernel in float32", layer->name(), layer->kind()));
    }
    HostTensor ones(weights->type);
    std::ranges::fill(ones.values<float>(), 1.0F);
    kernels_.push_back(
        {weights, runtime_.variables().create(weights->name + "/mask", ones, weights->device, false, weights->owner)});
  }
  if (kernels_.empty()) throw Error(fmt::format("pruning: model '{}' has no layer with a kernel", model_->name()));
}

void MagnitudePruning::on_train_begin(Training& training) {
  const Trainer& trainer = training.trainer;
  if (&trainer.model() != model_.get()) {
    throw Error(fmt::format("fit: this pruning is of model '{}', and not of '{}', which is trained", model_->name(),
                            trainer.model().name()));
  }
  if (!training.resumed || step_ > 0) return;
  runtime_.synchronize();
  VariableStore& store = runtime_.variables();
  const HostTensor updates = store.read(*trainer.config().optimizer->iterations());
  step_ = updates.values<std::int64_t>()[0] + trainer.skipped_steps().value_or(0);
  for (const Kernel& kernel : kernels_) {
    HostTensor mask = store.read(*kernel.weights);
    for (float& weight : mask.values<float>()) weight = weight == 0 ? 0.0F : 1.0F;
    store.write(*kernel.mask, mask);
  }
}

void MagnitudePruning::step() {
  ++step_;
  if (schedule_.is_due(step_)) choose_masks(schedule_.at(step_));
  apply_->run({});
}

void MagnitudePruning::choose_masks(double sparsity) {
  runtime_.synchronize();
  VariableStore& store = runtime_.variables();
  for (const Kernel& kernel : kernels_)
    store.write(*kernel.mask, magnitude_mask(store.read(*kernel.weights), sparsity));
}

double MagnitudePruning::sparsity() const {
  runtime_.synchronize();
  std::int64_t zeros = 0, all = 0;
  for (const Kernel& kernel : kernels_) {
    const HostTensor weights = runtime_.variables().read(*kernel.weights);
    zeros += std::ranges::count(weights.values<float>(), 0.0F);
    all += weights.elements();
  }
  return static_cast<double>(zeros) / static_cast<double>(all);
}

HostTensor magnitude_mask(const HostTensor& weights, double sparsity) {
  const auto values = weights.values<float>();
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto zeros = static_cast<std::size_t>(std::llround(sparsity * static_cast<double>(values.size())));
  const auto border = order.begin() + static_cast<std::ptrdiff_t>(zeros);
  const auto smaller = [&](std::size_t a, std::size_t b) {
    const float x = std::abs(values[a]), y = std::abs(values[b]);
    return x < y || (x == y && a < b);
  };
  if (border != order.end()) std::nth_element(order.begin(), border, order.end(), smaller);
  HostTensor mask(weights.type());
  const auto kept = mask.values<float>();
  std::ranges::fill(kept, 1.0F);
  std::for_each(order.begin(), border, [&](std::size_t index) { kept[index] = 0; });
  return mask;
}

}  // namespace gpubench
