#include "core/experiment/training/input_proof.h"

#include <fmt/format.h>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/data/produced.h"
#include "core/experiment/steps/slowest_thread.h"
#include "core/experiment/training/pipeline_measurement.h"
#include "core/experiment/training/training.h"
#include "core/measure/estimate.h"

namespace gpubench {
namespace {

/// Number of ready batches: enough to exceed the caches, but at most this much memory.
constexpr std::size_t most_batches = 64;
constexpr std::size_t most_bytes = std::size_t{256} << 20;

double mean(const std::vector<double>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

TrainingOptions half(TrainingOptions options) {
  options.limits.stopping.budget /= 2;
  options.limits.stopping.min_time /= 2;
  return options;
}

InputCause pipeline_bound(const Dataset& dataset, const StepLimits& limits) {
  const PipelineMeasurement alone = measure_pipeline(dataset, {limits.stopping, limits.warmup, limits.scatter});
  return read_or_processing_bound(dataset, alone.stages, alone.consumer, alone.measured);
}

constexpr std::string_view stage_name = "kept_elements";

class KeptCursor final : public Cursor {
 public:
  KeptCursor(const std::vector<Element>& elements, TensorTypes types) : elements_(elements), produced_(types) {}

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

  InputProof proof{std::move(full.record), std::move(full.samples)};
  for (const TrainingMeasurement* other : {&cached, &synthetic}) {
    if (doubt_in(proof.record)) break;
    set_doubt(proof.record, doubt_in(other->record));
  }
  proof.record.set("cached_step_time_s", mean(cached.samples));
  proof.record.set("resident_step_time_s", mean(synthetic.samples));
  set_estimate(proof.record, "input_ratio", estimate_mean_ratio(proof.samples, synthetic.samples));
  const InputCause cause = pipeline_bound(dataset, usual.limits);
  proof.record.set("input_cause", cause.text);
  proof.record.set("input_cause_kind", std::string(to_string(cause.kind)));
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
