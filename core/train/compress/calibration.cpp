#include "core/train/compress/calibration.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/error.h"
#include "core/data/tune/pipeline.h"
#include "core/exec/executor.h"
#include "core/exec/plan_cache.h"
#include "core/ops/cast.h"
#include "core/ops/quantize.h"

namespace gpubench {
namespace {

constexpr EnumNames<RangeMethod, 3> methods{"unknown calibration method", {"max", "percentile", "mse"}};

class Calibration {
 public:
  Calibration(Runtime& runtime, const Model& model, const std::set<std::string>& layers)
      : runtime_(runtime), model_(model) {
    for (const Model::Call& call : model.calls()) {
      if (layers.contains(call.layer->name())) watched_.push_back(&call);
    }
  }

  void add(const Element& batch) {
    if (batch.device != nullptr) {
      throw Error(fmt::format("quantize: the calibration set's batches are on {}; give one in host memory",
                              to_string(*batch.device)));
    }
    const std::size_t inputs = model_.inputs().size();
    if (batch.size() < inputs) {
      throw Error(fmt::format("quantize: model '{}' has {} inputs, the calibration set's elements {} tensors",
                              model_.name(), inputs, batch.size()));
    }
    ++batches_;
    std::vector<TensorType> types;
    std::vector<TensorView> views;
    for (std::size_t i = 0; i < inputs; ++i) {
      types.push_back(batch[i].type());
      views.push_back(batch[i].view());
    }
    Executor& executor = *plans_.get(types, [&](const auto& of) { return make_plan(of); });
    executor.run(views);
    for (std::size_t i = 0; i < watched_.size(); ++i) add(*watched_[i], executor.read(static_cast<int>(i)));
  }

  std::int64_t batches() const { return batches_; }

  std::map<std::string, float> ranges(const CalibrationOptions& options) const {
    std::map<std::string, float> ranges;
    for (const auto& [name, histogram] : histograms_) {
      const auto range = static_cast<float>(histogram.range(options.method, options.percentile));
      if (!(range > 0)) {
        throw Error(fmt::format("quantize: the calibration set gave layer '{}' nothing but zeros", name));
      }
      ranges[name] = range;
    }
    return ranges;
  }

 private:
  /// Outputs: the inputs of the watched calls, converted to float32.
  std::unique_ptr<Executor> make_plan(const std::vector<TensorType>& types) {
    Graph graph;
    std::vector<Value> inputs, outputs;
    for (std::size_t i = 0; i < types.size(); ++i) {
      const GraphScope scope(graph, model_.calls()[model_.inputs()[i]].layer->device(), "");
      inputs.push_back(graph.input(types[i], "x"));
    }
    const std::vector<Value> values = model_.call_each({graph}, inputs).values;
    for (const Model::Call* call : watched_) outputs.push_back(ops::cast(graph, values[call->inputs[0]], Dtype::f32));
    return make_executor(runtime_, std::move(graph), std::move(outputs));
  }

  void add(const Model::Call& call, const HostTensor& input) {
    const auto values = input.values<float>();
    const auto wrong = std::ranges::find_if_not(values, [](float value) { return std::isfinite(value); });
    if (wrong != values.end()) {
      throw Error(
          fmt::format("quantize: the input of layer '{}' is {} in batch {} of the calibration set; a scale is "
                      "chosen from finite values",
                      call.layer->name(), *wrong, batches_));
    }
    histograms_[call.layer->name()].add(values);
  }

  Runtime& runtime_;
  const Model& model_;
  std::vector<const Model::Call*> watched_;
  PlanCache<Executor> plans_;
  std::map<std::string, MagnitudeHistogram> histograms_;
  std::int64_t batches_ = 0;
};

}  // namespace

RangeMethod parse_range_method(std::string_view name) {
  return methods.parse(name);
}

void MagnitudeHistogram::add(std::span<const float> values) {
  double largest = largest_;
  for (const float value : values) largest = std::max(largest, std::abs(static_cast<double>(value)));
  total_ += static_cast<std::int64_t>(values.size());
  if (largest == 0) {
    zeros_ += static_cast<std::int64_t>(values.size());
    return;
  }
  if (width_ == 0) {
    width_ = largest / static_cast<double>(bins - 1);
    counts_[0] = zeros_;
  }
  while (largest >= width_ * static_cast<double>(bins)) widen();
  largest_ = largest;
  const double per_width = 1 / width_;
  for (const float value : values) {
    const auto bin = static_cast<std::size_t>(std::abs(static_cast<double>(value)) * per_width);
    ++counts_[std::min(bin, bins - 1)];
  }
}

void MagnitudeHistogram::widen() {
  for (std::size_t i = 0; i < bins; ++i) {
    counts_[i] = 2 * i < bins ? counts_[2 * i] + counts_[2 * i + 1] : 0;
  }
  width_ *= 2;
}

double MagnitudeHistogram::range(RangeMethod method, double percentile) const {
  if (method == RangeMethod::max || largest_ == 0) return largest_;
  return method == RangeMethod::percentile ? percentile_range(percentile) : least_error_range();
}

double MagnitudeHistogram::percentile_range(double percentile) const {
  const double wanted = percentile / 100 * static_cast<double>(total_);
  std::int64_t below = 0;
  for (std::size_t i = 0; i < bins; ++i) {
    below += counts_[i];
    if (static_cast<double>(below) >= wanted) return std::min(static_cast<double>(i + 1) * width_, largest_);
  }
  return largest_;
}

double MagnitudeHistogram::least_error_range() const {
  constexpr int candidates = 128, first = 8;
  double best = largest_, least = error_of(largest_);
  for (int i = first; i < candidates; ++i) {
    const double range = largest_ * i / candidates, error = error_of(range);
    if (error >= least) continue;
    best = range;
    least = error;
  }
  return best;
}

double MagnitudeHistogram::error_of(double range) const {
  const double scale = range / int8_steps;
  double sum = 0;
  for (std::size_t i = 0; i < bins; ++i) {
    if (counts_[i] == 0) continue;
    const double magnitude = (static_cast<double>(i) + 0.5) * width_;
    const double saturated = std::max(0.0, magnitude - range);
    // Values spread evenly over a step err by a twelfth of its square.
    sum += static_cast<double>(counts_[i]) * (saturated > 0 ? saturated * saturated : scale * scale / 12);
  }
  return sum;
}

void check(const CalibrationOptions& options) {
  if (!(options.percentile > 0 && options.percentile <= 100)) {
    throw Error(fmt::format("quantize: percentile must be above 0 and at most 100, got {}", options.percentile));
  }
  if (options.batches && *options.batches < 1) {
    throw Error(fmt::format("quantize: batches must be at least 1, got {}", *options.batches));
  }
}

std::map<std::string, float> calibrate(Runtime& runtime, const Model& model, const std::set<std::string>& layers,
                                       const CalibrationOptions& options) {
  if (!options.batches && options.dataset->size() == endless) {
    throw Error("quantize: the calibration set never ends; give batches, or use take");
  }
  Calibration calibration(runtime, model, layers);
  const std::unique_ptr<Cursor> cursor = open_pipeline(*options.dataset);
  Element batch;
  while ((!options.batches || calibration.batches() < *options.batches) && cursor->next(batch)) calibration.add(batch);
  if (calibration.batches() == 0) throw Error("quantize: the calibration set is empty");
  return calibration.ranges(options);
}

}  // namespace gpubench
