// Replicas wait for one that is late: it got more work, or its device is slower.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/diagnose/rules/rules.h"

namespace gpubench {
namespace {

constexpr Threshold uneven_moderate{"moderate", 0.03, "3 % of the step", "XProf's limit for collectives"};
constexpr Threshold always_last{"last", 0.5, "half way from chance to always: at 75 % of the exchanges of two replicas",
                                "by chance one of n replicas is last 1/n of the time"};
constexpr std::array uneven_thresholds = {uneven_moderate, always_last};
constexpr std::array uneven_remedies = {Remedy::balanced_shares};

/// One replica is last more often than by chance.
bool is_one_late(const Evidence& evidence) {
  const double replicas = std::max(2.0, evidence.replicas().value_or(2));
  return evidence.number("last_rank_share").value_or(0) >= 1 / replicas + always_last.value * (1 - 1 / replicas);
}

std::optional<Finding> judge_replicas(const Evidence& evidence) {
  const std::optional<Share> waiting = evidence.share("peer_wait_share");
  if (!waiting || waiting->value < uneven_moderate.value) return std::nullopt;
  const double last = evidence.number("last_rank_share").value_or(0);
  const double late_host = host_time_of_late_replica(evidence);
  Finding finding = make_finding(uneven_replicas, is_one_late(evidence) ? "one replica is late" : "",
                                 less(*waiting, -late_host), uneven_moderate.value, evidence.words());
  finding.evidence = fmt::format("replicas wait for a late one during {} of the step", share_text(*waiting));
  if (late_host > 0)
    finding.evidence +=
        fmt::format(", and for {} the host of the late one works or waits itself", percent_text(late_host));
  if (last > 0 && evidence.is_of(StepsOf::foreign)) {
    finding.evidence += fmt::format("; rank {} comes last to {} of the exchanges, and its row says what it does before",
                                    evidence.text("last_rank"), percent_text(last));
  } else if (last > 0) {
    finding.evidence += fmt::format("; replica {} ({}) comes last to {} of the exchanges", evidence.text("last_rank"),
                                    evidence.text("last_rank_device"), percent_text(last));
  }
  if (const auto imbalance = evidence.number("imbalance"))
    finding.evidence += fmt::format("; the slowest computes {} longer than the mean", percent_text(*imbalance));
  // Other shares help where it is always the same one.
  if (!evidence.has("last_rank_share") || is_one_late(evidence))
    finding.remedies.assign(uneven_remedies.begin(), uneven_remedies.end());
  return finding;
}

}  // namespace

double host_time_of_late_replica(const Evidence& evidence) {
  if (evidence.is_of(StepsOf::foreign)) return 0;  // a row is one rank
  const auto waiting = evidence.number("peer_wait_share"), host = evidence.number("host_share");
  const auto replicas = evidence.replicas();
  if (!waiting || !host || !is_one_late(evidence) || !replicas || *replicas < 2) return 0;
  // Shares are means over the replicas: what each of the others waits is there once for the late one.
  return std::clamp(*host, 0.0, *waiting / (*replicas - 1));
}

const FindingRule uneven_replicas{
    .name = "uneven_replicas",
    .title = "uneven replicas",
    .meaning = "The slowest replica sets the step, and the others wait for it.",
    .rule =
        "peer_wait_share reaches the limit. One replica is late: last_rank_share reaches the limit of last; the part "
        "of host_share for which the others wait then belongs to this finding. Where another replica is late each time, "
        "other shares of the batch are no remedy.",
    .thresholds = uneven_thresholds,
    .remedies = uneven_remedies,
    .proof = in_words("the same point with balanced shares: peer_wait_share falls with the step time",
                      "the same step with the batch divided by the replicas' speed: it gets faster as they wait less"),
    .judge = &judge_replicas,
};

}  // namespace gpubench
