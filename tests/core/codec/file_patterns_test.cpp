#include "core/codec/file_patterns.h"

#include <gmock/gmock.h>

#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FilePatterns : public TemporaryFolder {
 protected:
  std::string named(const std::string& name) const { return file(name).string(); }
  static std::vector<std::string> expand(const std::vector<std::string>& patterns) {
    return expand_patterns(patterns, "read");
  }
};

TEST_F(FilePatterns, GiveEachPatternsFilesSorted) {
  for (const char* name : {"b.txt", "a.txt", "B.txt", "c.png"}) write(name, "");
  std::filesystem::create_directory(file("folder.txt"));
  EXPECT_THAT(expand({named("*.txt")}), ElementsAre(named("B.txt"), named("a.txt"), named("b.txt")));
  EXPECT_THAT(expand({named("c.png"), named("[ab].txt")}), ElementsAre(named("c.png"), named("a.txt"), named("b.txt")));
  EXPECT_THAT(expand({named("?.png")}), ElementsAre(named("c.png")));
}

TEST_F(FilePatterns, AFileMayBeCalledLikeAPattern) {
  write("x[1].txt", "");
  write("x1.txt", "");
  EXPECT_THAT(expand({named("x[1].txt")}), ElementsAre(named("x[1].txt")));
}

TEST_F(FilePatterns, OfAnyDepthAreRefused) {
  std::filesystem::create_directories(file("a"));
  write("a/b.txt", "");
  write("x**", "");
  EXPECT_ERROR("read: '" + named("**/*.txt") +
                   "': '**' does not stand for folders of any depth; "
                   "give a pattern for each depth, as '" +
                   named("*/*.txt") + "' for one",
               expand({named("**/*.txt")}));
  EXPECT_THAT(expand({named("*/*.txt"), named("x**")}), ElementsAre(named("a/b.txt"), named("x**")));
}

TEST_F(FilePatterns, SayWhatMatchesNothing) {
  const auto message = [](const std::vector<std::string>& patterns, const std::string& text) {
    EXPECT_ERROR(HasSubstr("read: " + text), expand(patterns));
  };
  write("a.txt", "");
  std::filesystem::create_directory(file("folder"));
  message({}, "no files given; a path or a pattern is needed");
  message({named("*.png")}, "no file matches '" + named("*.png") + "'");
  message({named("a.txt"), named("b.txt")}, "there is no file " + named("b.txt"));
  message({named("folder")}, named("folder") + " is a folder; its files are '" + named("folder/*") + "'");
}

}  // namespace
}  // namespace gpubench
