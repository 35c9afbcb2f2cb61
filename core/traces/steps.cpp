#include "core/traces/steps.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/traces/trace_me.h"

namespace gpubench {
namespace {

constexpr std::size_t least_repeats = 3;
/// Each takes 200 bytes of memory; what repeats more often is no step.
constexpr std::size_t most_steps = 200'000;

/// Ranges that mark steps.
struct Marks {
  std::string rule;
  std::vector<TraceInterval> ranges{};
  enum class Edge : std::uint8_t { begin, end } edge = Edge::begin;  ///< of a range, at which a step ends
  bool ends_with_last = true;                                        ///< the last range is a whole step
};

/// "batch 12 of" and 12 of "batch 12 of"; the last number of a name counts.
std::pair<std::string, std::int64_t> without_number(std::string_view name) {
  constexpr std::string_view digits = "0123456789";
  const std::size_t last = name.find_last_of(digits);
  if (last == std::string_view::npos) return {std::string(name), -1};
  const std::size_t before = name.find_last_not_of(digits, last);
  const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
  constexpr std::size_t most_digits = 18;
  if (last + 1 - first > most_digits) return {std::string(name), -1};
  std::int64_t number = 0;
  for (std::size_t i = first; i <= last; ++i) number = number * 10 + (name[i] - '0');
  return {std::string(name.substr(0, first)) + std::string(name.substr(last + 1)), number};
}

/// Of the outermost ranges on the thread whose names begin so.
std::vector<TraceInterval> ranges_of(const ForeignTrace& trace, std::uint32_t thread, std::string_view start) {
  std::vector<TraceInterval> ranges;
  for (const HostEvent& event : trace.host) {
    if (event.thread != thread || !trace.text(event).starts_with(start)) continue;
    if (!ranges.empty() && event.time.begin < ranges.back().end) continue;
    ranges.push_back(event.time);
  }
  return ranges;
}

std::vector<TraceInterval> marked_steps(const ForeignTrace& trace) {
  std::vector<TraceInterval> ranges;
  for (const HostEvent& event : trace.host)
    if (event.work == HostWork::step) ranges.push_back(event.time);
  std::ranges::sort(ranges, {}, &TraceInterval::begin);
  std::vector<TraceInterval> separate;
  for (const TraceInterval& one : ranges)
    if (separate.empty() || one.begin >= separate.back().end) separate.push_back(one);
  return separate;
}

/// The threads that have ranges whose names begin so, most first.
std::optional<std::uint32_t> thread_with(const ForeignTrace& trace, std::string_view start) {
  std::map<std::uint32_t, std::size_t> counts;
  for (const HostEvent& event : trace.host)
    if (trace.text(event).starts_with(start)) ++counts[event.thread];
  if (counts.empty()) return std::nullopt;
  return std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; })->first;
}

std::optional<Marks> by_name(const ForeignTrace& trace, std::string_view start, Marks::Edge edge, bool ends_with_last) {
  const auto thread = thread_with(trace, start);
  if (!thread) return std::nullopt;
  Marks marks{.rule = std::string(start),
              .ranges = ranges_of(trace, *thread, start),
              .edge = edge,
              .ends_with_last = ends_with_last};
  if (marks.ranges.size() < 2) return std::nullopt;
  return marks;
}

/// Whether every step has as many of the marks, and several.
bool has_several_in_each(const std::vector<TraceInterval>& steps, const Marks& inner) {
  for (const TraceInterval& step : steps) {
    const auto first = std::ranges::lower_bound(inner.ranges, step.begin, {}, &TraceInterval::begin);
    const auto last = std::ranges::lower_bound(first, inner.ranges.end(), step.end, {}, &TraceInterval::begin);
    const std::ptrdiff_t count = last - first;
    if (count < static_cast<std::ptrdiff_t>(least_repeats)) return false;
  }
  return !steps.empty();
}

constexpr std::string_view optimizer = "Optimizer.step#", loader = "enumerate(DataLoader)#";

/// Of one optimizer: a program may have several, each with its own steps.
std::optional<Marks> by_optimizer(const ForeignTrace& trace) {
  return by_name(trace, optimizer, Marks::Edge::end, false);
}

std::optional<Marks> by_loader(const ForeignTrace& trace) {
  return by_name(trace, loader, Marks::Edge::begin, false);
}

