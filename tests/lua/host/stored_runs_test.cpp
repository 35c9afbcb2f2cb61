// Commands about runs that are on disk: pack, prune, list.
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/lua/host/folder.h"

namespace gpubench {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

class StoredRuns : public FolderTest {
 protected:
  Ended call(const std::vector<std::string>& arguments) const { return run_program(arguments, path()); }
  void measure(const std::vector<std::string>& options = {}) const {
    const Ended ended = run(R"(local gb = require "gpubench"
gb.experiment { name = "small", title = "A small sweep", topic = "memory", question = "Is it " .. "small?",
  needs = "a GPU", axes = { gb.axis("n", { 1, 2 }) }, run = function(point) return { figure_per_s = 1.0 * point.n } end })",
                            options);
    EXPECT_EQ(ended.status, 0) << ended.err;
  }
};

TEST_F(StoredRuns, PackWritesAnArchiveThatShowReads) {
  measure();
  const Ended packed = call({"pack", "small"});
  EXPECT_EQ(packed.status, 0) << packed.err;
  EXPECT_THAT(packed.out, MatchesRegex("wrote small-[0-9]*T[0-9]*Z-.*[.]tar[.]gz\n"));
  const std::string file = packed.out.substr(6, packed.out.size() - 7);
  EXPECT_EQ(call({"show", file, "--format", "csv"}).out, call({"show", "small", "--format", "csv"}).out);
  EXPECT_THAT(call({"finish", file}).err, HasSubstr("is an archive, which is not changed: unpack it"));
  EXPECT_EQ(call({"pack", "small", "--file", "a.tar.gz", "--anonymous"}).out, "wrote a.tar.gz\n");
  EXPECT_THAT(call({"show", "a.tar.gz"}).out, AllOf(HasSubstr("-anonymous, done\n"), HasSubstr("figure/s")));
  ASSERT_EQ(std::system(("cd " + path() + " && tar -xzf a.tar.gz && rm a.tar.gz").c_str()), 0);
  EXPECT_THAT(call({"show", "--out", find("plots").parent_path().string(), "small"}).status, 0);
  EXPECT_EQ(call({"pack", "nothing"}).status, 2);
}

TEST_F(StoredRuns, PruneKeepsTheNewest) {
  measure({"--tag", "night"});
  measure();
  measure();
  EXPECT_THAT(call({"prune", "results"}).err, HasSubstr("--keep is required"));
  const Ended dry = call({"prune", "results", "--keep", "1", "--dry-run"});
  EXPECT_THAT(dry.out, MatchesRegex("results/small/[^\n]*\nresults/small/[^\n]*\n2 runs would be removed\n"));
  EXPECT_THAT(call({"show"}).out, MatchesRegex("([^\n]*\n){3}"));
  const Ended kept = call({"prune", "--keep", "1", "--keep-tags"});
  EXPECT_THAT(kept.out, MatchesRegex("results/small/[^\n]*\n1 run removed\n"));
  EXPECT_THAT(call({"prune", "./results/", "--keep", "0"}).out, HasSubstr("2 runs removed\n"));
  EXPECT_THAT(read("results/index.html"), Not(HasSubstr("report.html")));
  EXPECT_EQ(call({"prune", "--keep", "1"}).out, "0 runs removed\n");
  EXPECT_THAT(call({"prune", "/", "--keep", "1"}).err, HasSubstr("holds no folder of that name"));
}

TEST_F(StoredRuns, ListGroupsExperimentsByTopic) {
  measure();
  write("other.lua", "gb.experiment { title = 'It\\'s another' }");
  EXPECT_EQ(call({"list", "."}).out,
            "memory\n  ./script.lua  Is it small? (needs a GPU)\n\nother\n  ./other.lua   It's another\n");
  EXPECT_THAT(call({"list", ".", "--long"}).out,
              AllOf(HasSubstr("  ./script.lua  Is it small?\n      title   A small sweep\n      time    "),
                    HasSubstr(" in the last run\n      needs   a GPU\n      script  ./script.lua\n"),
                    HasSubstr("  ./other.lua  It's another\n      title   It's another\n      script  ./other.lua\n")));
  EXPECT_THAT(call({"list", ".", "--json"}).out, AllOf(StartsWith("{\"file\":\"./script.lua\","),
                                                       HasSubstr("\"needs\":\"a GPU\""), HasSubstr("\"seconds\":")));
  EXPECT_EQ(call({"list", ".", "--names"}).out, "./script.lua\n./other.lua\n");
}

TEST_F(StoredRuns, ListHasTheTimesOfSamples) {
  // What comes with the program, as there are no experiments in this folder.
  EXPECT_THAT(call({"list", "--long"}).out,
              ContainsRegex("  batch_size [^\n]*\n      title [^\n]*\n      time    [0-9.]+ s in the sample, on 2 "
                            "processors; gpubench batch_size --dry-run guesses it here\n"));
  // Six points of five rows, of which each has the time of its point.
  EXPECT_THAT(call({"list", "--long"}).out, ContainsRegex("  memory_growth [^\n]*\n[^\n]*\n      time    18 s in "));
  EXPECT_THAT(call({"list", "--json"}).out, HasSubstr("\"sample\":{\"machine\":\"2 processors\",\"seconds\":"));
  // Another one of this name.
  write("batch_size.lua", "gb.experiment { name = 'batch_size', title = 'mine' }");
  EXPECT_THAT(call({"list", ".", "--long"}).out, Not(HasSubstr("in the sample")));
}

}  // namespace
}  // namespace gpubench
