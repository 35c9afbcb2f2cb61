#include "core/history/cause.h"

#include <fmt/format.h>
#include <map>

#include "core/compare/fingerprint.h"
#include "core/results/info.h"

namespace gpubench {
namespace {

std::map<std::string, std::string> facts_of(std::string_view text, std::string_view what) {
  std::map<std::string, std::string> facts;
  const Info info = parse_json(text, what);
  if (!info.fields()) return facts;
  for (const auto& [name, value] : *info.fields()) facts.emplace(name, info.text(name));
  return facts;
}

std::string text_of(const FactDifference& one) {
  // A checksum says nothing to a reader.
  if (one.name == "script.lua") return "the script was edited";
  return fmt::format("{} {} -> {}", one.name, one.before.empty() ? "none" : one.before,
                     one.after.empty() ? "none" : one.after);
}

}  // namespace

std::vector<FactDifference> differences(std::string_view before, std::string_view after) {
  const auto old_facts = facts_of(before, "history: environment");
  const auto new_facts = facts_of(after, "history: environment");
  std::vector<FactDifference> all;
  for (const auto& [name, value] : old_facts) {
    const auto found = new_facts.find(name);
    const std::string now = found == new_facts.end() ? std::string() : found->second;
    if (now != value) all.push_back({name, value, now});
  }
  for (const auto& [name, value] : new_facts) {
    if (!old_facts.contains(name)) all.push_back({name, {}, value});
  }
  return all;
}

std::string cause_text(const std::vector<FactDifference>& differences) {
  std::string text;
  for (const FactOrigin origin : {FactOrigin::method, FactOrigin::code, FactOrigin::environment, FactOrigin::machine}) {
    std::string facts;
    for (const FactDifference& one : differences) {
      if (origin_of(one.name) == origin) facts += (facts.empty() ? "" : ", ") + text_of(one);
    }
    if (!facts.empty()) text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", to_string(origin), facts);
  }
  return text;
}

}  // namespace gpubench
