// Exchanges between replicas that no kernel hides. Waiting for a late replica is uneven_replicas.
#include <array>
#include <fmt/format.h>

#include "core/base/units.h"
#include "core/diagnose/rules/rules.h"

namespace gpubench {
namespace {

constexpr Threshold communication_moderate{"moderate", 0.03, "3 % of the step", "XProf's limit for collectives"};
constexpr std::array communication_thresholds = {communication_moderate};
constexpr std::array communication_remedies = {Remedy::larger_buckets, Remedy::device_exchanges,
                                               Remedy::compressed_exchanges, Remedy::larger_batch};

std::optional<Finding> judge_communication(const Evidence& evidence) {
  const std::optional<Share> exchanging = evidence.share("communication_share");
  if (!exchanging || exchanging->value < communication_moderate.value) return std::nullopt;
  Finding finding = make_finding(communication_bound, "", *exchanging, communication_moderate.value, evidence.words());
  finding.evidence =
      fmt::format("replicas exchange, and no kernel runs, during {} of the step", share_text(*exchanging));
  const auto exchanges = evidence.number("exchanges"), bytes = evidence.number("exchange_bytes");
  if (exchanges && bytes)
    finding.evidence += fmt::format("; {:.0f} exchanges of {} in all", *exchanges, format_bytes(*bytes));
  if (const auto overlap = evidence.number("overlap_share"))
    finding.evidence += fmt::format(", {} of their time under kernels", percent_text(*overlap));
  if (evidence.is_of(StepsOf::foreign) && !evidence.replicas())
    finding.evidence += "; a part of it may be waiting for other ranks, whose traces tell them apart";
  finding.remedies.assign(communication_remedies.begin(), communication_remedies.end());
  // What is seen in a trace of GPUs is exchanged by them already.
  if (evidence.is_of(StepsOf::foreign)) std::erase(finding.remedies, Remedy::device_exchanges);
  return finding;
}

}  // namespace

const FindingRule communication_bound{
    .name = "communication_bound",
    .title = "communication bound",
    .meaning = "Replicas stand still while they exchange gradients.",
    .rule = "communication_share reaches the limit.",
    .thresholds = communication_thresholds,
    .remedies = communication_remedies,
    .proof = in_all_words("the same model with one replica and its part of the batch: the step loses its exchanges"),
    .judge = &judge_communication,
};

}  // namespace gpubench
