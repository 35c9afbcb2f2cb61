#include "core/experiment/collectives/scaling_model.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/units.h"

namespace gpubench {
namespace {

void check_share(const char* name, double value) {
  if (value >= 0 && value <= 1) return;
  throw Error(fmt::format("scaling_model: {} is a share from 0 to 1, got {}", name, value));
}

void check_positive(const char* name, double value) {
  if (value > 0 && std::isfinite(value)) return;
  throw Error(fmt::format("scaling_model: {} must be above 0, got {}", name, value));
}

void check(const ScalingInputs& inputs) {
  check_positive("step_time_s", inputs.step_seconds);
  check_positive("gradient_bytes", inputs.gradient_bytes);
  if (inputs.bucket_bytes) check_positive("bucket_bytes", *inputs.bucket_bytes);
  check_share("overlap", inputs.overlap);
  check_share("backward_share", inputs.backward_share);
  for (const int replicas : inputs.replicas) {
    if (replicas < 1) throw Error(fmt::format("scaling_model: replicas must be at least 1, got {}", replicas));
  }
  for (const MeasuredStep& step : inputs.steps) check_positive("a measured step_time_s", step.seconds);
}

}  // namespace

ScalingModel::ScalingModel(ScalingInputs inputs) : inputs_(std::move(inputs)) {
  check(inputs_);
  std::map<int, std::vector<AllReduceTime>> by_replicas;
  for (const auto& [replicas, time] : inputs_.all_reduces) {
    if (replicas > 1 && replicas <= inputs_.fit_up_to.value_or(replicas)) by_replicas[replicas].push_back(time);
  }
  if (by_replicas.empty()) {
    throw Error(
        inputs_.fit_up_to
            ? fmt::format("scaling_model: there is no all-reduce of 2 to {} replicas to learn from", *inputs_.fit_up_to)
            : "scaling_model: there is no all-reduce of 2 or more replicas to learn from");
  }
  for (auto& [replicas, times] : by_replicas) curves_.emplace_back(replicas, std::move(times));
}

const AllReduceCurve& ScalingModel::curve_for(int replicas) const {
  const AllReduceCurve* best = &curves_.front();
  for (const AllReduceCurve& curve : curves_) {
    if (curve.ranks() <= replicas) best = &curve;
  }
  return *best;
}

double ScalingModel::all_reduce(double bytes, int replicas) const {
  const double buckets = inputs_.bucket_bytes ? std::ceil(bytes / *inputs_.bucket_bytes) : 1;
  return buckets * curve_for(replicas).seconds(bytes / buckets, replicas, inputs_.pattern);
}

PredictedStep ScalingModel::step(int replicas) const {
  const double alone = inputs_.step_seconds, exchange = all_reduce(inputs_.gradient_bytes, replicas);
  const auto shown = [&](double computing) {
    return exchange - std::min(inputs_.overlap * exchange, inputs_.backward_share * computing);
  };
  PredictedStep step{.replicas = replicas, .all_reduce = exchange, .hidden = exchange - shown(alone)};
  step.weak_step = alone + shown(alone);
  step.weak_efficiency = alone / step.weak_step;
  step.strong_step = alone / replicas + shown(alone / replicas);
  step.strong_efficiency = alone / (replicas * step.strong_step);
  for (const MeasuredStep& measured : inputs_.steps) {
    if (measured.replicas == replicas) step.measured_step = measured.seconds;
  }
  return step;
}

std::vector<PredictedStep> ScalingModel::steps() const {
  std::set<int> replicas(inputs_.replicas.begin(), inputs_.replicas.end());
  for (const MeasuredStep& measured : inputs_.steps) replicas.insert(measured.replicas);
  std::vector<PredictedStep> steps;
  for (const int count : replicas) steps.push_back(step(count));
  return steps;
}

std::vector<PredictedAllReduce> ScalingModel::all_reduces() const {
  std::vector<PredictedAllReduce> predictions;
  for (const MeasuredAllReduce& measured : inputs_.all_reduces) {
    const auto& [replicas, time] = measured;
    if (replicas < 2) continue;
    const AllReduceCurve& curve = curve_for(replicas);
    const bool learnt = curve.ranks() == replicas;
    if (learnt && curve.sizes() < 3) continue;  // removing it would leave no curve
    predictions.push_back({measured, learnt ? curve.seconds_from_others(time.bytes)
                                            : curve.seconds(time.bytes, replicas, inputs_.pattern)});
  }
  return predictions;
}

std::vector<std::string> ScalingModel::assumptions() const {
  std::vector<std::string> lines;
  for (const AllReduceCurve& curve : curves_) {
    lines.push_back(fmt::format("all-reduce of {} replicas, as measured: {} and {} of the message", curve.ranks(),
                                format_seconds(curve.latency()),
                                curve.seconds_per_byte() > 0 ? format_si(1 / curve.seconds_per_byte()) + "B/s"
                                                             : std::string("no time for the bytes")));
  }
  lines.push_back(fmt::format(
      "more replicas: latency grows as the hops of a {}, {}; the rest as 2 (n - 1) / n; every "
      "link is as fast as those that were measured, and none is shared by more",
      to_string(inputs_.pattern), inputs_.pattern == ExchangePattern::ring ? "2 (n - 1)" : "2 ceil(log2 n)"));
  lines.push_back(fmt::format(
      "{} of gradients in a step, exchanged {}", format_bytes(inputs_.gradient_bytes),
      inputs_.bucket_bytes ? fmt::format("in buckets of {}", format_bytes(*inputs_.bucket_bytes)) : "all at once"));
  lines.push_back(fmt::format("{:.0f} % of the exchange runs beside the backward pass, which is {:.0f} % of a step",
                              100 * inputs_.overlap, 100 * inputs_.backward_share));
  lines.push_back("weak scaling: every replica computes as long as one alone, and none is late");
  lines.push_back("strong scaling: n replicas compute an n-th of the time each, however small their batch becomes");
  return lines;
}

}  // namespace gpubench
