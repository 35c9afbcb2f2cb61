// gb.data: datasets from files that hold tables and arrays.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/codec/idx.h"
#include "core/codec/safetensors.h"
#include "core/data/source/csv.h"
#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/ignore_errors.h"
#include "lua/api/data/dataset.h"
#include "lua/api/data/file_names.h"
#include "lua/api/openers.h"
#include "lua/api/types.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// A default as it would stand in the file.
using DefaultText = std::variant<std::int64_t, double, std::string>;

struct ColumnTable {
  std::string name;
  Dtype dtype = Dtype::f32;
  std::optional<DefaultText> default_value;
  static constexpr auto fields = std::tuple{field("name", &ColumnTable::name), field("dtype", &ColumnTable::dtype),
                                            field("default", &ColumnTable::default_value)};
};
using ColumnOrType = std::variant<Dtype, ColumnTable>;
/// A position from 1, or a name.
using ColumnChoice = std::variant<std::int64_t, std::string>;

struct CsvTable {
  std::vector<ColumnOrType> columns;
  bool header = true;
  std::string delimiter = ",";
  std::vector<ColumnChoice> select;
  bool pack = false;
  bool ignore_errors = false;
  static constexpr auto fields =
      std::tuple{required("columns", &CsvTable::columns),  field("header", &CsvTable::header),
                 field("delimiter", &CsvTable::delimiter), field("select", &CsvTable::select),
                 field("pack", &CsvTable::pack),           field("ignore_errors", &CsvTable::ignore_errors)};
};

std::string text_of(const DefaultText& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  return fmt::format("{}", std::get<double>(value));
}

CsvColumn column_of(const ColumnOrType& given) {
  if (const auto* dtype = std::get_if<Dtype>(&given)) return {.dtype = *dtype};
  const auto& table = std::get<ColumnTable>(given);
  CsvColumn column{.name = table.name, .dtype = table.dtype};
  if (table.default_value) column.default_value = text_of(*table.default_value);
  return column;
}

std::string given_names(const std::vector<CsvColumn>& columns) {
  std::string names;
  for (const CsvColumn& column : columns) {
    if (!column.name.empty()) names += (names.empty() ? "" : ", ") + column.name;
  }
  return names.empty() ? "none" : names;
}

std::size_t position_of(const ColumnChoice& choice, const std::vector<CsvColumn>& columns) {
  if (const auto* position = std::get_if<std::int64_t>(&choice)) {
    if (*position >= 1) return static_cast<std::size_t>(*position - 1);
    throw Error(fmt::format("csv: there is no column {}; columns count from 1", *position));
  }
  const auto& name = std::get<std::string>(choice);
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const CsvColumn& c) { return c.name == name; });
  if (found == columns.end()) {
    throw Error(
        fmt::format("csv: no column is called '{}'; names are those that `columns` gives ({}), not the header's", name,
                    given_names(columns)));
  }
  return static_cast<std::size_t>(found - columns.begin());
}

DatasetPtr rows_of_csv(lua_State* L, const FileNames& files, const CsvTable& table) {
  if (table.delimiter.size() != 1) {
    throw Error(
        fmt::format("csv: the delimiter is one character, '{}' is {}", table.delimiter, table.delimiter.size()));
  }
  CsvOptions options{.header = table.header, .delimiter = table.delimiter.front(), .pack = table.pack};
  std::transform(table.columns.begin(), table.columns.end(), std::back_inserter(options.columns), &column_of);
  for (const ColumnChoice& choice : table.select) options.select.push_back(position_of(choice, options.columns));
  const DatasetPtr rows = csv(listed(L, files), options);
  return table.ignore_errors ? ignore_errors(rows) : rows;
}

DatasetPtr rows_of_idx(const std::string& images, const std::optional<std::string>& labels) {
  std::vector<HostTensor> tensors{read_idx(images)};
  if (labels) tensors.push_back(read_idx(*labels));
  return from_tensor_slices(std::move(tensors));
}

struct SafetensorsTable {
  std::vector<std::string> names;
  static constexpr auto fields = std::tuple{field("names", &SafetensorsTable::names)};
};

HostTensor tensor_called(const Safetensors& file, const std::string& name, const std::string& path) {
  std::string known;
  for (const NamedTensor& named : file.tensors) {
    if (named.name == name) return named.tensor;
    known += (known.empty() ? "" : ", ") + named.name;
  }
  throw Error(fmt::format("{}: there is no tensor '{}' (known: {})", path, name, known));
}

DatasetPtr rows_of_safetensors(const std::string& path, const SafetensorsTable& options) {
  const Safetensors file = read_safetensors(path);
  std::vector<HostTensor> tensors;
  if (options.names.empty()) {
    for (const NamedTensor& named : file.tensors) tensors.push_back(named.tensor);
  }
  for (const std::string& name : options.names) tensors.push_back(tensor_called(file, name, path));
  return from_tensor_slices(std::move(tensors));
}

}  // namespace

void open_data_tables(lua_State* L) {
  const Module gb = Module::root(L);
  const Module data = gb.submodule("data");
  const Module constructors = data.submodule("Dataset");
  constructors.function<&rows_of_csv>("csv").function<&rows_of_idx>("idx").function<&rows_of_safetensors>(
      "safetensors");
}

}  // namespace gpubench::lua
