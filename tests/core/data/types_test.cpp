#include "core/data/types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

TEST(TypeText, ReadsWhatElementTypesShow) {
  for (const char* text : {"float32[28, 28, 1]", "uint8[?]", "int64[]", "bool[?, 3]"}) {
    EXPECT_EQ(to_text(parse_type(text, "test")), text);
  }
  EXPECT_EQ(to_text(parse_type("int64", "test")), "int64[]");
  EXPECT_EQ(to_text(parse_type("float32[ 2,3 ]", "test")), "float32[2, 3]");
}

TEST(TypeText, RefusesAnythingElse) {
  for (const char* text : {"float32[2", "float32[a]", "float32[2,]", "float32[-1]", "float32[2 3]"}) {
    EXPECT_ERROR(std::string("synthetic: '") + text +
                     "' is no type; types are written as \"float32[28, "
                     "28]\", \"uint8[?]\" or \"int64\"",
                 parse_type(text, "synthetic"));
  }
  EXPECT_ERROR(testing::HasSubstr("'double'"), parse_type("double[2]", "synthetic"));
}

}  // namespace
}  // namespace gpubench