struct Repeated {
  std::vector<TraceInterval> ranges{};
  std::int64_t total = 0, last_number = -1;
  bool counts_up = true;
};

/// Whether the event is an outermost range of its kind. `covered`: until when one lasts, by thread and kind.
bool may_be_step(const ForeignTrace& trace, const HostEvent& event,
                 std::map<std::pair<std::uint32_t, bool>, std::int64_t>& covered) {
  const std::string& name = trace.text(event);
  const bool is_annotation = event.work == HostWork::annotation;
  const bool is_function =
      name.starts_with("PjitFunction(") || name.starts_with("FunctionRun") || name.starts_with("multi_step_on");
  if (!is_annotation && !is_function) return false;
  const auto [place, is_new] = covered.try_emplace({event.thread, is_annotation}, INT64_MIN);
  if (event.time.begin < place->second) return false;
  place->second = event.time.end;
  return true;
}

/// Outermost ranges on one thread that repeat, by the same name or by one that counts up, and cover half of the window.
std::optional<Marks> by_repetition(const ForeignTrace& trace) {
  using Key = std::pair<std::uint32_t, NameId>;  // of a thread
  struct Numbered {
    NameId rest{};
    std::int64_t number = -1;
  };
  std::map<Key, Repeated> same, counted;
  std::unordered_map<NameId, Numbered> names;
  NameTable rests;
  std::map<std::pair<std::uint32_t, bool>, std::int64_t> covered;
  const auto add_to = [](Repeated& own, TraceInterval time, std::int64_t number) {
    own.ranges.push_back(time);
    own.total += time.length();
    own.counts_up = own.counts_up && number > own.last_number;
    own.last_number = number;
  };
  for (const HostEvent& event : trace.host) {
    if (!may_be_step(trace, event, covered)) continue;
    const auto [place, is_new] = names.try_emplace(event.name);
    Numbered& name = place->second;
    if (is_new) {
      const auto [rest, number] = without_number(trace.text(event));
      name = {rests.id(rest), number};
    }
    add_to(same[{event.thread, event.name}], event.time, 0);
    if (name.number >= 0) add_to(counted[{event.thread, name.rest}], event.time, name.number);
  }
  const TraceInterval window = recorded_window(trace);
  const Repeated* best = nullptr;
  std::string_view rule;
  const auto look_at = [&](const Repeated& own, std::string_view name) {
    if (own.ranges.size() < least_repeats || 2 * own.total < window.length()) return;
    if (best != nullptr && own.total <= best->total) return;
    best = &own;
    rule = name;
  };
  for (const auto& [key, own] : same) look_at(own, trace.names.text(key.second));
  for (const auto& [key, own] : counted)
    if (own.counts_up) look_at(own, rests.text(key.second));
  if (best == nullptr) return std::nullopt;
  return Marks{.rule = std::string(rule), .ranges = best->ranges};
}

double variation(const std::vector<std::int64_t>& begins) {
  std::vector<double> distances;
  for (std::size_t i = 1; i < begins.size(); ++i) distances.push_back(static_cast<double>(begins[i] - begins[i - 1]));
  const double mean = std::accumulate(distances.begin(), distances.end(), 0.0) / static_cast<double>(distances.size());
  double squares = 0;
  for (const double one : distances) squares += (one - mean) * (one - mean);
  return mean > 0 ? std::sqrt(squares / static_cast<double>(distances.size())) / mean : INFINITY;
}

/// The count that most kernels' names share; of these the name whose distances vary least.
std::optional<Marks> by_period(const ForeignTrace& trace) {
  constexpr double most_variation = 0.10;
  std::map<NameId, std::vector<std::int64_t>> begins;
  for (const DeviceEvent& event : trace.device)
    if (event.device == 0 && event.work == DeviceWork::kernel) begins[event.name].push_back(event.time.begin);
  std::map<std::size_t, std::size_t> sharing;
  for (const auto& [name, own] : begins)
    if (own.size() >= least_repeats) ++sharing[own.size()];
  if (sharing.empty()) return std::nullopt;
  const std::size_t count = std::ranges::max_element(sharing, {}, [](const auto& one) { return one.second; })->first;
  // Layers of a model repeat too, but beside them there are kernels of no layer; in whole steps all repeat, but for
  // those that the window cuts.
  const auto repeats = std::ranges::count_if(begins, [&](const auto& one) {
    const std::size_t rest = one.second.size() % count;
    return one.second.size() + 1 >= count && (rest <= 1 || rest + 1 == count);
  });
  constexpr double nearly_all = 0.9;
  if (static_cast<double>(repeats) < nearly_all * static_cast<double>(begins.size())) return std::nullopt;
  const std::vector<std::int64_t>* best = nullptr;
  double least = most_variation;
  std::string_view name;
  for (const auto& [id, own] : begins) {
    if (own.size() != count) continue;
    if (const double own_variation = variation(own); own_variation < least) {
      least = own_variation;
      best = &own;
      name = trace.names.text(id);
    }
  }
  if (best == nullptr) return std::nullopt;
  Marks marks{.rule = fmt::format("the kernel {}", shown_text(name, 40)), .ends_with_last = false};
  for (const std::int64_t begin : *best) marks.ranges.push_back({begin, begin});
  return marks;
}

