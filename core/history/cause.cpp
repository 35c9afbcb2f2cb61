#include "core/history/cause.h"

#include <array>
#include <vector>

#include "core/compare/fingerprint.h"
#include "core/results/info.h"

namespace gpubench {
namespace {

Facts facts_of(std::string_view environment) {
  Facts facts;
  const Info info = parse_json(environment, "history: environment");
  if (!info.fields()) return facts;
  for (const auto& [name, value] : *info.fields()) facts.emplace(name, info.text(name));
  return facts;
}

}  // namespace

std::string cause_between(std::string_view before, std::string_view after) {
  const std::array sides{facts_of(before), facts_of(after)};
  return cause_text(differences_between(std::span<const Facts>(sides)), 1, CauseDetail::values);
}

}  // namespace gpubench
