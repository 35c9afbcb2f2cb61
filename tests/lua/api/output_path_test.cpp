#include "lua/api/output_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "lua/bind/machine.h"
#include "tests/support/expect_error.h"
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
  confine_output(state_, {file("out")});
  for (const char* inside : {"out/a", "out/new/b", "out"})
    EXPECT_EQ(refusal(file(inside).string()), "allowed: " + file(inside).string());
  EXPECT_EQ(refusal(file("out/../out/./c").string()), "allowed: " + file("out/c").string());
  for (const char* outside : {"a", "outer/b", "out/../a", "out/../../a"})
    EXPECT_THAT(
        refusal(file(outside).string()),
        ::testing::AllOf(::testing::StartsWith("save: '"), ::testing::HasSubstr("' is not below the output folder '")));
}

TEST_F(OutputPath, LinksAreFollowed) {
  std::filesystem::create_directory(file("out"));
  std::filesystem::create_directory(file("other"));
  std::filesystem::create_directory_symlink(file("other"), file("out/link"));
  confine_output(state_, {file("out")});
  EXPECT_THAT(refusal(file("out/link/a").string()), ::testing::HasSubstr("is not below the output folder"));
}

TEST_F(OutputPath, LinksToNothingYetAreFollowed) {
  std::filesystem::create_directory(file("out"));
  std::filesystem::create_symlink(file("later"), file("out/dangling"));
  std::filesystem::create_symlink("dangling", file("out/chain"));
  std::filesystem::create_symlink("loop", file("out/loop"));
  confine_output(state_, {file("out")});
  for (const char* link : {"out/dangling", "out/chain"})
    EXPECT_THAT(refusal(file(link).string()), ::testing::HasSubstr("is not below the output folder")) << link;
  EXPECT_THAT(refusal(file("out/loop").string()), ::testing::HasSubstr("too many symbolic links"));
}

TEST_F(OutputPath, FilesWithOtherNamesAndFoldersWithLinksStayAsTheyAre) {
  std::filesystem::create_directories(file("out/tree/deeper"));
  std::filesystem::create_symlink("nowhere", file("out/tree/deeper/link"));
  std::filesystem::create_directory(file("out/plain"));
  write("victim", "x");
  std::filesystem::create_hard_link(file("victim"), file("out/hard"));
  confine_output(state_, {file("out")});
  EXPECT_THAT(refusal(file("out/hard").string()), ::testing::HasSubstr("is a file with other names (hard links)"));
  EXPECT_EQ(path_to_rename(state_, file("out/plain").string(), "rename"), file("out/plain").string());
  EXPECT_EQ(path_to_rename(state_, file("out/absent").string(), "rename"), file("out/absent").string());
  EXPECT_ERROR(::testing::HasSubstr("has the symbolic link 'deeper/link' in it"),
               path_to_rename(state_, file("out/tree").string(), "rename"));
}

TEST_F(OutputPath, LinksInAFolderToFillAreFollowed) {
  std::filesystem::create_directories(file("out/model"));
  std::filesystem::create_symlink(file("later"), file("out/model/weights.safetensors"));
  confine_output(state_, {file("out")});
  EXPECT_THROW(output_folder(state_, file("out/model").string(), "save"), Error);
}

TEST_F(OutputPath, SeveralFolders) {
  confine_output(state_, {file("results"), file("plots")});
  EXPECT_EQ(refusal(file("plots/a").string()), "allowed: " + file("plots/a").string());
  EXPECT_TRUE(std::filesystem::is_directory(file("plots")));
  EXPECT_THAT(refusal(file("b").string()), ::testing::HasSubstr("results' and '"));
}

TEST_F(OutputPath, GnuplotScriptsAreRefused) {
  confine_output(state_, {file("out")});
  EXPECT_THAT(refusal(file("out/chart.gp").string()), ::testing::HasSubstr("would be run by gnuplot"));
}

}  // namespace
}  // namespace gpubench::lua
