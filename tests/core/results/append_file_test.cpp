#include "core/results/append_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/base/error.h"
#include "core/codec/output_file.h"
#include "tests/core/results/file_size_limit.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

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
  EXPECT_THAT([&] { read_file(path, 4); }, ThrowsMessage<Error>(HasSubstr("f': it has 5 bytes; at most 4 are read")));
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);
  EXPECT_THAT([&] { read_file(path); },
              ThrowsMessage<Error>(HasSubstr("it has 1099511627776 bytes; at most 67108864 are read")));
  ASSERT_EQ(mkfifo((directory.path() / "p").c_str(), 0600), 0);
  EXPECT_THAT([&] { read_file(directory.path() / "p"); },
              ThrowsMessage<Error>(HasSubstr("a device or pipe, which may never end")));
  EXPECT_THAT([&] { read_file("/dev/zero"); }, ThrowsMessage<Error>(HasSubstr("a device or pipe")));
  EXPECT_THAT([&] { read_file(directory.path()); }, ThrowsMessage<Error>(HasSubstr("cannot read")));
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
    EXPECT_THAT([&] { file.append("a row that is cut short\n"); },
                ThrowsMessage<Error>(AllOf(HasSubstr("results: cannot write '"), HasSubstr("File too large"))));
  }
  EXPECT_EQ(read_file(directory.path() / "f"), "finished row\n");
  file.append("next\n");
  EXPECT_EQ(read_file(directory.path() / "f"), "finished row\nnext\n");
}

TEST(AppendFile, AFullDeviceIsNamed) {
  EXPECT_THAT([] { AppendFile("/dev/full").append("x"); }, ThrowsMessage<Error>(HasSubstr("No space left on device")));
}

TEST(AppendFile, IsNeverALink) {
  const TemporaryDirectory directory;
  std::filesystem::create_symlink("victim", directory.path() / "f");
  EXPECT_THAT([&] { AppendFile(directory.path() / "f"); },
              ThrowsMessage<Error>(HasSubstr("a link, which is not followed")));
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "victim"));
}

TEST(ReadFile, RefusesWhatMayNeverEnd) {
  const TemporaryDirectory directory;
  ::mkfifo((directory.path() / "pipe").c_str(), 0600);
  std::filesystem::create_symlink("/dev/zero", directory.path() / "zeros");
  for (const char* name : {"pipe", "zeros"}) {
    EXPECT_THAT([&] { read_file(directory.path() / name); },
                ThrowsMessage<Error>(HasSubstr("a device or pipe, which may never end")));
  }
}

TEST(ReadFile, SaysWhichFileIsMissing) {
  EXPECT_THAT([] { read_file("/nowhere/run.json"); },
              ThrowsMessage<Error>("results: cannot open '/nowhere/run.json': No such file or directory"));
}

}  // namespace
}  // namespace gpubench
