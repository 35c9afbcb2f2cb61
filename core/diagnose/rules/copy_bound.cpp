// Copies that no kernel hides. Copies between layers on different devices and of offloaded activations have findings of
// their own.
#include <array>
#include <fmt/format.h>

#include "core/diagnose/rules/rules.h"

namespace gpubench {
namespace {

constexpr Threshold copy_moderate{"moderate", 0.05, "5 % of the step", "XProf's limit for input and output copies"};
constexpr std::array copy_thresholds = {copy_moderate};
constexpr std::array copy_remedies = {Remedy::prefetch_to_device, Remedy::pinned_memory, Remedy::input_slots,
                                      Remedy::larger_batch, Remedy::one_device};

std::optional<Finding> judge_copies(const Evidence& evidence) {
  const std::optional<Share> copies = evidence.share("copy_share");
  const bool has_other_cause =
      evidence.number("device_copies").value_or(0) > 0 || evidence.number("offloaded_bytes").value_or(0) > 0;
  if (!copies || copies->value < copy_moderate.value || has_other_cause) return std::nullopt;
  Finding finding = make_finding(copy_bound, "", *copies, copy_moderate.value, evidence.words());
  finding.evidence = fmt::format("only copies run during {} of the step", share_text(*copies));
  finding.remedies.assign(copy_remedies.begin(), copy_remedies.end() - 1);
  // A plan of gpubench counts them, and its row has the column only if there are some.
  if (!evidence.has("kernels") || evidence.is_of(StepsOf::foreign)) {
    finding.evidence += "; whether layers on several devices cause them is not known";
    finding.remedies.push_back(Remedy::one_device);
  }
  return finding;
}

}  // namespace

const FindingRule copy_bound{
    .name = "copy_bound",
    .title = "copy bound",
    .meaning = "The device waits for copies of batches or results between host and device.",
    .rule =
        "copy_share reaches the limit, no layer's input crosses devices (device_copies) and no activation is "
        "offloaded (offloaded_bytes).",
    .thresholds = copy_thresholds,
    .remedies = copy_remedies,
    .proof = in_words("the same point with `resident = true`: the step loses its copies",
                      "the same step on one batch that stays on the device: it loses its copies"),
    .judge = &judge_copies,
};

}  // namespace gpubench
