#include "core/results/prune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "core/codec/output_file.h"
#include "core/codec/output_folder.h"
#include "core/results/append_file.h"
#include "core/results/run_directory.h"
#include "core/results/run_reader.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Prune : public testing::Test {
 protected:
  /// Run `day` of an experiment, with plots.
  fs::path make_run(const std::string& experiment, int day, const std::string& facts = "\"status\": \"done\"") const {
    const std::string name = "202611" + std::to_string(day) + "T000000Z-" + host_name();
    const fs::path run = out() / "results" / experiment / name;
    fs::create_directories(run);
    fs::create_directories(out() / "plots" / experiment / name);
    replace_file(out() / "plots" / experiment / name / "a.svg", "<svg/>");
    replace_file(run / "results.csv", "point\r\n1\r\n");
    replace_file(run / "samples.csv", "");
    replace_file(run / "run.json", "{" + facts + "}");
    return run;
  }
  const fs::path& out() const { return directory_.path(); }
  void prune(const PruneOptions& options) const {
    for (const fs::path& run : runs_to_prune(out(), options)) remove_run(out(), run);
  }

 private:
  TemporaryDirectory directory_;
};

TEST_F(Prune, KeepsTheNewestOfEachExperiment) {
  const fs::path a1 = make_run("a", 11), a2 = make_run("a", 12), a3 = make_run("a", 13), b1 = make_run("b", 11);
  EXPECT_THAT(runs_to_prune(out(), {.keep = 2}), ElementsAre(a1));
  EXPECT_THAT(runs_to_prune(out(), {.keep = 0}), ElementsAre(a3, a2, a1, b1));
  prune({.keep = 1});
  EXPECT_FALSE(fs::exists(a1));
  EXPECT_FALSE(fs::exists(a2));
  EXPECT_TRUE(fs::exists(a3));
  EXPECT_TRUE(fs::exists(b1));
  EXPECT_FALSE(fs::exists(out() / "plots/a" / a1.filename()));
  EXPECT_TRUE(fs::exists(out() / "plots/a" / a3.filename() / "a.svg"));
  prune({.keep = 0});
  EXPECT_TRUE(fs::is_empty(out() / "results"));
  EXPECT_TRUE(fs::is_empty(out() / "plots"));
}

TEST_F(Prune, KeepsWhatIsTaggedWhereAsked) {
  const fs::path tagged = make_run("a", 11, R"("status": "done", "tags": ["night"])");
  const fs::path unreadable = make_run("a", 12, "no json");
  const fs::path plain = make_run("a", 13);
  EXPECT_THAT(runs_to_prune(out(), {.keep = 0, .keep_tagged = true}), ElementsAre(plain));
  EXPECT_THAT(runs_to_prune(out(), {.keep = 0}), ElementsAre(plain, unreadable, tagged));
}

TEST_F(Prune, NeverTakesARunThatIsWritten) {
  const fs::path written = make_run("a", 11, R"("status": "running")");
  AppendFile samples(written / "samples.csv");
  samples.lock();
  EXPECT_THAT(runs_to_prune(out(), {.keep = 0}), IsEmpty());
  const fs::path elsewhere = out() / "results/b/20261111T000000Z-another_host";
  fs::create_directories(elsewhere);
  replace_file(elsewhere / "results.csv", "point\r\n");
  replace_file(elsewhere / "run.json", R"({"status": "running"})");
  EXPECT_THAT(runs_to_prune(out(), {.keep = 0}), IsEmpty());
}

