#include "core/results/append_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/codec/output_file.h"
#include "tests/core/results/file_size_limit.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(AppendFile, ContinuesAtTheEnd) {
  const TemporaryDirectory directory;
  AppendFile(directory.path() / "f").append("one\n");
  AppendFile file(directory.path() / "f");
  file.append("two\n");
  EXPECT_EQ(file.size(), 8);
  EXPECT_EQ(read_file(directory.path() / "f"), "one\ntwo\n");
}

TEST(AppendFile, SaysWhichLineAKillMayTear) {
  const TemporaryDirectory directory;
  AppendFile file(directory.path() / "f");
  const std::string line = std::string(999, 'x') + "\n";
  EXPECT_FALSE(file.may_be_torn(line));
  EXPECT_TRUE(file.may_be_torn(std::string(4097, 'x')));
  for (int i = 0; i < 4; ++i) file.append(line);
  EXPECT_TRUE(file.may_be_torn(line)) << "96 bytes of the page are left";
  EXPECT_FALSE(file.may_be_torn(line.substr(904)));
}

TEST(ReadFile, HasALimitAndWaitsForNothing) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "f";
  replace_file(path, "12345");
  EXPECT_EQ(read_file(path, 5), "12345");
  EXPECT_ERROR(HasSubstr("f': it has 5 bytes; at most 4 are read"), read_file(path, 4));
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);
  EXPECT_ERROR(HasSubstr("it has 1099511627776 bytes; at most 67108864 are read"), read_file(path));
  ASSERT_EQ(mkfifo((directory.path() / "p").c_str(), 0600), 0);
  EXPECT_ERROR(HasSubstr("a device or pipe, which may never end"), read_file(directory.path() / "p"));
  EXPECT_ERROR(HasSubstr("a device or pipe"), read_file("/dev/zero"));
  EXPECT_ERROR(HasSubstr("cannot read"), read_file(directory.path()));
  EXPECT_FALSE(read_file("/proc/self/status").empty()) << "a file whose size is not known";
}

TEST(AppendFile, ManyLinesAreWrittenWhole) {
  const TemporaryDirectory directory;
  AppendFile file(directory.path() / "f");
  std::string text;
  for (int i = 0; i < 3000; ++i) text += fmt::format("{},{}\r\n", i, std::string(i % 97, 'y'));
  text += std::string(10'000, 'z') + "\nthe end";
  file.append("begin\n");
  file.append(text);
  EXPECT_EQ(read_file(directory.path() / "f"), "begin\n" + text);
  EXPECT_EQ(file.size(), static_cast<std::int64_t>(6 + text.size()));
}

TEST(AppendFile, ARecordThatDoesNotFitIsTakenBack) {
  const TemporaryDirectory directory;
  AppendFile file(directory.path() / "f");
  file.append("finished row\n");
  {
    const FileSizeLimit limit(20);
    EXPECT_ERROR(AllOf(HasSubstr("results: cannot write '"), HasSubstr("File too large")),
                 file.append("a row that is cut short\n"));
  }
  EXPECT_EQ(read_file(directory.path() / "f"), "finished row\n");
  file.append("next\n");
  EXPECT_EQ(read_file(directory.path() / "f"), "finished row\nnext\n");
}

TEST(AppendFile, AFullDeviceIsNamed) {
  EXPECT_ERROR(HasSubstr("No space left on device"), AppendFile("/dev/full").append("x"));
}

TEST(AppendFile, IsNeverALink) {
  const TemporaryDirectory directory;
  std::filesystem::create_symlink("victim", directory.path() / "f");
  EXPECT_ERROR(HasSubstr("a link, which is not followed"), AppendFile(directory.path() / "f"));
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "victim"));
}

TEST(ReadFile, RefusesWhatMayNeverEnd) {
  const TemporaryDirectory directory;
  ::mkfifo((directory.path() / "pipe").c_str(), 0600);
  std::filesystem::create_symlink("/dev/zero", directory.path() / "zeros");
  for (const char* name : {"pipe", "zeros"}) {
    EXPECT_ERROR(HasSubstr("a device or pipe, which may never end"), read_file(directory.path() / name));
  }
}

TEST(ReadFile, SaysWhichFileIsMissing) {
  EXPECT_ERROR("results: cannot open '/nowhere/run.json': No such file or directory", read_file("/nowhere/run.json"));
}

}  // namespace
}  // namespace gpubench
