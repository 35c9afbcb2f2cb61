#include "core/results/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/input_limits.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using Line = std::vector<std::string>;

TEST(Csv, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(csv_line({"a", "", "b,c", "say \"x\"", "two\nlines", " edge"}),
            "a,,\"b,c\",\"say \"\"x\"\"\",\"two\nlines\",\" edge\"\r\n");
}

TEST(Csv, AnyTextComesBack) {
  const Line fields{"`rm -rf`",     "\"",    "a,b", "<script>alert('x')</script>",
                    "line\r\nline", "\ttab", "",    "ünïcödé 测试"};
  EXPECT_EQ(parse_csv(csv_line(fields) + csv_line({"next"}), "test"), (std::vector<Line>{fields, {"next"}}));
}

TEST(Csv, FormulasOfSpreadsheetsAreText) {
  for (const std::string text : {"=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "'=1", "''-1"}) {
    EXPECT_EQ(to_csv(text), "'" + text);
    EXPECT_EQ(cell_of_csv(to_csv(text), true), Cell(text));
    EXPECT_EQ(cell_of_csv(to_csv(text), false), Cell(text));
  }
  EXPECT_EQ(to_csv(std::string("'plain' a=b")), "'plain' a=b");
  EXPECT_EQ(cell_of_csv("'plain'", true), Cell(std::string("'plain'")));
  EXPECT_EQ(to_csv(-1.5), "-1.5");
  EXPECT_EQ(cell_of_csv("-1.5", false), Cell(-1.5));
}

TEST(Csv, ATornLastLineIsNoWholeLine) {
  const std::string whole = "a,b\r\n1,\"two\r\nlines \"\"quoted\"\"\"\r\n";
  EXPECT_EQ(whole_csv_lines(whole), whole);
  for (const char* torn : {"1", "1,\"x\r\n", "1,2\r", "\"\"\"\r\n"})
    EXPECT_EQ(whole_csv_lines(whole + torn), whole) << torn;
  EXPECT_EQ(whole_csv_lines("no line"), "");
}

TEST(Csv, MalformedTextNamesItsRow) {
  EXPECT_ERROR(HasSubstr("results.csv: row 2: "), parse_csv("a,b\r\n1,\"x\"y\r\n", "results.csv"));
  EXPECT_ERROR(HasSubstr("results.csv: row 2: "), parse_csv("a,b\r\n1,\"never closed", "results.csv"));
}

TEST(Csv, TablesHaveLimits) {
  const std::string wide(most_columns - 1, ',');
  EXPECT_EQ(parse_csv(wide + "\n" + wide + "\n", "t").size(), 2U);
  EXPECT_ERROR("t.csv: row 2 has more than 2000 columns", parse_csv(wide + "\n" + wide + ",\n", "t.csv"));
  std::string rows;
  for (std::size_t i = 0; i < most_table_cells / 2; ++i) rows += "1,\n";
  EXPECT_EQ(parse_csv(rows, "t").size(), most_table_cells / 2);
  EXPECT_ERROR("t.csv: more than 2000000 cells, which end in row 1000001", parse_csv(rows + "1\n", "t.csv"));
  EXPECT_ERROR("t.csv: a table of 1001 rows and 2000 columns; at most 2000000 cells are possible",
               check_table_size(1001, 2000, "t.csv"));
}

TEST(Csv, EmptyTextHasNoRows) {
  EXPECT_TRUE(parse_csv("", "test").empty());
}

}  // namespace
}  // namespace gpubench
