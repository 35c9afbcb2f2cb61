#include "core/traces/nsight.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sqlite3.h>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/error.h"
#include "core/base/input_limits.h"
#include "core/base/shown_text.h"
#include "core/traces/event_kinds.h"

namespace gpubench {
namespace {

struct CloseForeign {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct EndQuery {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

/// A database of somebody else: it is read, never written, and what is in it runs no code and not for ever.
class ForeignDatabase {
 public:
  explicit ForeignDatabase(const std::filesystem::path& file) {
    std::string uri = "file:";
    for (const char c : std::filesystem::absolute(file).string()) {
      const bool is_plain =
          std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '_' || c == '-';
      uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    sqlite3* opened = nullptr;
    const int result = sqlite3_open_v2((uri + "?mode=ro&immutable=1").c_str(), &opened,
                                       SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
    database_.reset(opened);
    if (result != SQLITE_OK) fail();
    sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
    sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, static_cast<int>(largest_text));
  }

  std::unique_ptr<sqlite3_stmt, EndQuery> prepare(const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) fail();
    return std::unique_ptr<sqlite3_stmt, EndQuery>(statement);
  }

  bool step(sqlite3_stmt* statement) const {
    const int result = sqlite3_step(statement);
    if (result == SQLITE_ROW) return true;
    if (result != SQLITE_DONE) fail();
    return false;
  }

  [[noreturn]] void fail() const {
    throw Error(
        fmt::format("cannot be read as a database: {}", database_ ? sqlite3_errmsg(database_.get()) : "out of memory"));
  }

 private:
  std::unique_ptr<sqlite3, CloseForeign> database_;
};

std::string text_in(sqlite3_stmt* statement, int column) {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return text == nullptr ? std::string()
                         : std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
}

class NsightReader {
 public:
  explicit NsightReader(const std::filesystem::path& file) : database_(file) {
    trace_.file = file.string();
    trace_.format = "Nsight Systems' SQLite export";
    auto names = database_.prepare("SELECT name FROM sqlite_master WHERE type = 'table'");
    while (database_.step(names.get())) tables_.insert(text_in(names.get(), 0));
    const bool is_nsight = tables_.contains("CUPTI_ACTIVITY_KIND_KERNEL") || tables_.contains("META_DATA_EXPORT") ||
                           (tables_.contains("StringIds") && tables_.contains("NVTX_EVENTS"));
    if (!is_nsight) refuse();
  }

  ForeignTrace read() {
    read_strings();
    read_devices();
    read_calls();
    read_ranges();
    read_kernels();
    read_copies();
    read_memsets();
    name_devices();
    finish_trace(trace_);
    return std::move(trace_);
  }

 private:
  [[noreturn]] void refuse() const {
    std::vector<std::string> some;
    bool is_rocm = false;
    for (const std::string& table : tables_) {
      is_rocm = is_rocm || table.starts_with("rocpd_");
      if (some.size() < 8) some.push_back(shown_text(table, 40));
    }
    if (is_rocm)
      throw Error(
          "a database of rocprofv3 (rocpd), which is not read yet; torch.profiler and JAX's profiler record the same "
          "GPUs");
    throw Error(fmt::format("a database, but no export of Nsight Systems: it has the tables {}",
                            some.empty() ? "none" : fmt::format("{}", fmt::join(some, ", "))));
  }

  std::set<std::string> columns_of(const std::string& table) const {
    std::set<std::string> columns;
    auto info = database_.prepare("PRAGMA table_info('" + table + "')");
    while (database_.step(info.get())) columns.insert(text_in(info.get(), 1));
    return columns;
  }

  /// A query of these columns; NULL for those that the table lacks. Null without the table or what it must have.
  std::unique_ptr<sqlite3_stmt, EndQuery> query(const std::string& table, const std::vector<std::string>& columns,
                                                const std::vector<std::string>& needed) const {
    if (!tables_.contains(table)) return nullptr;
    const std::set<std::string> own = columns_of(table);
    for (const std::string& one : needed)
      if (!own.contains(one))
        throw Error(
            fmt::format("the table {} has no column {}: this version of Nsight's export is not known", table, one));
    std::vector<std::string> list;
    for (const std::string& one : columns) list.push_back(own.contains(one) ? '"' + one + '"' : "NULL");
    return database_.prepare(fmt::format("SELECT {} FROM {}", fmt::join(list, ", "), table));
  }

  void read_strings() {
    auto rows = query("StringIds", {"id", "value"}, {"id", "value"});
    while (rows && database_.step(rows.get()))
      strings_[sqlite3_column_int64(rows.get(), 0)] = trace_.names.id(text_in(rows.get(), 1));
  }

