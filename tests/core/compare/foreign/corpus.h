// The files of the corpus (corpus/README.md), and results of readers for tests.
#pragma once
#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "core/compare/foreign/foreign.h"
#include "core/compare/side.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {

inline std::filesystem::path corpus_file(const std::string& name) {
  return std::filesystem::path(GPUBENCH_SOURCE_DIR) / "tests/core/compare/foreign/corpus" / name;
}

inline std::vector<MeasuringProcess> read_corpus(const std::string& name) {
  return read_foreign(corpus_file(name));
}

/// Files that a test writes, and what is said of them.
class ForeignFiles : public TemporaryFolder {
 protected:
  std::vector<MeasuringProcess> read(const std::string& name, const std::string& text) const {
    return read_foreign(write(name, text));
  }
  std::string mistake(const std::string& name, const std::string& text) const { return mistake_in(write(name, text)); }
  static std::string mistake_in(const std::filesystem::path& file) {
    return support::error_of([&] { read_foreign(file); });
  }
  std::string side_mistake(const std::string& text) const {
    return support::error_of([&] { read_side(text, file("out")); });
  }
};

/// The records of one row: whose `axis` is `value`.
inline std::vector<Record> rows_with(const MeasuringProcess& process, const std::string& axis,
                                     const std::string& value) {
  std::vector<Record> rows;
  for (const Record& record : process.records)
    if (to_text(record.get(axis)) == value) rows.push_back(record);
  return rows;
}

inline double figure_in(const Record& record, const std::string& name) {
  const auto number = number_in(record.get(name));
  EXPECT_TRUE(number.has_value()) << name;
  return number.value_or(0);
}

/// Different values of an axis, in their order.
inline std::vector<std::string> values_of_axis(const MeasuringProcess& process, const std::string& axis) {
  std::vector<std::string> values;
  for (const Record& record : process.records)
    if (const std::string value = to_text(record.get(axis)); std::ranges::find(values, value) == values.end())
      values.push_back(value);
  return values;
}

}  // namespace gpubench
