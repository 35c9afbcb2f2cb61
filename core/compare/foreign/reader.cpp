#include "core/compare/foreign/reader.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/compare/foreign/figure_name.h"
#include "core/results/append_file.h"
#include "core/results/csv.h"

namespace gpubench {

namespace fs = std::filesystem;

void fail(const fs::path& file, std::string_view what) {
  throw Error(fmt::format("compare: {}: {}", file.string(), what));
}

std::string text_of_file(const fs::path& file) {
  std::string text = read_file(file);
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) fail(file, "the file is empty");
  return text;
}

Info json_of_file(const fs::path& file, const std::string& text) {
  return parse_json_with_nan(text, file.string());
}

const Info::List& objects_in(const Info& json, std::string_view name, const fs::path& file) {
  const Info* const field = json.find(name);
  if (field == nullptr || field->list() == nullptr) fail(file, fmt::format("'{}' is no list", name));
  std::size_t number = 0;
  for (const Info& one : *field->list()) {
    ++number;
    if (!one.fields()) fail(file, fmt::format("entry {} of '{}' is no object", number, name));
  }
  return *field->list();
}

const Info* first_of(const Info& json, std::string_view name) {
  const Info::List& items = json.items(name);
  return items.empty() || !items.front().fields() ? nullptr : &items.front();
}

std::string column_name_in(std::string_view name, const fs::path& file, std::string_view place) {
  try {
    return column_name_of(name);
  } catch (const Error& error) {
    fail(file, fmt::format("{}: {}", place, error.what()));
  }
}

void check_process_count(std::size_t count, const fs::path& file) {
  if (count > most_processes)
    fail(file, fmt::format("{} processes; at most {} can be compared", count, most_processes));
}

ProcessRows::ProcessRows(const fs::path& file, std::string_view writer, std::string name, std::vector<std::string> axes)
    : place_(fmt::format("compare: {}", file.string())),
      process_{.name = std::move(name),
               .source = fs::weakly_canonical(file),
               .info = Info(Info::Fields{}),
               .axes = std::move(axes),
               .columns = {},
               .records = {},
               .writer = std::string(writer)} {}

std::uint32_t ProcessRows::declare(const Column& column) {
  const auto [known, is_new] = known_.emplace(column.name, static_cast<std::uint32_t>(process_.columns.size()));
  if (is_new) process_.columns.push_back(column);
  return known->second;
}

void ProcessRows::add(Record record) {
  for (const auto& [name, cell] : record.cells()) {
    if (known_.contains(name)) continue;
    Column column = column_of(name);
    if (std::holds_alternative<std::string>(cell)) column.kind = Kind::text;
    declare(column);
  }
  process_.records.push_back(std::move(record));
  check_table_size(process_.records.size(), known_.size(), place_);
}

std::vector<MeasuringProcess> taken(std::vector<ProcessRows>& all) {
  std::vector<MeasuringProcess> processes;
  for (ProcessRows& one : all) processes.push_back(std::move(one.process()));
  return processes;
}

}  // namespace gpubench
