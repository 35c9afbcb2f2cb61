#include "core/base/program.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubench {
namespace {

using ::testing::IsEmpty;

constexpr const char* loader = "/lib64/ld-linux-x86-64.so.2";
constexpr const char* answer_variable = "PROGRAM_TEST_ANSWER";

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Launcher : public ::testing::Test {
 protected:
  Launcher() { std::filesystem::remove_all(top_); }
  ~Launcher() override { std::filesystem::remove_all(top_); }

  std::filesystem::path file(const std::string& path) {
    std::filesystem::create_directories((top_ / path).parent_path());
    std::ofstream(top_ / path) << "#!/bin/sh\n";
    return top_ / path;
  }

  std::filesystem::path top_ =
      std::filesystem::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST(Program, IsItsOwnFile) {
  EXPECT_EQ(program_path(), std::filesystem::read_symlink("/proc/self/exe"));
}

// Only has an effect in the process that the next test starts.
TEST(Program, WritesItsPathWhenAsked) {
  if (const char* const file = std::getenv(answer_variable)) std::ofstream(file) << program_path().string();
}

TEST(Program, IsItsOwnFileWhenALoaderIsWhatWasStarted) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer starts /proc/self/exe again";
#endif
  if (!std::filesystem::exists(loader)) GTEST_SKIP() << loader << " is not there";
  const std::string answer = ::testing::TempDir() + "program_test_answer";
  const std::string command = std::string(answer_variable) + "='" + answer + "' " + loader + " '" +
                              program_path().string() + "' --gtest_filter=Program.WritesItsPathWhenAsked >'" + answer +
                              ".log' 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0) << text_of_file(answer + ".log");
  EXPECT_EQ(text_of_file(answer), program_path().string());
  std::filesystem::remove(answer);
  std::filesystem::remove(answer + ".log");
}

TEST_F(Launcher, StartsProgramsOfABundle) {
  file("bundle/libexec/start");
  const std::filesystem::path launcher = file("bundle/bin/gpubench");
  EXPECT_EQ(find_launcher(file("bundle/libexec/gpubench")), launcher);
}

TEST_F(Launcher, IsTheProgramOutsideOfABundle) {
  const std::filesystem::path program = file("prefix/bin/gpubench");
  EXPECT_EQ(find_launcher(program), program);
}

TEST_F(Launcher, IsTheProgramWhereABundleHasNoLauncherOfIt) {
  file("bundle/libexec/start");
  const std::filesystem::path program = file("bundle/libexec/test");
  EXPECT_EQ(find_launcher(program), program);
}

TEST(Program, OfABuildCarriesNoOther) {
  EXPECT_THAT(carried_program(program_path().filename().string()), IsEmpty());
}

}  // namespace
}  // namespace gpubench
