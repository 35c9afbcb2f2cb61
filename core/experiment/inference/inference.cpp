#include "core/experiment/inference/inference.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/experiment/inference/inference_service.h"
#include "core/experiment/steps/device_watch.h"
#include "core/experiment/steps/step_measurement.h"
#include "core/experiment/training/script_facts.h"
#include "core/measure/stats/quantile.h"
#include "core/telemetry/nvtx.h"

namespace gpubench {
namespace {

constexpr int most_clients = 1024;

void check(const InferenceOptions& options) {
  if (options.batch < 1) throw Error(fmt::format("{}: batch must be at least 1, got {}", options.what, options.batch));
  if (options.concurrency < 1 || options.concurrency > most_clients) {
    throw Error(
        fmt::format("{}: concurrency must be 1 to {}, got {}", options.what, most_clients, options.concurrency));
  }
  if (options.mode == InferenceMode::offline && options.concurrency != 1) {
    throw Error(fmt::format("{}: offline has no clients that wait for answers, so its concurrency is 1, got {}",
                            options.what, options.concurrency));
  }
  if (!(options.duration.count() > 0) || !std::isfinite(options.duration.count())) {
    throw Error(fmt::format("{}: duration must be seconds above 0, got {}", options.what, options.duration.count()));
  }
}

std::int64_t weights_bytes(const Model& model) {
  std::size_t bytes = 0;
  for (const VariablePtr& variable : model.variables()) bytes += variable->type.bytes();
  return static_cast<std::int64_t>(bytes);
}

/// Queries as steps, for a trace. They wait for no input but a client's request.
class QuerySteps final : public StepSource {
 public:
  QuerySteps(QueryStream& queries, std::int64_t batch) : queries_(queries), batch_(batch) {}
  void step() override {
    begun_ = Clock::now();
    queries_.next();
  }
  std::int64_t examples() const override { return batch_; }
  Clock::time_point fetched() const override { return begun_; }

 private:
  QueryStream& queries_;
  std::int64_t batch_;
  Clock::time_point begun_{};
};

class InferenceRun {
 public:
  InferenceRun(Trainer& trainer, const InferenceOptions& options)
      : trainer_(trainer),
        options_(options),
        devices_(trainer.runtime()),
        warmup_(options.warmup),
        service_(trainer, load_queries(trainer, options.input, options.batch, options.what), options.executor),
        queries_(make_query_stream(service_, options.mode, static_cast<int>(options.concurrency))),
        trace_(options.trace, options.budget, false) {}

  InferenceMeasurement run() {
    const ActivityScope outer(options_.activity);
    warm_up();
    measure();
    trace();
    return {describe(), std::move(latencies_), trace_.timeline()};
  }

 private:
  void warm_up() {
    const NvtxRange range("warm up");
    if (options_.activity != nullptr) options_.activity->begin(Phase::warming_up);
    const Stopwatch watch;
    while (!warmup_.add(queries_->next().latency().count())) continue;
    warmup_time_ = watch.elapsed();
  }

  void measure() {
    const NvtxRange range("measure");
    if (options_.activity != nullptr) options_.activity->begin(Phase::measuring);
    devices_.begin();
    const auto begin = Clock::now();
    auto before = begin;
    while (!done(before - begin)) {
      const AnsweredQuery query = queries_->next();
      // A query sent before the start has waited for the warm-up.
      if (query.asked >= begin || options_.mode == InferenceMode::offline) {
        latencies_.push_back(query.latency().count());
      }
      intervals_.push_back(Seconds(query.answered - before).count());
      before = query.answered;
    }
    measured_ = before - begin;
    devices_.end();
  }

  void trace() {
    if (options_.activity != nullptr) options_.activity->begin(Phase::tracing);
    QuerySteps steps(*queries_, options_.batch);
    trace_.run(steps, trainer_.runtime(), nullptr);
  }

