#include "core/traces/chrome_trace.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/traces/chrome_events.h"
#include "core/traces/event_kinds.h"
#include "core/traces/kineto_category.h"
#include "core/traces/trace_me.h"

namespace gpubench {
namespace {

/// In one file; each is analysed on its own.
constexpr std::size_t most_ranks = 1024;

/// Before which merged files write the rank: "[TP00-DP01]" of "[TP00-DP01] 4711".
std::string_view rank_label(std::string_view process) {
  if (!process.starts_with('[')) return {};
  const std::size_t end = process.find(']');
  return end == std::string_view::npos ? std::string_view() : process.substr(0, end + 1);
}

/// The number in "[TP03-DP00]": that of the first part that differs among ranks is not known here, so all count.
int rank_in(std::string_view label) {
  int rank = 0;
  bool has_digit = false;
  for (const char c : label) {
    if (c < '0' || c > '9') continue;
    has_digit = true;
    rank = (rank * 10 + (c - '0')) % 1'000'000;
  }
  return has_digit ? rank : -1;
}

/// One rank of a file.
class Rank {
 public:
  explicit Rank(std::string_view label) { trace_.rank = rank_in(label); }

  ReadReport& report() { return trace_.report; }

  void add(const ChromeEvent& event) {
    if (event.phase == 'M') return describe(event);
    if (event.phase == 'B') return open(event);
    if (event.phase == 'E') return close(event);
    if (event.phase != 'X') return;
    std::optional<TraceInterval> time;
    if (event.begin_ns && event.length_ns) time = interval_of(*event.begin_ns, *event.length_ns);
    if (time)
      add(event, *time);
    else
      ++trace_.report.without_time;
  }

  ForeignTrace finish(const Info& header) {
    set_facts(header);
    sort_uncategorized();
    for (std::size_t i = 0; i < trace_.device.size(); ++i) set_op(trace_.device[i], external_[i]);
    finish_trace(trace_);
    return std::move(trace_);
  }

 private:
  struct Open {
    std::int64_t begin;
    NameId name;
  };

  NameId name_of(std::string_view raw) {
    return raw.find('\\') == std::string_view::npos ? trace_.names.id(raw) : trace_.names.id(unescaped(raw));
  }

  std::uint32_t thread_of(std::string_view process, std::string_view thread) {
    if (process == last_process_ && thread == last_thread_) return last_index_;
    std::string key(process);
    key.append(1, '\0').append(thread);
    const auto [place, is_new] = threads_.try_emplace(key, static_cast<std::uint32_t>(trace_.threads.size()));
    if (is_new) trace_.threads.push_back({unescaped(process), {}});
    last_process_ = process;
    last_thread_ = thread;
    return last_index_ = place->second;
  }

  void describe(const ChromeEvent& event) {
    const std::string name = unescaped(event.arg("name"));
    if (event.name == "process_name") process_names_[unescaped(event.process)] = name;
    if (event.name == "thread_name") trace_.threads[thread_of(event.process, event.thread)].name = name;
  }

  void open(const ChromeEvent& event) {
    if (event.begin_ns) open_[thread_of(event.process, event.thread)].push_back({*event.begin_ns, name_of(event.name)});
  }

  void close(const ChromeEvent& event) {
    std::vector<Open>& own = open_[thread_of(event.process, event.thread)];
    std::optional<TraceInterval> time;
    // Of a begin and an end beyond all others the difference may not fit.
    if (!own.empty() && event.begin_ns && *event.begin_ns >= own.back().begin && own.back().begin > INT64_MIN / 4 &&
        *event.begin_ns < INT64_MAX / 4)
      time = interval_of(own.back().begin, *event.begin_ns - own.back().begin);
    if (!time) {
      ++trace_.report.without_time;
      return;
    }
    require_room(uncategorized_.size());
    uncategorized_.push_back({*time, own.back().name, thread_of(event.process, event.thread)});
    own.pop_back();
  }