std::optional<Marks> find_marks(const ForeignTrace& trace) {
  if (std::vector<TraceInterval> marked = marked_steps(trace); !marked.empty()) {
    for (const std::optional<Marks>& inner : {by_optimizer(trace), by_loader(trace)})
      if (inner && has_several_in_each(marked, *inner)) return inner;
    const bool is_kineto = trace.framework == Framework::pytorch;
    return Marks{.rule = is_kineto ? "ProfilerStep" : "step numbers", .ranges = std::move(marked)};
  }
  for (std::optional<Marks> marks :
       {by_name(trace, "Steps", Marks::Edge::begin, true), by_optimizer(trace), by_loader(trace)})
    if (marks) return marks;
  for (const char* serving : {"execute_context_", "gpu_model_runner: forward", "step[", "execute_model"})
    if (auto marks = by_name(trace, serving, Marks::Edge::begin, true); marks && marks->ranges.size() >= least_repeats)
      return marks;
  if (auto marks = by_repetition(trace)) return marks;
  return by_period(trace);
}

/// The steps between the marks; each lasts until the work that was launched in it is done.
std::vector<TraceInterval> steps_between(const ForeignTrace& trace, const Marks& marks) {
  std::vector<TraceInterval> steps;
  const std::vector<TraceInterval>& ranges = marks.ranges;
  for (std::size_t i = 0; i + 1 < ranges.size(); ++i) {
    steps.push_back(marks.edge == Marks::Edge::end ? TraceInterval{ranges[i].end, ranges[i + 1].end}
                                                   : TraceInterval{ranges[i].begin, ranges[i + 1].begin});
  }
  if (marks.ends_with_last && !ranges.empty()) steps.push_back(ranges.back());
  if (steps.empty()) return steps;
  // Marked steps end where their range ends; what lies between two of them belongs to the next one.
  if (marks.rule == "ProfilerStep")
    for (std::size_t i = 0; i < ranges.size(); ++i) steps[i].end = ranges[i].end;
  std::vector<std::int64_t> done(steps.size(), INT64_MIN);
  for (const DeviceEvent& event : trace.device) {
    if (event.launch == DeviceEvent::no_launch || event.work == DeviceWork::wait) continue;
    const std::int64_t launched = trace.host[event.launch].time.begin;
    const auto after = std::ranges::upper_bound(steps, launched, {}, &TraceInterval::begin);
    if (after == steps.begin()) continue;
    const auto step = std::prev(after);
    if (launched >= step->end && step + 1 == steps.end()) continue;
    std::int64_t& last = done[static_cast<std::size_t>(step - steps.begin())];
    last = std::max(last, event.time.end);
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].end = std::max({steps[i].end, done[i], steps[i].begin});
    if (i > 0) {
      steps[i].begin = steps[i - 1].end;
      steps[i].end = std::max(steps[i].end, steps[i].begin);
    }
  }
  return steps;
}

std::vector<std::size_t> works_in(const ForeignTrace& trace, const std::vector<TraceInterval>& steps) {
  std::vector<std::size_t> counts(steps.size());
  for (const DeviceEvent& event : trace.device) {
    if (event.work == DeviceWork::wait) continue;
    const auto after = std::ranges::upper_bound(steps, event.time.begin, {}, &TraceInterval::begin);
    if (after == steps.begin() || event.time.begin >= std::prev(after)->end) continue;
    ++counts[static_cast<std::size_t>(std::prev(after) - steps.begin())];
  }
  return counts;
}

