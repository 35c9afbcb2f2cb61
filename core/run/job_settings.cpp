#include "core/run/job_settings.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "core/base/shown_text.h"
#include "core/run/job_sites.h"

namespace gpubench {
namespace {

bool is_keras_on_torch(const AgentProcess& process) {
  const std::vector<const Info*> frameworks = process.facts_named("framework");
  return std::ranges::any_of(frameworks, [](const Info* framework) {
    return framework->text("name") == "keras" && framework->text("backend") == "torch";
  });
}

/// Without what does not change what a stage does: "ParallelMapV2" and "Map" are both "Map", "FlatMap[0]" is "FlatMap".
std::string_view kind_of_stage(std::string_view name) {
  name = name.substr(0, name.find('['));
  if (const auto version = name.rfind('V'); version != std::string_view::npos && version + 1 < name.size() &&
                                            name.find_first_not_of("0123456789", version + 1) == std::string_view::npos)
    name = name.substr(0, version);
  constexpr std::string_view parallel = "Parallel", memory = "Memory";
  if (name.starts_with(parallel)) name.remove_prefix(parallel.size());
  if (name.starts_with(memory)) name.remove_prefix(memory.size());
  return name == "MapAndBatch" ? "Map" : name;
}

/// Kinds of an iterator's stages, from the one that is read on to the source.
std::vector<std::string_view> kinds_of_iterator(std::string_view iterator) {
  std::vector<std::string_view> kinds;
  while (!iterator.empty()) {
    const auto end = iterator.find("::");
    kinds.push_back(kind_of_stage(iterator.substr(0, end)));
    iterator = end == std::string_view::npos ? std::string_view() : iterator.substr(end + 2);
  }
  return kinds;
}

/// Of the stage that is the `number`th of its kind from the end of the pipeline, or the only one.
std::string line_in(const Info& dataset, std::string_view kind, std::ptrdiff_t number) {
  std::vector<std::string> lines;
  for (const Info& stage : dataset.items("stages"))
    if (kind_of_stage(stage.text("name")) == kind) lines.push_back(place_in(stage, "file", "line"));
  std::ranges::reverse(lines);
  if (lines.size() == 1) return lines.front();
  return number > std::ssize(lines) ? std::string() : lines[static_cast<std::size_t>(number - 1)];
}

}  // namespace

std::string_view execution_of(const AgentProcess& process) {
  constexpr std::string_view graph = "graph", eager = "eager";
  const std::string& mark = process.step_mark;
  if (mark.starts_with("gradient")) return eager;
  if (mark.starts_with("jit") || mark.starts_with("tf.function")) return graph;
  const Info* const model = process.fact("model");
  if (model == nullptr) return {};
  if (mark.starts_with("torch")) return model->text("compiled") == "true" ? graph : eager;
  if (!mark.starts_with("keras") || model->text("run_eagerly").empty()) return {};
  // Keras runs on PyTorch op by op unless it is told to compile.
  const bool is_compiled = is_keras_on_torch(process) ? model->text("jit_compile") == "true" : true;
  return model->text("run_eagerly") != "true" && is_compiled ? graph : eager;
}

std::string operators_setting(const AgentProcess& process, const JobSteps& steps) {
  const Info* const model = process.fact("model");
  if (model == nullptr) return {};
  if (const std::string compiled = place_in(*model, "compile_file", "compile_line"); !compiled.empty()) {
    if (model->text("run_eagerly") == "true") return "run_eagerly=True, compiled at " + compiled;
    // Keras on PyTorch takes no other number.
    const bool is_one = model->number("steps_per_execution").value_or(0) == 1 && !is_keras_on_torch(process);
    return is_one ? "steps_per_execution=1, compiled at " + compiled : std::string();
  }
  constexpr double much = 0.2;
  double share = 0;
  for (const StepSite* const site : sites_of(steps, SiteKind::loop_optimizer)) share += site->share;
  const std::string made = place_in(*model, "optimizer_file", "optimizer_line");
  if (share < much || made.empty() || model->text("fused") == "true") return {};
  return fmt::format("{} of {} without fused=True takes {:.0f} % of the step", model->text("optimizer"), made,
                     100 * std::min(share, 1.0));
}

std::string compile_reason(const AgentProcess& process) {
  const Info* last = nullptr;
  for (const Info* const compilation : process.facts_named("compile"))
    if (!compilation->text("argument").empty()) last = compilation;
  if (last == nullptr) return {};
  std::string text = fmt::format("{} changes: {}, then {}", shown_text(last->text("argument"), 60),
                                 shown_text(last->text("before"), 60), shown_text(last->text("after"), 60));
  // Compilers take a number of Python as a constant.
  if (last->text("array") != "true") text += "; as an array or a tensor it is no constant";
  return text;
}

std::string line_of_stage(const AgentProcess& process, std::string_view iterator) {
  const std::vector<std::string_view> kinds = kinds_of_iterator(iterator);
  if (kinds.empty()) return {};
  const std::ptrdiff_t number = std::ranges::count(kinds, kinds.back());
  for (const Info* const dataset : process.facts_named("dataset"))
    if (const std::string line = line_in(*dataset, kinds.back(), number); !line.empty()) return line;
  return {};
}

}  // namespace gpubench
