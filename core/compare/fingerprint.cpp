#include "core/compare/fingerprint.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "core/base/enum_names.h"

namespace gpubench {
namespace {

constexpr EnumNames<FactOrigin, 4> origins{"unknown origin", {"method", "code", "environment", "machine"}};
constexpr std::string_view script_key = "script.lua", no_value = "none";

struct FactRule {
  std::string_view prefix;
  std::optional<FactOrigin> origin;  ///< none: varies on one machine from run to run
};

// The first whose prefix a key has. Facts of run.json that are not here describe the run, not what it ran on.
constexpr std::array fact_origins = {
    FactRule{"program.libraries", FactOrigin::environment},
    FactRule{"program.file", std::nullopt},
    FactRule{"program.", FactOrigin::code},
    FactRule{"machine.kernel", FactOrigin::environment},
    FactRule{"machine.operating_system", FactOrigin::environment},
    FactRule{"machine.cpu_governor", FactOrigin::environment},
    FactRule{"machine.cpu_mhz", std::nullopt},
    FactRule{"machine.id", std::nullopt},  // new each time in containers and on nodes without a disk
    FactRule{"machine.memory_available_bytes", std::nullopt},
    FactRule{"machine.load_1min", std::nullopt},
    FactRule{"machine.", FactOrigin::machine},
    FactRule{"options.", FactOrigin::method},
    FactRule{"params.", FactOrigin::method},
    FactRule{"seed", FactOrigin::method},
    FactRule{"floatx", FactOrigin::method},
    FactRule{"dtype_policy", FactOrigin::method},
    FactRule{"data.", FactOrigin::method},
    FactRule{script_key, FactOrigin::method},
    FactRule{"setting.", FactOrigin::method},
};

// Facts of a device, after its name.
constexpr std::array device_fact_origins = {
    FactRule{"description", FactOrigin::machine},        FactRule{"details.name", FactOrigin::machine},
    FactRule{"details.peaks", FactOrigin::machine},      FactRule{"library", FactOrigin::environment},
    FactRule{"details.driver", FactOrigin::environment}, FactRule{"details.mig", FactOrigin::environment},
    FactRule{"details.ecc", FactOrigin::environment},
};

template <class Table>
std::optional<FactOrigin> origin_in(const Table& table, std::string_view key) {
  const auto found = std::ranges::find_if(table, [&](const FactRule& one) { return key.starts_with(one.prefix); });
  return found == table.end() ? std::nullopt : found->origin;
}

constexpr std::string_view devices_prefix = "devices.";

void flatten(const Info& info, const std::string& key, Facts& facts) {
  const std::string inside = key.empty() ? key : key + ".";
  if (const auto* fields = info.fields()) {
    for (const auto& [name, value] : *fields) flatten(value, inside + name, facts);
  } else if (const auto* list = info.list()) {
    std::size_t index = 0;
    for (const Info& one : *list) {
      const std::string name = one.text("name");
      flatten(one, inside + (name.empty() ? std::to_string(++index) : name), facts);
    }
  } else if (!is_empty(*info.cell())) {
    facts[key] = to_text(*info.cell());
  }
}

/// Known by its checksum: nobody reads a script in a table of differences.
std::string checksum_of(const std::string& script) {
  return fmt::format("{:08x}", std::hash<std::string>()(script) & 0xffffffffU);
}

std::string text_of(const Difference& one, std::size_t side, CauseDetail detail) {
  if (detail == CauseDetail::keys) return one.key;
  // A checksum says nothing to a reader.
  if (one.key == script_key) return "the script was edited";
  return fmt::format("{} {} -> {}", one.key, one.values.front(), one.values[side]);
}

/// Of the side's processes, different values of one key joined.
Facts facts_of(const Side& side) {
  std::map<std::string, std::set<std::string>> values;
  for (const MeasuringProcess& process : side.processes)
    for (const auto& [key, value] : fingerprint_of(process.info, process.script)) values[key].insert(value);
  Facts facts;
  for (const auto& [key, all] : values) facts[key] = fmt::format("{}", fmt::join(all, " | "));
  return facts;
}

}  // namespace

std::optional<FactOrigin> origin_of(const std::string& key) {
  // Where a checkout keeps its data; checksums say whether they are the same.
  if (key.starts_with("data.") && key.ends_with(".directory")) return std::nullopt;
  if (!key.starts_with(devices_prefix)) return origin_in(fact_origins, key);
  const std::size_t dot = key.find('.', devices_prefix.size());
  return dot == std::string::npos ? std::nullopt
                                  : origin_in(device_fact_origins, std::string_view(key).substr(dot + 1));
}

Facts fingerprint_of(const Info& info, const std::string& script) {
  Facts all, facts;
  flatten(info, "", all);
  const std::string experiment = info.text("experiment");
  if (!script.empty())
    all[std::string(script_key)] = (experiment.empty() ? "" : experiment + " ") + checksum_of(script);
  for (const auto& [key, value] : all)
    if (origin_of(key)) facts[key] = value;
  return facts;
}

std::string_view to_string(FactOrigin origin) {
  return origins[origin];
}

std::vector<Difference> differences_between(std::span<const Side> sides) {
  std::vector<Facts> facts;
  for (const Side& side : sides) facts.push_back(facts_of(side));
  return differences_between(facts);
}

std::vector<Difference> differences_between(std::span<const Facts> sides) {
  std::set<std::string> keys;
  for (const Facts& facts : sides)
    for (const auto& [key, value] : facts) keys.insert(key);
  std::vector<Difference> differences;
  for (const std::string& key : keys) {
    const std::optional<FactOrigin> origin = origin_of(key);
    if (!origin) continue;
    Difference difference{key, *origin, {}};
    std::set<std::string> seen;
    for (const Facts& facts : sides) {
      const auto found = facts.find(key);
      difference.values.push_back(found == facts.end() ? std::string(no_value) : found->second);
      if (!facts.empty()) seen.insert(difference.values.back());
    }
    if (seen.size() > 1) differences.push_back(std::move(difference));
  }
  std::ranges::stable_sort(differences, {}, &Difference::origin);
  return differences;
}

std::string cause_text(std::span<const Difference> differences, std::size_t side, CauseDetail detail) {
  std::string text;
  for (const FactOrigin origin : {FactOrigin::method, FactOrigin::code, FactOrigin::environment, FactOrigin::machine}) {
    std::string facts;
    for (const Difference& one : differences) {
      if (one.origin != origin || one.values.front() == one.values[side]) continue;
      facts += (facts.empty() ? "" : ", ") + text_of(one, side, detail);
    }
    if (!facts.empty()) text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", to_string(origin), facts);
  }
  return text;
}

}  // namespace gpubench