  void read_devices() {
    auto rows = query("TARGET_INFO_GPU", {"id", "name", "totalMemory"}, {"id"});
    while (rows && database_.step(rows.get())) {
      ForeignDevice device;
      device.description = text_in(rows.get(), 1);
      if (!device.description.starts_with("NVIDIA") && !device.description.empty())
        device.description = "NVIDIA " + device.description;
      device.memory_bytes = sqlite3_column_double(rows.get(), 2);
      known_devices_[sqlite3_column_int64(rows.get(), 0)] = device;
    }
  }

  NameId string_of(sqlite3_stmt* row, int column) {
    if (sqlite3_column_type(row, column) == SQLITE_TEXT) return trace_.names.id(text_in(row, column));
    const auto known = strings_.find(sqlite3_column_int64(row, column));
    return known == strings_.end() ? NameId{} : known->second;
  }

  std::uint32_t thread_of(std::int64_t global) {
    const auto [place, is_new] = threads_.try_emplace(global, static_cast<std::uint32_t>(trace_.threads.size()));
    if (is_new) {
      constexpr std::int64_t thread_bits = 24;
      const std::int64_t mask = (std::int64_t{1} << thread_bits) - 1;
      trace_.threads.push_back({fmt::format("{}", (global >> thread_bits) & mask), fmt::format("{}", global & mask)});
    }
    return place->second;
  }

  /// Correlations count within a process: those of the first one stay, the others get numbers of their own.
  std::uint32_t correlation_of(std::int64_t global, std::int64_t correlation) {
    if (correlation == 0) return 0;
    constexpr unsigned process_shift = 24;
    constexpr std::uint32_t first_number = std::uint32_t{1} << 31;
    const std::int64_t process = global >> process_shift;
    if (!first_process_) first_process_ = process;
    if (process == *first_process_ && correlation > 0 && correlation < first_number)
      return static_cast<std::uint32_t>(correlation);
    const auto number = static_cast<std::uint32_t>(first_number + correlation_count_);
    const auto [place, is_new] = correlations_[process].try_emplace(correlation, number);
    if (is_new) ++correlation_count_;
    return place->second;
  }

  bool take_time(sqlite3_stmt* row, TraceInterval& time) {
    ++trace_.report.events;
    require_room(trace_.host.size() + trace_.device.size());
    const std::int64_t begin = sqlite3_column_int64(row, 0), end = sqlite3_column_int64(row, 1);
    constexpr std::int64_t latest = INT64_MAX / 4;
    std::optional<TraceInterval> own;
    if (sqlite3_column_type(row, 1) != SQLITE_NULL && begin > -latest && end < latest && end >= begin)
      own = interval_of(begin, end - begin);
    if (!own) ++trace_.report.without_time;
    time = own.value_or(TraceInterval{});
    return own.has_value();
  }

