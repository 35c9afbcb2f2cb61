#include "core/report/text/table.h"

#include <gtest/gtest.h>

namespace gpubench {
namespace {

const Table sample_table{{{"name", Align::left}, {"time", Align::right}},
                         {{"测试", "9 µs"}, {"a|b", "120 ms"}, {"", ""}}};

TEST(Table, TextIsAlignedByDisplayWidth) {
  EXPECT_EQ(render_text(sample_table),
            "name    time\n"
            "----  ------\n"
            "测试    9 µs\n"
            "a|b   120 ms\n"
            "\n");
}

TEST(Table, MarkdownKeepsTheColumns) {
  EXPECT_EQ(render_markdown(sample_table),
            "| name | time |\n"
            "| --- | ---: |\n"
            "| 测试 | 9 µs |\n"
            "| a\\|b | 120 ms |\n"
            "|  |  |\n");
}

}  // namespace
}  // namespace gpubench
