// The good end: kernels run nearly all of the time, and nothing else is left to remove.
#include <array>
#include <fmt/format.h>
#include <span>

#include "core/diagnose/rules/rules.h"

namespace gpubench {
namespace {

constexpr Threshold computing{"computing", 0.7, "70 % of the step in kernels",
                              "what is left when no other class reaches its limit"};
constexpr Threshold compute_near{"near the peak", 0.6, "60 % of the kernels' time at the best product's rate",
                                 "Nsight Compute calls a unit above 60 % of its peak a likely limit"};
constexpr std::array compute_thresholds = {computing, compute_near, little_to_gain};
constexpr std::array compute_remedies = {Remedy::kernel_search, Remedy::larger_batch, Remedy::one_device};
constexpr std::span in_turn_remedies(&compute_remedies.back(), 1), peak_remedies(compute_remedies.begin(), 2);

std::optional<Finding> judge_compute(const Evidence& evidence) {
  const auto mfu = evidence.number("mfu");
  std::optional<Share> compute = evidence.share("compute_share");
  if (!compute && mfu) compute = Share{*mfu};  // kernels run at least as long as their arithmetic takes
  if (!compute || compute->value < computing.value) return std::nullopt;
  Finding finding = make_finding(compute_bound, "", {0.0}, 0, evidence.words());
  finding.headline = "compute bound";
  const bool is_host = evidence.is_of(StepsOf::foreign) && !evidence.has_own_memory();
  finding.evidence =
      fmt::format("{} run during {} of the step", is_host ? "operators" : "kernels", share_text(*compute));
  if (!mfu) return finding;
  finding.headline += fmt::format(": {} of the best rate", percent_text(*mfu));
  finding.evidence += fmt::format("; {} of it is their arithmetic at the best product's rate", percent_text(*mfu));
  if (*mfu < compute_near.value * compute->value) {
    // Layers on several devices run one after the other, and the best rate is that of all these devices together.
    const bool in_turn = evidence.number("device_copies").value_or(0) > 0;
    finding.kind = in_turn ? "devices take turns" : "kernels below their peak";
    finding.headline = fmt::format("compute bound ({}): {} of the best rate{}", finding.kind, percent_text(*mfu),
                                   in_turn ? " of all together" : "");
    const std::span<const Remedy> remedies = in_turn ? in_turn_remedies : peak_remedies;
    finding.remedies.assign(remedies.begin(), remedies.end());
  }
  return finding;
}

}  // namespace

const FindingRule compute_bound{
    .name = "compute_bound",
    .title = "compute bound",
    .meaning =
        "The device is busy with kernels: a faster step needs less arithmetic, faster kernels or another device.",
    .rule =
        "compute_share (or mfu, without it) reaches the limit of computing. It gains nothing, and is left "
        "out if another finding gains something; if that is little, the verdict names both: compute bound, then the "
        "finding. Kernels below their peak: mfu is not near compute_share; devices take turns: so it is where "
        "device_copies is above 0.",
    .thresholds = compute_thresholds,
    .remedies = compute_remedies,
    .proof = in_words("the same point on half of the batch takes half of the time",
                      "the same step on half of the batch takes half of the time"),
    .judge = &judge_compute,
};

}  // namespace gpubench
