#include "core/traces/causes.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/base/shown_text.h"
#include "core/base/units.h"
#include "core/results/host_cause.h"
#include "core/results/input_cause.h"
#include "core/traces/analysis.h"
#include "core/traces/copy_cause.h"
#include "core/traces/event_kinds.h"

namespace gpubench {
namespace {

struct Named {
  NameId name{};
  std::int64_t time = 0;
  std::size_t parts = 0;
  TraceInterval longest{};
  std::uint32_t thread = 0;
};

struct KindSum {
  std::int64_t time = 0;
  std::size_t parts = 0;
  std::map<NameId, Named> names{};
};

using KindSums = std::array<KindSum, idle_kind_count>;

/// The steps that are no longer than the median: those that nothing else on the machine has disturbed. All of the
/// window without steps.
std::vector<TraceInterval> quiet_steps(const TraceAnalysis& analysis) {
  const std::span<const TraceInterval> counted = analysis.steps.counted();
  std::vector<TraceInterval> steps(counted.begin(), counted.end());
  if (steps.empty()) return {analysis.window};
  std::ranges::sort(steps, {}, &TraceInterval::length);
  steps.resize((steps.size() + 1) / 2);
  std::ranges::sort(steps, {}, &TraceInterval::begin);
  return steps;
}

bool begins_in(std::span<const TraceInterval> within, TraceInterval time) {
  const auto after = std::ranges::upper_bound(within, time.begin, {}, &TraceInterval::begin);
  return after != within.begin() && time.begin < std::prev(after)->end;
}

KindSums sums_of(const TraceAnalysis& analysis, std::span<const TraceInterval> within) {
  KindSums sums;
  for (const std::vector<IdlePart>& parts : analysis.idle) {
    for (const IdlePart& part : parts) {
      if (!begins_in(within, part.time)) continue;
      KindSum& own = sums[static_cast<std::size_t>(part.kind)];
      own.time += part.time.length();
      ++own.parts;
      Named& named = own.names[part.name];
      named.name = part.name;
      named.time += part.time.length();
      ++named.parts;
      if (part.time.length() <= named.longest.length()) continue;
      named.longest = part.time;
      named.thread = part.thread;
    }
  }
  return sums;
}

/// The names that take most, most first.
std::vector<Named> longest_names(const KindSum& sum, std::size_t most) {
  std::vector<Named> names;
  for (const auto& [name, one] : sum.names) names.push_back(one);
  std::ranges::sort(names, std::greater<>(), &Named::time);
  if (names.size() > most) names.resize(most);
  return names;
}

/// "train.py(30): main" of a Python frame of Kineto or "$train.py:30 main" of XLA's profiler, where it is in no
/// library: "train.py:30".
std::string place_in(std::string_view frame) {
  constexpr std::array<std::string_view, 10> libraries = {"site-packages/", "dist-packages/", "lib/python", "torch/",
                                                          "<built-in",      "<string>",       "nn.Module:", "autograd",
                                                          "importlib",      "threading.py"};
  for (const std::string_view library : libraries)
    if (frame.find(library) != std::string_view::npos) return {};
  if (frame.starts_with('$')) {
    const std::size_t blank = frame.find(' ');
    const std::string_view place = frame.substr(1, blank == std::string_view::npos ? blank : blank - 1);
    return place.find(".py:") == std::string_view::npos ? std::string() : std::string(place);
  }
  const std::size_t open = frame.find(".py("), close = frame.find(')', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  return std::string(frame.substr(0, open + 3)) + ":" + std::string(frame.substr(open + 4, close - open - 4));
}

/// The innermost line of the user's own files that runs on the thread at the time.
class Places {
 public:
  explicit Places(const ForeignTrace& trace) : trace_(trace) {}

  std::string of(std::uint32_t thread, std::int64_t time) {
    if (!trace_.has_stacks) return {};
    const std::vector<HostEvent>& host = trace_.host;
    auto after = std::ranges::upper_bound(host, std::pair(thread, time), {}, [](const HostEvent& event) {
      return std::pair(event.thread, event.time.begin);
    });
    constexpr int most_steps = 20000;
    for (int steps = 0; after != host.begin() && std::prev(after)->thread == thread && steps < most_steps; ++steps) {
      --after;
      if (after->time.end <= time) continue;
      const auto [known, is_new] = places_.try_emplace(after->name);
      if (is_new) known->second = place_in(trace_.text(*after));
      if (!known->second.empty()) return known->second;
    }
    return {};
  }

 private:
  const ForeignTrace& trace_;
  std::map<NameId, std::string> places_;
};

struct Scale {
  double steps, devices;
  double seconds(std::int64_t nanoseconds) const { return static_cast<double>(nanoseconds) * 1e-9 / steps / devices; }
};

Scale scale_of(const TraceAnalysis& analysis) {
  return {static_cast<double>(std::max(analysis.counted_steps(), 1)),
          static_cast<double>(std::max<std::size_t>(analysis.idle.size(), 1))};
}

/// "aten::item 4.1 ms, aten::add 1.2 ms a step; at train.py:30".
std::string names_text(const TraceAnalysis& analysis, const KindSum& sum) {
  constexpr std::size_t most = 3;
  const Scale scale = scale_of(analysis);
  Places places(analysis.trace);
  std::string text, place;
  for (const Named& one : longest_names(sum, most)) {
    const std::string& name = analysis.trace.names.text(one.name);
    if (name.empty()) continue;
    if (place.empty()) place = places.of(one.thread, one.longest.begin);
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", shown_text(name, 60), format_seconds(scale.seconds(one.time)));
  }
  if (place.empty() && !sum.names.empty()) {
    const Named longest = longest_names(sum, 1).front();
    place = places.of(longest.thread, longest.longest.begin);
  }
  if (text.empty()) return place.empty() ? "" : "at " + place;
  return text + analysis.unit() + (place.empty() ? "" : "; at " + place);
}

void add_to(KindSum& sum, const KindSum& other) {
  sum.time += other.time;
  sum.parts += other.parts;
  for (const auto& [name, one] : other.names) {
    Named& own = sum.names[name];
    const std::int64_t longest = own.longest.length();
    own.name = name;
    own.time += one.time;
    own.parts += one.parts;
    if (one.longest.length() > longest) {
      own.longest = one.longest;
      own.thread = one.thread;
    }
  }
}

KindSum sum_of(const KindSums& sums, std::initializer_list<IdleKind> kinds) {
  KindSum sum;
  for (const IdleKind kind : kinds) add_to(sum, sums[static_cast<std::size_t>(kind)]);
  return sum;
}

void set_input(Record& row, const TraceAnalysis& analysis, const KindSums& sums) {
  const KindSum input = sum_of(sums, {IdleKind::input});
  if (input.time == 0) return;
  InputCauseKind kind = InputCauseKind::unknown;
  for (const auto& [id, one] : input.names) {
    const std::string& name = analysis.trace.names.text(id);
    if (name.find("_SingleProcessDataLoaderIter") != std::string::npos) kind = InputCauseKind::main_process;
    if (name.find("_MultiProcessingDataLoaderIter") != std::string::npos) kind = InputCauseKind::workers;
  }
  std::string text = names_text(analysis, input);
  if (const std::string stage = slowest_stage(analysis.trace, analysis.window); !stage.empty()) {
    kind = InputCauseKind::processing;
    text += "; of the pipeline's stages " + stage + " takes most";
  }
  row.set("input_cause", text);
  row.set("input_cause_kind", std::string(to_string(kind)));
}

bool is_between_operators(IdleKind kind) {
  return kind == IdleKind::python || kind == IdleKind::nothing || kind == IdleKind::annotation;
}

/// Time outside of operators that lasts no longer than the framework itself takes between two of them. Functions of
/// Python that follow each other are one such time.
std::int64_t in_short_gaps(const TraceAnalysis& analysis, std::span<const TraceInterval> within) {
  constexpr std::int64_t short_gap = 100'000;
  std::int64_t sum = 0;
  for (const std::vector<IdlePart>& parts : analysis.idle) {
    TraceInterval gap;
    const auto close = [&] {
      if (gap.length() < short_gap && begins_in(within, gap)) sum += gap.length();
    };
    for (const IdlePart& part : parts) {
      if (!is_between_operators(part.kind)) continue;
      if (part.time.begin != gap.end) {
        close();
        gap.begin = part.time.begin;
      }
      gap.end = part.time.end;
    }
    close();
  }
  return sum;
}

/// On a processor: what lies between many operators is theirs, not of a function that takes long.
bool set_small_operators(Record& row, const TraceAnalysis& analysis) {
  const std::vector<TraceInterval> quiet = quiet_steps(analysis);
  const KindSums sums = sums_of(analysis, quiet);
  const KindSum host = sum_of(sums, {IdleKind::python, IdleKind::nothing, IdleKind::annotation});
  const std::int64_t in_short = in_short_gaps(analysis, quiet);
  if (2 * in_short <= host.time) return false;
  const double steps = analysis.step_count() > 0 ? static_cast<double>(quiet.size()) : scale_of(analysis).steps;
  row.set("host_cause",
          fmt::format("{:.0f} operators{}; of the {} between them {} are in parts below 100 us",
                      static_cast<double>(sums[static_cast<std::size_t>(IdleKind::operators)].parts) / steps,
                      analysis.unit(), format_seconds(static_cast<double>(host.time) * 1e-9 / steps),
                      format_seconds(static_cast<double>(in_short) * 1e-9 / steps)));
  row.set("host_cause_kind", std::string(to_string(HostCauseKind::operators)));
  return true;
}

void set_host(Record& row, const TraceAnalysis& analysis, const KindSums& sums) {
  const std::array<std::pair<HostCauseKind, KindSum>, 7> families = {{
      {HostCauseKind::synchronization, sum_of(sums, {IdleKind::sync, IdleKind::drained})},
      {HostCauseKind::operators,
       analysis.is_on_cpu ? KindSum{} : sum_of(sums, {IdleKind::operators, IdleKind::exchange})},
      {HostCauseKind::python, sum_of(sums, {IdleKind::python, IdleKind::nothing})},
      {HostCauseKind::annotation, sum_of(sums, {IdleKind::annotation})},
      {HostCauseKind::allocation, sum_of(sums, {IdleKind::allocation})},
      {HostCauseKind::compilation, sum_of(sums, {IdleKind::compile})},
      {HostCauseKind::first_use, sum_of(sums, {IdleKind::first_use})},
  }};
  const auto most = std::ranges::max_element(families, {}, [](const auto& one) { return one.second.time; });
  if (most->second.time == 0) return;
  const bool is_between = most->first == HostCauseKind::python || most->first == HostCauseKind::annotation;
  if (analysis.is_on_cpu && is_between && set_small_operators(row, analysis)) return;
  const Scale scale = scale_of(analysis);
  std::vector<std::string> parts;
  for (const auto& [kind, sum] : families)
    if (10 * sum.time >= most->second.time && sum.time > 0 && kind != most->first)
      parts.push_back(fmt::format("{} {}", to_string(kind), format_seconds(scale.seconds(sum.time))));
  std::string text = fmt::format("{} {}", to_string(most->first), format_seconds(scale.seconds(most->second.time)));
  for (const std::string& part : parts) text += ", " + part;
  if (const std::string names = names_text(analysis, most->second); !names.empty()) text += ": " + names;
  row.set("host_cause", text);
  row.set("host_cause_kind", std::string(to_string(most->first)));
}

void set_products(Record& row, const TraceAnalysis& analysis) {
  std::map<NameId, bool> known;
  double time = 0;  // of kernels that may overlap
  for (const DeviceEvent& event : analysis.trace.device) {
    if (event.work != DeviceWork::kernel || !analysis.window.contains(event.time.begin)) continue;
    const auto [place, is_new] = known.try_emplace(event.name, false);
    if (is_new) place->second = is_float32_product(analysis.trace.text(event));
    if (place->second) time += static_cast<double>(event.time.length());
  }
  const double share = time / static_cast<double>(analysis.window.length()) / scale_of(analysis).devices;
  if (time > 0) row.set("float32_product_share", std::min(share, 1.0));
}

void set_lead(Record& row, const TraceAnalysis& analysis) {
  std::vector<std::int64_t> leads;
  for (const DeviceEvent& event : analysis.trace.device)
    if (event.work == DeviceWork::kernel && event.launch != DeviceEvent::no_launch)
      leads.push_back(event.time.begin - analysis.trace.host[event.launch].time.begin);
  if (leads.empty()) return;
  std::ranges::nth_element(leads, leads.begin() + static_cast<std::ptrdiff_t>(leads.size() / 2));
  row.set("launch_lead_s", static_cast<double>(leads[leads.size() / 2]) * 1e-9);
}

}  // namespace

std::string slowest_stage(const ForeignTrace& trace, TraceInterval window) {
  std::unordered_map<NameId, double> by_name;  // of ranges that may overlap
  for (const HostEvent& event : trace.host)
    if (trace.text(event).starts_with("Iterator::") && window.contains(event.time.begin))
      by_name[event.name] += static_cast<double>(event.time.length());
  std::map<std::string_view, double> own;
  for (const auto& [name, time] : by_name) own[trace.names.text(name)] += time;
  for (const auto& [name, time] : by_name) {
    const std::string_view stage = trace.names.text(name);
    const auto outer = own.find(stage.substr(0, stage.rfind("::")));
    if (outer != own.end()) outer->second -= time;
  }
  // A prefetch waits for what another thread makes.
  std::erase_if(own, [](const auto& one) { return one.first.ends_with("Prefetch") || one.first.ends_with("Root"); });
  const auto most = std::ranges::max_element(own, {}, [](const auto& one) { return one.second; });
  return most == own.end() || most->second <= 0 ? std::string() : std::string(most->first);
}

double pipeline_threads(const ForeignTrace& trace, TraceInterval window) {
  if (window.length() <= 0) return 0;
  std::int64_t sum = 0, covered = 0;
  std::uint32_t thread = UINT32_MAX;
  for (const HostEvent& event : trace.host) {
    if (!trace.threads[event.thread].name.starts_with("tf_data_private_threadpool")) continue;
    if (event.thread != thread) covered = window.begin;
    thread = event.thread;
    const std::int64_t begin = std::max(event.time.begin, covered), end = std::min(event.time.end, window.end);
    if (end <= begin) continue;
    sum += end - begin;
    covered = end;
  }
  return static_cast<double>(sum) / static_cast<double>(window.length());
}

double operator_share(const ForeignTrace& trace, TraceInterval window) {
  if (window.length() <= 0) return 0;
  std::vector<TraceInterval> times;
  for (const DeviceEvent& event : trace.device) times.push_back(event.time);
  std::ranges::sort(times, {}, &TraceInterval::begin);
  std::int64_t sum = 0, covered = window.begin;
  for (const TraceInterval& time : times) {
    const std::int64_t begin = std::max(time.begin, covered), end = std::min(time.end, window.end);
    if (end <= begin) continue;
    sum += end - begin;
    covered = end;
  }
  return static_cast<double>(sum) / static_cast<double>(window.length());
}

void set_causes(Record& row, const TraceAnalysis& analysis) {
  const KindSums sums = sums_of(analysis, {&analysis.window, 1});
  set_input(row, analysis, sums);
  set_host(row, analysis, sums);
  if (analysis.is_on_cpu) return;
  set_copy_cause(row, analysis);
  set_products(row, analysis);
  set_lead(row, analysis);
}

Info::List idle_info(const TraceAnalysis& analysis) {
  constexpr std::size_t most = 5;
  const KindSums sums = sums_of(analysis, {&analysis.window, 1});
  const Scale scale = scale_of(analysis);
  const double step_s = analysis.step_s();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i].time > 0) order.push_back(i);
  std::ranges::sort(order, std::greater<>(), [&](std::size_t i) { return sums[i].time; });
  Places places(analysis.trace);
  Info::List kinds;
  for (const std::size_t i : order) {
    const IdleKindText& text = text_of(static_cast<IdleKind>(i));
    const double time = scale.seconds(sums[i].time);
    Info one(Info::Fields{{"kind", std::string(text.name)},
                          {"meaning", std::string(text.meaning)},
                          {"share", time / step_s},
                          {"time_s", time}});
    Info::List names;
    for (const Named& named : longest_names(sums[i], most)) {
      const double own = scale.seconds(named.time);
      Info entry(Info::Fields{{"name", shown_text(analysis.trace.names.text(named.name), 120)},
                              {"share", own / step_s},
                              {"time_s", own},
                              {"parts", static_cast<double>(named.parts) / scale.steps / scale.devices}});
      if (const std::string place = places.of(named.thread, named.longest.begin); !place.empty())
        entry.set("place", place);
      names.push_back(std::move(entry));
    }
    one.set("names", std::move(names));
    kinds.push_back(std::move(one));
  }
  return kinds;
}

}  // namespace gpubench
