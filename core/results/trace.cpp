#include "core/results/trace.h"

#include <algorithm>
#include <fmt/format.h>
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

std::string event(const Timeline& timeline, const Span& span, Clock::time_point zero, std::size_t row) {
  return fmt::format(
      R"({{"name":{},"cat":"{}","ph":"X","ts":{:.3f},"dur":{:.3f},"pid":0,"tid":{},"args":{{"correlation":{},"exact":{}{}}}}})",
      quoted(timeline.text(span.name)), to_string(span.span_class), microseconds(span.begin - zero),
      microseconds(span.end - span.begin), row, span.correlation, span.is_exact, node_arguments(timeline, span.node));
}

}  // namespace

void write_chrome_trace(const Timeline& timeline, const std::filesystem::path& file) {
  Clock::time_point zero = Clock::time_point::max();
  for (const Span& span : timeline.spans()) zero = std::min(zero, span.begin);
  std::vector<NameId> lanes;
  std::vector<std::string> events;
  for (const Span& span : timeline.spans()) events.push_back(event(timeline, span, zero, row_of(lanes, span.lane)));
  for (std::size_t row = 0; row < lanes.size(); ++row) {
    events.push_back(fmt::format(R"({{"name":"thread_name","ph":"M","pid":0,"tid":{},"args":{{"name":{}}}}})", row,
                                 quoted(timeline.text(lanes[row]))));
    events.push_back(
        fmt::format(R"({{"name":"thread_sort_index","ph":"M","pid":0,"tid":{0},"args":{{"sort_index":{0}}}}})", row));
  }
  replace_file(file,
               fmt::format(R"({{"displayTimeUnit":"ns","dropped_spans":{},"pipeline_spans_left_out":{},"traceEvents":[)"
                           "\n{}\n]}}\n",
                           timeline.dropped(), timeline.left_out(), fmt::join(events, ",\n")));
}

}  // namespace gpubench
