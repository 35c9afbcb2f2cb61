#include "tests/checks/layering.h"

#include <fstream>
#include <gmock/gmock.h>
#include <sstream>

namespace gpubench::checks {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

LayeringTable small_table() {
  std::istringstream text(
      "# comment\n"
      "allow core/base:\n"
      "allow core/tensor: core/base\n"
      "allow core/backend: core/tensor\n"
      "allow core/backend/cpu: core/backend\n"
      "allow lua/bind:\n"
      "allow lua/api: lua/bind core\n"
      "file core/backend/registry.cpp: core/backend/cpu\n"
      "vendor dnnl: core/backend/cpu\n"
      "source heavy.h: core\n");
  return LayeringTable(text);
}

std::string quoted(const std::string& file, const std::string& header) {
  return small_table().violation({file, 1, header, true});
}

std::string system(const std::string& file, const std::string& header) {
  return small_table().violation({file, 1, header, false});
}

TEST(Layering, AllowsWhatTheTableReaches) {
  EXPECT_EQ(quoted("core/tensor/a.cpp", "core/tensor/a.h"), "");
  EXPECT_EQ(quoted("core/backend/cpu/a.cpp", "core/base/a.h"), "");
  EXPECT_EQ(quoted("core/backend/cpu/deep/a.cpp", "core/tensor/a.h"), "");
  EXPECT_EQ(quoted("lua/api/a.cpp", "core/backend/cpu/a.h"), "");
  EXPECT_EQ(quoted("tests/core/base/a_test.cpp", "core/backend/a.h"), "");
}

TEST(Layering, RefusesTheOtherDirection) {
  EXPECT_EQ(quoted("core/base/a.cpp", "core/tensor/b.h"),
            "core/base may not include core/tensor (\"core/tensor/b.h\")");
  EXPECT_THAT(quoted("core/backend/a.cpp", "core/backend/cpu/b.h"), HasSubstr("may not include core/backend/cpu"));
  EXPECT_THAT(quoted("core/tensor/a.cpp", "lua/bind/b.h"), HasSubstr("may not include lua/bind"));
  EXPECT_THAT(quoted("core/tensor/a.cpp", "tests/support/b.h"), HasSubstr("may not include tests/support"));
  EXPECT_THAT(quoted("lua/bind/a.cpp", "core/base/b.h"), HasSubstr("may not include core/base"));
  EXPECT_THAT(quoted("core/unknown/a.cpp", "core/base/b.h"), HasSubstr("has no row"));
}

TEST(Layering, OneNamedFileListsTheBackends) {
  EXPECT_EQ(quoted("core/backend/registry.cpp", "core/backend/cpu/a.h"), "");
  EXPECT_THAT(quoted("core/backend/registry.cpp", "lua/bind/a.h"), HasSubstr("may not include lua/bind"));
}

TEST(Layering, IncludesAreRooted) {
  EXPECT_THAT(quoted("core/base/a.cpp", "a.h"), HasSubstr("not rooted"));
}

TEST(Layering, VendorHeadersStayBelowTheirFolder) {
  EXPECT_EQ(system("core/backend/cpu/a.h", "dnnl.hpp"), "");
  EXPECT_EQ(system("core/base/a.h", "vector"), "");
  EXPECT_EQ(system("core/base/a.cpp", "dnnl.hpp"), "<dnnl.hpp> belongs below core/backend/cpu only");
  EXPECT_EQ(system("core/base/a.cpp", "heavy.h"), "");
  EXPECT_EQ(system("core/base/a.h", "heavy.h"), "<heavy.h> belongs into source files, not headers");
}

TEST(Layering, ReadsIncludesWithTheirLines) {
  std::istringstream source(
      "#pragma once\n#include <vector>\n\n  # include \"core/base/a.h\"  // why\n// #include \"no.h\"\n");
  const std::vector<Include> includes = includes_of(source, "core/x/y.h");
  ASSERT_EQ(includes.size(), 2U);
  EXPECT_EQ(includes[0].header, "vector");
  EXPECT_FALSE(includes[0].quoted);
  EXPECT_EQ(includes[1].header, "core/base/a.h");
  EXPECT_EQ(includes[1].line, 4);
}

TEST(Layering, RefusesATableThatItCannotRead) {
  std::istringstream no_colon("allow core/base\n");
  EXPECT_THROW(LayeringTable{no_colon}, std::runtime_error);
  std::istringstream unknown("permit core/base:\n");
  EXPECT_THROW(LayeringTable{unknown}, std::runtime_error);
}

TEST(Layering, TheSourcesKeepToTheTable) {
  std::ifstream text(GPUBENCH_SOURCE_DIR "/tests/checks/layering.txt");
  const LayeringTable table(text);
  EXPECT_THAT(layering_violations(table, GPUBENCH_SOURCE_DIR), IsEmpty());
  EXPECT_THAT(table.absent_paths(GPUBENCH_SOURCE_DIR), IsEmpty()) << "rows of layering.txt name what is not there";
}

}  // namespace
}  // namespace gpubench::checks
