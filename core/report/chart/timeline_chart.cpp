#include "core/report/chart/timeline_chart.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/report/chart/profile_chart.h"
#include "core/report/text/text.h"

namespace gpubench {
namespace {

constexpr double timeline_width = 900, label_width = 150, lane_height = 26, lane_gap = 6, axis_height = 24,
                 legend_height = 22;
constexpr std::size_t ticks = 5, legend_columns = 6;

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
                          label_width + timeline_width * share, y_ + axis_height - 10, anchor,
                          i == 0 ? "0" : format_seconds(share * length_));
    }
    y_ += axis_height;
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

}  // namespace

std::string timeline_chart(const Info& step, const std::string& title) {
  const double length = step.number("length_s").value_or(0);
  if (!(length > 0)) throw Error("'length_s' above 0 is missing");
  TimelineDrawing drawing(length);
  for (const Info& lane : step.items("lanes")) drawing.lane(lane);
  return drawing.finish(title);
}

}  // namespace gpubench
