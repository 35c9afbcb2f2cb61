// The memory of the device: a step that ran out of it, activations that are swapped to the host, or a peak near the
// limit, which costs no time yet.
#include <array>
#include <fmt/format.h>

#include "core/base/units.h"
#include "core/diagnose/rules/rules.h"

namespace gpubench {
namespace {

constexpr Threshold memory_near{"near", 0.9, "90 % of the memory", "Kineto's TensorBoard plugin"};
constexpr Threshold swap_moderate{"swap", 0.05, "5 % of the step in copies",
                                  "XProf's limit for input and output copies"};
constexpr std::array memory_thresholds = {memory_near, swap_moderate};
constexpr std::array memory_remedies = {Remedy::smaller_batch,   Remedy::gradient_accumulation,
                                        Remedy::mixed_precision, Remedy::recomputation,
                                        Remedy::no_offload,      Remedy::divided_layers};

Finding out_of_memory(const Evidence& evidence) {
  Finding finding = make_finding(memory_limit, "out of memory", {1.0}, 0, evidence.words());
  finding.headline = "out of memory";
  finding.evidence = evidence.text("detail");
  if (evidence.text("memory_of") == "variables") {
    finding.headline = "out of memory: weights and optimizer state alone are too large";
    finding.remedies = {Remedy::divided_layers};
    return finding;
  }
  finding.remedies = {Remedy::smaller_batch, Remedy::gradient_accumulation, Remedy::mixed_precision,
                      Remedy::recomputation};
  return finding;
}

std::optional<Finding> swapping(const Evidence& evidence) {
  const double bytes = evidence.number("offloaded_bytes").value_or(0);
  const std::optional<Share> copies = evidence.share("copy_share");
  if (bytes <= 0 || !copies || copies->value < swap_moderate.value) return std::nullopt;
  Finding finding = make_finding(memory_limit, "swapping", *copies, swap_moderate.value, evidence.words());
  finding.evidence = fmt::format(
      "{} of activations are copied to the host and back; only copies run during {} of the "
      "step",
      format_bytes(bytes), share_text(*copies));
  finding.remedies = {Remedy::smaller_batch, Remedy::no_offload, Remedy::recomputation};
  return finding;
}

std::optional<Finding> near_limit(const Evidence& evidence) {
  const DeviceFacts* const device = evidence.device();
  const auto peak = evidence.number("peak_memory_bytes");
  if (device == nullptr || !device->memory_bytes || !peak || evidence.replicas() != 1) return std::nullopt;
  const double used = *peak / *device->memory_bytes;
  if (used < memory_near.value) return std::nullopt;
  Finding finding = make_finding(memory_limit, "near the limit", {0.0}, 0, evidence.words());
  finding.headline = fmt::format("memory (near the limit): {} in use", percent_text(used));
  finding.evidence = fmt::format("{} of {}; a larger batch runs out of memory", format_bytes(*peak),
                                 format_bytes(*device->memory_bytes));
  finding.remedies = {Remedy::gradient_accumulation, Remedy::mixed_precision, Remedy::recomputation};
  return finding;
}

std::optional<Finding> judge_memory(const Evidence& evidence) {
  if (!evidence.ok()) return out_of_memory(evidence);
  if (std::optional<Finding> finding = swapping(evidence)) return finding;
  return near_limit(evidence);
}

}  // namespace

const FindingRule memory_limit{
    .name = "memory_limit",
    .title = "memory",
    .meaning = "The step ran out of memory, swaps activations to the host, or has little memory left.",
    .rule =
        "Out of memory: the row's status; weights and optimizer state alone: memory_of. Swapping: offloaded_bytes is "
        "above 0 and copy_share reaches the limit "
        "of swap. Near the limit: peak_memory_bytes reaches the near part of the device's memory, which gains no "
        "time.",
    .thresholds = memory_thresholds,
    .remedies = memory_remedies,
    .proof = in_words("the same point with a smaller batch, or without offload, runs, and loses its copies",
                      "the same step with a smaller batch runs, and loses its copies"),
    .judge = &judge_memory,
};

}  // namespace gpubench
