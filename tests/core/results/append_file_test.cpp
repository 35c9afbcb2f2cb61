#include "core/results/append_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "core/base/error.h"
#include "tests/core/results/file_size_limit.h"
#include "tests/core/results/temporary_directory.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::ptrdiff_t files_in(const TemporaryDirectory& directory) {
  return std::distance(std::filesystem::directory_iterator(directory.path()), {});
}

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

TEST(ReplaceFile, KeepsTheOldTextWhenTheNewDoesNotFit) {
  const TemporaryDirectory directory;
  replace_file(directory.path() / "f", "old");
  {
    const FileSizeLimit limit(4);
    EXPECT_THROW(replace_file(directory.path() / "f", "too long"), Error);
  }
  EXPECT_EQ(read_file(directory.path() / "f"), "old");
  EXPECT_EQ(files_in(directory), 1) << "nothing is left of the attempt";
}

TEST(ReplaceFile, WritesNothingThroughALink) {
  const TemporaryDirectory directory;
  replace_file(directory.path() / "victim", "precious");
  std::filesystem::create_symlink("victim", directory.path() / "f");
  // The names that this process would take next.
  for (int n = 1; n < 2000; ++n) {
    std::filesystem::create_symlink("victim", directory.path() / fmt::format("f.{}-{}.new", ::getpid(), n));
  }
  replace_file(directory.path() / "f", "new");
  EXPECT_EQ(read_file(directory.path() / "f"), "new");
  EXPECT_EQ(read_file(directory.path() / "victim"), "precious");
}

TEST(ReplaceFile, ManyAtOnceDoNotDisturbEachOther) {
  const TemporaryDirectory directory;
  const std::string text(1 << 12, 'x');
  std::vector<pid_t> processes(8);
  for (pid_t& process : processes) {
    process = ::fork();
    if (process == 0) {
      int failures = 0;
      for (int n = 0; n < 50; ++n) {
        try {
          replace_file(directory.path() / "f", text);
        } catch (const std::exception&) {
          ++failures;
        }
      }
      ::_exit(failures == 0 ? 0 : 1);
    }
  }
  for (const pid_t process : processes) {
    int status = 0;
    ::waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(read_file(directory.path() / "f"), text);
  EXPECT_EQ(files_in(directory), 1);
}

TEST(AppendFile, IsNeverALink) {
  const TemporaryDirectory directory;
  std::filesystem::create_symlink("victim", directory.path() / "f");
  EXPECT_THAT([&] { AppendFile(directory.path() / "f"); }, ThrowsMessage<Error>(HasSubstr("symbolic links")));
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
