#include "core/report/chart/profile_chart.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/report/text/text.h"
#include "core/results/append_file.h"

namespace gpubench {
namespace {

// About as wide as the page shows it, so that letters keep their height.
constexpr double flame_width = 540, row_height = 26, letter_width = 7.8, flame_top = 2;
constexpr std::size_t flame_rows = 4;
/// Narrower boxes cannot be seen.
constexpr double least_width = 0.4;

/// The flame_groups of the second row, in the order of a step, with a colour each.
struct FlameGroup {
  std::string_view name, color;
};
constexpr std::array flame_groups = {
    FlameGroup{"input_wait", "#d29922"},    FlameGroup{"forward", "#2f81f7"},   FlameGroup{"recomputed", "#6e9fdc"},
    FlameGroup{"gradient", "#8957e5"},      FlameGroup{"update", "#3fb950"},    FlameGroup{"compute", "#57ab5a"},
    FlameGroup{"communication", "#db61a2"}, FlameGroup{"peer_wait", "#bf4b8a"}, FlameGroup{"copy", "#e3703c"},
    FlameGroup{"memset", "#c9602f"},        FlameGroup{"launch", "#b08800"},    FlameGroup{"host_sync", "#8b949e"},
    FlameGroup{"host_compute", "#768390"},  FlameGroup{"compile", "#6e7681"},   FlameGroup{"other", "#f85149"}};

/// Of a class of a step: "input_wait".
std::string_view color_of_class(std::string_view name) {
  const auto found = std::ranges::find(flame_groups, name, &FlameGroup::name);
  return found == flame_groups.end() ? flame_groups.back().color : found->color;
}

double number_of(const Info& info, std::string_view name) {
  return info.number(name).value_or(0);
}

const Info::List& list_of(const Info& info, std::string_view name) {
  if (info.find(name) == nullptr) throw Error(fmt::format("a list '{}' is missing", name));
  return info.items(name);
}

/// Kernels are grouped by their role, other time by its class.
std::string group_of(const Info& entry) {
  const std::string role = entry.text("role"), span_class = entry.text("class");
  return span_class == "compute" && !role.empty() ? role : span_class;
}

/// A box of the chart, with the boxes below it.
struct FlameBox {
  std::string name;
  double time = 0;
  std::vector<FlameBox> parts{};

  FlameBox& part(const std::string& part_name) {
    const auto found = std::ranges::find(parts, part_name, &FlameBox::name);
    return found != parts.end() ? *found : parts.emplace_back(FlameBox{part_name});
  }
};

FlameBox tree_of(const Info& profile) {
  FlameBox step{"step", number_of(profile, "step_s")};
  for (const FlameGroup& group : flame_groups) {
    for (const Info& entry : list_of(profile, "entries")) {
      if (group_of(entry) != group.name) continue;
      const double time = number_of(entry, "time_s");
      FlameBox& of_group = step.part(std::string(group.name));
      of_group.time += time;
      if (entry.text("op").empty()) continue;
      FlameBox& of_layer = of_group.part(entry.text("layer").empty() ? entry.text("op") : entry.text("layer"));
      of_layer.time += time;
      of_layer.part(entry.text("op")).time += time;
    }
  }
  return step;
}

class FlameDrawing {
 public:
  explicit FlameDrawing(double step) : step_(step) {}

  void draw(const FlameBox& box, double x, std::size_t row, std::string_view color, const std::string& path) {
    const double own = flame_width * box.time / step_;
    if (own < least_width) return;
    const double y = flame_top + static_cast<double>(row) * row_height;
    const std::string text = path.empty() ? box.name : path + " · " + box.name;
    svg_ += fmt::format("<g><title>{}: {}, {:.1f} %</title>", escape_html(text), format_seconds(box.time),
                        100 * box.time / step_);
    svg_ += fmt::format(
        R"(<rect x="{:.2f}" y="{:.1f}" width="{:.2f}" height="{:.1f}" rx="2" fill="{}" fill-opacity="{}"/>)", x, y, own,
        row_height - 2, color, row == flame_rows - 1 ? 0.75 : 0.9);
    if (const std::string label = fitting(box, own); !label.empty()) {
      svg_ += fmt::format(R"(<text x="{:.2f}" y="{:.1f}" fill="#fff">{}</text>)", x + 4, y + row_height - 9,
                          escape_html(label));
    }
    svg_ += "</g>\n";
    for (const FlameBox& part : box.parts) {
      draw(part, x, row + 1, row == 0 ? color_of_class(part.name) : color, row == 0 ? std::string() : text);
      x += flame_width * part.time / step_;
    }
  }
  std::string finish(const std::string& title) const {
    const double height = 2 * flame_top + static_cast<double>(flame_rows) * row_height;
    return fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" )"
        "aria-label=\"{2}\" font-family=\"sans-serif\" font-size=\"13\">\n<title>{2}</title>\n{3}</svg>\n",
        flame_width, height, escape_html(title), svg_);
  }

