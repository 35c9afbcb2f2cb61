// The device idles while the host launches work, or its kernels are so small that starting them takes most of their
// time.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/units.h"
#include "core/diagnose/rules/rules.h"

namespace gpubench {
namespace {

constexpr Threshold launch_moderate{"moderate", 0.03, "3 % of the step", "XProf's limit for kernel launch"};
constexpr Threshold small_kernel{"small kernel", 20e-6, "20 µs per kernel",
                                 "four launches of 5 µs: below that the start of a kernel is a visible part of it"};
constexpr std::array launch_thresholds = {launch_moderate, small_kernel};
constexpr std::array launch_remedies = {Remedy::graph, Remedy::compiled_step, Remedy::larger_batch,
                                        Remedy::fused_kernels};

/// Mean seconds of a kernel; 0 if unknown.
double kernel_time(const Evidence& evidence) {
  const auto compute = evidence.share("compute_share");
  const auto kernels = evidence.number("kernels"), step = evidence.step_s(), replicas = evidence.replicas();
  if (!compute || !kernels || !(*kernels > 0) || !step || !replicas) return 0;
  return compute->value * *step * *replicas / *kernels;
}

/// What small kernels lose: their time above that of their arithmetic and their memory traffic.
double lost_in_small_kernels(const Evidence& evidence, double one_kernel) {
  const auto mfu = evidence.number("mfu");
  if (one_kernel <= 0 || one_kernel >= small_kernel.value || !mfu) return 0;
  const double needed = std::max(*mfu, evidence.number("bandwidth_share").value_or(0));
  return std::max(0.0, evidence.share("compute_share")->value - needed);
}

std::optional<Finding> judge_launch(const Evidence& evidence) {
  const std::optional<Share> launching = evidence.share("launch_share");
  const double one_kernel = kernel_time(evidence);
  const double small = lost_in_small_kernels(evidence, one_kernel);
  const Share gain = less(launching.value_or(Share{}), -small);
  if (gain.value < launch_moderate.value) return std::nullopt;
  const char* const kind = evidence.is_eager() || evidence.is_loop() ? "many small operations"
                           : evidence.is_planned()                   ? "batch too small"
                                                                     : "";
  // The launches themselves may take almost nothing.
  const std::string_view title = small > (launching ? launching->value : 0) ? "kernels too small" : "";
  Finding finding = make_finding(launch_bound, kind, gain, launch_moderate.value, title);
  if (launching && (small == 0 || launching->value >= launch_moderate.value))
    finding.evidence =
        fmt::format("the device idles {} of the step while the host launches work", share_text(*launching));
  if (small > 0) {
    finding.evidence += fmt::format(
        "{}{:.0f} kernels take {} each, {} of the step above their arithmetic{}", finding.evidence.empty() ? "" : "; ",
        *evidence.number("kernels"), format_seconds(one_kernel), percent_text(small),
        evidence.has("bandwidth_share") ? " and memory traffic" : "; what their memory traffic takes is not known");
  }
  if (const auto host = evidence.number("host_time_s"))
    finding.evidence += fmt::format("; the host needs {} to launch a step", format_seconds(*host));
  if (evidence.is_loop())
    finding.remedies = {Remedy::compiled_step, Remedy::larger_batch};
  else if (evidence.is_eager())
    finding.remedies = {Remedy::graph, Remedy::larger_batch};
  else if (evidence.is_planned())
    finding.remedies = {Remedy::larger_batch, Remedy::fused_kernels};
  else
    finding.remedies.assign(launch_remedies.begin(), launch_remedies.end());
  return finding;
}

}  // namespace

const FindingRule launch_bound{
    .name = "launch_bound",
    .title = "launch bound",
    .meaning =
        "Starting kernels takes the time, not what they compute: the batch is too small, or the model has many "
        "small operations.",
    .rule =
        "launch_share, together with the time that kernels shorter than a small kernel (compute_share of the step "
        "over kernels) spend above their arithmetic (mfu) and memory traffic (bandwidth_share), reaches the "
        "limit. The headline is kernels too small where these lose more than the launches. Many small operations: "
        "eager execution or a loop of the script. Batch too small: a planned step. Neither is said where the row does "
        "not say how steps are executed.",
    .thresholds = launch_thresholds,
    .remedies = launch_remedies,
    .proof = "the same point with execution = \"graph\", or with four times the batch: examples_per_s rises",
    .judge = &judge_launch,
};

}  // namespace gpubench
