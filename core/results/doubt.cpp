#include "core/results/doubt.h"

#include <algorithm>

namespace gpubench {
namespace {

constexpr std::string_view sound = "ok";
/// In front of the sentence in `quality`, for people. Programs before the column `doubt` wrote it too.
constexpr std::string_view mark = "unreliable: ";

constexpr std::string_view wait = "repeat the run on an idle machine, or with --wait-idle 600";
constexpr std::string_view larger_budget = "repeat the run with a larger --budget";
constexpr std::string_view both = "repeat the run with a larger --budget, on an idle machine";
constexpr std::string_view trials = "give the experiment more 'trials'";

constexpr std::array<DoubtWords, doubt_kind_count> all_words = {{
    {DoubtKind::none, "", "", ""},
    {DoubtKind::unknown, "unknown", "", ""},
    {DoubtKind::busy, "busy", "other programs used the processors while it was measured", wait},
    {DoubtKind::too_long, "too_long", "too few of its rounds fit into the time for a point", larger_budget},
    {DoubtKind::unfinished, "unfinished", "the run ended before all points were measured", "run it to its end"},
    {DoubtKind::buffers, "buffers", "examples that lay ready before the clock started would distort its rate",
     larger_budget},
    {DoubtKind::cache, "cache", "a cache was being filled while it was measured", larger_budget},
    {DoubtKind::tuning, "tuning", "AUTOTUNE changed the number of workers while it was measured", larger_budget},
    {DoubtKind::first_read, "first_read", "its files came from the disk and not from memory",
     "repeat the run: its files are in memory then"},
    {DoubtKind::few_samples, "few_samples", "too few steps were measured", larger_budget},
    {DoubtKind::scatter, "scatter", "its times scatter too much", both},
    {DoubtKind::unsettled, "unsettled", "its times had not settled when the time for a point was over", both},
    {DoubtKind::measured_once, "measured_once", "it was measured once, which says nothing of its scatter",
     larger_budget},
    {DoubtKind::trained_once, "trained_once", "one training says nothing of another seed's",
     "give the experiment 'trials'"},
    {DoubtKind::slow_gpu, "slow_gpu", "the GPU was slowed down while it was measured",
     "see what gpubench doctor says of the GPU"},
    {DoubtKind::shared_gpu, "shared_gpu", "other programs used the GPU while it was measured",
     "repeat the run when the GPU is free"},
    {DoubtKind::shared_processors, "shared_processors", "its ranks shared processors",
     "run fewer ranks than there are processors"},
    {DoubtKind::trace, "trace", "the trace does not say where its time went", ""},
    {DoubtKind::wrong_result, "wrong_result", "its result is wrong", ""},
    {DoubtKind::other_device, "other_device", "it ran on another device than its point names", ""},
    {DoubtKind::kept_memory, "kept_memory", "tensors from outside of the point were in memory",
     "make them in 'run', as local values"},
    {DoubtKind::no_figure, "no_figure", "", "mend what failed, or leave such points out with --set"},
    {DoubtKind::overlap, "overlap", "the difference is smaller than the scatter",
     "a larger --budget narrows the intervals", trials},
    {DoubtKind::bound, "bound", "", "a larger --budget narrows the interval", trials},
    {DoubtKind::last_value, "last_value", "the figure still changes at the last value",
     "measure more values with --set"},
}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < all_words.size(); ++i)
    if (all_words[i].kind != static_cast<DoubtKind>(i)) return false;
  return true;
}
static_assert(is_in_order());

}  // namespace

const std::array<DoubtWords, doubt_kind_count>& doubt_words() {
  return all_words;
}

const DoubtWords& words_of(DoubtKind kind) {
  return all_words[static_cast<std::size_t>(kind)];
}

std::string_view to_string(DoubtKind kind) {
  return words_of(kind).name;
}

DoubtKind doubt_kind(std::string_view name) {
  const auto* const found = std::ranges::find(all_words, name, &DoubtWords::name);
  return found == all_words.end() || name.empty() ? DoubtKind::unknown : found->kind;
}

std::string doubt_column(std::string_view quality) {
  return quality == "memory_quality" ? "memory_doubt" : "doubt";
}

std::string quality_text(std::string_view sentence) {
  return std::string(mark).append(sentence);
}

Doubt read_doubt(std::string_view quality, std::string_view kind) {
  if (quality.empty() || quality == sound) return {};
  if (quality.starts_with(mark)) quality.remove_prefix(mark.size());
  return {doubt_kind(kind), std::string(quality)};
}

void set_doubt(Record& row, const Doubt& doubt, std::string_view quality) {
  const std::string kind = doubt_column(quality);
  row.set(quality, doubt ? quality_text(doubt.text) : std::string(sound));
  if (doubt || row.has(kind)) row.set(kind, doubt ? Cell(std::string(to_string(doubt.kind))) : Cell());
}

Doubt doubt_in(const Record& row, std::string_view quality) {
  return read_doubt(to_text(row.get(quality)), to_text(row.get(doubt_column(quality))));
}

}  // namespace gpubench
