#include "core/codec/output_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tests/core/results/file_size_limit.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OutputFiles : public TemporaryFolder {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(file(""))) all.push_back(entry.path().filename());
    std::ranges::sort(all);
    return all;
  }
};

TEST_F(OutputFiles, KeepTheOldTextWhenTheNewDoesNotFit) {
  replace_file(file("f"), "old");
  {
    const FileSizeLimit limit(4);
    EXPECT_ERROR(AllOf(HasSubstr("f: cannot be written: "), HasSubstr("File too large")),
                 replace_file(file("f"), "too long"));
  }
  EXPECT_EQ(contents(file("f")), "old");
  EXPECT_THAT(names(), ElementsAre("f")) << "nothing is left of the attempt";
}

TEST_F(OutputFiles, AppearWholeOrNotAtAll) {
  {
    OutputFile output(file("f"));
    output.write(std::as_bytes(std::span("part", 4)));
    EXPECT_FALSE(std::filesystem::exists(file("f")));
  }
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(OutputFiles, RefuseWhatIsNoFile) {
  write("victim", "precious");
  std::filesystem::create_symlink("victim", file("link"));
  std::filesystem::create_symlink("nowhere", file("dangling"));
  std::filesystem::create_directory(file("folder"));
  for (const char* name : {"link", "dangling"})
    EXPECT_ERROR(AllOf(HasSubstr(name), HasSubstr("a link, which is not followed, has that name")),
                 replace_file(file(name), "new"));
  EXPECT_ERROR(HasSubstr("a folder has that name"), replace_file(file("folder"), "new"));
  EXPECT_ERROR(HasSubstr("a device, pipe or socket"), replace_file("/dev/null", "new"));
  EXPECT_EQ(contents(file("victim")), "precious");
  EXPECT_TRUE(std::filesystem::is_symlink(file("link")));
}

TEST_F(OutputFiles, WriteNothingThroughLinksWithTheNamesThatTheyTake) {
  write("victim", "precious");
  for (int n = 0; n < 100; ++n) std::filesystem::create_symlink("victim", file(fmt::format(".f.{}.tmp", n)));
  replace_file(file("f"), "new");
  EXPECT_EQ(contents(file("f")), "new");
  EXPECT_EQ(contents(file("victim")), "precious");
}

TEST_F(OutputFiles, RemoveWhatAKilledProgramHasLeft) {
  write(".f.0.tmp", "a part");
  write(".f.1.tmp", "of a program that lives");
  const Descriptor living(::open(file(".f.1.tmp").c_str(), O_RDONLY | O_CLOEXEC));
  living.lock();
  replace_file(file("f"), "new");
  EXPECT_THAT(names(), ElementsAre(".f.1.tmp", "f"));
  write(".other.7.tmp", "of another file");
  write(".f.tmp", "not ours");
  remove_left_overs(file(""));
  EXPECT_THAT(names(), ElementsAre(".f.1.tmp", ".f.tmp", "f"));
}

TEST_F(OutputFiles, TakeAnyNameThatAFileMayHave) {
  const std::string longest(255, 'n');
  replace_file(file(longest), "text");
  EXPECT_EQ(contents(file(longest)), "text");
}

TEST_F(OutputFiles, ThatAreNewReplaceNone) {
  for (const char* text : {"first", "second"}) {
    OutputFile output(file("f"));
    output.write(std::as_bytes(std::span(std::string_view(text))));
    EXPECT_EQ(output.commit_new(), text == std::string("first"));
  }
  EXPECT_EQ(contents(file("f")), "first");
  EXPECT_THAT(names(), ElementsAre("f"));
}

TEST_F(OutputFiles, ManyAtOnceDoNotDisturbEachOther) {
  const std::string text(1 << 12, 'x');
  std::vector<pid_t> processes(8);
  for (pid_t& process : processes) {
    process = ::fork();
    if (process == 0) {
      int failures = 0;
      for (int n = 0; n < 50; ++n) {
        try {
          replace_file(file("f"), text);
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
  EXPECT_EQ(contents(file("f")), text);
  EXPECT_THAT(names(), ElementsAre("f"));
}

}  // namespace
}  // namespace gpubench