  bool done(Seconds elapsed) {
    if (elapsed < options_.duration || latencies_.empty()) return false;
    return enough() || elapsed >= options_.budget;
  }
  bool enough() const { return options_.mode == InferenceMode::offline || latencies_.size() >= queries_for_p99; }

  Record describe() {
    Record record;
    describe_model(record, trainer_.model(), options_.executor.execution);
    const Estimate median = estimate_median(latencies_), interval = estimate_mean(intervals_);
    set_doubt(record, doubt(median, interval));
    record.set("batch_size", options_.batch);
    record.set("mode", std::string(to_string(options_.mode)));
    record.set("concurrency", options_.concurrency);
    record.set("queries", std::ssize(intervals_));
    const auto batch = static_cast<double>(options_.batch);
    set_rate(record, "examples_per_s", batch, interval);
    if (options_.mode == InferenceMode::single_stream) set_latencies(record, latencies_);
    record.set("warmup_s", warmup_time_.count());
    record.set("weights_bytes", weights_bytes(trainer_.model()));
    devices_.describe(record, batch * static_cast<double>(intervals_.size()));
    set_steps_of(record, StepsOf::inference);
    set_passes(record, options_.executor.passes);
    set_work(record, service_.facts());
    set_work_rates(record, interval, options_.best);
    trace_.describe(record, interval.value, {});
    if (!trace_.absence().empty()) record.set("detail", "no shares: " + trace_.absence());
    record.set("stop_reason", reason());
    return record;
  }

  /// A rate may be uncertain although the median latency is not: a few slow queries change only the mean.
  Doubt doubt(const Estimate& latency, const Estimate& interval) const {
    const bool settled = warmup_.settled() || options_.scatter == Scatter::of_rounds;
    if (!settled) return {DoubtKind::unsettled, warmup_.reason()};
    if (Doubt of_devices = devices_.doubt()) return of_devices;
    if (Doubt of_trace = trace_.doubt()) return of_trace;
    if (options_.mode == InferenceMode::single_stream) {
      if (Doubt of_latencies = interval_doubt(latency, options_.scatter)) return of_latencies;
    }
    return interval_doubt(interval, options_.scatter, "mean time between answers");
  }

  std::string reason() const {
    const std::string measured = fmt::format("{} queries in {:.2f} s", intervals_.size(), measured_.count());
    if (enough()) return "duration: " + measured;
    return fmt::format("budget: {}, fewer than the {} that a 99th percentile needs", measured, queries_for_p99);
  }

  Trainer& trainer_;
  const InferenceOptions& options_;
  DeviceWatch devices_;
  Warmup warmup_;
  InferenceService service_;
  std::unique_ptr<QueryStream> queries_;
  TracePhase trace_;
  Seconds warmup_time_{}, measured_{};
  std::vector<double> latencies_;
  std::vector<double> intervals_;  // between answers, over all clients
};

}  // namespace

InferenceMeasurement measure_inference(Trainer& trainer, const InferenceOptions& options) {
  check(options);
  return InferenceRun(trainer, options).run();
}

void set_latencies(Record& record, std::span<const double> latencies) {
  const Estimate median = estimate_median(latencies);
  set_estimate(record, "latency_s", median);
  std::vector<double> sorted(latencies.begin(), latencies.end());
  std::ranges::sort(sorted);
  struct Percentile {
    std::string_view column;
    double share;
    std::size_t queries;  // number of queries of which one lies beyond it
  };
  constexpr Percentile percentiles[] = {
      {"latency_p90_s", 0.90, 10}, {"latency_p95_s", 0.95, 20}, {"latency_p99_s", 0.99, queries_for_p99}};
  for (const Percentile& one : percentiles) {
    if (sorted.size() >= one.queries) record.set(one.column, sorted_quantile(sorted, one.share));
  }
  record.set("latency_max_s", sorted.back());
}

}  // namespace gpubench
