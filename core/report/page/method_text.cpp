#include "core/report/page/method_text.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/measure/estimate.h"
#include "core/report/text/run_table.h"

namespace gpubench {
namespace {

/// Facts of one thing, without those that are not known.
class KnownFacts {
 public:
  void add(std::string text) {
    if (!text.empty()) texts_.push_back(std::move(text));
  }
  std::string joined(std::string_view separator) const { return fmt::format("{}", fmt::join(texts_, separator)); }
  /// "name (facts)".
  std::string behind(const std::string& name) const {
    return texts_.empty() ? name : fmt::format("{} ({})", name, joined(", "));
  }

 private:
  std::vector<std::string> texts_;
};

const Info& facts_in(const Info& info, std::string_view name) {
  static const Info none;
  const Info* const found = info.find(name);
  return found == nullptr ? none : *found;
}

/// What the processes say, each text once.
template <class TextOf>
std::string said_by_processes(const Side& side, TextOf text_of) {
  KnownFacts facts;
  std::set<std::string> seen;
  for (const MeasuringProcess& process : side.processes) {
    std::string text = text_of(process);
    if (seen.insert(text).second) facts.add(std::move(text));
  }
  return facts.joined("; ");
}

std::string program_fact(const MeasuringProcess& process) {
  const Info& program = facts_in(process.info, "program");
  const std::string version = program.text("version"), commit = program.text("commit");
  if (version.empty()) return process.writer;
  KnownFacts facts;
  if (!commit.empty()) facts.add("commit " + commit);
  facts.add(program.text("compiler"));
  facts.add(program.text("build"));
  return facts.behind("gpubench " + version);
}

std::string machine_fact(const MeasuringProcess& process) {
  const Info& machine = facts_in(process.info, "machine");
  KnownFacts facts;
  facts.add(machine.text("cpu_model"));
  if (const auto cpus = machine.number("cpus_allowed"))
    facts.add(format_count(static_cast<std::int64_t>(*cpus), "processor"));
  if (const auto bytes = machine.number("memory_bytes")) facts.add(format_bytes(*bytes) + " of memory");
  if (machine.text("virtual_machine") == "yes") facts.add("a virtual machine");
  facts.add(machine.text("operating_system"));
  facts.add(machine.text("kernel"));
  return facts.joined(", ");
}

std::string devices_fact(const MeasuringProcess& process) {
  KnownFacts devices;
  for (const Info& device : process.info.items("devices")) {
    const std::string driver = facts_in(device, "details").text("driver");
    KnownFacts facts;
    facts.add(device.text("description"));
    facts.add(device.text("library"));
    if (!driver.empty()) facts.add("driver " + driver);
    devices.add(facts.behind(device.text("name")));
  }
  return devices.joined("; ");
}

std::string data_fact(const MeasuringProcess& process) {
  KnownFacts sets;
  const Info& data = facts_in(process.info, "data");
  if (data.fields() == nullptr) return "";
  for (const auto& [name, one] : *data.fields()) {
    KnownFacts facts;
    facts.add(one.text("source"));
    if (const auto examples = one.number("examples"))
      facts.add(format_count(static_cast<std::int64_t>(*examples), "example"));
    sets.add(facts.behind(name));
  }
  return sets.joined("; ");
}

std::string settings_fact(const MeasuringProcess& process) {
  const std::string seed = process.info.text("seed"), policy = process.info.text("dtype_policy");
  KnownFacts facts;
  if (!seed.empty()) facts.add("random numbers from the seed " + seed);
  if (!policy.empty()) facts.add("layers in " + policy);
  return facts.joined(", ");
}

std::string budget_fact(const MeasuringProcess& process) {
  const Info& options = facts_in(process.info, "options");
  const auto budget = options.number("budget_s");
  if (!budget) return "";
  return fmt::format("its budget of {} is spent{}", format_seconds(*budget),
                     options.text("quick") == "true" ? " (a shortened run)" : "");
}

/// "7 processes", "6 to 9 rounds".
std::string range_of_counts(const std::set<std::int64_t>& counts, std::string_view noun) {
  const std::string most = format_count(*counts.rbegin(), noun);
  return counts.size() == 1 ? most : fmt::format("{} to {}", *counts.begin(), most);
}

template <class Visit>
void each_measured_record(std::span<const MatchedRow> rows, Visit visit) {
  for (const MatchedRow& row : rows)
    for (const RowOfProcess& process : row.sides.front())
      for (const Record* const record : process.records) visit(*record);
}

bool has_own_interval(std::span<const MatchedRow> rows, std::span<const Column> figures) {
  bool found = false;
  each_measured_record(rows, [&](const Record& record) {
    found = found ||
            std::ranges::any_of(figures, [&](const Column& column) { return record.has(interval_end(column, "low")); });
  });
  return found;
}

std::string statistic_fact(std::span<const MatchedRow> rows, std::span<const Column> figures) {
  std::set<std::int64_t> processes, rounds;
  for (const MatchedRow& row : rows)
    if (row.measured(0))
      processes.insert(
          std::ranges::count_if(row.sides.front(), [](const RowOfProcess& one) { return !one.records.empty(); }));
  if (processes.empty()) return "";
  each_measured_record(rows, [&](const Record& record) {
    if (const auto count = number_in(record.get("rounds"))) rounds.insert(static_cast<std::int64_t>(*count));
  });
  const bool took_turns = !rounds.empty() && *rounds.rbegin() > 1;
  const std::string in_rounds =
      took_turns ? fmt::format(" over {} in which the points took turns", range_of_counts(rounds, "round")) : "";
  if (*processes.rbegin() == 1) {
    const std::string values = took_turns ? "Values are medians" + in_rounds : "Values are those of one process";
    return values + (has_own_interval(rows, figures) ? "; brackets hold their 95 % intervals." : ".");
  }
  const auto enough = static_cast<std::int64_t>(least_for_interval);
  std::string text = fmt::format("Values are medians over {}", range_of_counts(processes, "process"));
  if (took_turns) text += fmt::format(", each of which has medians{}", in_rounds);
  if (*processes.rbegin() < enough) return text + fmt::format("; fewer than {} have no 95 % interval.", enough);
  text += "; brackets hold the 95 % intervals of these medians";
  return text + (*processes.begin() < enough ? fmt::format(", which need {} processes.", enough) : ".");
}

std::string meanings_fact(std::span<const Column> figures) {
  KnownFacts facts;
  for (const Column& column : figures)
    if (!column.description.empty()) facts.add(fmt::format("{}: {}", heading_of(column), column.description));
  return facts.joined("; ");
}

std::string days_fact(const Side& side) {
  constexpr std::size_t letters_of_day = 10;  // of 2026-11-21T04:17:00Z
  std::set<std::string> days;
  for (const MeasuringProcess& process : side.processes)
    if (std::string day = process.info.text("started").substr(0, letters_of_day); !day.empty())
      days.insert(std::move(day));
  if (days.empty()) return "";
  if (days.size() == 1) return fmt::format(" on {} (UTC)", *days.begin());
  return fmt::format(" from {} to {} (UTC)", *days.begin(), *days.rbegin());
}

std::string emulation_fact(std::span<const MatchedRow> rows) {
  std::set<std::string> texts;
  each_measured_record(rows, [&](const Record& record) {
    if (record.has("emulation")) texts.insert(to_text(record.get("emulation")));
  });
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace

std::string method_text(const Side& side, std::span<const MatchedRow> rows, std::span<const Column> figures) {
  KnownFacts sentences;
  const auto say = [&](std::string_view words, const std::string& what) {
    if (!what.empty()) sentences.add(fmt::format("{}{}.", words, what));
  };
  const std::string program = said_by_processes(side, program_fact), days = days_fact(side);
  say("Measured", (program.empty() ? "" : " with " + program) + days);
  say("Machine: ", said_by_processes(side, machine_fact));
  say("Devices: ", said_by_processes(side, devices_fact));
  say("Times are calculated for emulated devices: ", emulation_fact(rows));
  sentences.add(statistic_fact(rows, figures));
  say("Figures: ", meanings_fact(figures));
  say("A measurement ends when its interval is narrow, or when ", said_by_processes(side, budget_fact));
  say("Settings: ", said_by_processes(side, settings_fact));
  say("Data: ", said_by_processes(side, data_fact));
  return sentences.joined(" ");
}

}  // namespace gpubench
