#include "core/traces/typical_step.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <vector>

#include "core/base/shown_text.h"

namespace gpubench {
namespace {

constexpr std::size_t cells = 1000;
constexpr std::size_t most_lanes = 8;

/// What takes most of each cell that is covered to a half or more.
class Lane {
 public:
  explicit Lane(TraceInterval window) : window_(window), most_(cells, 0), covered_(cells, 0), what_(cells, none) {}

  void add(TraceInterval time, std::string_view class_name, const std::string& name) {
    time = {std::max(time.begin, window_.begin), std::min(time.end, window_.end)};
    if (time.length() <= 0) return;
    total_ += time.length();
    const std::size_t index = index_of(class_name, name);
    const auto cell_of = [&](std::int64_t at) {
      const double place = static_cast<double>(at - window_.begin) / static_cast<double>(window_.length());
      return std::min(static_cast<std::size_t>(place * cells), cells - 1);
    };
    const std::size_t first = cell_of(time.begin), last = cell_of(time.end - 1);
    for (std::size_t cell = first; cell <= last; ++cell) {
      const std::int64_t part = first == last ? time.length() : window_.length() / static_cast<std::int64_t>(cells) + 1;
      covered_[cell] += part;
      if (part <= most_[cell]) continue;
      most_[cell] = part;
      what_[cell] = index;
    }
  }
  std::int64_t total() const { return total_; }

  Info info(const std::string& name) const {
    const double cell_s = static_cast<double>(window_.length()) * 1e-9 / cells;
    Info::List parts;
    for (std::size_t begin = 0; begin < cells;) {
      std::size_t end = begin + 1;
      while (end < cells && what_[end] == what_[begin] && is_covered(end) == is_covered(begin)) ++end;
      if (what_[begin] != none && is_covered(begin)) {
        const auto& [class_name, text] = names_[what_[begin]];
        parts.push_back(Info::Fields{{"from_s", static_cast<double>(begin) * cell_s},
                                     {"to_s", static_cast<double>(end) * cell_s},
                                     {"class", class_name},
                                     {"name", text}});
      }
      begin = end;
    }
    return Info::Fields{{"name", name}, {"parts", std::move(parts)}};
  }

 private:
  static constexpr std::size_t none = SIZE_MAX;

  bool is_covered(std::size_t cell) const {
    return 2.0 * static_cast<double>(covered_[cell]) * cells >= static_cast<double>(window_.length());
  }

  std::size_t index_of(std::string_view class_name, const std::string& name) {
    const auto [place, is_new] = indices_.try_emplace({std::string(class_name), name}, names_.size());
    if (is_new) names_.emplace_back(std::string(class_name), shown_text(name, 60));
    return place->second;
  }

  TraceInterval window_;
  std::vector<std::int64_t> most_, covered_;
  std::vector<std::size_t> what_;
  std::map<std::pair<std::string, std::string>, std::size_t> indices_;
  std::vector<std::pair<std::string, std::string>> names_;
  std::int64_t total_ = 0;
};

/// The place of the step of median length among those that count.
std::size_t median_step(const TraceSteps& steps) {
  std::vector<std::size_t> order(steps.count());
  std::iota(order.begin(), order.end(), steps.first);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
  std::ranges::nth_element(order, middle, {}, [&](std::size_t i) { return steps.steps[i].length(); });
  return *middle;
}

}  // namespace

Info typical_step(const TraceAnalysis& analysis) {
  const bool has_steps = analysis.step_count() > 0;
  const std::size_t step = has_steps ? median_step(analysis.steps) : 0;
  const TraceInterval window = has_steps ? analysis.steps.steps[step] : analysis.window;
  const ForeignTrace& trace = analysis.trace;
  std::map<std::string, Lane> streams;
  for (const DeviceEvent& event : trace.device) {
    if (event.work == DeviceWork::wait || event.time.end <= window.begin || event.time.begin >= window.end) continue;
    const std::string name = analysis.is_on_cpu
                                 ? trace.devices[event.device].name
                                 : fmt::format("{} stream {}", trace.devices[event.device].name, event.stream);
    streams.try_emplace(name, window).first->second.add(event.time, to_string(class_of(event.work)), trace.text(event));
  }
  std::vector<std::pair<std::string, const Lane*>> order;
  for (const auto& [name, lane] : streams) order.emplace_back(name, &lane);
  std::ranges::stable_sort(order, std::greater<>(), [](const auto& one) { return one.second->total(); });
  if (order.size() > most_lanes) order.resize(most_lanes);
  Info::List lanes;
  for (const auto& [name, lane] : order) lanes.push_back(lane->info(name));
  for (std::size_t device = 0; device < std::min(analysis.idle.size(), most_lanes); ++device) {
    Lane lane(window);
    for (const IdlePart& part : analysis.idle[device]) {
      const IdleKindText& text = text_of(part.kind);
      const std::string& name = trace.names.text(part.name);
      lane.add(part.time, to_string(analysis.class_of(part.kind)),
               name.empty() ? std::string(text.name) : fmt::format("{}: {}", text.name, name));
    }
    const std::string of_device =
        analysis.is_host_only || analysis.idle.size() == 1 ? "" : " of " + trace.devices[device].name;
    lanes.push_back(lane.info(analysis.is_host_only ? "main thread" : "without work" + of_device));
  }
  return Info::Fields{{"step", static_cast<std::int64_t>(has_steps ? step + 1 : 0)},
                      {"length_s", static_cast<double>(window.length()) * 1e-9},
                      {"lanes", std::move(lanes)}};
}

}  // namespace gpubench
