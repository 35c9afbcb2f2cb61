#include "lua/api/output_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "lua/bind/machine.h"
#include "tests/support/files.h"

namespace gpubench::lua {
namespace {

class OutputPath : public TemporaryFolder {
 protected:
  std::string refusal(const std::string& path) {
    try {
      return "allowed: " + output_path(state_, path, "save");
    } catch (const Error& error) {
      return error.what();
    }
  }
  State state_;
};

TEST_F(OutputPath, AnywhereUntilConfined) {
  EXPECT_EQ(output_path(state_, "/tmp/x", "save"), "/tmp/x");
}

TEST_F(OutputPath, BelowTheFolderOnly) {
  std::filesystem::create_directory(file("out"));
  confine_output(state_, file("out"));
  for (const char* inside : {"out/a", "out/new/b", "out/../out/c", "out"})
    EXPECT_EQ(refusal(file(inside).string()), "allowed: " + file(inside).string());
  for (const char* outside : {"a", "outer/b", "out/../a", "out/../../a"})
    EXPECT_THAT(
        refusal(file(outside).string()),
        ::testing::AllOf(::testing::StartsWith("save: '"), ::testing::HasSubstr("' is not below the output folder '")));
}

TEST_F(OutputPath, LinksAreFollowed) {
  std::filesystem::create_directory(file("out"));
  std::filesystem::create_directory(file("other"));
  std::filesystem::create_directory_symlink(file("other"), file("out/link"));
  confine_output(state_, file("out"));
  EXPECT_THAT(refusal(file("out/link/a").string()), ::testing::HasSubstr("is not below the output folder"));
}

}  // namespace
}  // namespace gpubench::lua
