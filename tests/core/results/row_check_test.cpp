#include "core/results/row_check.h"

#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/results/column.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::vector<Cell> numbers{std::int64_t{0},
                                std::int64_t{-5},
                                std::numeric_limits<std::int64_t>::min(),
                                0.5,
                                1e308,
                                std::numeric_limits<double>::quiet_NaN(),
                                -std::numeric_limits<double>::infinity()};
const std::vector<Cell> no_numbers{true, std::string(), std::string("12"), std::string("x\n\x1b[31m")};
constexpr std::array filled_in{"experiment", "point", "process", "point_time_s", "status"};

bool is_filled_in(const Column& column) {
  return std::ranges::find(filled_in, column.name) != filled_in.end();
}

TEST(RowCheck, EveryStandardColumnTakesItsTypeOnly) {
  for (const Column& column : standard_columns()) {
    if (is_filled_in(column)) continue;
    for (const Cell& cell : column.is_text() ? numbers : no_numbers) {
      EXPECT_ERROR(AllOf(HasSubstr("run returned "), HasSubstr("'" + column.name + "', which takes "),
                         HasSubstr(column.is_text() ? "text: " : "a number: ")),
                   check_returned_row({{column.name, cell}}));
    }
    if (column.is_text()) {
      EXPECT_NO_THROW(check_returned_row({{column.name, std::string("x")}}));
      EXPECT_THROW(check_returned_row({{column.name, true}}), Error);
    } else {
      for (const Cell& cell : numbers) EXPECT_NO_THROW(check_returned_row({{column.name, cell}})) << column.name;
    }
    EXPECT_NO_THROW(check_returned_row({{column.name, Cell()}})) << "not measured";
  }
}

TEST(RowCheck, EndsOfAnyStandardFigureAreNumbers) {
  EXPECT_THROW(check_returned_row({{"compute_low_share", std::string("x")}}), Error);
  EXPECT_THROW(check_returned_row({{"loss_high", true}}), Error);
  EXPECT_NO_THROW(check_returned_row({{"compute_low_share", 0.5}}));
}

TEST(RowCheck, AColumnOfTheScriptTakesAnyCell) {
  for (const char* const name : {"v", "v_s", "n", "quality_of_mine", "shape", "verdict_low", "__index"}) {
    for (const std::vector<Cell>& cells : {numbers, no_numbers}) {
      for (const Cell& cell : cells) EXPECT_NO_THROW(check_returned_row({{name, cell}})) << name;
    }
  }
}

TEST(RowCheck, AMessageIsOneShortLine) {
  const std::string text(100000, '\n');
  const std::string message = support::error_of([&] { check_returned_row({{"steps", text}}); });
  EXPECT_THAT(message, ::testing::HasSubstr("steps"));
  EXPECT_LT(message.size(), 400u);
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(RowCheck, AnUnknownStatusIsToldWithThePossibleOnes) {
  for (const Cell& cell : {Cell(std::int64_t{3}), Cell(std::string("weird")), Cell(true)}) {
    EXPECT_ERROR(AllOf(HasSubstr("run returned the status "), HasSubstr("out_of_memory, error")),
                 check_returned_row({{"status", cell}}));
  }
  EXPECT_NO_THROW(check_returned_row({{"status", std::string("timeout")}}));
}

TEST(RowCheck, WhatTheProgramFillsInIsRefused) {
  for (const char* const own : {"experiment", "point", "process", "point_time_s"}) {
    EXPECT_ERROR(HasSubstr("which the program fills in"), check_returned_row({{own, std::int64_t{1}}}));
  }
}

TEST(RowCheck, ARowOfManyColumnsIsRefused) {
  Record row;
  for (int i = 0; i <= 1000; ++i) row.set("c" + std::to_string(i), std::int64_t{i});
  EXPECT_ERROR(HasSubstr("1001 columns; at most 1000"), check_returned_row(row));
}

TEST(RowCheck, AxesNamedAsStandardColumnsTakeTheirTypeToo) {
  EXPECT_ERROR(HasSubstr("the axis has 'small' in the column 'batch_size', which takes a number"),
               check_cell("batch_size", std::string("small"), "the axis has"));
  EXPECT_NO_THROW(check_cell("batch_size", std::int64_t{32}, "the axis has"));
  EXPECT_NO_THROW(check_cell("shape", std::int64_t{32}, "the axis has")) << "an optional column's name is free";
}

}  // namespace
}  // namespace gpubench
