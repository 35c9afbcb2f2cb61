// Measures inference: the latency of queries and the examples per second. Definitions follow MLPerf's load generator;
// latencies are percentiles over all queries, not over blocks of queries.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/experiment/inference/query_stream.h"
#include "core/experiment/steps/trace_phase.h"
#include "core/experiment/training/training.h"
#include "core/measure/stopping_rule.h"
#include "core/measure/warmup.h"
#include "core/results/record.h"
#include "core/train/trainer.h"

namespace gpubench {

struct InferenceOptions {
  InferenceMode mode = InferenceMode::single_stream;
  std::int64_t batch = 1;        ///< examples per query
  std::int64_t concurrency = 1;  ///< clients that send queries at the same time; offline: 1
  /// Single examples, with or without labels; nullptr: random ones.
  DatasetPtr input;
  ExecutorOptions executor;
  Seconds duration{1.0};
  /// Most time in which queries for the highest percentile are collected.
  Seconds budget{2.0};
  WarmupLimits warmup;
  Scatter scatter = Scatter::judged;
  /// Of a few more queries after the timing.
  TraceWishes trace;
  /// Gets the phases; may be null.
  Activity* activity = nullptr;
  BestRates best;
  std::string_view what = "measure.inference";
};

struct InferenceMeasurement {
  Record record;
  /// Seconds, in order: latencies; offline: the times between answers.
  std::vector<double> samples;
  /// Of the traced queries; nullptr if it is not needed.
  std::shared_ptr<Timeline> timeline{};
};

/// A percentile is reported only if at least one query lies beyond it.
inline constexpr std::size_t queries_for_p99 = 100;

/// Throws Error for an impossible batch, concurrency or duration, and as load_queries() and InferenceService do.
InferenceMeasurement measure_inference(Trainer& trainer, const InferenceOptions& options);

/// Sets latency_s (the median) with its interval and latency_max_s; and latency_p90_s, latency_p95_s, latency_p99_s if
/// `latencies` (seconds, at least one) has a query beyond them.
void set_latencies(Record& record, std::span<const double> latencies);

}  // namespace gpubench