  void add(const ChromeEvent& event, TraceInterval time) {
    KinetoCategory category = category_of(event.category);
    if (category == KinetoCategory::none && event.process == "CPU functions") category = KinetoCategory::op;
    if (category == KinetoCategory::none && event.process == "CUDA functions") category = KinetoCategory::kernel;
    if (category == KinetoCategory::skipped) return;
    require_room(uncategorized_.size() + trace_.host.size() + trace_.device.size());
    if (is_of_device(category)) return add_device(event, category, time);
    if (category == KinetoCategory::overhead) {
      trace_.report.overhead_ns += static_cast<double>(time.length());
    }
    require_room(uncategorized_.size() + trace_.host.size() + trace_.device.size());
    const NameId name = name_of(event.name);
    if (category == KinetoCategory::none) {
      uncategorized_.push_back({time, name, thread_of(event.process, event.thread), 0, !event.arg("step_num").empty()});
      return;
    }
    HostEvent host{time, name, thread_of(event.process, event.thread), 0, work_of(category, name), record_of(category)};
    if (category == KinetoCategory::python) ++trace_.report.python_events;
    if (category == KinetoCategory::op) {
      ++trace_.report.op_events;
      if (const auto id = whole_number(external_id(event))) ops_.try_emplace(*id, name);
    }
    if (category == KinetoCategory::call || category == KinetoCategory::driver_call)
      host.correlation = static_cast<std::uint32_t>(whole_number(event.arg("correlation")).value_or(0));
    trace_.host.push_back(host);
  }

  HostWork work_of(KinetoCategory category, NameId name) {
    const std::uint64_t key = (static_cast<std::uint64_t>(name) << 8U) | static_cast<std::uint64_t>(category);
    const auto [place, is_new] = works_.try_emplace(key, HostWork::op);
    if (is_new) place->second = new_work(category, trace_.names.text(name));
    return place->second;
  }

  static HostWork new_work(KinetoCategory category, std::string_view name) {
    switch (category) {
      case KinetoCategory::call:
      case KinetoCategory::driver_call:
        return work_of_call(name);
      case KinetoCategory::overhead:
        return HostWork::overhead;
      case KinetoCategory::annotation:
        return work_of_range(name, HostWork::annotation);
      case KinetoCategory::python:
        return work_of_range(name, HostWork::python);
      default:
        return work_of_range(name, HostWork::op);
    }
  }

  static std::string_view external_id(const ChromeEvent& event) {
    for (const char* key : {"External id", "external id", "External Id"})
      if (const std::string_view id = event.arg(key); !id.empty()) return id;
    return {};
  }

  std::uint16_t device_of(const ChromeEvent& event) {
    std::string_view id = event.arg("device");
    if (id.empty()) id = event.process;
    id = id.substr(0, longest_name);
    if (const auto known = devices_.find(id); known != devices_.end()) return known->second;
    return devices_.emplace(std::string(id), next_device(devices_.size())).first->second;
  }

  std::int32_t stream_of(const ChromeEvent& event) {
    std::string_view id = event.arg("stream");
    if (id.empty()) id = event.thread;
    if (const auto number = whole_number(id)) return static_cast<std::int32_t>(*number);
    const auto [place, is_new] = streams_.try_emplace(std::string(id), static_cast<std::int32_t>(streams_.size()));
    return place->second;
  }

  void add_device(const ChromeEvent& event, KinetoCategory category, TraceInterval time) {
    DeviceEvent device{.time = time, .name = name_of(event.name)};
    device.device = device_of(event);
    device.stream = stream_of(event);
    device.correlation = static_cast<std::uint32_t>(whole_number(event.arg("correlation")).value_or(0));
    device.bytes = std::max<std::int64_t>(whole_number(event.arg("bytes")).value_or(0), 0);
    if (category == KinetoCategory::copy) device.work = DeviceWork::copy;
    if (category == KinetoCategory::memset) device.work = DeviceWork::memset;
    const std::string& name = trace_.names.text(device.name);
    if (device.work == DeviceWork::copy) device.path = path_of_copy(name);
    const bool is_wait = name.starts_with("event_") || name.starts_with("dma_request");
    if (category == KinetoCategory::accelerator && is_wait) device.work = DeviceWork::wait;
    note_exchange(event, device);
    trace_.device.push_back(device);
    external_.push_back(whole_number(external_id(event)).value_or(-1));
  }

