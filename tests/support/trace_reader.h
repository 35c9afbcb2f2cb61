// Reads a trace of gpubench (core/results/trace.h) back into a timeline with its steps.
#pragma once
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/error.h"
#include "core/results/append_file.h"
#include "core/trace/timeline.h"

namespace gpubench::support {

class TraceReader {
 public:
  explicit TraceReader(const std::filesystem::path& file) : trace_(nlohmann::json::parse(read_file(file))) {
    const auto& events = trace_["traceEvents"];
    timeline_ = std::make_unique<Timeline>(events.size());
    for (const auto& event : events)
      if (event["name"] == "thread_name") lanes_[event["tid"]] = event["args"]["name"];
    for (const auto& event : events) {
      if (event["ph"] != "X") continue;
      if (event["cat"] == "step")
        add_step(event);
      else
        timeline_->add(span_of(event));
    }
    for (const auto& device : trace_["devices"])
      steps_.devices.push_back({.gpu = device["gpu"], .replica = device["replica"]});
    steps_.lost = trace_["dropped_spans"];
    timeline_->set_steps(steps_);
  }
  const Timeline& timeline() const { return *timeline_; }

 private:
  static Clock::duration duration(const nlohmann::json& microseconds) {
    return Clock::duration(std::llround(microseconds.get<double>() * 1000));
  }
  static Window window_of(const nlohmann::json& event) {
    const Clock::time_point begin(duration(event["ts"]));
    return {begin, begin + duration(event["dur"])};
  }
  static SpanClass class_of(const std::string& name) {
    for (std::size_t i = 0; i < span_class_count; ++i)
      if (to_string(static_cast<SpanClass>(i)) == name) return static_cast<SpanClass>(i);
    throw Error("no class of spans is called " + name);
  }

  void add_step(const nlohmann::json& event) {
    const Window window = window_of(event);
    if (steps_.ends.empty()) steps_.begin = window.begin;
    steps_.ends.push_back(window.end);
  }
  Span span_of(const nlohmann::json& event) {
    const auto& arguments = event["args"];
    const Window window = window_of(event);
    Span span;
    span.span_class = class_of(event["cat"]);
    span.name = timeline_->name(event["name"].get<std::string>());
    span.lane = timeline_->name(lanes_.at(event["tid"]));
    span.gpu = arguments.value("gpu", -1);
    span.replica = arguments.value("replica", -1);
    if (arguments.contains("op"))
      span.node = timeline_->node({.op = arguments["op"], .layer = arguments["layer"], .role = arguments["role"]});
    span.correlation = arguments["correlation"];
    span.is_exact = arguments["exact"];
    span.begin = window.begin;
    span.end = window.end;
    return span;
  }

  nlohmann::json trace_;
  std::map<int, std::string> lanes_;
  std::unique_ptr<Timeline> timeline_;
  StepMarks steps_;
};

}  // namespace gpubench::support