 private:
  /// As much of the name as the box has room for.
  static std::string fitting(const FlameBox& box, double own) {
    const auto letters = static_cast<std::size_t>(std::max(0.0, (own - 8) / letter_width));
    const std::string whole = fmt::format("{} {}", box.name, format_seconds(box.time));
    if (whole.size() <= letters) return whole;
    constexpr std::size_t least_letters = 3;
    return letters < least_letters ? std::string() : shorten(box.name, letters);
  }

  double step_;
  std::string svg_;
};

Table table_of(const Info& profile) {
  Table table;
  table.headings = {
      {"layer"}, {"op"}, {"role"}, {"time a step", Align::right}, {"share", Align::right}, {"calls", Align::right}};
  for (const Info& entry : list_of(profile, "entries")) {
    const std::string op = entry.text("op");
    table.rows.push_back({entry.text("layer"), op.empty() ? entry.text("class") : op, entry.text("role"),
                          format_seconds(number_of(entry, "time_s")),
                          fmt::format("{:.1f} %", 100 * number_of(entry, "share")),
                          fmt::format("{:.4g}", number_of(entry, "calls"))});
  }
  return table;
}

constexpr double timeline_width = 900, label_width = 150, lane_height = 26, lane_gap = 6, timeline_axis_height = 24,
                 legend_height = 22;
constexpr std::size_t ticks = 5, legend_columns = 6;

/// One step of a trace as a picture: a row for each stream of a device, and one for why it had no work.
class TimelineDrawing {
 public:
  explicit TimelineDrawing(double length) : length_(length) {}

  void lane(const Info& lane) {
    svg_ += fmt::format(R"(<text x="0" y="{:.1f}" fill="currentColor">{}</text>)", y_ + lane_height - 9,
                        escape_html(shorten(lane.text("name"), 20)));
    svg_ += fmt::format(
        R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="currentColor" fill-opacity="0.06"/>)",
        label_width, y_, timeline_width, lane_height);
    for (const Info& part : lane.items("parts")) {
      const double from = part.number("from_s").value_or(0), to = part.number("to_s").value_or(0);
      const std::string group = part.text("class");
      if (std::ranges::find(shown_, group) == shown_.end()) shown_.push_back(group);
      svg_ +=
          fmt::format("<g><title>{}, {}</title>", escape_html(one_line(part.text("name"))), format_seconds(to - from));
      svg_ += fmt::format(R"(<rect x="{:.2f}" y="{:.1f}" width="{:.2f}" height="{:.1f}" fill="{}"/></g>)",
                          label_width + timeline_width * from / length_, y_,
                          std::max(0.3, timeline_width * (to - from) / length_), lane_height, color_of_class(group));
      svg_ += "\n";
    }
    y_ += lane_height + lane_gap;
  }

  std::string finish(const std::string& title) {
    for (std::size_t i = 0; i <= ticks; ++i) {
      const double share = static_cast<double>(i) / ticks;
      const char* const anchor = i == ticks ? "end" : i == 0 ? "start" : "middle";
      svg_ += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" fill="currentColor">{}</text>)",
                          label_width + timeline_width * share, y_ + timeline_axis_height - 10, anchor,
                          i == 0 ? "0" : format_seconds(share * length_));
    }
    y_ += timeline_axis_height;
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      const double x = static_cast<double>(i % legend_columns) * (label_width + timeline_width) / legend_columns;
      if (i > 0 && i % legend_columns == 0) y_ += legend_height;
      svg_ += fmt::format(
          R"(<rect x="{:.1f}" y="{:.1f}" width="12" height="12" fill="{}"/><text x="{:.1f}" y="{:.1f}" fill="currentColor">{}</text>)",
          x, y_, color_of_class(shown_[i]), x + 17, y_ + 11, escape_html(readable(shown_[i])));
    }
    y_ += legend_height;
    return fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" )"
        "aria-label=\"{2}\" font-family=\"sans-serif\" font-size=\"13\">\n<title>{2}</title>\n{3}</svg>\n",
        label_width + timeline_width, y_, escape_html(title), svg_);
  }

 private:
  static std::string readable(std::string name) {
    std::ranges::replace(name, '_', ' ');
    return name;
  }

  double length_, y_ = 2;
  std::string svg_;
  std::vector<std::string> shown_;
};

