#include "core/compare/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Baselines : public TemporaryFolder {
 protected:
  std::filesystem::path run(const std::string& name, const std::string& table) const {
    const std::filesystem::path folder = file("results/e/" + name);
    std::filesystem::create_directories(folder);
    for (const char* part : {"run.json", "samples.csv"}) write("results/e/" + name + "/" + part, "{}");
    write("results/e/" + name + "/results.csv", table);
    return folder;
  }
};

TEST_F(Baselines, KeepTablesAndFactsOnly) {
  const std::vector<std::filesystem::path> runs{run("r1", "one")};
  const std::filesystem::path folder = save_baseline("v1", runs, file(""));
  EXPECT_EQ(contents(folder / "e/r1/results.csv"), "one");
  EXPECT_TRUE(std::filesystem::exists(folder / "e/r1/run.json"));
  EXPECT_FALSE(std::filesystem::exists(folder / "e/r1/samples.csv"));
  EXPECT_THAT(baseline_names(file("")), ElementsAre("v1"));
  EXPECT_TRUE(is_baseline(baseline_folder("v1", file(""))));
}

TEST_F(Baselines, AreReplacedAsAWhole) {
  const std::vector<std::filesystem::path> first{run("r1", "one")}, second{run("r2", "two")};
  save_baseline("v1", first, file(""));
  save_baseline("v1", second, file(""));
  EXPECT_FALSE(std::filesystem::exists(file("baselines/v1/e/r1")));
  EXPECT_EQ(contents(file("baselines/v1/e/r2/results.csv")), "two");
  const std::vector<std::filesystem::path> missing{file("gone")};
  EXPECT_THROW(save_baseline("v1", missing, file("")), Error);
  EXPECT_EQ(contents(file("baselines/v1/e/r2/results.csv")), "two") << "a failure leaves it as it was";
  EXPECT_THAT(baseline_names(file("")), ElementsAre("v1"));
}

TEST_F(Baselines, NoneIsCalledAsTheNewestRunIs) {
  EXPECT_THROW(save_baseline("last", std::vector{file("run")}, file("out")), Error);
}

TEST_F(Baselines, BadNamesAreRefused) {
  const std::vector<std::filesystem::path> runs{run("r1", "one")};
  for (const char* name : {"", "..", "a/b", "-x", "a b"})
    EXPECT_ERROR(HasSubstr("cannot name a baseline"), save_baseline(name, runs, file("")));
  EXPECT_ERROR(HasSubstr("no runs to save"), save_baseline("v1", {}, file("")));
  EXPECT_THAT(baseline_names(file("")), IsEmpty());
  EXPECT_FALSE(is_baseline(baseline_folder("../x", file(""))));
}

}  // namespace
}  // namespace gpubench
