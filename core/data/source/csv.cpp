#include "core/data/source/csv.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/shown_text.h"
#include "core/codec/csv_lines.h"
#include "core/codec/file_patterns.h"
#include "core/data/source/record_files.h"

namespace gpubench {
namespace {

constexpr std::string_view csv_stage = "csv";

/// A field's value; the column's type selects the member.
struct CsvValue {
  float f32 = 0;
  std::int64_t i64 = 0;
  std::string_view bytes;
};

bool take_value(Dtype dtype, std::string_view& text, CsvValue& value) {
  return dtype == Dtype::f32 ? take_number(text, value.f32) : take_number(text, value.i64);
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

/// Blanks are part of a text, but are ignored around a number.
std::string_view meant(Dtype dtype, std::string_view field) {
  return dtype == Dtype::bytes ? field : without_blanks(field);
}

bool parse_value(Dtype dtype, std::string_view text, CsvValue& value) {
  if (dtype != Dtype::bytes) return take_value(dtype, text, value) && text.empty();
  value.bytes = text;
  return true;
}

/// The common settings of all files.
struct Table {
  CsvOptions options;
  std::vector<CsvValue> defaults;
  std::vector<std::size_t> select;
  std::vector<bool> selected;  ///< by column
  bool numbers_only = false;
  TensorType packed_row;
};

class CsvFile final : public RecordFile {
 public:
  CsvFile(const std::string& path, std::shared_ptr<const Table> table)
      : table_(std::move(table)), lines_(open_source(path), table_->options.delimiter), values_(columns().size()) {
    if (table_->options.header && lines_.next()) check_header();
  }

  bool next() override {
    if (!lines_.next()) return false;
    if (!table_->numbers_only || !read_numbers(lines_.text())) read_fields(lines_.fields());
    return true;
  }

  void put(ElementOutputs& outputs) const override {
    const std::vector<std::size_t>& select = table_->select;
    if (table_->options.pack) {
      auto* to = reinterpret_cast<float*>(outputs.place(0, table_->packed_row));
      for (const std::size_t column : select) *to++ = values_[column].f32;
      return;
    }
    for (std::size_t i = 0; i < select.size(); ++i) put_value(outputs, i, select[i]);
  }

 private:
  const std::vector<CsvColumn>& columns() const { return table_->options.columns; }

  void put_value(ElementOutputs& outputs, std::size_t index, std::size_t column) const {
    static const TensorType f32{{}, Dtype::f32}, i64{{}, Dtype::i64};
    const CsvValue& value = values_[column];
    const Dtype dtype = columns()[column].dtype;
    if (dtype == Dtype::f32) {
      std::memcpy(outputs.place(index, f32), &value.f32, sizeof(value.f32));
    } else if (dtype == Dtype::i64) {
      std::memcpy(outputs.place(index, i64), &value.i64, sizeof(value.i64));
    } else {
      std::byte* const to = outputs.place(index, {{std::ssize(value.bytes)}, Dtype::u8});
      if (!value.bytes.empty()) std::memcpy(to, value.bytes.data(), value.bytes.size());
    }
  }

  void check_header() {
    const std::vector<std::string_view>& names = lines_.fields();
    check_count(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string& name = columns()[i].name;
      const std::string_view found = without_blanks(names[i]);
      if (name.empty() || name == found) continue;
      throw Error(fmt::format("{}: column {} is called '{}' in the header, '{}' was given", lines_.name(), i + 1,
                              shown_text(found), name));
    }
  }

  /// Reads rows of plain numbers without handling quotes or blanks. Rows that it accepts have the same values in
  /// read_fields(), which handles all other rows.
  bool read_numbers(std::string_view text) {
    const std::size_t count = columns().size();
    for (std::size_t i = 0; i < count; ++i) {
      if (!take_value(columns()[i].dtype, text, values_[i])) return false;
      if (i + 1 == count) return text.empty();
      if (text.empty() || text.front() != lines_.delimiter()) return false;
      text.remove_prefix(1);
    }
    return false;
  }

  void read_fields(const std::vector<std::string_view>& fields) {
    check_count(fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (!table_->selected[i]) continue;
      const CsvColumn& column = columns()[i];
      const std::string_view field = meant(column.dtype, fields[i]);
      if (field.empty() && column.default_value) {
        values_[i] = table_->defaults[i];
      } else if (!parse_value(column.dtype, field, values_[i])) {
        const std::string what =
            field.empty() ? "is empty, and has no default"
                          : fmt::format("has '{}', which is no {}", shown_text(field), to_string(column.dtype));
        throw Error(fmt::format("{}: line {}: column {}{} {}", lines_.name(), lines_.line(), i + 1,
                                column.name.empty() ? "" : " (" + column.name + ")", what));
      }
    }
  }

  void check_count(std::size_t fields) const {
    if (fields == columns().size()) return;
    throw Error(fmt::format("{}: line {}: {} fields where {} columns were given", lines_.name(), lines_.line(), fields,
                            columns().size()));
  }

  std::shared_ptr<const Table> table_;
  CsvLines lines_;
  std::vector<CsvValue> values_;
};

void check_column(const CsvColumn& column, std::size_t number) {
  if (column.dtype == Dtype::f32 || column.dtype == Dtype::i64 || column.dtype == Dtype::bytes) return;
  throw Error(
      fmt::format("csv: column {} cannot be {} (known: float32, int64, bytes)", number, to_string(column.dtype)));
}

CsvValue default_of(const CsvColumn& column, std::size_t number) {
  CsvValue value;
  if (column.default_value && !parse_value(column.dtype, meant(column.dtype, *column.default_value), value)) {
    throw Error(fmt::format("csv: the default of column {}, '{}', is no {}", number, *column.default_value,
                            to_string(column.dtype)));
  }
  return value;
}

void check_options(const CsvOptions& options) {
  if (options.columns.empty()) throw Error("csv: no columns given; at least one is needed");
  // Characters that occur in numbers or end a row.
  constexpr std::string_view no_delimiters = "\"\r\n+-.";
  if (no_delimiters.find(options.delimiter) != std::string_view::npos || options.delimiter == '\0' ||
      std::isalnum(static_cast<unsigned char>(options.delimiter)) != 0) {
    throw Error(fmt::format("csv: '{}' cannot be the delimiter, it may be part of a field or of a line end",
                            options.delimiter));
  }
  for (const std::size_t column : options.select) {
    if (column >= options.columns.size()) {
      throw Error(fmt::format("csv: column {} cannot be selected of {}", column + 1, options.columns.size()));
    }
    if (std::count(options.select.begin(), options.select.end(), column) > 1) {
      throw Error(fmt::format("csv: column {} is selected twice", column + 1));
    }
  }
}

std::shared_ptr<const Table> table_of(const CsvOptions& options) {
  check_options(options);
  auto table = std::make_shared<Table>();
  table->options = options;
  table->select = options.select;
  const std::size_t count = options.columns.size();
  for (std::size_t i = 0; i < count && options.select.empty(); ++i) table->select.push_back(i);
  table->selected.resize(count);
  for (const std::size_t column : table->select) table->selected[column] = true;
  table->numbers_only = true;
  table->packed_row = {{std::ssize(table->select)}, Dtype::f32};
  // The table keeps the text of the defaults, to which byte values refer.
  for (std::size_t i = 0; i < count; ++i) {
    const CsvColumn& column = table->options.columns[i];
    check_column(column, i + 1);
    table->defaults.push_back(default_of(column, i + 1));
    table->numbers_only = table->numbers_only && column.dtype != Dtype::bytes;
    if (options.pack && table->selected[i] && column.dtype != Dtype::f32) {
      throw Error(fmt::format("csv: pack makes a row of float32, and column {} is {}", i + 1, to_string(column.dtype)));
    }
  }
  return table;
}

std::vector<TensorType> types_of(const Table& table) {
  if (table.options.pack) return {table.packed_row};
  std::vector<TensorType> types;
  for (const std::size_t column : table.select) {
    const Dtype dtype = table.options.columns[column].dtype;
    types.push_back(dtype == Dtype::bytes ? TensorType{{varying}, Dtype::u8} : TensorType{{}, dtype});
  }
  return types;
}

}  // namespace

DatasetPtr csv(std::span<const std::string> files, const CsvOptions& options) {
  const std::shared_ptr<const Table> table = table_of(options);
  return record_files(expand_patterns(files, csv_stage),
                      {.stage = csv_stage, .types = types_of(*table), .open = [table](const std::string& path) {
                         return std::make_unique<CsvFile>(path, table);
                       }});
}

}  // namespace gpubench
