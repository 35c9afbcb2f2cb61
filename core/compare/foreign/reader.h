// What readers of other programs' results share. A file's reader sees JSON that it recognized, or the fields of a
// table.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/compare/measuring_process.h"

namespace gpubench {

/// The axis of a benchmark's name.
inline constexpr const char* benchmark_axis = "benchmark";

struct JsonReader {
  std::string_view writer;
  /// What a file must have, for messages.
  std::string_view features;
  bool (*recognizes)(const Info& json);
  std::vector<MeasuringProcess> (*read)(const std::filesystem::path& file, const Info& json);
};

extern const JsonReader criterion_reader, google_benchmark_reader, hyperfine_reader, nvbench_reader,
    pytest_benchmark_reader;

/// The fields of a table's lines; the first has the names.
using Table = std::vector<std::vector<std::string>>;

bool is_nvbench_table(const std::vector<std::string>& names);
std::vector<MeasuringProcess> read_nvbench_table(const std::filesystem::path& file, const Table& lines);
/// Throws Error for the columns of tables of statistics, whose program has a better file.
void check_is_measured(const std::filesystem::path& file, const std::vector<std::string>& names);
/// Any other table with named columns.
std::vector<MeasuringProcess> read_table(const std::filesystem::path& file, const Table& lines);

/// The results of one run of Criterion below `folder`: `estimates` are its files estimates.json.
std::vector<MeasuringProcess> read_criterion_folder(const std::filesystem::path& folder,
                                                    const std::vector<std::filesystem::path>& estimates);

// ---- For readers

/// Throws Error "compare: FILE: WHAT".
[[noreturn]] void fail(const std::filesystem::path& file, std::string_view what);

std::string text_of_file(const std::filesystem::path& file);
/// With NaN and infinities, as Python and Google Benchmark write them.
Info json_of_file(const std::filesystem::path& file, const std::string& text);

/// The items of a list, none of which may be anything but an object. Throws Error where it is no list.
const Info::List& objects_in(const Info& json, std::string_view name, const std::filesystem::path& file);
/// The first item of a list of objects; null if there is none.
const Info* first_of(const Info& json, std::string_view name);

/// column_name_of() of a name in `place`, which errors name.
std::string column_name_in(std::string_view name, const std::filesystem::path& file, std::string_view place);

void check_process_count(std::size_t count, const std::filesystem::path& file);

/// Collects the rows of one process, and columns for all of their cells.
class ProcessRows {
 public:
  ProcessRows(const std::filesystem::path& file, std::string_view writer, std::string name,
              std::vector<std::string> axes = {});

  /// A column whose name does not say what it is. Returns its index.
  std::uint32_t declare(const Column& column);
  /// Leaves the column's role to column_roles.h.
  void open(const std::string& name) { process_.open_columns.push_back(declare(Column{name})); }
  void add(Record record);
  bool empty() const { return process_.records.empty(); }
  MeasuringProcess& process() { return process_; }

 private:
  std::string place_;
  MeasuringProcess process_;
  std::unordered_map<std::string, std::uint32_t> known_;  ///< columns by name
};

std::vector<MeasuringProcess> taken(std::vector<ProcessRows>& all);

}  // namespace gpubench
