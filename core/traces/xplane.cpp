#include "core/traces/xplane.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <unordered_map>

#include "core/base/error.h"
#include "core/codec/protobuf.h"
#include "core/traces/event_kinds.h"
#include "core/traces/trace_me.h"

namespace gpubench {
namespace {

constexpr std::string_view space_name = "XSpace";

// Numbers of the messages' fields.
namespace space {
constexpr std::uint32_t planes = 1, hostnames = 4;
}
namespace plane {
constexpr std::uint32_t name = 2, lines = 3, event_metadata = 4, stat_metadata = 5, stats = 6;
}
namespace line {
constexpr std::uint32_t name = 2, timestamp_ns = 3, events = 4, display_name = 11;
}
namespace event {
constexpr std::uint32_t metadata_id = 1, offset_ps = 2, duration_ps = 3, stats = 4, num_occurrences = 5;
}
namespace stat {
constexpr std::uint32_t metadata_id = 1, uint64_value = 3, int64_value = 4, str_value = 5, ref_value = 7;
}
namespace metadata {
constexpr std::uint32_t id = 1, name = 2;
}
namespace entry {
constexpr std::uint32_t key = 1, value = 2;
}

using Bytes = std::span<const std::byte>;

class SpaceReader {
 public:
  SpaceReader(Bytes bytes, ForeignTrace& trace) : bytes_(bytes), trace_(trace), lanes_(trace) {}

  void read() {
    WireReader fields = message(bytes_);
    while (fields.next()) {
      if (fields.field() == space::planes) read_plane(fields.bytes());
      if (fields.field() == space::hostnames) trace_.machine = fields.text();
    }
    lanes_.finish();
    finish_trace(trace_);
  }

 private:
  struct Stats {
    bool is_step = false;
    std::uint32_t correlation = 0;
    NameId op{};
    std::string_view copy_details;
  };

  WireReader message(Bytes part) const { return {part, bytes_, space_name}; }

  std::pair<std::uint64_t, Bytes> read_entry(Bytes part) const {
    std::pair<std::uint64_t, Bytes> result{};
    WireReader fields = message(part);
    while (fields.next()) {
      if (fields.field() == entry::key) result.first = fields.number();
      if (fields.field() == entry::value) result.second = fields.bytes();
    }
    return result;
  }

  std::string_view name_in(Bytes part) const {
    std::string_view name;
    WireReader fields = message(part);
    while (fields.next())
      if (fields.field() == metadata::name) name = fields.text();
    return name;
  }

  void read_plane(Bytes part) {
    std::string name;
    WireReader fields = message(part);
    while (fields.next())
      if (fields.field() == plane::name) name = fields.text();
    if (name == "/host:metadata") return;
    events_.clear();
    stats_.clear();
    WireReader tables = message(part);
    while (tables.next()) {
      if (tables.field() == plane::event_metadata) {
        const auto [id, value] = read_entry(tables.bytes());
        events_[id] = trace_.names.id(name_in(value));
      } else if (tables.field() == plane::stat_metadata) {
        const auto [id, value] = read_entry(tables.bytes());
        stats_[id] = name_in(value);
      }
    }
    find_stats();
    WireReader lines = message(part);
    while (lines.next()) {
      if (lines.field() == plane::lines) read_line(name, lines.bytes());
      if (lines.field() == plane::stats) read_plane_stat(name, lines.bytes());
    }
  }

  void find_stats() {
    step_ = correlation_ = op_ = copy_ = UINT64_MAX;
    for (const auto& [id, name] : stats_) {
      if (name == "step_num") step_ = id;
      if (name == "correlation_id") correlation_ = id;
      if (name == "hlo_op") op_ = id;
      if (name == "memcpy_details") copy_ = id;
    }
  }

  void read_plane_stat(const std::string& name, Bytes part) {
    std::uint64_t id = 0;
    std::string_view text;
    std::uint64_t number = 0;
    WireReader fields = message(part);
    while (fields.next()) {
      if (fields.field() == stat::metadata_id) id = fields.number();
      if (fields.field() == stat::str_value) text = fields.text();
      if (fields.field() == stat::ref_value) text = stat_name(fields.number());
      if (fields.field() == stat::int64_value || fields.field() == stat::uint64_value) number = fields.number();
    }
    const std::string_view known = stat_name(id);
    if (name.starts_with("Task Environment") && known == "profile_start_time")
      trace_.zero = static_cast<std::int64_t>(number);
    if (known == "device_type_string" || known == "device_vendor") descriptions_[name] = text;
    if (known == "device_vendor" && text == "AMD") trace_.is_amd = true;
  }

  void read_line(const std::string& plane_name, Bytes part) {
    TraceThread thread{plane_name, {}};
    std::string_view own_name;
    std::int64_t start_ns = 0;
    WireReader fields = message(part);
    while (fields.next()) {
      if (fields.field() == line::name) own_name = fields.text();
      if (fields.field() == line::display_name) thread.name = fields.text();
      if (fields.field() == line::timestamp_ns) start_ns = static_cast<std::int64_t>(fields.number());
    }
    if (thread.name.empty()) thread.name = own_name;
    const auto index = static_cast<std::uint32_t>(trace_.threads.size());
    trace_.threads.push_back(std::move(thread));
    WireReader events = message(part);
    while (events.next())
      if (events.field() == line::events) read_event(index, start_ns, events.bytes());
  }

