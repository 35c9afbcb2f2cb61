#include "core/results/trace.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/codec/output_file.h"

namespace gpubench {
namespace {

using Json = nlohmann::ordered_json;  // as info.cpp, so that the library is compiled once

// Kernel names come from libraries: invalid UTF-8 is replaced.
std::string quoted(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

double microseconds(Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

/// A lane that is not in `lanes` yet is added at the end.
std::size_t row_of(std::vector<NameId>& lanes, NameId lane) {
  const auto found = std::ranges::find(lanes, lane);
  const auto row = static_cast<std::size_t>(found - lanes.begin());
  if (found == lanes.end()) lanes.push_back(lane);
  return row;
}

std::string node_arguments(const Timeline& timeline, NodeId id) {
  if (id == NodeId::none) return {};
  const NodeName& node = timeline.node(id);
  return fmt::format(R"(,"op":{},"layer":{},"role":{})", quoted(std::string_view(node.op)),
                     quoted(std::string_view(node.layer)), quoted(std::string_view(node.role)));
}

std::string device_arguments(const Span& span) {
  return (span.gpu < 0 ? "" : fmt::format(R"(,"gpu":{})", span.gpu)) +
         (span.replica == -1 ? "" : fmt::format(R"(,"replica":{})", span.replica));
}

std::string event(std::string_view name, std::string_view category, Window time, Clock::time_point zero,
                  std::size_t row, std::string_view arguments) {
  return fmt::format(R"({{"name":{},"cat":"{}","ph":"X","ts":{:.3f},"dur":{:.3f},"pid":0,"tid":{},"args":{{{}}}}})",
                     quoted(name), category, microseconds(time.begin - zero), microseconds(time.length()), row,
                     arguments);
}

std::string event(const Timeline& timeline, const Span& span, Clock::time_point zero, std::size_t row) {
  const std::string arguments = fmt::format(R"("correlation":{},"exact":{}{}{})", span.correlation, span.is_exact,
                                            device_arguments(span), node_arguments(timeline, span.node));
  return event(timeline.text(span.name), to_string(span.span_class), {span.begin, span.end}, zero, row, arguments);
}

void add_row_name(std::vector<std::string>& events, std::size_t row, std::string_view name) {
  events.push_back(
      fmt::format(R"({{"name":"thread_name","ph":"M","pid":0,"tid":{},"args":{{"name":{}}}}})", row, quoted(name)));
  events.push_back(
      fmt::format(R"({{"name":"thread_sort_index","ph":"M","pid":0,"tid":{0},"args":{{"sort_index":{0}}}}})", row));
}

void add_steps(std::vector<std::string>& events, const StepMarks& steps, Clock::time_point zero, std::size_t row) {
  Clock::time_point begin = steps.begin;
  int number = 0;
  for (const Clock::time_point end : steps.ends) {
    events.push_back(event(fmt::format("step {}", ++number), "step", {begin, end}, zero, row, ""));
    begin = end;
  }
  add_row_name(events, row, "steps");
}

std::string devices_text(const StepMarks& steps) {
  std::vector<std::string> devices;
  for (const TracedDevice& device : steps.devices)
    devices.push_back(fmt::format(R"({{"gpu":{},"replica":{}}})", device.gpu, device.replica));
  return fmt::format("{}", fmt::join(devices, ","));
}

}  // namespace

void write_chrome_trace(const Timeline& timeline, const std::filesystem::path& file) {
  const StepMarks& steps = timeline.steps();
  Clock::time_point zero = steps.ends.empty() ? Clock::time_point::max() : steps.begin;
  for (const Span& span : timeline.spans()) zero = std::min(zero, span.begin);
  std::vector<NameId> lanes;
  std::vector<std::string> events;
  for (const Span& span : timeline.spans()) events.push_back(event(timeline, span, zero, row_of(lanes, span.lane)));
  for (std::size_t row = 0; row < lanes.size(); ++row) add_row_name(events, row, timeline.text(lanes[row]));
  if (!steps.ends.empty()) add_steps(events, steps, zero, lanes.size());
  replace_file(file,
               fmt::format(R"({{"displayTimeUnit":"ns","dropped_spans":{},"pipeline_spans_left_out":{},"devices":[{}],)"
                           R"("traceEvents":[)"
                           "\n{}\n]}}\n",
                           std::max(timeline.dropped(), steps.lost), timeline.left_out(), devices_text(steps),
                           fmt::join(events, ",\n")));
}

}  // namespace gpubench
