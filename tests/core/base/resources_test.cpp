#include "core/base/resources.h"

#include <fstream>
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

  void library_below(const std::string& path) {
    std::ofstream(folder(path + "/lua/gpubench") / "init.lua") << "return {}\n";
  }

  std::filesystem::path top_ =
      std::filesystem::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ResourcesTest, ASourceTreeIsFoundFromItsBuildFolder) {
  library_below("tree");
  EXPECT_EQ(find_resource_root(folder("tree/build/release/bin") / "gpubench"), top_ / "tree");
}

TEST_F(ResourcesTest, APrefixKeepsThemBelowShare) {
  library_below("prefix/share/gpubench");
  EXPECT_EQ(find_resource_root(folder("prefix/bin") / "gpubench"), top_ / "prefix/share/gpubench");
}

TEST_F(ResourcesTest, TheNearestFolderWins) {
  library_below("tree");
  library_below("tree/prefix/share/gpubench");
  EXPECT_EQ(find_resource_root(folder("tree/prefix/bin") / "gpubench"), top_ / "tree/prefix/share/gpubench");
}

TEST_F(ResourcesTest, ABuildFolderIsNotTakenForTheSources) {
  library_below("tree");
  folder("tree/build/release/tests/lua/gpubench");
  EXPECT_EQ(find_resource_root(folder("tree/build/release/tests/core/data") / "test"), top_ / "tree");
}

TEST_F(ResourcesTest, NothingIsFoundElsewhere) {
  EXPECT_EQ(find_resource_root(folder("empty/bin") / "gpubench"), "");
}

}  // namespace
}  // namespace gpubench