  void note_exchange(const ChromeEvent& event, const DeviceEvent& device) {
    const std::string_view group = event.arg("Process Group Name");
    if (group.empty() || device.correlation == 0) return;
    std::string name(group);
    name.append(" ").append(event.arg("Process Group Ranks"));
    trace_.exchanges.insert_or_assign(device.correlation,
                                      ExchangeId{trace_.names.id(name), whole_number(event.arg("Seq")).value_or(-1)});
  }

  void set_op(DeviceEvent& event, std::int64_t external) {
    const auto op = ops_.find(external);
    event.op = op == ops_.end() ? NameId{} : op->second;
    if (event.work != DeviceWork::kernel) return;
    const std::uint64_t key = (static_cast<std::uint64_t>(event.name) << 32U) | static_cast<std::uint64_t>(event.op);
    const auto [place, is_new] = kernel_works_.try_emplace(key, DeviceWork::kernel);
    if (is_new) place->second = work_of_kernel(trace_.names.text(event.name), trace_.names.text(event.op));
    event.work = place->second;
    if (event.work == DeviceWork::copy) event.path = path_of_copy(trace_.names.text(event.name));
  }

  void set_facts(const Info& header) {
    const bool is_kineto =
        header.find("schemaVersion") != nullptr || header.find("deviceProperties") != nullptr || has_categories();
    trace_.framework = is_kineto ? Framework::pytorch : Framework::unknown;
    trace_.format = is_kineto ? "Kineto JSON" : "Chrome JSON";
    trace_.machine = header.text("host_name");
    trace_.zero = whole_number(header.text("baseTimeNanoseconds")).value_or(0);
    trace_.has_stacks = trace_.report.python_events > 0;
    trace_.is_amd = header.find("hip_runtime_version") != nullptr || header.find("roctracer_version") != nullptr;
    if (const Info* const group = header.find("distributedInfo")) {
      if (trace_.rank < 0) trace_.rank = count_in(*group, "rank").value_or(-1);
      trace_.world_size = count_in(*group, "world_size").value_or(0);
    }
    trace_.devices.resize(devices_.size());
    for (const auto& [id, index] : devices_) {
      trace_.devices[index].name = "gpu:" + id;
      for (const Info& one : header.items("deviceProperties")) {
        if (one.text("id") != id) continue;
        trace_.devices[index].description = one.text("name");
        trace_.devices[index].memory_bytes = one.number("totalGlobalMem").value_or(0);
      }
    }
    for (TraceThread& thread : trace_.threads) {
      const auto known = process_names_.find(thread.process);
      if (known != process_names_.end()) thread.process = known->second;
    }
  }

  static std::optional<int> count_in(const Info& info, std::string_view field) {
    constexpr std::int64_t most = 100'000'000;
    const auto number = whole_number(info.text(field));
    return number && *number >= 0 && *number < most ? std::optional(static_cast<int>(*number)) : std::nullopt;
  }

  bool has_categories() const { return trace_.report.op_events > 0 || !trace_.device.empty(); }

  /// Events without categories are those of TensorFlow and JAX, whose lanes say what they are.
  void sort_uncategorized() {
    if (uncategorized_.empty()) return;
    TraceMeLanes lanes(trace_);
    trace_.host.reserve(trace_.host.size() + uncategorized_.size());
    for (; !uncategorized_.empty(); uncategorized_.pop_front()) lanes.add(uncategorized_.front());
    lanes.finish();
    external_.resize(trace_.device.size(), -1);
    if (trace_.format == "Chrome JSON" && trace_.framework != Framework::unknown)
      trace_.format = "JSON of XLA's profiler";
  }