  void read_calls() {
    for (const char* table : {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"}) {
      auto rows = query(table, {"start", "end", "nameId", "globalTid", "correlationId"}, {"start", "end", "nameId"});
      TraceInterval time;
      while (rows && database_.step(rows.get())) {
        if (!take_time(rows.get(), time)) continue;
        const std::int64_t global = sqlite3_column_int64(rows.get(), 3);
        const NameId name = string_of(rows.get(), 2);
        ++trace_.report.op_events;
        trace_.host.push_back({time, name, thread_of(global),
                               correlation_of(global, sqlite3_column_int64(rows.get(), 4)),
                               work_of_call(trace_.names.text(name))});
      }
    }
  }

  void read_ranges() {
    constexpr std::int64_t push_pop = 59, start_end = 60;
    auto rows = query("NVTX_EVENTS", {"start", "end", "text", "textId", "globalTid", "eventType"}, {"start", "end"});
    TraceInterval time;
    while (rows && database_.step(rows.get())) {
      const std::int64_t type = sqlite3_column_int64(rows.get(), 5);
      if (sqlite3_column_type(rows.get(), 5) != SQLITE_NULL && type != push_pop && type != start_end) continue;
      if (!take_time(rows.get(), time)) continue;
      const int column = sqlite3_column_type(rows.get(), 2) == SQLITE_NULL ? 3 : 2;
      const NameId name = string_of(rows.get(), column);
      const std::string& text = trace_.names.text(name);
      if (text.empty()) continue;
      trace_.host.push_back({time, name, thread_of(sqlite3_column_int64(rows.get(), 4)), 0,
                             work_of_range(text, text.starts_with("aten::") ? HostWork::op : HostWork::annotation)});
    }
  }

  DeviceEvent device_event(sqlite3_stmt* row, TraceInterval time) {
    DeviceEvent event{.time = time};
    const std::int64_t id = sqlite3_column_int64(row, 2);
    const auto known = devices_.find(id);
    event.device =
        known != devices_.end() ? known->second : devices_.emplace(id, next_device(devices_.size())).first->second;
    event.stream = static_cast<std::int32_t>(sqlite3_column_int64(row, 3));
    event.correlation = correlation_of(sqlite3_column_int64(row, 5), sqlite3_column_int64(row, 4));
    return event;
  }

  static std::vector<std::string> with_place(std::vector<std::string> more) {
    std::vector<std::string> columns = {"start", "end", "deviceId", "streamId", "correlationId", "globalPid"};
    columns.insert(columns.end(), more.begin(), more.end());
    return columns;
  }

  void read_kernels() {
    auto rows =
        query("CUPTI_ACTIVITY_KIND_KERNEL", with_place({"demangledName", "shortName"}), {"start", "end", "deviceId"});
    TraceInterval time;
    while (rows && database_.step(rows.get())) {
      if (!take_time(rows.get(), time)) continue;
      DeviceEvent event = device_event(rows.get(), time);
      event.name = string_of(rows.get(), 6);
      if (event.name == NameId{}) event.name = string_of(rows.get(), 7);
      const auto [place, is_new] = kernel_works_.try_emplace(event.name, DeviceWork::kernel);
      if (is_new) place->second = work_of_kernel(trace_.names.text(event.name), {});
      event.work = place->second;
      trace_.device.push_back(event);
    }
  }

  void read_copies() {
    auto rows = query("CUPTI_ACTIVITY_KIND_MEMCPY", with_place({"bytes", "copyKind", "srcKind", "dstKind"}),
                      {"start", "end", "deviceId"});
    TraceInterval time;
    while (rows && database_.step(rows.get())) {
      if (!take_time(rows.get(), time)) continue;
      DeviceEvent event = device_event(rows.get(), time);
      event.work = DeviceWork::copy;
      event.bytes = std::max<std::int64_t>(sqlite3_column_int64(rows.get(), 6), 0);
      const std::string name = copy_name(sqlite3_column_int64(rows.get(), 7), rows.get());
      event.name = trace_.names.id(name);
      event.path = path_of_copy(name);
      trace_.device.push_back(event);
    }
  }

  /// As Kineto calls it.
  static std::string copy_name(std::int64_t kind, sqlite3_stmt* row) {
    constexpr std::int64_t to_device = 1, to_host = 2, within = 8, between = 10;
    const bool has_memory = sqlite3_column_type(row, 8) != SQLITE_NULL;
    const std::int64_t source = sqlite3_column_int64(row, 8);
    switch (kind) {
      case to_device:
        return !has_memory || source > 1 ? "Memcpy HtoD (Host -> Device)"
               : source == 0             ? "Memcpy HtoD (Pageable -> Device)"
                                         : "Memcpy HtoD (Pinned -> Device)";
      case to_host:
        return "Memcpy DtoH (Device -> Host)";
      case within:
        return "Memcpy DtoD (Device -> Device)";
      case between:
        return "Memcpy PtoP (Device -> Device)";
      default:
        return fmt::format("Memcpy of kind {}", kind);
    }
  }

  void read_memsets() {
    auto rows = query("CUPTI_ACTIVITY_KIND_MEMSET", with_place({}), {"start", "end", "deviceId"});
    TraceInterval time;
    const NameId name = trace_.names.id("Memset");
    while (rows && database_.step(rows.get())) {
      if (!take_time(rows.get(), time)) continue;
      DeviceEvent event = device_event(rows.get(), time);
      event.work = DeviceWork::memset;
      event.name = name;
      trace_.device.push_back(event);
    }
  }

  void name_devices() {
    trace_.devices.resize(devices_.size());
    for (const auto& [id, index] : devices_) {
      if (const auto known = known_devices_.find(id); known != known_devices_.end())
        trace_.devices[index] = known->second;
      trace_.devices[index].name = fmt::format("gpu:{}", id);
    }
    for (const HostEvent& event : trace_.host) {
      const std::string& name = trace_.text(event);
      if (name.starts_with("aten::") || event.work == HostWork::step) trace_.framework = Framework::pytorch;
      if (trace_.framework == Framework::unknown && name.starts_with("XlaModule")) trace_.framework = Framework::jax;
    }
  }

  ForeignDatabase database_;
  ForeignTrace trace_;
  std::set<std::string> tables_;
  std::unordered_map<std::int64_t, NameId> strings_;
  std::map<std::int64_t, ForeignDevice> known_devices_;
  std::map<std::int64_t, std::uint16_t> devices_;
  std::unordered_map<std::int64_t, std::uint32_t> threads_;
  std::optional<std::int64_t> first_process_;
  std::map<std::int64_t, std::unordered_map<std::int64_t, std::uint32_t>> correlations_;  // of other processes
  std::uint32_t correlation_count_ = 0;
  std::unordered_map<NameId, DeviceWork> kernel_works_;
};

}  // namespace

ForeignTrace read_nsight(const std::filesystem::path& file) {
  try {
    return NsightReader(file).read();
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", shown_text(file.string(), 300), error.what()));
  }
}

}  // namespace gpubench
