// Measures how fast a model answers: the latency of its queries and how many examples a second it infers. The
// definitions are those of MLPerf's load generator; latencies are percentiles over all queries, not over blocks of
// them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/experiment/query_stream.h"
#include "core/measure/warmup.h"
#include "core/results/record.h"
#include "core/train/trainer.h"

namespace gpubench {

struct InferenceOptions {
  InferenceMode mode = InferenceMode::single_stream;
  std::int64_t batch = 1;        ///< examples of a query
  std::int64_t concurrency = 1;  ///< clients that ask at once; offline: 1
  /// Single examples, labels allowed; nullptr: random ones.
  DatasetPtr input;
  ExecutorOptions executor;
  Seconds duration{1.0};
  /// Measuring goes on so long, at most, for as many queries as the highest percentile needs.
  Seconds budget{2.0};
  WarmupLimits warmup;
  /// What the device can do at best, to relate to; none: no mfu.
  std::optional<double> best_flops_per_s;
  std::string_view what = "measure.inference";
};

struct InferenceMeasurement {
  Record record;
  /// Seconds, in order: latencies; offline the times between answers.
  std::vector<double> samples;
};

/// A percentile is told only where at least one query lies beyond it.
inline constexpr std::size_t queries_for_p99 = 100;

/// Throws Error for a batch, a concurrency or a duration that makes no sense, and what load_queries() and
/// InferenceService throw.
InferenceMeasurement measure_inference(Trainer& trainer, const InferenceOptions& options);

/// Sets latency_s (the median) with its interval, and latency_p90_s, latency_p95_s, latency_p99_s where `latencies`
/// (seconds, at least one) has a query beyond them, and latency_max_s.
void set_latencies(Record& record, std::span<const double> latencies);

}  // namespace gpubench
