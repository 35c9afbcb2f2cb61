#include "core/experiment/input_proof.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/data/produced.h"
#include "core/experiment/pipeline_measurement.h"
#include "core/experiment/slowest_thread.h"
#include "core/experiment/training.h"
#include "core/measure/estimate.h"

namespace gpubench {
namespace {

/// Share of the step: below the first the input is no cause; above the second it should be improved.
constexpr double moderate = 0.05, high = 0.20;
/// The whole interval of the ratio must lie above.
constexpr double proven_ratio = 1.05;
/// Share of the input's cost.
constexpr double ready_batches_cost = 0.30;
/// An interval that reaches above this ratio may hide an expensive input.
constexpr double loose_ratio = 1.25;
/// The wait share and the time difference agree if neither is more than this factor times the other.
constexpr double most_apart = 2;

/// Number of ready batches: enough to exceed the caches, but at most this much memory.
constexpr std::size_t most_batches = 64;
constexpr std::size_t most_bytes = std::size_t{256} << 20;

std::string figures_of(const InputTimes& times) {
  const Interval& interval = times.ratio.interval;
  if (!std::isfinite(interval.high)) {
    return fmt::format("a step takes {:.2f} times what it takes on resident data, of too few steps for an interval",
                       times.ratio.value);
  }
  return fmt::format("a step takes {:.2f} times [{:.2f}, {:.2f}] what it takes on resident data", times.ratio.value,
                     interval.low, interval.high);
}

double mean(const std::vector<double>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

std::string quality_of(const TrainingMeasurement& measured) {
  const auto* quality = std::get_if<std::string>(&measured.record.get("quality"));
  return quality == nullptr ? "ok" : *quality;
}

bool has_own_memory(const Runtime& runtime, const Model& model) {
  return std::ranges::any_of(model.layers(), [&](const LayerPtr& layer) {
    return !runtime.devices().device(layer->device()).shares_host_memory();
  });
}

TrainingOptions half(TrainingOptions options) {
  options.limits.stopping.budget /= 2;
  options.limits.stopping.min_time /= 2;
  return options;
}

std::string pipeline_bound(const Dataset& dataset, const StepLimits& limits) {
  const PipelineMeasurement alone = measure_pipeline(dataset, {limits.stopping, limits.warmup, limits.scatter});
  return read_or_processing_bound(dataset, alone.stages, alone.consumer, alone.measured);
}

constexpr std::string_view stage_name = "kept_elements";

class KeptCursor final : public Cursor {
 public:
  KeptCursor(const std::vector<Element>& elements, std::span<const TensorType> types)
      : elements_(elements), produced_(types) {}

  bool next(Element& element) override {
    element = elements_[position_];
    position_ = (position_ + 1) % elements_.size();
    produced_.add(element);
    return true;
  }
  std::vector<StageStatistics> statistics() const override { return {produced_.row(stage_name)}; }

 private:
  const std::vector<Element>& elements_;
  std::size_t position_ = 0;
  Produced produced_;
};

class KeptDataset final : public Dataset {
 public:
  KeptDataset(std::vector<Element> elements, std::vector<TensorType> types)
      : elements_(std::move(elements)), types_(std::move(types)) {}
  std::string_view stage() const override { return stage_name; }
  const std::vector<TensorType>& element_types() const override { return types_; }
  std::optional<std::int64_t> size() const override { return endless; }
  std::unique_ptr<Cursor> open(std::uint64_t /*epoch*/, const CursorOptions& /*options*/) const override {
    return std::make_unique<KeptCursor>(elements_, types_);
  }

 private:
  std::vector<Element> elements_;
  std::vector<TensorType> types_;
};

}  // namespace

std::string judge_input(const InputTimes& times, const std::string& pipeline) {
  const double share = 1 - times.resident_s / times.full_s;
  const Interval& interval = times.ratio.interval;
  const std::string figures = figures_of(times);
  const std::string waits = fmt::format("it waits for its input {:.0f} % of its time", 100 * times.wait_share);
  if (!times.doubt.empty()) return fmt::format("whether it is input bound stays open: {}; {}", times.doubt, figures);
  if (share < moderate && times.wait_share >= moderate) {
    return fmt::format("whether it is input bound stays open: {}, and yet {}", figures, waits);
  }
  if (share < moderate) {
    const bool proven = interval.high < loose_ratio;
    return fmt::format("not input bound{}: {}", proven ? "" : ", but not proven", figures);
  }
  if (!std::isfinite(interval.low) || interval.low <= proven_ratio) {
    return fmt::format("input bound, but not proven: {}", figures);
  }
  const double ready_batches = std::max(0.0, times.cached_s - times.resident_s) / (times.full_s - times.resident_s);
  const bool ready_ones_cost = ready_batches > ready_batches_cost;
  if (times.transfers && ready_ones_cost) {
    return fmt::format("{} input bound: {}; transfer bound, {:.0f} % of it with batches that lie ready",
                       share > high ? "highly" : "moderately", figures, 100 * ready_batches);
  }
  if (times.wait_share < moderate || times.wait_share * most_apart < share || share * most_apart < times.wait_share) {
    return fmt::format(
        "whether it is input bound stays open: {}, but {}; {:.0f} % of the difference is there with "
        "batches that lie ready, and the pipeline's threads may take cores from the step",
        figures, waits, 100 * ready_batches);
  }
  return fmt::format("{} input bound: {}, and {}; {}",
                     std::min(share, times.wait_share) > high ? "highly" : "moderately", figures, waits,
                     ready_ones_cost ? fmt::format("hand-over bound, {:.0f} % of it with batches that lie ready: the "
                                                   "host's own work to hand one over",
                                                   100 * ready_batches)
                                     : pipeline);
}

InputProof prove_input(Trainer& trainer, const Dataset& dataset, const TrainingOptions& options) {
  check(options.limits.stopping);  // otherwise messages would name the halved values
  if (options.resident) throw Error("measure.input_proof: it measures resident data itself; leave 'resident' out");
  if (const DeviceId* const device = dataset.device()) {
    throw Error(
        fmt::format("measure.input_proof: the dataset's elements are on {}, which leaves no transfer to tell from "
                    "the rest; leave the stage that takes them there out",
                    to_string(*device)));
  }
  TrainingOptions usual = half(options);
  usual.what = "measure.input_proof";
  TrainingOptions resident = usual;
  resident.resident = true;
  const DatasetPtr ready =
      repeated_elements(kept_elements(*trainer.open(dataset), most_batches, most_bytes), dataset.element_types());

  const TrainingMeasurement first_full = measure_training(trainer, dataset, usual);
  const TrainingMeasurement first_cached = measure_training(trainer, *ready, usual);
  const TrainingMeasurement first_synthetic = measure_training(trainer, *ready, resident);
  const TrainingMeasurement synthetic =
      join_measurements(first_synthetic, measure_training(trainer, *ready, resident), resident);
  const TrainingMeasurement cached = join_measurements(first_cached, measure_training(trainer, *ready, usual), usual);
  TrainingMeasurement full = join_measurements(first_full, measure_training(trainer, dataset, usual), usual);

  const InputTimes times{.full_s = mean(full.samples),
                         .cached_s = mean(cached.samples),
                         .resident_s = mean(synthetic.samples),
                         .ratio = estimate_mean_ratio(full.samples, synthetic.samples),
                         .wait_share = number_in(full.record.get("input_wait_share")).value_or(0.0),
                         .transfers = has_own_memory(trainer.runtime(), trainer.model()),
                         .doubt = full.input_doubt};
  InputProof proof{std::move(full.record), std::move(full.samples)};
  for (const TrainingMeasurement* other : {&cached, &synthetic}) {
    if (std::get<std::string>(proof.record.get("quality")) != "ok") break;
    proof.record.set("quality", quality_of(*other));
  }
  proof.record.set("cached_step_time_s", times.cached_s);
  proof.record.set("resident_step_time_s", times.resident_s);
  set_estimate(proof.record, "input_ratio", times.ratio);
  proof.record.set("verdict", judge_input(times, pipeline_bound(dataset, usual.limits)));
  return proof;
}

std::vector<Element> kept_elements(Cursor& cursor, std::size_t most, std::size_t most_bytes) {
  std::vector<Element> elements;
  std::size_t bytes = 0;
  Element element;
  while (elements.size() < most && bytes < most_bytes && cursor.next(element)) {
    for (const HostTensor& tensor : element) bytes += tensor.bytes();
    elements.push_back(std::exchange(element, {}));
  }
  if (elements.empty()) throw Error("measure.input_proof: the dataset is empty");
  return elements;
}

DatasetPtr repeated_elements(std::vector<Element> elements, std::vector<TensorType> types) {
  return std::make_shared<KeptDataset>(std::move(elements), std::move(types));
}

}  // namespace gpubench
