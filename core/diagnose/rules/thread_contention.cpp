// The ranks on one machine compute with more threads than there are processors: they wait for each other's.
#include <array>
#include <fmt/format.h>

#include "core/diagnose/rules/rules.h"

namespace gpubench {
namespace {

constexpr Threshold wait_limit{"waits", 0.25, "a quarter of the time in which threads could run",
                               "two ranks with as many threads as processors each wait half of it"};
constexpr std::array contention_thresholds = {wait_limit};
constexpr std::array contention_remedies = {Remedy::fewer_threads};

std::optional<Finding> judge_threads(const Evidence& evidence) {
  const std::optional<Share> waits = evidence.share("thread_wait_share");
  if (!waits || waits->value < wait_limit.value || evidence.has_own_memory()) return std::nullopt;
  // What other programs took is not the job's own fault.
  const double lost = evidence.number("cpu_lost_share").value_or(0);
  if (2 * lost > waits->value) return std::nullopt;
  const double compute = evidence.number("compute_share").value_or(0);
  Finding finding = make_finding(thread_contention, "", {waits->value * compute}, 0, evidence.words());
  const double ranks = evidence.number("local_ranks").value_or(0),
               threads = evidence.number("rank_threads").value_or(0);
  finding.evidence = fmt::format(
      "threads of this {} are ready to run {} of the time that they could run, and have no processor: {} {:.0f} processors",
      ranks > 1 ? "rank" : "job", percent_text(waits->value),
      ranks > 1 ? fmt::format("{:.0f} ranks with {:.0f} threads each share", ranks, threads)
                : fmt::format("{:.0f} threads compute on", threads),
      evidence.number("processors").value_or(0));
  finding.remedies.assign(contention_remedies.begin(), contention_remedies.end());
  return finding;
}

}  // namespace

const FindingRule thread_contention{
    .name = "thread_contention",
    .title = "more threads than processors",
    .meaning = "The ranks on one machine compute with so many threads that these wait for each other's processors.",
    .rule = "thread_wait_share reaches the limit, and other programs took less than half of that (cpu_lost_share).",
    .thresholds = contention_thresholds,
    .remedies = contention_remedies,
    .proof =
        in_all_words("the same ranks with processors divided by ranks as the number of threads: steps are shorter"),
    .judge = &judge_threads,
};

}  // namespace gpubench
