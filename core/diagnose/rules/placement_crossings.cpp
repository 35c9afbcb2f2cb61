// Layers that follow each other lie on different devices, so that activations and gradients are copied in every step.
#include <array>
#include <fmt/format.h>

#include "core/diagnose/rules/rules.h"

namespace gpubench {
namespace {

constexpr Threshold crossing_moderate{"moderate", 0.05, "5 % of the step", "XProf's limit for input and output copies"};
constexpr std::array crossing_thresholds = {crossing_moderate};
constexpr std::array crossing_remedies = {Remedy::one_device};

std::optional<Finding> judge_crossings(const Evidence& evidence) {
  const double crossings = evidence.number("device_copies").value_or(0);
  const std::optional<Share> copies = evidence.share("copy_share");
  if (crossings <= 0 || !copies || copies->value < crossing_moderate.value) return std::nullopt;
  Finding finding = make_finding(placement_crossings, "", *copies, crossing_moderate.value, evidence.words());
  finding.evidence = fmt::format("{:.0f} copies between devices in a step; only copies run during {} of the step",
                                 crossings, share_text(*copies));
  finding.remedies.assign(crossing_remedies.begin(), crossing_remedies.end());
  return finding;
}

}  // namespace

const FindingRule placement_crossings{
    .name = "placement_crossings",
    .title = "placement crossings",
    .meaning =
        "Neighbouring layers lie on different devices, and each crossing is a copy in the forward and in the "
        "backward pass.",
    .rule = "device_copies is above 0 and copy_share reaches the limit.",
    .thresholds = crossing_thresholds,
    .remedies = crossing_remedies,
    .proof = in_words("the same model on one device: device_copies is empty and the step loses its copies",
                      "the same model on one device: the step loses its copies"),
    .judge = &judge_crossings,
};

}  // namespace gpubench
