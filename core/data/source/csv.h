// Rows of CSV files: one tensor per column, or one float32[n] of all columns.
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
  std::string name = {};     ///< checked against the header, and used by `select`
  Dtype dtype = Dtype::f32;  ///< f32, i64 or bytes; bytes become uint8[?]
  /// Replaces an empty field; written as in the file. Without it an empty field is an error, except for bytes.
  std::optional<std::string> default_value = {};
};

struct CsvOptions {
  std::vector<CsvColumn> columns = {};
  bool header = true;  ///< whether the first row of each file has names
  char delimiter = ',';
  /// Columns of the elements, in this order, by position from 0; empty: all.
  std::vector<std::size_t> select = {};
  bool pack = false;  ///< one float32[n] of all (selected) columns, which are float32
};

/// `files` are paths and patterns, plain or gzip. Throws Error if one matches nothing, and for impossible options.
/// Elements throw, naming file and line, for rows with a wrong number of fields and for fields of another type.
DatasetPtr csv(std::span<const std::string> files, const CsvOptions& options);

}  // namespace gpubench
