#include "core/base/resources.h"

#include <gtest/gtest.h>

namespace gpubench {
namespace {

class ResourcesTest : public ::testing::Test {
 protected:
  ResourcesTest() { std::filesystem::remove_all(top_); }
  ~ResourcesTest() override { std::filesystem::remove_all(top_); }

  std::filesystem::path folder(const std::string& path) {
    std::filesystem::create_directories(top_ / path);
    return top_ / path;
  }

  std::filesystem::path top_ =
      std::filesystem::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ResourcesTest, ASourceTreeIsFoundFromItsBuildFolder) {
  folder("tree/lua/gpubench");
  EXPECT_EQ(find_resource_root(folder("tree/build/release/bin") / "gpubench"), top_ / "tree");
}

TEST_F(ResourcesTest, APrefixKeepsThemBelowShare) {
  folder("prefix/share/gpubench/lua/gpubench");
  EXPECT_EQ(find_resource_root(folder("prefix/bin") / "gpubench"), top_ / "prefix/share/gpubench");
}

TEST_F(ResourcesTest, TheNearestFolderWins) {
  folder("tree/lua/gpubench");
  folder("tree/prefix/share/gpubench/lua/gpubench");
  EXPECT_EQ(find_resource_root(folder("tree/prefix/bin") / "gpubench"), top_ / "tree/prefix/share/gpubench");
}

TEST_F(ResourcesTest, NothingIsFoundElsewhere) {
  EXPECT_EQ(find_resource_root(folder("empty/bin") / "gpubench"), "");
}

}  // namespace
}  // namespace gpubench