TEST_F(Prune, FollowsNoLinks) {
  const TemporaryDirectory elsewhere;
  const fs::path precious = elsewhere.path() / "20261111T000000Z-x";
  fs::create_directories(precious);
  replace_file(precious / "results.csv", "point\r\n");
  replace_file(precious / "run.json", R"({"status": "done"})");
  const fs::path own = make_run("a", 12);
  fs::create_directory_symlink(precious, out() / "results/a/20261111T000000Z-x");
  fs::create_directory_symlink(elsewhere.path(), out() / "results/linked");
  fs::create_symlink(precious / "results.csv", own / "link.csv");
  fs::remove_all(out() / "plots/a");
  fs::create_directory_symlink(elsewhere.path(), out() / "plots/a");
  fs::create_directories(elsewhere.path() / own.filename());
  EXPECT_THAT(runs_to_prune(out(), {.keep = 0}), ElementsAre(own));
  prune({.keep = 0});
  EXPECT_FALSE(fs::exists(own));
  EXPECT_TRUE(fs::exists(precious / "results.csv"));
  EXPECT_TRUE(fs::exists(elsewhere.path() / own.filename()));
}

TEST_F(Prune, OfManyAtOnceRemovesEachRunOnce) {
  for (int day = 10; day < 30; ++day) make_run("a", day);
  const std::vector<fs::path> runs = runs_to_prune(out(), {.keep = 2});
  ASSERT_EQ(runs.size(), 18u);
  std::vector<pid_t> processes(4);
  for (pid_t& process : processes) {
    process = ::fork();
    if (process != 0) continue;
    int removed = 0;
    try {
      for (const fs::path& run : runs) removed += remove_run(out(), run);
    } catch (const std::exception&) {
      removed = 255;
    }
    ::_exit(removed);
  }
  int removed = 0;
  for (const pid_t process : processes) {
    int status = 0;
    ::waitpid(process, &status, 0);
    removed += WEXITSTATUS(status);
  }
  EXPECT_EQ(removed, 18);
  EXPECT_EQ(list_runs(out()).size(), 2u);
}

TEST_F(Prune, RemovesWhatAKilledPruneHasLeft) {
  const fs::path gone = make_run("a", 11), stays = make_run("a", 12), also = make_run("a", 13);
  fs::rename(gone, gone.parent_path() / ("." + gone.filename().string() + ".0.tmp"));
  EXPECT_EQ(list_runs(out()).size(), 2u) << "it is no run any more";
  prune({.keep = 1});
  remove_left_overs_of_runs(out());
  EXPECT_EQ(std::distance(fs::directory_iterator(also.parent_path()), {}), 1);
  EXPECT_FALSE(fs::exists(stays));
}

TEST_F(Prune, RemovesWhatAKilledRunHasLeft) {
  const fs::path died = make_run("a", 11), elsewhere = out() / "results/a/20261112T000000Z-another_host";
  const fs::path never_began = died.parent_path() / ("20261113T000000Z-" + host_name());
  const fs::path charts = out() / "plots/a" / died.filename();
  for (const fs::path& folder : {out() / "results", died, elsewhere, never_began, charts}) {
    fs::create_directories(folder);
    replace_file(folder / "whole", "whole");
    replace_file(folder / ".half.0.tmp", "half");
  }
  const OutputFolder being_made(died / "inner");
  remove_left_overs_of_runs(out());
  for (const fs::path& folder : {out() / "results", died, never_began, charts}) {
    EXPECT_TRUE(fs::exists(folder / "whole"));
    EXPECT_FALSE(fs::exists(folder / ".half.0.tmp"));
  }
  EXPECT_TRUE(fs::exists(elsewhere / ".half.0.tmp")) << "its locks cannot be seen";
  EXPECT_TRUE(fs::exists(being_made.place()));
}

TEST_F(Prune, LeavesAloneWhatIsNoRun) {
  fs::create_directories(out() / "results/a/notes");
  replace_file(out() / "results/a/notes/text", "mine");
  EXPECT_THAT(runs_to_prune(out(), {.keep = 0}), IsEmpty());
}

TEST_F(Prune, NamesAFolderThatItCannotUse) {
  EXPECT_ERROR(HasSubstr("prune: there is no folder '"), runs_to_prune(out() / "nowhere", {.keep = 1}));
  const TemporaryDirectory elsewhere;
  fs::create_directory_symlink(elsewhere.path(), out() / "results");
  EXPECT_ERROR(HasSubstr("is a link, and links are not followed: give the folder that it names"),
               runs_to_prune(out(), {.keep = 1}));
}

}  // namespace
}  // namespace gpubench