  void read_event(std::uint32_t thread, std::int64_t start_ns, Bytes part) {
    TraceMeEvent one{.time = {}, .thread = thread};
    std::int64_t offset_ps = 0, length_ps = 0;
    bool is_sum = false;
    Stats stats;
    WireReader fields = message(part);
    while (fields.next()) {
      switch (fields.field()) {
        case event::metadata_id:
          one.name = name_of(fields.number());
          break;
        case event::offset_ps:
          offset_ps = static_cast<std::int64_t>(fields.number());
          break;
        case event::duration_ps:
          length_ps = static_cast<std::int64_t>(fields.number());
          break;
        case event::num_occurrences:
          is_sum = true;
          break;
        case event::stats:
          read_stat(fields.bytes(), stats);
          break;
        default:
          break;
      }
    }
    ++trace_.report.events;
    const std::optional<TraceInterval> time = is_sum ? std::nullopt : time_of(start_ns, offset_ps, length_ps);
    if (!time) {
      ++trace_.report.without_time;
      return;
    }
    require_room(trace_.host.size() + trace_.device.size());
    one.time = *time;
    one.correlation = stats.correlation;
    one.is_step = stats.is_step;
    const std::size_t before = trace_.device.size();
    lanes_.add(one);
    if (trace_.device.size() == before) return;
    DeviceEvent& device = trace_.device.back();
    device.op = stats.op;
    if (stats.copy_details.empty()) return;
    device.bytes = std::max<std::int64_t>(number_behind(stats.copy_details, "size:"), 0);
    if (device.path == CopyPath::host_to_device) {
      if (stats.copy_details.find("kind_src:pageable") != std::string_view::npos)
        device.path = CopyPath::pageable_to_device;
      if (stats.copy_details.find("kind_src:pinned") != std::string_view::npos)
        device.path = CopyPath::pinned_to_device;
    }
  }

  static std::optional<TraceInterval> time_of(std::int64_t start_ns, std::int64_t offset_ps, std::int64_t length_ps) {
    constexpr std::int64_t ps = 1000, latest = INT64_MAX / 4;
    if (length_ps < 0 || offset_ps > latest || offset_ps < -latest || length_ps > latest || start_ns > latest ||
        start_ns < -latest)
      return std::nullopt;
    const std::int64_t begin = start_ns + offset_ps / ps;
    return interval_of(begin, start_ns + (offset_ps + length_ps) / ps - begin);
  }

  NameId name_of(std::uint64_t id) const {
    const auto known = events_.find(id);
    return known == events_.end() ? NameId{} : known->second;
  }

  std::string_view stat_name(std::uint64_t id) const {
    const auto known = stats_.find(id);
    return known == stats_.end() ? std::string_view() : known->second;
  }

  static std::int64_t number_behind(std::string_view text, std::string_view key) {
    const std::size_t at = text.find(key);
    std::int64_t value = 0;
    if (at != std::string_view::npos) std::from_chars(text.data() + at + key.size(), text.data() + text.size(), value);
    return value;
  }

  void read_stat(Bytes part, Stats& stats) {
    std::uint64_t id = 0, number = 0;
    std::string_view text;
    WireReader fields = message(part);
    while (fields.next()) {
      switch (fields.field()) {
        case stat::metadata_id:
          id = fields.number();
          break;
        case stat::uint64_value:
        case stat::int64_value:
          number = fields.number();
          break;
        case stat::str_value:
          text = fields.text();
          break;
        case stat::ref_value:
          text = stat_name(fields.number());
          break;
        default:
          break;
      }
    }
    if (id == step_) stats.is_step = true;
    if (id == correlation_) stats.correlation = static_cast<std::uint32_t>(number);
    if (id == op_) stats.op = trace_.names.id(text);
    if (id == copy_) stats.copy_details = text;
  }

 public:
  /// Of planes: the vendor or the type of the device.
  std::map<std::string, std::string> descriptions_;

 private:
  Bytes bytes_;
  ForeignTrace& trace_;
  TraceMeLanes lanes_;
  std::unordered_map<std::uint64_t, NameId> events_;
  std::unordered_map<std::uint64_t, std::string_view> stats_;
  std::uint64_t step_ = 0, correlation_ = 0, op_ = 0, copy_ = 0;
};

}  // namespace

bool is_xplane(std::span<const std::byte> start) {
  constexpr std::byte planes_field{0x0A}, id_field{0x08}, name_field{0x12};
  if (start.size() < 8 || start[0] != planes_field) return false;
  std::size_t at = 1;
  while (at < start.size() && at < 11 && (start[at] & std::byte{0x80}) != std::byte{0}) ++at;
  ++at;  // behind the plane's length
  if (at < start.size() && start[at] == id_field) {
    ++at;
    while (at < start.size() && (start[at] & std::byte{0x80}) != std::byte{0}) ++at;
    ++at;
  }
  if (at + 2 >= start.size() || start[at] != name_field) return false;
  const auto length = std::to_integer<std::size_t>(start[at + 1]);
  const std::string_view text(reinterpret_cast<const char*>(start.data()) + at + 2,
                              std::min(length, start.size() - at - 2));
  return text.starts_with("/host:") || text.starts_with("/device:") || text.starts_with("Task Environment") ||
         text.starts_with("#Chip");
}

ForeignTrace read_xplane(const std::string& file, std::span<const std::byte> bytes) {
  ForeignTrace trace;
  trace.file = file;
  trace.format = "XPlane";
  SpaceReader reader(bytes, trace);
  reader.read();
  for (ForeignDevice& device : trace.devices) {
    const std::string number = device.name.substr(device.name.find(':') + 1);
    for (const char* prefix : {"/device:GPU:", "/device:TPU:"}) {
      const auto known = reader.descriptions_.find(prefix + number);
      const bool is_same = device.name.starts_with("gpu") == std::string_view(prefix).starts_with("/device:GPU");
      if (known != reader.descriptions_.end() && is_same) device.description = known->second;
    }
  }
  return trace;
}

}  // namespace gpubench
