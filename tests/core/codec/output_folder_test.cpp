#include "core/codec/output_folder.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "core/base/error.h"
#include "core/codec/output_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OutputFolders : public TemporaryFolder {
 protected:
  /// Two files with the same text.
  void make(const std::string& text) const {
    OutputFolder output(file("v"));
    fs::create_directories(output.place() / "deeper");
    replace_file(output.place() / "a", text);
    replace_file(output.place() / "deeper/b", text);
    output.commit();
  }
  std::string text() const { return contents(file("v/a")) + " " + contents(file("v/deeper/b")); }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(file(""))) all.push_back(entry.path().filename());
    std::ranges::sort(all);
    return all;
  }
  /// In another process, which is gone then without a word.
  template <class Work>
  void in_killed_process(Work&& work) const {
    const pid_t process = ::fork();
    if (process == 0) work();
    ::waitpid(process, nullptr, 0);
  }
};

TEST_F(OutputFolders, ReplaceEarlierOnes) {
  make("one");
  write("v/more", "of the first");
  make("two");
  EXPECT_EQ(text(), "two two");
  EXPECT_FALSE(fs::exists(file("v/more")));
  EXPECT_THAT(names(), ElementsAre("v"));
}

TEST_F(OutputFolders, LeaveTheEarlierOneWhereTheyAreGivenUp) {
  make("one");
  {
    const OutputFolder output(file("v"));
    replace_file(output.place() / "a", "two");
  }
  EXPECT_EQ(text(), "one one");
  EXPECT_THAT(names(), ElementsAre("v"));
}

TEST_F(OutputFolders, OfKilledProgramsGoWithTheNext) {
  make("one");
  in_killed_process([&] {
    const OutputFolder output(file("v"));
    replace_file(output.place() / "a", "two");
    ::_exit(0);
  });
  EXPECT_THAT(names(), ElementsAre(".v.0.tmp", "v"));
  const OutputFolder living(file("v"));
  EXPECT_THAT(names(), ElementsAre(".v.0.tmp", "v")) << "of this program";
  EXPECT_FALSE(fs::exists(living.place() / "a"));
  make("three");
  EXPECT_THAT(names(), ElementsAre(".v.0.tmp", "v")) << "no program removes what another one makes";
  EXPECT_EQ(text(), "three three");
}

TEST_F(OutputFolders, RefuseLinksAndFiles) {
  fs::create_directory(file("elsewhere"));
  fs::create_directory_symlink("elsewhere", file("link"));
  write("file", "text");
  EXPECT_ERROR(AllOf(HasSubstr("link: "), HasSubstr("which is not followed")), OutputFolder(file("link")));
  EXPECT_ERROR(HasSubstr("a file has that name"), OutputFolder(file("file")));
  make("one");
  OutputFolder output(file("v"));
  replace_file(output.place() / "a", "two");
  fs::remove_all(file("v"));
  fs::create_directory_symlink("elsewhere", file("v"));
  EXPECT_THROW(output.commit(), Error) << "planted meanwhile";
  EXPECT_TRUE(fs::is_empty(file("elsewhere")));
}

// As they are left where a file system cannot exchange two folders.
TEST_F(OutputFolders, ArePutBackAfterAKillBetweenTwoSteps) {
  make("one");
  fs::rename(file("v"), file(".v.3.old"));
  fs::create_directory(file(".v.2.0.old"));  // of 'v.2'
  settle_folder(file("v"));
  EXPECT_EQ(text(), "one one");
  EXPECT_THAT(names(), ElementsAre(".v.2.0.old", "v"));
  fs::create_directory(file(".v.0.old"));
  settle_folder(file("v"));
  EXPECT_EQ(text(), "one one");
  EXPECT_THAT(names(), ElementsAre(".v.2.0.old", "v")) << "one that is no longer needed goes";
  fs::rename(file("v"), file("elsewhere"));
  fs::create_directory_symlink("elsewhere", file(".v.0.old"));
  settle_folder(file("v"));
  EXPECT_FALSE(fs::exists(file("v"))) << "a link is not put in its place";
}

TEST_F(OutputFolders, ManyAtOnceLeaveOneWhole) {
  std::vector<pid_t> processes;
  for (char name = 'a'; name < 'k'; ++name) {
    processes.push_back(::fork());
    if (processes.back() != 0) continue;
    int failures = 0;
    for (int n = 0; n < 20; ++n) {
      try {
        make(std::string(1000, name));
      } catch (const std::exception&) {
        ++failures;
      }
    }
    ::_exit(failures == 0 ? 0 : 1);
  }
  int torn = 0;
  for (int reads = 0; reads < 200; ++reads) {
    std::string read;
    read_whole_folder(file("v"), [&] { read = text(); });
    torn += read.size() > 1 && read.substr(0, 1000) != read.substr(1001);
  }
  EXPECT_EQ(torn, 0) << "of 200 that were read meanwhile";
  for (const pid_t process : processes) {
    int status = 0;
    ::waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(text().size(), 2001u);
  EXPECT_EQ(text().substr(0, 1000), text().substr(1001));
  EXPECT_THAT(names(), ElementsAre("v"));
}

TEST_F(OutputFolders, AreReadAgainWhereTheyWereReplacedMeanwhile) {
  make("one");
  int reads = 0;
  std::string read;
  read_whole_folder(file("v"), [&] {
    read = contents(file("v/a"));
    if (++reads == 1) make("two");
    read += contents(file("v/deeper/b"));
  });
  EXPECT_EQ(read, "twotwo");
  EXPECT_ERROR(HasSubstr("was replaced each of 100 times that it was read"),
               read_whole_folder(file("v"), [&] { make("each time"); }));
  EXPECT_ERROR("damaged", read_whole_folder(file("v"), [] { throw Error("damaged"); }));
  EXPECT_ERROR("none", read_whole_folder(file("none"), [] { throw Error("none"); }));
}

TEST_F(OutputFolders, AreReadAgainWhereTheyWereMadeMeanwhile) {
  int reads = 0;
  std::string read;
  read_whole_folder(file("v"), [&] {
    if (++reads == 1) make("one");
    read = contents(file("v/a"));
    if (reads == 1) make("two");
    read += contents(file("v/deeper/b"));
  });
  EXPECT_EQ(read, "twotwo");
  reads = 0;
  read_whole_folder(file("w"), [&] {
    if (++reads > 1) return;
    fs::create_directory(file("w"));
    throw Error("there is none");
  });
  EXPECT_EQ(reads, 2);
  write("plain", "text");
  EXPECT_ERROR("no folder", read_whole_folder(file("plain"), [] { throw Error("no folder"); }));
}

TEST_F(OutputFolders, AreRemovedOnce) {
  make("one");
  fs::create_directory(file("elsewhere"));
  write("elsewhere/precious", "text");
  fs::create_directory_symlink(file("elsewhere"), file("v/link"));
  EXPECT_TRUE(remove_folder(file("v")));
  EXPECT_FALSE(remove_folder(file("v")));
  EXPECT_THAT(names(), ElementsAre("elsewhere"));
  EXPECT_EQ(contents(file("elsewhere/precious")), "text");
}

}  // namespace
}  // namespace gpubench
