#include "core/experiment/training/script_facts.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gpubench {
namespace {

/// Settings that say which threads or device do the work; others may name files.
constexpr std::array<std::string_view, 3> told = {"workers=", "parallel=", "device="};

/// More would make a cell that nobody reads.
constexpr std::size_t most_text = 1000;

/// Whether there was room for all of them.
bool add_stages(const Dataset& dataset, std::string& text) {
  for (const DatasetPtr& source : dataset.sources())
    if (!add_stages(*source, text)) return false;
  text += (text.empty() ? "" : "; ") + std::string(dataset.stage());
  const std::string all = dataset.settings();
  for (std::string_view settings = all; !settings.empty();) {
    const std::size_t end = std::min(settings.find(' '), settings.size());
    const std::string_view one = settings.substr(0, end);
    for (const std::string_view name : told)
      if (one.starts_with(name)) text += fmt::format(" {}", one);
    settings.remove_prefix(std::min(end + 1, settings.size()));
  }
  return text.size() <= most_text;
}

}  // namespace

void set_stages(Record& record, const Dataset& dataset) {
  std::string text;
  if (add_stages(dataset, text)) record.set("pipeline_stages", std::move(text));
}

void set_steps_of(Record& record, StepsOf steps) {
  record.set("steps_of", std::string(steps_of_names[steps]));
}

void set_passes(Record& record, const PassOptions& passes) {
  record.set("passes_off",
             passes.disabled.empty() ? std::string("none") : fmt::format("{}", fmt::join(passes.disabled, " ")));
}

}  // namespace gpubench
