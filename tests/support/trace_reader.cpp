#include "tests/support/trace_reader.h"

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.h"

namespace gpubench::support {
namespace {

using Json = nlohmann::json;

Clock::duration duration(const Json& microseconds) {
  return Clock::duration(std::llround(microseconds.get<double>() * 1000));
}

Window window_of(const Json& event) {
  const Clock::time_point begin(duration(event["ts"]));
  return {begin, begin + duration(event["dur"])};
}

SpanClass class_of(const std::string& name) {
  for (std::size_t i = 0; i < span_class_count; ++i)
    if (to_string(static_cast<SpanClass>(i)) == name) return static_cast<SpanClass>(i);
  throw Error("no class of spans is called " + name);
}

Span span_of(const Json& event, const std::string& lane, Timeline& timeline) {
  const Json& arguments = event["args"];
  const Window window = window_of(event);
  Span span;
  span.span_class = class_of(event["cat"]);
  span.name = timeline.name(event["name"].get<std::string>());
  span.lane = timeline.name(lane);
  span.gpu = arguments.value("gpu", -1);
  span.replica = arguments.value("replica", -1);
  if (arguments.contains("op"))
    span.node = timeline.node({.op = arguments["op"], .layer = arguments["layer"], .role = arguments["role"]});
  span.correlation = arguments["correlation"];
  span.is_exact = arguments["exact"];
  span.begin = window.begin;
  span.end = window.end;
  return span;
}

void add_step(StepMarks& steps, Window window) {
  if (steps.ends.empty()) steps.begin = window.begin;
  steps.ends.push_back(window.end);
}

}  // namespace

std::unique_ptr<Timeline> read_trace(const std::filesystem::path& file) {
  std::ifstream in(file);
  const Json trace = Json::parse(in);
  const Json& events = trace["traceEvents"];
  auto timeline = std::make_unique<Timeline>(events.size());
  std::map<int, std::string> lanes;
  for (const Json& event : events)
    if (event["name"] == "thread_name") lanes[event["tid"]] = event["args"]["name"];
  StepMarks steps;
  for (const Json& event : events) {
    if (event["ph"] != "X") continue;
    if (event["cat"] == "step")
      add_step(steps, window_of(event));
    else
      timeline->add(span_of(event, lanes.at(event["tid"]), *timeline));
  }
  for (const Json& device : trace["devices"])
    steps.devices.push_back({.gpu = device["gpu"], .replica = device["replica"]});
  steps.lost = trace["dropped_spans"];
  timeline->set_steps(std::move(steps));
  return timeline;
}

}  // namespace gpubench::support
