#include "core/results/profile_info.h"

#include <fmt/format.h>
#include <utility>
#include <vector>

#include "core/base/units.h"

namespace gpubench {
namespace {

void add_text(Info::Fields& fields, const char* name, const std::string& text) {
  if (!text.empty()) fields.emplace_back(name, text);
}

Info entry_info(const ProfileEntry& entry, Seconds step) {
  Info::Fields fields{{"class", std::string(to_string(entry.span_class))}};
  add_text(fields, "layer", entry.node.layer);
  add_text(fields, "op", entry.node.op);
  add_text(fields, "role", entry.node.role);
  add_text(fields, "implementation", entry.implementation);
  fields.emplace_back("time_s", entry.time.count());
  fields.emplace_back("share", entry.time / step);
  fields.emplace_back("calls", entry.calls);
  if (entry.flops) fields.emplace_back("flops", *entry.flops);
  if (entry.bytes) fields.emplace_back("bytes", *entry.bytes);
  return fields;
}

Info entries_info(const std::vector<ProfileEntry>& entries, Seconds step) {
  Info::List list;
  for (const ProfileEntry& entry : entries) list.push_back(entry_info(entry, step));
  return list;
}

Info gap_info(const IdleGap& gap) {
  Info::Fields fields{{"device", gap.device},
                      {"step", gap.step},
                      {"since_step_s", gap.since_step.count()},
                      {"length_s", gap.length.count()},
                      {"doing", std::string(to_string(gap.doing))}};
  add_text(fields, "what", gap.what);
  fields.emplace_back("share", gap.share);
  add_text(fields, "before", gap.before);
  add_text(fields, "after", gap.after);
  return fields;
}

double number_of(const Info& info, std::string_view name) {
  return info.number(name).value_or(0);
}

std::string name_of(const Info& entry, std::string_view field) {
  const std::string name = entry.text(field);
  return name.empty() ? fmt::format("({})", entry.text("class")) : name;
}

/// The entries of one list, with the rest of many small ones in one line.
std::string table_of(const Info& info, std::string_view list, std::string_view field) {
  constexpr std::size_t most_lines = 20;
  constexpr std::size_t name_width = 28;
  std::string text = fmt::format("{:<{}} {:>10} {:>7} {:>8}\n", field, name_width, "time/step", "share", "calls");
  const Info::List& entries = info.items(list);
  double rest = 0, rest_share = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const double time = number_of(entries[i], "time_s"), share = number_of(entries[i], "share");
    if (i >= most_lines) {
      rest += time;
      rest_share += share;
      continue;
    }
    text += fmt::format("{:<{}} {:>10} {:>5.1f} % {:>8.4g}\n", name_of(entries[i], field), name_width,
                        format_seconds(time), 100 * share, number_of(entries[i], "calls"));
  }
  if (entries.size() > most_lines) {
    text += fmt::format("{:<{}} {:>10} {:>5.1f} %\n", fmt::format("{} more", entries.size() - most_lines), name_width,
                        format_seconds(rest), 100 * rest_share);
  }
  return text;
}

std::string gap_text(const Info& gap) {
  std::string where;
  if (const std::string before = gap.text("before"); !before.empty()) where += " after " + before;
  if (const std::string after = gap.text("after"); !after.empty()) where += " before " + after;
  const std::string what = gap.text("what"), doing = gap.text("doing");
  return fmt::format("{} idle in step {:.0f}{}: {}{} for {:.0f} % of it\n", format_seconds(number_of(gap, "length_s")),
                     number_of(gap, "step"), where, doing, what.empty() || what == doing ? "" : " (" + what + ")",
                     100 * number_of(gap, "share"));
}

}  // namespace

Info profile_info(const StepProfile& profile) {
  const Seconds step = profile.step();
  Info::Fields fields{{"steps", profile.steps}, {"step_s", step.count()}};
  add_text(fields, "doubt", profile.breakdown.doubt);
  fields.emplace_back("entries", entries_info(profile.entries, step));
  fields.emplace_back("layers", entries_info(by_layer(profile), step));
  fields.emplace_back("ops", entries_info(by_op(profile), step));
  Info::List gaps, memory;
  for (const IdleGap& gap : profile.gaps) gaps.push_back(gap_info(gap));
  for (const ProfileMemory& holder : profile.memory) {
    memory.emplace_back(Info::Fields{
        {"layer", holder.layer}, {"kind", holder.kind}, {"bytes", static_cast<std::int64_t>(holder.bytes)}});
  }
  fields.emplace_back("gaps", std::move(gaps));
  fields.emplace_back("memory", std::move(memory));
  return fields;
}

std::string profile_text(const Info& info) {
  std::string text =
      fmt::format("{:.0f} steps of {}\n", number_of(info, "steps"), format_seconds(number_of(info, "step_s")));
  if (const std::string doubt = info.text("doubt"); !doubt.empty()) text += "unreliable: " + doubt + "\n";
  text += "\n" + table_of(info, "layers", "layer") + "\n" + table_of(info, "ops", "op");
  if (!info.items("gaps").empty()) text += "\n";
  for (const Info& gap : info.items("gaps")) text += gap_text(gap);
  return text;
}

}  // namespace gpubench
