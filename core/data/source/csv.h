// Rows of CSV files: one tensor a column, or one float32[n] of all.
//
//   csv({"train-*.csv"}, {.columns = {{.name = "x"}, {.name = "label", .dtype = Dtype::i64}}, .header = true})
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/data/dataset.h"

namespace gpubench {

struct CsvColumn {
  std::string name = {};     ///< checked against the header, and for `select`
  Dtype dtype = Dtype::f32;  ///< f32, i64 or bytes; bytes become uint8[?]
  /// In place of an empty field, written as in the file. Without it an empty field is an error, but for bytes.
  std::optional<std::string> default_value = {};
};

struct CsvOptions {
  std::vector<CsvColumn> columns = {};
  bool header = true;  ///< whether the first row of each file has names
  char delimiter = ',';
  /// Columns that elements consist of, in this order, by position from 0; all when empty.
  std::vector<std::size_t> select = {};
  bool pack = false;  ///< one float32[n] of all (selected) columns, which are float32
};

/// `files` are paths and patterns, plain or gzip. Throws Error when one matches nothing, and for options that cannot
/// be. Elements do for rows of another number of fields and fields of another type, naming file and line.
DatasetPtr csv(std::span<const std::string> files, const CsvOptions& options);

}  // namespace gpubench
