#include "core/history/claims.h"

#include <fmt/format.h>

#include "core/history/news.h"
#include "core/history/run_values.h"

namespace gpubench {
namespace {

std::string line_of(const std::string& experiment, const NightJob& of, const Info& claim) {
  return fmt::format("{}{}: {} ({})", experiment, of.device.empty() ? "" : " on " + of.device, claim.text("claim"),
                     claim.text("reason"));
}

}  // namespace

std::vector<RefutedClaim> judge_claims(RunHistory& history, const Run& run, const NightJob& of) {
  const Database& database = history.database();
  const RunValues facts = values_of(run);
  Transaction transaction(database);
  Statement find = database.prepare(
      "SELECT verdict FROM verdicts WHERE host = ? AND suite = ? AND job = ? AND experiment = ? AND claim = ?");
  Statement store = database.prepare("INSERT OR REPLACE INTO verdicts VALUES(?, ?, ?, ?, ?, ?)");
  const auto bind_key = [&](Statement& statement, const std::string& claim) -> Statement& {
    return statement.bind(1, std::string_view(facts.host))
        .bind(2, std::string_view(of.suite))
        .bind(3, std::string_view(of.job))
        .bind(4, std::string_view(facts.experiment))
        .bind(5, std::string_view(claim));
  };
  std::vector<RefutedClaim> refuted;
  for (const Info& one : run.info.items("expectations")) {
    const std::string claim = one.text("claim");
    std::string verdict = one.text("verdict");
    if (verdict != "confirmed" && verdict != "refuted") continue;
    const std::string before = bind_key(find, claim).step() ? find.text(0) : "";
    while (!before.empty() && find.step()) continue;
    const bool news = verdict == "refuted" && (of.always_news || before == "confirmed");
    const bool reported = verdict == "refuted" && before == "alarmed";
    if (news || reported) {
      refuted.push_back({line_of(facts.experiment, of, one), news});
      if (news)
        add_news(database,
                 {.host = facts.host,
                  .suite = of.suite,
                  .kind = NewsKind::refuted,
                  .night = of.night,
                  .line = refuted.back().line},
                 {of.night, of.job, facts.experiment, claim});
      verdict = "alarmed";
    }
    bind_key(store, claim).bind(6, std::string_view(verdict)).run();
  }
  transaction.commit();
  return refuted;
}

}  // namespace gpubench
