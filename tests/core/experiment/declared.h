// What tests ask of the rows of measurements.
#pragma once
#include <gtest/gtest.h>
#include <limits>
#include <string_view>

#include "core/results/column.h"
#include "core/results/record.h"
#include "core/results/step_classes.h"

namespace gpubench {

/// Every column of `record` is declared as one that `measurement` ("training") fills.
inline void expect_declared(const Record& record, std::string_view measurement) {
  for (const auto& [name, cell] : record.cells()) {
    const Column column = column_of(name);
    EXPECT_NE(column.description, "") << name;
    EXPECT_TRUE(column.filled_by == "every row" || column.filled_by.find(measurement) != std::string_view::npos)
        << name << " is declared to be filled by " << column.filled_by;
  }
}

/// The number in a cell; NaN, which equals nothing, where it is empty or a text.
inline double number(const Record& record, std::string_view column) {
  return number_in(record.get(column)).value_or(std::numeric_limits<double>::quiet_NaN());
}

/// Of all classes of a step that the row has; 1 if none is missing.
inline double sum_of_shares(const Record& record) {
  double sum = 0;
  for (const StepClass& one : step_classes) sum += number_in(record.get(one.column)).value_or(0);
  return sum;
}

}  // namespace gpubench
