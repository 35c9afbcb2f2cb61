// Rows of measurements hold declared columns only.
#pragma once
#include <gtest/gtest.h>
#include <string_view>

#include "core/results/column.h"
#include "core/results/record.h"

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

}  // namespace gpubench
