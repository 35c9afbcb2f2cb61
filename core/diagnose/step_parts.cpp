#include "core/diagnose/step_parts.h"

#include <algorithm>

#include "core/diagnose/rules/rules.h"

namespace gpubench {
namespace {

Share scaled(Share share, double factor) {
  share.value *= factor;
  if (share.interval) share.interval = Interval{share.interval->low * factor, share.interval->high * factor};
  return share;
}

/// The larger of the wait and of what disappears with resident data, where that was measured.
std::optional<Share> input_of(const Evidence& evidence) {
  std::optional<Share> input = evidence.share("input_wait_share");
  const std::optional<Share> ratio = evidence.share("input_ratio");
  if (!ratio) return input;
  const auto saved = [](double times) { return times > 1 ? 1 - 1 / times : 0.0; };
  Share proven{saved(ratio->value)};
  if (ratio->interval) proven.interval = Interval{saved(ratio->interval->low), saved(ratio->interval->high)};
  return input && input->value > proven.value ? input : proven;
}

/// The kernels' time: their arithmetic, and what they take longer.
void divide_kernels(StepDivision& division, const Evidence& evidence) {
  const auto set = [&](StepPart part, const Share& share) { division[static_cast<std::size_t>(part)] = share; };
  const std::optional<Share> compute = evidence.share("compute_share");
  std::optional<Share> mfu = evidence.share("mfu");
  if (mfu && compute && mfu->value > compute->value) mfu = compute;  // traced steps differ a little from timed ones
  if (!mfu) return;
  if (compute) set(StepPart::slow_kernels, less(*compute, mfu->value));
  const auto fixed = evidence.number("fixed_flops_per_step"), all = evidence.number("flops_per_step");
  // All of it may be fixed where that is not known.
  if (!fixed || !all || !(*all > 0)) return;
  const double share = std::clamp(*fixed / *all, 0.0, 1.0);
  set(StepPart::arithmetic, scaled(*mfu, 1 - share));
  set(StepPart::fixed_arithmetic, scaled(*mfu, share));
}

}  // namespace

StepDivision division_of(const Evidence& evidence) {
  StepDivision division;
  const auto set = [&](StepPart part, const std::optional<Share>& share) {
    division[static_cast<std::size_t>(part)] = share;
  };
  divide_kernels(division, evidence);
  const double late_host = host_time_of_late_replica(evidence);
  set(StepPart::launches, evidence.share("launch_share"));
  set(StepPart::copies, evidence.share("copy_share"));
  set(StepPart::input, input_of(evidence));
  set(StepPart::exchanges, evidence.share("communication_share"));
  if (const auto waiting = evidence.share("peer_wait_share")) set(StepPart::late_replicas, less(*waiting, -late_host));
  if (const auto host = evidence.share("host_share")) set(StepPart::host, less(*host, late_host));
  set(StepPart::other, evidence.share("other_share"));
  return division;
}

}  // namespace gpubench
