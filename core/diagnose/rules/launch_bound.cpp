// The device idles while the host launches work, or its kernels are so small that starting them takes most of their
// time.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/units.h"
#include "core/diagnose/rules/rules.h"
#include "core/trace/breakdown.h"

namespace gpubench {
namespace {

constexpr Threshold launch_moderate{"moderate", 0.03, "3 % of the step", "XProf's limit for kernel launch"};
constexpr Threshold short_kernel{"small kernel", Seconds(small_kernel).count(), "20 µs per kernel",
                                 "four launches of 5 µs: below that the start of a kernel is a visible part of it"};
constexpr std::array launch_thresholds = {launch_moderate, short_kernel};
constexpr std::array launch_remedies = {Remedy::graph, Remedy::compiled_step, Remedy::larger_batch,
                                        Remedy::fused_kernels};

/// Mean seconds of a kernel; 0 if unknown.
double kernel_time(const Evidence& evidence) {
  const auto compute = evidence.share("compute_share");
  const auto kernels = evidence.number("kernels"), step = evidence.step_s(), replicas = evidence.replicas();
  if (!compute || !kernels || !(*kernels > 0) || !step || !replicas) return 0;
  return compute->value * *step * *replicas / *kernels;
}

/// Share of the step in small kernels: as traced; in rows without it, all of the kernels' time if the mean is small.
double in_small_kernels(const Evidence& evidence, double compute) {
  if (const auto traced = evidence.number("small_kernel_share")) return std::min(*traced, compute);
  const double one_kernel = kernel_time(evidence);
  return one_kernel > 0 && one_kernel < short_kernel.value ? compute : 0;
}

struct SmallKernels {
  double share = 0;  ///< of the step
  double lost = 0;   ///< what it is above the time of their arithmetic and their memory traffic
};

/// Small kernels compute and move their part of what all kernels do, or less.
SmallKernels small_kernels(const Evidence& evidence) {
  const auto compute = evidence.number("compute_share"), mfu = evidence.number("mfu");
  if (!compute || !(*compute > 0) || !mfu) return {};
  const double share = in_small_kernels(evidence, *compute);
  const double needed = std::max(*mfu, evidence.number("bandwidth_share").value_or(0)) * share / *compute;
  return {share, std::max(0.0, share - needed)};
}

/// Of a trace, whose rows have no arithmetic.
std::optional<Finding> judge_foreign_launch(const Evidence& evidence) {
  std::optional<Share> launching = evidence.share("launch_share");
  const double host = evidence.number("host_share").value_or(0);
  const bool with_host = never_leads(evidence);
  if (!launching || (with_host && host >= launching->value)) return std::nullopt;  // host_bound has both
  if (with_host) launching = less(*launching, -host);
  if (launching->value < launch_moderate.value) return std::nullopt;
  Finding finding =
      make_finding(launch_bound, "many small operations", *launching, launch_moderate.value, evidence.words());
  finding.evidence =
      fmt::format("the device idles {} of the step while the host launches work", share_text(*launching));
  if (const auto small = evidence.number("small_kernel_share"))
    finding.evidence += fmt::format("; kernels below 20 µs run during {} of the step", percent_text(*small));
  finding.remedies = {Remedy::graph, Remedy::larger_batch};
  return finding;
}

std::optional<Finding> judge_launch(const Evidence& evidence) {
  if (evidence.is_of(StepsOf::foreign)) return judge_foreign_launch(evidence);
  const std::optional<Share> launching = evidence.share("launch_share");
  const auto [in_small, small] = small_kernels(evidence);
  const Share gain = less(launching.value_or(Share{}), -small);
  if (gain.value < launch_moderate.value) return std::nullopt;
  const char* const kind = evidence.is_eager() || evidence.is_loop() ? "many small operations"
                           : evidence.is_planned()                   ? "batch too small"
                                                                     : "";
  // The launches themselves may take almost nothing.
  const std::string_view title = small > (launching ? launching->value : 0) ? "kernels too small" : "";
  Finding finding = make_finding(launch_bound, kind, gain, launch_moderate.value, evidence.words(), title);
  if (launching && (small == 0 || launching->value >= launch_moderate.value))
    finding.evidence =
        fmt::format("the device idles {} of the step while the host launches work", share_text(*launching));
  if (small > 0) {
    const std::string which = evidence.has("small_kernel_share")
                                  ? fmt::format("kernels below 20 µs run during {} of the step", percent_text(in_small))
                                  : fmt::format("{:.0f} kernels take {} each", *evidence.number("kernels"),
                                                format_seconds(kernel_time(evidence)));
    finding.evidence += fmt::format(
        "{}{}, {} of the step above their arithmetic{}", finding.evidence.empty() ? "" : "; ", which,
        percent_text(small),
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

bool never_leads(const Evidence& evidence) {
  constexpr double two_launches_s = 30e-6;
  const auto lead = evidence.number("launch_lead_s");
  return lead && *lead < two_launches_s;
}

const FindingRule launch_bound{
    .name = "launch_bound",
    .title = "launch bound",
    .meaning =
        "Starting kernels takes the time, not what they compute: the batch is too small, or the model has many "
        "small operations.",
    .rule =
        "launch_share, together with the time that small kernels (small_kernel_share; in rows without it, all of "
        "compute_share if the mean kernel is small) spend above their part of the arithmetic (mfu) and of the memory "
        "traffic (bandwidth_share), reaches the limit. The headline is kernels too small where these lose more than "
        "the launches. Many small operations: "
        "eager execution or a loop of the script. Batch too small: a planned step. Neither is said where the row does "
        "not say how steps are executed.",
    .thresholds = launch_thresholds,
    .remedies = launch_remedies,
    .proof =
        {"the same point with execution = \"graph\", or with four times the batch: examples_per_s rises",
         "the same step under torch.compile(mode=\"reduce-overhead\"), or with four times the batch: examples/s rise",
         "the same step with run_eagerly=False, or with four times the batch: examples/s rise",
         "the same step under jax.jit, or with four times the batch: examples/s rise"},
    .judge = &judge_launch,
};

}  // namespace gpubench
