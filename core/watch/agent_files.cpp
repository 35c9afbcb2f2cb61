#include "core/watch/agent_files.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/watch/agent_counters.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

/// Of one process: more processes than a node has threads, and a line for each of a hundred thousand loaders.
constexpr std::size_t most_processes = 4096, most_facts = 100'000;
constexpr std::uint64_t largest_facts = std::uint64_t{16} << 20;

/// "17-230.counters".
struct FileName {
  int process = 0;
  std::uint64_t started_ticks = 0;
  std::string kind;
};
std::optional<FileName> parsed_name(std::string_view name) {
  FileName parsed;
  const char* const end = name.data() + name.size();
  const auto [process_end, process_error] = std::from_chars(name.data(), end, parsed.process);
  if (process_error != std::errc() || process_end == end || *process_end != '-' || parsed.process <= 0) return {};
  const auto [start_end, start_error] = std::from_chars(process_end + 1, end, parsed.started_ticks);
  if (start_error != std::errc() || start_end == end || *start_end != '.') return {};
  parsed.kind.assign(start_end + 1, end);
  return parsed;
}

void read_facts(const fs::path& path, AgentProcess& process, AgentFaults& faults) {
  try {
    const AgentFile file(path);
    const std::string text = file.read(0, largest_facts);
    if (text.size() < file.bytes()) faults.add(path, fmt::format("only the first {} bytes are read", text.size()));
    std::size_t line = 0;
    for (std::string_view rest = text; !rest.empty(); ++line) {
      const std::size_t end = rest.find('\n');
      if (end == std::string_view::npos) {
        faults.add(path, "the last line is cut short");
        return;
      }
      if (line == most_facts) throw Error(fmt::format("only the first {} lines are read", most_facts));
      const std::string_view one = rest.substr(0, end);
      rest.remove_prefix(end + 1);
      try {
        Info fact = parse_json_with_nan(std::string(one), fmt::format("line {}", line + 1));
        if (fact.text("fact").empty()) throw Error(fmt::format("line {}: it has no 'fact'", line + 1));
        process.facts.push_back(std::move(fact));
      } catch (const Error& error) {
        faults.add(path, error.what());
      }
    }
  } catch (const Error& error) {
    faults.add(path, error.what());
  }
}

}  // namespace

const Info* AgentProcess::fact(std::string_view name) const {
  const std::vector<const Info*> all = facts_named(name);
  return all.empty() ? nullptr : all.back();
}

std::vector<const Info*> AgentProcess::facts_named(std::string_view name) const {
  std::vector<const Info*> all;
  for (const Info& fact : facts) {
    if (fact.text("fact") == name) all.push_back(&fact);
  }
  return all;
}

int AgentProcess::window_steps() const {
  const Info* const window = fact("window");
  const double steps = window == nullptr ? 0 : window->number("steps").value_or(0);
  return steps >= 1 && steps < 1e9 ? static_cast<int>(steps) : 0;
}

std::vector<const AgentProcess*> AgentFiles::ranks() const {
  std::vector<const AgentProcess*> ranks;
  for (const AgentProcess& one : processes) {
    if (one.training_steps == 0) continue;
    const auto same = std::ranges::find_if(
        ranks, [&](const AgentProcess* other) { return one.rank >= 0 && other->rank == one.rank; });
    if (same == ranks.end()) {
      ranks.push_back(&one);
    } else {
      *same = &one;
    }
  }
  std::ranges::stable_sort(ranks, {}, [](const AgentProcess* one) { return one->rank; });
  return ranks;
}

AgentFiles read_agent_files(const fs::path& folder, AgentDetail detail) {
  AgentFiles files;
  AgentFaults faults(files.faults);
  std::map<std::pair<std::uint64_t, int>, AgentProcess> processes;  // by start and number
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error)
    throw Error(
        fmt::format("the agent's folder '{}' cannot be read: {}", shown_text(folder.string(), 400), error.message()));
  std::vector<fs::path> paths;
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) paths.push_back(entries->path());
  std::ranges::sort(paths);
  for (const fs::path& path : paths) {
    const std::optional<FileName> name = parsed_name(path.filename().string());
    if (!name) continue;
    const std::pair key(name->started_ticks, name->process);
    if (processes.size() == most_processes && !processes.contains(key)) {
      faults.add(path, fmt::format("only {} processes are read", most_processes));
      continue;
    }
    AgentProcess& process = processes[key];
    process.process = name->process;
    process.started_ticks = name->started_ticks;
    if (name->kind == "counters") read_agent_counters(path, detail, process, faults);
    if (name->kind == "facts" && detail == AgentDetail::all) read_facts(path, process, faults);
    if (name->kind == "window") process.window_folder = path;
  }
  for (auto& [key, process] : processes) files.processes.push_back(std::move(process));
  faults.finish();
  return files;
}

}  // namespace gpubench