/// An SVG. `step`: as typical_step() of core/traces makes it. Throws Error for another.
std::string timeline_chart(const Info& step, const std::string& title) {
  const double length = number_of(step, "length_s");
  if (!(length > 0)) throw Error("'length_s' above 0 is missing");
  TimelineDrawing drawing(length);
  for (const Info& lane : step.items("lanes")) drawing.lane(lane);
  return drawing.finish(title);
}

std::string description_of(const Info& profile) {
  std::string text = fmt::format("Where {} of a step go, mean of {:.0f} traced steps: roles and waits, layers, ops.",
                                 format_seconds(number_of(profile, "step_s")), number_of(profile, "steps"));
  if (const std::string doubt = profile.text("doubt"); !doubt.empty()) text += " Unreliable: " + doubt + ".";
  const Info::List& gaps = list_of(profile, "gaps");
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    text += i == 0 ? " Longest times without a kernel: " : "; ";
    text += fmt::format("{}, {:.0f} % of it {}", format_seconds(number_of(gaps[i], "length_s")),
                        100 * number_of(gaps[i], "share"), gaps[i].text("doing"));
    if (const std::string after = gaps[i].text("after"); !after.empty()) text += ", before " + after;
  }
  return gaps.empty() ? text : text + ".";
}

/// "profile-3.json": "Profile of point 3".
std::string title_of(const std::string& file) {
  constexpr std::string_view prefix = "profile-", suffix = ".json";
  return "Profile of point " + file.substr(prefix.size(), file.size() - prefix.size() - suffix.size());
}

/// Of a trace.
DrawnChart typical_step_chart(const Info& step, const std::string& file) {
  const auto number = static_cast<std::int64_t>(number_of(step, "step"));
  const std::string point = title_of(file).substr(std::string_view("Profile of ").size());
  const std::string title = fmt::format("{} of {}", number > 0 ? "A typical step" : "The whole trace", point);
  DrawnChart chart{.title = title, .svg = timeline_chart(step, title), .is_wide = true};
  chart.description = fmt::format(
      "{}{}: what the streams of the device did, and below what the thread that launches did where the device had no work.",
      number > 0 ? fmt::format("Step {}, of median length, ", number) : "",
      format_seconds(number_of(step, "length_s")));
  chart.links = {{file, escape_url(file)}};
  return chart;
}

}  // namespace

std::string flame_chart(const Info& profile, const std::string& title) {
  const double step = number_of(profile, "step_s");
  if (!(step > 0)) throw Error("'step_s' above 0 is missing");
  FlameDrawing drawing(step);
  drawing.draw(tree_of(profile), 0, 0, "#57606a", "");
  return drawing.finish(title);
}

std::vector<DrawnChart> profile_charts(const std::filesystem::path& directory, std::vector<std::string>& notes) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("profile-") && name.ends_with(".json")) names.push_back(name);
  }
  std::ranges::sort(names, {}, [](const std::string& name) { return std::pair(name.size(), name); });
  std::vector<DrawnChart> charts;
  for (const std::string& name : names) {
    try {
      const Info profile = parse_json(read_file(directory / name), name);
      if (const Info* const step = profile.find("typical_step")) charts.push_back(typical_step_chart(*step, name));
      DrawnChart chart{.title = title_of(name), .svg = flame_chart(profile, title_of(name))};
      chart.description = description_of(profile);
      chart.figures = table_of(profile);
      chart.all_figures = chart.figures.rows.size();
      chart.links = {{name, escape_url(name)}};
      charts.push_back(std::move(chart));
    } catch (const Error& failure) {
      notes.push_back(fmt::format("no chart of {}: {}", name, failure.what()));
    }
  }
  return charts;
}

}  // namespace gpubench