/// Leaves out steps at both ends in which the device does next to nothing, and the first and the last one.
void choose(const ForeignTrace& trace, TraceSteps& steps) {
  steps.first = 0;
  steps.last = steps.steps.size();
  if (!trace.device.empty()) {
    const std::vector<std::size_t> counts = works_in(trace, steps.steps);
    std::vector<std::size_t> sorted = counts;
    std::ranges::sort(sorted);
    const std::size_t median = sorted[sorted.size() / 2];
    const auto is_empty = [&](std::size_t i) { return 10 * counts[i] < median; };
    while (steps.first < steps.last && is_empty(steps.first)) ++steps.first;
    while (steps.last > steps.first && is_empty(steps.last - 1)) --steps.last;
    steps.without_work = steps.steps.size() - steps.count();
  }
  constexpr std::size_t least_for_cut = 4;
  if (steps.count() >= least_for_cut) {
    ++steps.first;
    --steps.last;
  }
}

/// Looks for a mark that disagrees with the one that was taken.
void look_for_other(const ForeignTrace& trace, const Marks& taken, TraceSteps& steps) {
  constexpr double most_difference = 0.05;
  const TraceInterval window = steps.window();
  std::vector<std::optional<Marks>> others{by_optimizer(trace), by_loader(trace), by_repetition(trace)};
  if (std::vector<TraceInterval> marked = marked_steps(trace); !marked.empty())
    others.push_back(Marks{.rule = "step numbers", .ranges = std::move(marked)});
  for (const std::optional<Marks>& other : others) {
    if (!other || other->rule == taken.rule) continue;
    const auto count = static_cast<std::size_t>(
        std::ranges::count_if(other->ranges, [&](const TraceInterval& one) { return window.contains(one.begin); }));
    // At the edges of the window there may be one more or less.
    const double difference = std::abs(static_cast<double>(count) - static_cast<double>(steps.count()));
    if (count < 2 || difference <= std::max(1.0, most_difference * static_cast<double>(steps.count()))) continue;
    steps.other_rule = other->rule;
    steps.other_step_s = static_cast<double>(window.length()) * 1e-9 / static_cast<double>(count);
    return;
  }
}

}  // namespace

std::vector<double> TraceSteps::seconds() const {
  std::vector<double> times;
  for (const TraceInterval& step : counted()) times.push_back(static_cast<double>(step.length()) * 1e-9);
  return times;
}

TraceInterval recorded_window(const ForeignTrace& trace) {
  TraceInterval window{INT64_MAX, INT64_MIN};
  const auto extend = [&](TraceInterval time) {
    window.begin = std::min(window.begin, time.begin);
    window.end = std::max(window.end, time.end);
  };
  for (const DeviceEvent& event : trace.device)
    if (event.work != DeviceWork::wait) extend(event.time);
  if (trace.device.empty())
    for (const HostEvent& event : trace.host)
      if (event.work != HostWork::overhead) extend(event.time);
  if (window.begin > window.end) return {};
  return window;
}

TraceSteps find_steps(const ForeignTrace& trace, const std::string& mark) {
  TraceSteps result;
  std::optional<Marks> marks;
  if (mark.empty()) {
    marks = find_marks(trace);
  } else {
    marks = by_name(trace, mark, Marks::Edge::begin, true);
    if (!marks)
      throw Error(fmt::format("explain: --step {}: no range whose name begins so occurs twice on a thread of {}",
                              shown_text(mark), shown_text(trace.file)));
  }
  if (marks && marks->ranges.size() > most_steps) {
    if (!mark.empty())
      throw Error(fmt::format("explain: --step {}: {} ranges of {} are more than the {} that can be steps",
                              shown_text(mark), marks->ranges.size(), shown_text(trace.file), most_steps));
    marks.reset();
  }
  if (!marks) return result;
  result.rule = marks->rule;
  result.steps = steps_between(trace, *marks);
  std::erase_if(result.steps, [](const TraceInterval& step) { return step.length() <= 0; });
  if (result.steps.empty()) {
    result.rule.clear();
    return result;
  }
  choose(trace, result);
  // A single one tells nothing that the whole trace does not.
  constexpr std::size_t least_steps = 2;
  if (result.count() < least_steps) {
    result.steps.clear();
    result.rule.clear();
    result.first = result.last = result.without_work = 0;
  } else if (mark.empty()) {
    look_for_other(trace, *marks, result);
  }
  return result;
}

}  // namespace gpubench
