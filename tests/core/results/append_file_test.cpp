#include "core/results/append_file.h"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "core/base/error.h"
#include "tests/core/results/temporary_directory.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// Files of this process may not grow beyond a size, which fails writes as a full disk does.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limited{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limited);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit before_{};
  void (*old_handler_)(int);
};

TEST(AppendFile, ContinuesAtTheEnd) {
  const TemporaryDirectory directory;
  AppendFile(directory.path() / "f").append("one\n");
  AppendFile file(directory.path() / "f");
  file.append("two\n");
  EXPECT_EQ(file.size(), 8);
  EXPECT_EQ(read_file(directory.path() / "f"), "one\ntwo\n");
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
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "f.new"));
}

TEST(ReadFile, SaysWhichFileIsMissing) {
  EXPECT_THAT([] { read_file("/nowhere/run.json"); },
              ThrowsMessage<Error>("results: cannot open '/nowhere/run.json': No such file or directory"));
}

}  // namespace
}  // namespace gpubench
