// What a profiler of another program has recorded: work of devices, and what host threads did, in one structure for all
// formats. Each reader fills it; steps, quality, idle time and rows are made of it alone.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/trace/copy_path.h"
#include "core/trace/timeline.h"

namespace gpubench {

/// Of a rank. Steps and idle time of each device are found on their own.
inline constexpr std::size_t most_devices = 256;
/// Of a rank: about 50 bytes of memory each. A gigabyte of Kineto's JSON has five million.
inline constexpr std::size_t most_trace_events = 10'000'000;
/// Bytes of a name that are kept: what comes behind them are arguments of templates.
inline constexpr std::size_t longest_name = 4096;

/// Texts that occur many times, each kept once; the first one is empty.
class NameTable {
 public:
  NameTable() { id(""); }
  /// Of longer texts the first longest_name bytes count.
  NameId id(std::string_view text);
  const std::string& text(NameId id) const { return texts_[static_cast<std::size_t>(id)]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // never moved, because the map's keys point into them
  std::unordered_map<std::string_view, NameId> ids_;
};

/// Nanoseconds, since the zero of a trace.
struct TraceInterval {
  std::int64_t begin = 0, end = 0;
  std::int64_t length() const { return end - begin; }
  bool contains(std::int64_t time) const { return time >= begin && time < end; }
  bool operator==(const TraceInterval&) const = default;
};

/// Nothing for a negative length, and for times that no trace has: sums of what this returns fit 64 bits.
std::optional<TraceInterval> interval_of(std::int64_t begin, std::int64_t length);

enum class DeviceWork : std::uint8_t {
  kernel,
  communication,
  copy,
  memset,
  wait,  ///< the device waits for an event or for a transfer; it is no work
};

/// `other` of waits.
SpanClass class_of(DeviceWork work);

struct DeviceEvent {
  TraceInterval time;
  NameId name{};
  /// The op that launched it; the empty text where that is unknown.
  NameId op{};
  /// Index of the call that launched it, in ForeignTrace::host; no_launch: the trace does not have it.
  std::uint32_t launch = no_launch;
  std::uint16_t device = 0;  ///< index in ForeignTrace::devices
  DeviceWork work = DeviceWork::kernel;
  CopyPath path = CopyPath::unknown;
  std::int32_t stream = 0;
  std::uint32_t correlation = 0;  ///< 0: none
  std::int64_t bytes = 0;         ///< of copies; 0: unknown
  static constexpr std::uint32_t no_launch = UINT32_MAX;
};

/// Which exchange of its group of ranks a communication kernel carries out, where a trace says so.
struct ExchangeId {
  NameId group{};              ///< name and ranks of the group
  std::int64_t sequence = -1;  ///< -1: unknown
};

/// What a host thread did.
enum class HostWork : std::uint8_t {
  input,          ///< takes a batch from a loader
  sync,           ///< waits for the device
  allocation,     ///< of device or page-locked memory
  launch,         ///< submits a kernel, a copy or a graph
  compile,        ///< traces or compiles code
  communication,  ///< an exchange between ranks that is carried out or started by the host
  op,             ///< an operator of the framework
  call,           ///< another call of the runtime
  annotation,     ///< a range that the program has marked
  python,         ///< a function
  overhead,       ///< of the profiler
  step,           ///< the mark of a step
};
inline constexpr std::size_t host_work_count = 12;

/// What the file calls an event of the host, before its name was looked at.
enum class HostRecord : std::uint8_t {
  other,
  op,          ///< an operator
  annotation,  ///< a range of the program or of the framework
  call,        ///< of the runtime; those of the driver are others
};

struct HostEvent {
  TraceInterval time;
  NameId name{};
  std::uint32_t thread = 0;  ///< index in ForeignTrace::threads
  std::uint32_t correlation = 0;
  HostWork work = HostWork::op;
  HostRecord record = HostRecord::other;
};

struct TraceThread {
  std::string process, name;
};

struct ForeignDevice {
  std::string name;         ///< "gpu:0"
  std::string description;  ///< "NVIDIA A100-SXM4-40GB"; empty if unknown
  double memory_bytes = 0;  ///< 0: unknown
  bool is_processor() const { return name.starts_with("cpu"); }
};

enum class Framework : std::uint8_t { unknown, pytorch, tensorflow, jax };
std::string_view to_string(Framework framework);

/// What was read, and what was left out.
struct ReadReport {
  std::size_t events = 0;           ///< whole ones
  std::size_t damaged = 0;          ///< that could not be read
  std::uint64_t first_damage = 0;   ///< byte at which the first of them begins
  std::string damage;               ///< what is wrong with it
  std::uint64_t cut_at = 0;         ///< byte at which the file ends too early; 0: it does not
  std::size_t without_time = 0;     ///< events without a begin or a length, and those far from all others
  std::size_t duplicates = 0;       ///< equal events
  std::size_t moved_to_launch = 0;  ///< device events that began before their launch
  std::size_t shortened = 0;        ///< kernels that overlapped the next one of their stream
  double overhead_ns = 0;           ///< of events that may overlap
  std::size_t python_events = 0, op_events = 0;
};

/// One rank.
struct ForeignTrace {
  Framework framework = Framework::unknown;
  std::string format;     ///< "Kineto JSON"
  std::string file;       ///< as the user named it
  std::string machine;    ///< its name; empty if unknown
  int rank = -1;          ///< -1: unknown
  int world_size = 0;     ///< 0: unknown
  std::int64_t zero = 0;  ///< nanoseconds since the epoch, or of the file's own clock
  NameTable names;
  std::vector<TraceThread> threads;
  std::vector<ForeignDevice> devices;
  std::vector<DeviceEvent> device;                          ///< by begin
  std::vector<HostEvent> host;                              ///< by thread, then begin, then the longer one first
  std::unordered_map<std::uint32_t, ExchangeId> exchanges;  ///< by correlation of a device event
  ReadReport report;
  bool has_stacks = false;
  bool is_amd = false;

  const std::string& text(const DeviceEvent& event) const { return names.text(event.name); }
  const std::string& text(const HostEvent& event) const { return names.text(event.name); }
};

/// Index of a device behind `known` others. Throws Error beyond most_devices.
std::uint16_t next_device(std::size_t known);
/// Throws Error where the trace has most_trace_events already.
void require_room(std::size_t events);

/// Sorts, removes equal events and those that lie weeks before or behind the others, and joins device events with their
/// launches by correlation. Call it when all events are in.
void finish_trace(ForeignTrace& trace);

/// Moves device events that begin before their launch behind it, and ends kernels of AMD where the next one of their
/// queue begins. Readers leave all times as they were recorded.
void correct_device_times(ForeignTrace& trace);

}  // namespace gpubench
