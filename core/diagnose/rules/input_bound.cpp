// The step waits for its batch. Measured with the input taken away where gb.measure.input_proof did that; else by the
// time that the step loop waits.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "core/diagnose/rules/rules.h"

namespace gpubench {
namespace {

constexpr Threshold input_moderate{"moderate", 0.05, "5 % of the step", "XProf's input-pipeline analyzer"};
constexpr Threshold input_high{"high", 0.20, "20 % of the step", "XProf's input-pipeline analyzer"};
constexpr Threshold input_proven{"proven", 1.05, "interval of input_ratio above 1.05",
                                 "DS-Analyzer (VLDB 2021): a step on resident data differs by more than the noise"};
constexpr Threshold ready_cost{"ready", 0.30, "30 % of the difference remains with batches that lie ready",
                               "a third of the cost is not the pipeline's"};
/// Waiting and the measured difference contradict each other beyond this ratio.
constexpr Threshold most_apart{"apart", 2, "a factor of 2 between the wait and the measured difference",
                               "threads of the pipeline that take cores from the step explain less"};
constexpr Threshold workers_share{
    "workers", 0.20, "a fifth of the processors' time in workers",
    "of two processors that are busy, a step that one thread computes has one and a half"};
constexpr std::array input_thresholds = {input_moderate, input_high, input_proven,
                                         ready_cost,     most_apart, workers_share};
constexpr std::array input_remedies = {Remedy::prefetch,      Remedy::more_workers,   Remedy::batched_map,
                                       Remedy::cache,         Remedy::parallel_reads, Remedy::prefetch_to_device,
                                       Remedy::pinned_memory, Remedy::larger_batch};
constexpr Wording proof_flag = {
    "gb.measure.input_proof(model, dataset) tells reading, processing and transfer apart",
    "the DataLoader alone, and the step on one batch that stays on the device, tell reading, processing and transfer "
    "apart",
    "the dataset alone, and the step on one batch that stays on the device, tell reading, processing and transfer "
    "apart",
    "the loader alone, and the step on one batch that stays on the device, tell reading, processing and transfer apart"};

std::string severity(double share) {
  return share > input_high.value ? "highly" : "moderately";
}

/// What makes the input slow. Scripts and pages see the names.
enum class InputKind { unknown, reading, processing, main_process, workers, processors, disk, transfer, hand_over };

struct InputKindRow {
  std::string_view name;
  std::vector<Remedy> remedies;
};

const InputKindRow& row_of(InputKind kind) {
  static const std::array<InputKindRow, 9> rows = {{
      {"", {Remedy::prefetch, Remedy::more_workers, Remedy::cache}},
      {"reading", {Remedy::parallel_reads, Remedy::prefetch, Remedy::cache}},
      {"processing", {Remedy::more_workers, Remedy::prefetch, Remedy::batched_map, Remedy::cache}},
      {"no workers", {Remedy::more_workers, Remedy::prefetch, Remedy::cache}},
      {"slow workers", {Remedy::more_workers, Remedy::batched_map, Remedy::cache}},
      {"workers without processors", {Remedy::batched_map, Remedy::cache}},
      {"slow disk", {Remedy::cache, Remedy::parallel_reads, Remedy::prefetch}},
      {"transfer", {Remedy::prefetch_to_device, Remedy::pinned_memory}},
      {"hand-over", {Remedy::larger_batch, Remedy::prefetch}},
  }};
  return rows[static_cast<std::size_t>(kind)];
}

InputKind kind_of_cause(InputCauseKind cause) {
  switch (cause) {
    case InputCauseKind::reading:
      return InputKind::reading;
    case InputCauseKind::processing:
      return InputKind::processing;
    case InputCauseKind::main_process:
      return InputKind::main_process;
    case InputCauseKind::workers:
      return InputKind::workers;
    case InputCauseKind::processors:
      return InputKind::processors;
    case InputCauseKind::disk:
      return InputKind::disk;
    case InputCauseKind::unknown:
      break;
  }
  return InputKind::unknown;
}

Finding input_finding(const Evidence& evidence, InputKind kind, const Share& gain) {
  const InputKindRow& row = row_of(kind);
  Finding finding = make_finding(input_bound, row.name, gain, input_moderate.value, evidence.words());
  finding.remedies = row.remedies;
  if (!evidence.has("input_ratio")) finding.flag = proof_flag.in(evidence.words());
  return finding;
}

std::string wait_text(double waited) {
  return fmt::format("it waits for its input {} of its time", percent_text(waited));
}

/// From the steps with the pipeline, with batches that lie ready and with resident batches.
std::optional<Finding> judge_proof(const Evidence& evidence, const Share& ratio, double waited) {
  const auto saved = [](double times) { return times > 0 ? 1 - 1 / times : 0.0; };
  Share gain{saved(ratio.value)};
  if (ratio.interval) gain.interval = Interval{saved(ratio.interval->low), saved(ratio.interval->high)};
  const bool costs = gain.value >= input_moderate.value, waits = waited >= input_moderate.value;
  if (!costs && !waits) return std::nullopt;

  const double resident = evidence.number("resident_step_time_s").value_or(0);
  const double full = resident * ratio.value;
  const double cached = evidence.number("cached_step_time_s").value_or(resident);
  const double ready = full > resident ? std::max(0.0, cached - resident) / (full - resident) : 0;
  const bool ready_batches_cost = ready > ready_cost.value;
  const bool transfers = evidence.has_own_memory() && ready_batches_cost;
  const std::string cause = evidence.text("input_cause");
  const InputKind kind = transfers            ? InputKind::transfer
                         : ready_batches_cost ? InputKind::hand_over
                                              : kind_of_cause(evidence.input_cause());
  Finding finding = input_finding(evidence, kind, costs ? gain : Share{waited});
  const std::string figures =
      ratio.interval ? fmt::format("a step takes {:.2f} times [{:.2f}, {:.2f}] what it takes on resident data",
                                   ratio.value, ratio.interval->low, ratio.interval->high)
                     : fmt::format("a step takes {:.2f} times what it takes on resident data", ratio.value);
  finding.evidence = fmt::format("{}: {}, and {}", severity(gain.value), figures, wait_text(waited));
  if (ready_batches_cost) {
    finding.evidence += fmt::format("; {} of the difference remains with batches that lie ready", percent_text(ready));
  } else if (!cause.empty()) {
    finding.evidence += "; " + cause;
  }
  if (!costs) {
    finding.doubt = fmt::format("{}, and yet {}", figures, wait_text(waited));
  } else if (!ratio.interval || ratio.interval->low <= input_proven.value) {
    finding.doubt = ratio.interval ? "not proven: the interval of input_ratio reaches below 1.05"
                                   : "not proven: too few steps for an interval of input_ratio";
    finding.flag = measure_longer.in(evidence.words());
  } else if (!transfers && (waited < input_moderate.value || waited * most_apart.value < gain.value ||
                            gain.value * most_apart.value < waited)) {
    finding.doubt =
        fmt::format("{}, but {}; the pipeline's threads may take cores from the step", figures, wait_text(waited));
  }
  return finding;
}

/// Workers that share busy processors with the step make it compute longer instead of letting it wait.
std::optional<Finding> judge_workers(const Evidence& evidence, double waited) {
  const double taken = evidence.number("input_processor_share").value_or(0);
  if (taken < workers_share.value || taken <= waited) return std::nullopt;
  Finding finding = input_finding(evidence, InputKind::processors, {taken});
  finding.evidence = fmt::format(
      "{}: its workers take {} of the processor time, no processor is idle, and the step computes with what they leave; "
      "{}",
      severity(taken), percent_text(taken), wait_text(waited));
  if (const std::string cause = evidence.text("input_cause"); !cause.empty()) finding.evidence += ": " + cause;
  return finding;
}

std::optional<Finding> judge_input(const Evidence& evidence) {
  const std::optional<Share> waited = evidence.share("input_wait_share");
  if (const std::optional<Share> ratio = evidence.share("input_ratio"))
    return judge_proof(evidence, *ratio, waited ? waited->value : 0.0);
  if (std::optional<Finding> finding = judge_workers(evidence, waited ? waited->value : 0)) return finding;
  if (!waited || waited->value < input_moderate.value) return std::nullopt;
  Finding finding = input_finding(evidence, kind_of_cause(evidence.input_cause()), *waited);
  finding.evidence =
      fmt::format("{}: a step waits for its batch {} of its time", severity(waited->value), share_text(*waited));
  if (const std::string cause = evidence.text("input_cause"); !cause.empty()) finding.evidence += ": " + cause;
  return finding;
}

}  // namespace

const FindingRule input_bound{
    .name = "input_bound",
    .title = "input bound",
    .meaning =
        "The device waits for the next batch: it is read, processed or transferred more slowly than the model trains.",
    .rule =
        "input_wait_share, or the step's part that disappears with resident data (input_ratio), reaches the "
        "moderate limit. Transfer: on a device with its own memory most of the difference remains with batches "
        "that lie ready in host memory; hand-over: the same in host memory; reading or processing: what the "
        "pipeline's slowest thread does (input_cause); no workers and slow workers: the loader that a trace shows; "
        "workers without processors and slow disk: what a watched job's processes wait for; the former also where "
        "input_processor_share reaches the limit of workers and is more than the wait.",
    .thresholds = input_thresholds,
    .remedies = input_remedies,
    .proof = in_words("gb.measure.input_proof: the interval of input_ratio lies above 1.05",
                      "the same step on one batch that stays on the device: it takes less than 95 % of the time"),
    .judge = &judge_input,
};

}  // namespace gpubench