  ForeignTrace trace_;
  std::unordered_map<std::string, std::uint32_t> threads_;
  std::string last_process_, last_thread_ = "\x01";
  std::uint32_t last_index_ = 0;
  std::map<std::string, std::string> process_names_;
  std::map<std::string, std::uint16_t, std::less<>> devices_;
  std::map<std::string, std::int32_t> streams_;
  std::unordered_map<std::int64_t, NameId> ops_;
  std::unordered_map<std::uint64_t, HostWork> works_;
  std::unordered_map<std::uint64_t, DeviceWork> kernel_works_;
  std::unordered_map<std::uint32_t, std::vector<Open>> open_;
  std::vector<std::int64_t> external_;      // of each device event
  std::deque<TraceMeEvent> uncategorized_;  // freed piece by piece
};

[[noreturn]] void refuse(const std::string& file, const ChromeEvents& events, const ReadReport& report) {
  const Info& header = events.header();
  if (header.text("schema").find("chakra") != std::string::npos)
    throw Error(
        fmt::format("{} is an execution trace (schema {}), which has no times; give the trace of torch.profiler, which "
                    "export_chrome_trace or tensorboard_trace_handler writes",
                    file, shown_text(header.text("schema"))));
  if (header.find("rocprofiler-sdk-tool") != nullptr)
    throw Error(fmt::format(
        "{} is a JSON file of rocprofv3, which is not read yet; torch.profiler and JAX's profiler record the same GPUs",
        file));
  if (!report.damage.empty())
    throw Error(fmt::format("{} is no trace: at byte {}: {}", file, report.first_damage, report.damage));
  if (report.cut_at > 0 && !events.has_events())
    throw Error(fmt::format("{} is no trace: it is cut at byte {}, before its traceEvents", file, report.cut_at));
  throw Error(fmt::format("{} is JSON without traceEvents: no trace of a profiler", file));
}

}  // namespace

std::vector<ForeignTrace> read_chrome_trace(std::unique_ptr<ByteSource> source) {
  const std::string file = source->name();
  ReadReport report;
  ChromeEvents events(std::move(source), report);
  std::map<std::string, std::unique_ptr<Rank>, std::less<>> ranks;
  Rank* last = nullptr;
  std::string last_label = "\x01";
  while (const ChromeEvent* const event = events.next()) {
    const std::string_view label = rank_label(event->process);
    if (last == nullptr || label != last_label) {
      auto place = ranks.find(label);
      if (place == ranks.end() && ranks.size() >= most_ranks)
        throw Error(fmt::format("{} has more than {} ranks", file, most_ranks));
      if (place == ranks.end()) place = ranks.emplace(label, std::make_unique<Rank>(label)).first;
      last = place->second.get();
      last_label = label;
    }
    try {
      last->add(*event);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", file, error.what()));
    }
  }
  if (!events.has_events() || (report.events == 0 && !report.damage.empty())) refuse(file, events, report);
  // What belongs to no rank of a merged file is a handful of marks.
  if (ranks.size() > 1) ranks.erase("");
  std::vector<ForeignTrace> traces;
  for (auto& [label, rank] : ranks) {
    ReadReport& own = rank->report();
    own.events = report.events;
    own.damaged = report.damaged;
    own.first_damage = report.first_damage;
    own.damage = report.damage;
    own.cut_at = report.cut_at;
    try {
      traces.push_back(rank->finish(events.header()));
    } catch (const Error& error) {
      throw Error(fmt::format("{}: {}", file, error.what()));
    }
    traces.back().file = label.empty() ? file : file + " " + label;
  }
  if (traces.empty()) {
    traces.emplace_back();
    traces.back().file = file;
    traces.back().format = "Chrome JSON";
    traces.back().report = report;
  }
  return traces;
}

}  // namespace gpubench
