// Matrix products whose sizes do not fit the tensor cores.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/diagnose/rules/rules.h"

namespace gpubench {
namespace {

constexpr Threshold size_gain{"least gain", 0.05, "5 % of the step", "below the noise of most comparisons"};
constexpr Threshold aligned_bytes{
    "aligned", 16, "16 bytes: 8 numbers of 16 bits, 4 of TF32",
    "NVIDIA, Matrix Multiplication Background User's Guide, requirements of tensor cores"};
constexpr std::array size_thresholds = {size_gain, aligned_bytes};
constexpr std::array size_remedies = {Remedy::padded_sizes};

std::optional<Finding> judge_sizes(const Evidence& evidence) {
  const auto unaligned = evidence.number("unaligned_share"), mfu = evidence.number("mfu");
  const std::optional<Share> compute = evidence.share("compute_share");
  const DeviceFacts* const device = evidence.device();
  const std::string precision = evidence.text("precision");
  const bool uses_tensor_cores = precision == "float32" ? device != nullptr && device->allows_tf32 : !precision.empty();
  if (!uses_tensor_cores) return std::nullopt;
  if (!unaligned || *unaligned <= 0 || !compute || !mfu) return std::nullopt;
  const double above_ideal = std::max(0.0, compute->value - *mfu);
  const Share gain{*unaligned * above_ideal};
  if (gain.value < size_gain.value) return std::nullopt;
  Finding finding = make_finding(unaligned_sizes, "", gain, size_gain.value, evidence.words());
  finding.evidence = fmt::format(
      "{} of the arithmetic is in products with an extent that is no multiple of 16 bytes; "
      "kernels take {} of the step more than their arithmetic at the best rate",
      percent_text(*unaligned), percent_text(above_ideal));
  finding.remedies.assign(size_remedies.begin(), size_remedies.end());
  return finding;
}

}  // namespace

const FindingRule unaligned_sizes{
    .name = "unaligned_sizes",
    .title = "sizes do not fit the tensor cores",
    .meaning = "Widths that are no multiples of 8 keep products from the tensor cores, or pad them inside.",
    .rule =
        "unaligned_share of the kernels' time above the ideal (compute_share less mfu) reaches the limit. "
        "Not for float32 without TF32, which tensor cores do not multiply.",
    .thresholds = size_thresholds,
    .remedies = size_remedies,
    .proof = in_all_words(
        "the same model with widths rounded up to multiples of 8: the step gets faster in spite of more work"),
    .judge = &judge_sizes,
};

}  // namespace gpubench
