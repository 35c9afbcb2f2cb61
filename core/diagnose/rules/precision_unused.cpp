// A model in float32 on a device that multiplies 16-bit numbers faster.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/diagnose/rules/rules.h"

namespace gpubench {
namespace {

constexpr Threshold precision_gain{"least gain", 0.10, "10 % of the step",
                                   "XProf advises 16 bits where they do under 10 % of the device's work"};
constexpr std::array precision_thresholds = {precision_gain};
constexpr std::array precision_remedies = {Remedy::mixed_precision, Remedy::tensor_float32};
/// 16-bit numbers move half the bytes.
constexpr double half_the_bytes = 0.5;

/// Of a trace, in which kernels' names say how they multiply.
std::optional<Finding> judge_foreign_precision(const Evidence& evidence) {
  const std::optional<Share> products = evidence.share("float32_product_share");
  const DeviceFacts* const device = evidence.device();
  if (!products) return std::nullopt;
  const auto peaks = device == nullptr ? DevicePeaks{} : device->peaks;
  const bool is_known = peaks.float32 && peaks.half && *peaks.half > 0;
  const double ratio = is_known ? std::min(1.0, *peaks.float32 / *peaks.half) : 0.0;
  const Share gain{products->value * (1 - ratio)};
  if (gain.value < precision_gain.value) return std::nullopt;
  Finding finding = make_finding(precision_unused, "", gain, precision_gain.value, evidence.words());
  finding.evidence =
      fmt::format("products of float32 without tensor cores run during {} of the step", percent_text(products->value));
  if (is_known)
    finding.evidence += fmt::format("; the device multiplies 16-bit numbers {:.1f} times as fast", 1 / ratio);
  finding.remedies = {Remedy::mixed_precision};
  if (!is_known || peaks.tf32) finding.remedies.push_back(Remedy::tensor_float32);
  return finding;
}

std::optional<Finding> judge_precision(const Evidence& evidence) {
  if (evidence.is_of(StepsOf::foreign)) return judge_foreign_precision(evidence);
  const DeviceFacts* const device = evidence.device();
  if (evidence.text("precision") != "float32" || device == nullptr) return std::nullopt;
  const auto& [float32, tf32, half] = device->peaks;
  const std::optional<double> own = device->allows_tf32 ? tf32 : float32;
  const std::optional<Share> arithmetic = evidence.share("mfu");
  if (!own || !half || *half <= *own || !arithmetic) return std::nullopt;
  const double ratio = *own / *half;
  const double traffic = std::max(0.0, evidence.number("bandwidth_share").value_or(0) - arithmetic->value);
  const auto gain_of = [&](double ideal) { return ideal * (1 - ratio) + traffic * half_the_bytes; };
  Share gain{gain_of(arithmetic->value)};
  if (arithmetic->interval)
    gain.interval = Interval{gain_of(arithmetic->interval->low), gain_of(arithmetic->interval->high)};
  if (gain.value < precision_gain.value) return std::nullopt;
  Finding finding = make_finding(precision_unused, "", gain, precision_gain.value, evidence.words());
  finding.evidence = fmt::format(
      "the model computes in float32, and the device multiplies 16-bit numbers {:.1f} times "
      "as fast; {} of the step is arithmetic at the best rate of float32",
      1 / ratio, percent_text(arithmetic->value));
  finding.remedies = {Remedy::mixed_precision};
  if (!device->allows_tf32 && tf32 && float32 && *tf32 > *float32) finding.remedies.push_back(Remedy::tensor_float32);
  return finding;
}

}  // namespace

const FindingRule precision_unused{
    .name = "precision_unused",
    .title = "precision unused",
    .meaning = "The model computes in float32 on a device whose units for 16 bits are several times as fast.",
    .rule =
        "precision is float32 and the device's data sheet has a higher rate for 16 bits; what mfu gains by the "
        "ratio of the rates, and half of the memory traffic above it (bandwidth_share), reaches the limit. Of traces: what "
        "float32_product_share gains by the ratio.",
    .thresholds = precision_thresholds,
    .remedies = precision_remedies,
    .proof = {"the same point with the policy mixed_bfloat16: the step gets faster at the same loss",
              "the same step under torch.autocast with torch.bfloat16: it gets faster at the same loss",
              "the same step with the policy mixed_bfloat16: it gets faster at the same loss",
              "the same step with parameters in bfloat16: it gets faster at the same loss"},
    .judge = &judge_precision,
};

}  // namespace gpubench
