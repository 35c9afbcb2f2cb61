// Copies that no kernel hides. Copies between layers on different devices and of offloaded activations have findings of
// their own.
#include <array>
#include <fmt/format.h>
#include <span>
#include <vector>

#include "core/diagnose/rules/rules.h"
#include "core/results/host_cause.h"

namespace gpubench {
namespace {

constexpr Threshold copy_moderate{"moderate", 0.05, "5 % of the step", "XProf's limit for input and output copies"};
constexpr std::array copy_thresholds = {copy_moderate};
constexpr std::array copy_remedies = {
    Remedy::prefetch_to_device, Remedy::pinned_memory, Remedy::input_slots,   Remedy::larger_batch,
    Remedy::one_device,         Remedy::no_offload,    Remedy::fused_kernels, Remedy::fewer_synchronizations};
/// Those that a row without causes allows.
constexpr std::span usual_copy_remedies(copy_remedies.begin(), 4);

std::vector<Remedy> remedies_of(CopyCauseKind kind) {
  switch (kind) {
    case CopyCauseKind::offload:
      return {Remedy::no_offload, Remedy::prefetch_to_device};
    case CopyCauseKind::pageable:
      return {Remedy::pinned_memory, Remedy::prefetch_to_device};
    case CopyCauseKind::input:
      return {Remedy::prefetch_to_device, Remedy::larger_batch};
    case CopyCauseKind::readback:
      return {Remedy::fewer_synchronizations};
    case CopyCauseKind::within_device:
      return {Remedy::fused_kernels};
    case CopyCauseKind::between_devices:
      return {Remedy::one_device};
    case CopyCauseKind::unknown:
      break;
  }
  return {};
}

std::optional<Finding> judge_copies(const Evidence& evidence) {
  const std::optional<Share> copies = evidence.share("copy_share");
  const bool has_other_cause =
      evidence.number("device_copies").value_or(0) > 0 || evidence.number("offloaded_bytes").value_or(0) > 0;
  if (!copies || copies->value < copy_moderate.value || has_other_cause) return std::nullopt;
  const std::string cause = evidence.text("copy_cause_kind");
  const CopyCauseKind kind = evidence.kind("copy_cause_kind", copy_cause_kinds).value_or(CopyCauseKind::unknown);
  Finding finding = make_finding(copy_bound, kind == CopyCauseKind::unknown ? "" : cause, *copies, copy_moderate.value,
                                 evidence.words());
  finding.evidence = fmt::format("only copies run during {} of the step", share_text(*copies));
  if (const std::string which = evidence.text("copy_cause"); !which.empty()) finding.evidence += ": " + which;
  if (!cause.empty() || evidence.is_of(StepsOf::foreign)) {
    finding.remedies = remedies_of(kind);
    if (kind == CopyCauseKind::input && evidence.number("input_slots") == 1)
      finding.remedies.push_back(Remedy::input_slots);
    return finding;
  }
  finding.remedies.assign(usual_copy_remedies.begin(), usual_copy_remedies.end());
  // A plan of gpubench counts them, and its row has the column only if there are some.
  if (!evidence.has("kernels")) {
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
        "offloaded (offloaded_bytes). The remedies follow from what most of the copies are for (copy_cause_kind).",
    .thresholds = copy_thresholds,
    .remedies = copy_remedies,
    .proof = in_words("the same point with `resident = true`: the step loses its copies",
                      "the same step on one batch that stays on the device: it loses its copies"),
    .judge = &judge_copies,
};

}  // namespace gpubench
