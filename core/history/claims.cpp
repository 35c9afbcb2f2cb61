#include "core/history/claims.h"

#include "core/history/run_values.h"

namespace gpubench {

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
      refuted.push_back({facts.experiment, claim, one.text("reason"), news});
      verdict = "alarmed";
    }
    bind_key(store, claim).bind(6, std::string_view(verdict)).run();
  }
  transaction.commit();
  return refuted;
}

}  // namespace gpubench
