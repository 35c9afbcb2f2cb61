#include "core/diagnose/no_use.h"

#include <algorithm>
#include <array>

namespace gpubench {
namespace {

/// A stage in the column `pipeline_stages`: "map workers=autotune".
struct Stage {
  std::string name;
  bool has_workers = false;  ///< more than one
  bool is_on_device = false;
};

std::vector<std::string> parts_of(std::string_view text, std::string_view between) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(between), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + between.size(), text.size()));
  }
  return parts;
}

std::vector<Stage> stages_of(const Evidence& evidence) {
  std::vector<Stage> stages;
  for (const std::string& text : parts_of(evidence.text("pipeline_stages"), "; ")) {
    const std::vector<std::string> words = parts_of(text, " ");
    Stage stage{words.empty() ? std::string() : words.front()};
    for (const std::string& word : words) {
      const bool is_parallel = word.starts_with("workers=") || word.starts_with("parallel=");
      stage.has_workers |= is_parallel && !word.ends_with("=1");
      stage.is_on_device |= word.starts_with("device=");
    }
    stages.push_back(std::move(stage));
  }
  return stages;
}

bool has_stage(const std::vector<Stage>& stages, std::string_view name) {
  return std::ranges::find(stages, name, &Stage::name) != stages.end();
}

/// Behind them a prefetch still runs ahead of the training.
constexpr std::array<std::string_view, 4> passing = {"take", "skip", "repeated", "options"};
constexpr std::array<std::string_view, 4> in_memory = {"from_tensor_slices", "random", "range", "synthetic"};
/// Stages with several sources.
constexpr std::array<std::string_view, 4> joining = {"choose_from_datasets", "concatenate", "sample_from_datasets",
                                                     "zip"};

template <std::size_t count>
bool is_one_of(const std::array<std::string_view, count>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool runs_ahead(const std::vector<Stage>& stages) {
  const auto last =
      std::find_if(stages.rbegin(), stages.rend(), [](const Stage& stage) { return !is_one_of(passing, stage.name); });
  return last != stages.rend() && last->name.starts_with("prefetch");
}

/// Of the stages with the name.
std::string every_one_works_in_parallel(const std::vector<Stage>& stages, const std::string& name) {
  if (!has_stage(stages, name)) return "the pipeline has no " + name;
  const bool all = std::ranges::all_of(
      stages, [&](const Stage& stage) { return stage.name != name || stage.has_workers || stage.is_on_device; });
  return all ? "every " + name + " has several workers already" : std::string();
}

/// A pipeline with one source, which is in memory.
bool reads_no_files(const std::vector<Stage>& stages) {
  return is_one_of(in_memory, stages.front().name) &&
         std::ranges::none_of(joining, [&](std::string_view name) { return has_stage(stages, name); });
}

std::string no_use_in_pipeline(Remedy remedy, const std::vector<Stage>& stages) {
  switch (remedy) {
    case Remedy::more_workers:
      return every_one_works_in_parallel(stages, "map");
    case Remedy::parallel_reads:
      if (has_stage(stages, "interleave")) return every_one_works_in_parallel(stages, "interleave");
      return reads_no_files(stages) ? "the pipeline reads no files" : "";
    case Remedy::prefetch:
      if (runs_ahead(stages)) return "the pipeline runs ahead of the training already";
      return has_stage(stages, "from_generator") ? "the script's own thread makes the elements" : "";
    case Remedy::cache:
      return has_stage(stages, "cache") ? "the pipeline has a cache already" : "";
    case Remedy::batched_map:
      return has_stage(stages, "map") ? "" : "the pipeline has no map";
    case Remedy::prefetch_to_device:
      return stages.back().name == "prefetch_to_device" ? "batches wait in the device's memory already" : "";
    default:
      return {};
  }
}

bool computes_in_16_bits(const std::string& precision) {
  return precision.starts_with("mixed_") || precision == "float16" || precision == "bfloat16";
}

std::string no_use_on_devices(Remedy remedy, const Evidence& evidence) {
  switch (remedy) {
    case Remedy::input_slots:
      if (evidence.number("input_slots").value_or(1) > 1) return "the model has several input slots already";
      [[fallthrough]];
    case Remedy::prefetch_to_device:
    case Remedy::pinned_memory:
      return evidence.has("device") && !evidence.has_own_memory() ? "the model's device works in the host's memory"
                                                                  : "";
    case Remedy::device_exchanges:
      return evidence.has("device") && !evidence.has_own_memory() ? "processors exchange through their memory" : "";
    case Remedy::larger_buckets:
      return evidence.number("exchanges") && *evidence.number("exchanges") <= 1 ? "a step has one exchange" : "";
    case Remedy::mixed_precision:
      return computes_in_16_bits(evidence.text("precision")) ? "the model computes in 16 bits already" : "";
    default:
      return {};
  }
}

std::string no_use_in_plan(Remedy remedy, const Evidence& evidence) {
  switch (remedy) {
    case Remedy::graph:
      return evidence.is_planned() ? "the model runs as a graph already" : "";
    case Remedy::compiled_step:
      return evidence.is_planned() ? "the step is compiled already" : "";
    case Remedy::fused_kernels:
      return evidence.is_planned() && evidence.text("passes_off") == "none" ? "no pass is switched off" : "";
    default:
      return {};
  }
}

}  // namespace

std::string why_no_use(Remedy remedy, const Evidence& evidence) {
  for (std::string reason : {no_use_on_devices(remedy, evidence), no_use_in_plan(remedy, evidence)})
    if (!reason.empty()) return reason;
  const std::vector<Stage> stages = stages_of(evidence);
  return stages.empty() ? std::string() : no_use_in_pipeline(remedy, stages);
}

}  // namespace gpubench
