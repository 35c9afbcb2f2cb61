// Kernels that wait for the device's memory.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/diagnose/rules/rules.h"

namespace gpubench {
namespace {

constexpr Threshold bandwidth_near{"near the peak", 0.6, "60 % of the kernels' time at the best copy's rate",
                                   "Nsight Compute calls a unit above 60 % of its peak a likely limit"};
constexpr Threshold bandwidth_gain{"least gain", 0.05, "5 % of the step", "below the noise of most comparisons"};
constexpr std::array bandwidth_thresholds = {bandwidth_near, bandwidth_gain};
constexpr std::array bandwidth_remedies = {Remedy::fused_kernels, Remedy::mixed_precision, Remedy::larger_batch};

std::optional<Finding> judge_bandwidth(const Evidence& evidence) {
  const std::optional<Share> traffic = evidence.share("bandwidth_share");
  const std::optional<Share> compute = evidence.share("compute_share");
  if (!traffic || !compute || traffic->value < bandwidth_near.value * compute->value) return std::nullopt;
  const double ideal = evidence.number("mfu").value_or(0);
  Share gain{std::min(traffic->value, compute->value) - ideal};
  if (traffic->interval) gain.interval = Interval{traffic->interval->low - ideal, traffic->interval->high - ideal};
  if (gain.value < bandwidth_gain.value) return std::nullopt;
  Finding finding = make_finding(bandwidth_bound, "", gain, bandwidth_gain.value, evidence.words());
  finding.evidence = fmt::format(
      "the bytes that kernels must move take {} of the step at the best copy's rate, their "
      "arithmetic {}; kernels run during {}",
      share_text(*traffic), percent_text(ideal), percent_text(compute->value));
  finding.remedies.assign(bandwidth_remedies.begin(), bandwidth_remedies.end());
  return finding;
}

}  // namespace

const FindingRule bandwidth_bound{
    .name = "bandwidth_bound",
    .title = "memory-bandwidth bound",
    .meaning = "Kernels wait for the device's memory: few operations for each byte that they move.",
    .rule = "bandwidth_share is near compute_share and exceeds mfu by the least gain.",
    .thresholds = bandwidth_thresholds,
    .remedies = bandwidth_remedies,
    .proof = in_words("the same point in 16 bits, or with fused kernels: the step falls with bytes_per_step",
                      "the same step in 16 bits, or with fused kernels: it gets faster as they move fewer bytes"),
    .judge = &judge_bandwidth,
};

}  // namespace gpubench
