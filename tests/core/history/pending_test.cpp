#include "core/history/pending.h"

#include <gmock/gmock.h>

#include "core/codec/output_file.h"
#include "core/results/run_directory.h"
#include "tests/core/history/nights.h"
#include "tests/core/results/file_size_limit.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using support::date_of;
using support::no_patience_ms;
using support::write_run;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PendingTest : public TemporaryFolder {
 protected:
  std::filesystem::path out() const { return file("out"); }
  std::filesystem::path night(int day) const { return write_run({.started = date_of(day)}, out()); }
  Appended append(const std::vector<std::filesystem::path>& runs) const {
    return append_or_wait(out(), runs, no_patience_ms);
  }
  std::vector<std::string> dates() const {
    std::vector<std::string> all;
    for (const HistoryRun& run : RunHistory(history_file(out())).runs()) all.push_back(run.started.substr(0, 10));
    return all;
  }
};

TEST_F(PendingTest, RowsWaitForALockedHistory) {
  append({night(0)});
  {
    const Database other(history_file(out()), no_patience_ms);
    const Transaction writes(other);
    const Appended second = append({night(1)});
    EXPECT_EQ(second.appended, 0u);
    EXPECT_THAT(second.pending, ElementsAre(HasSubstr("another program is writing")));
    EXPECT_THAT(append({night(2)}).pending, SizeIs(2)) << "the order of runs is kept";
  }
  EXPECT_THAT(waiting_runs(out()), SizeIs(2));
  EXPECT_EQ(append({night(3)}).appended, 3u);
  EXPECT_THAT(dates(), ElementsAre("2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"));
  EXPECT_THAT(waiting_runs(out()), IsEmpty());
}

TEST_F(PendingTest, RowsWaitForADamagedHistory) {
  const auto first = night(0);
  replace_file(history_file(out()), std::string(4096, 'x'));
  EXPECT_THAT(append({first}).pending, ElementsAre(HasSubstr("damaged")));
  std::filesystem::remove(history_file(out()));
  EXPECT_EQ(append({}).appended, 1u);
}

TEST_F(PendingTest, RowsWaitOnAFullDisk) {
  append({night(0)});
  const auto second = night(1);
  {
    const FileSizeLimit limit(0);
    const Appended appended = append({second, file("no folder")});
    ASSERT_THAT(appended.pending, SizeIs(2));
    EXPECT_THAT(appended.pending[1], HasSubstr("history --rebuild")) << "the mark cannot be written either";
    EXPECT_THAT(appended.unmarked, ElementsAre(file("no folder").string()));
  }
  EXPECT_THAT(waiting_runs(out()), ElementsAre(second)) << "an empty mark needs no space";
  EXPECT_EQ(append({}).appended, 1u);
}

TEST_F(PendingTest, WhatIsNoRunIsRefusedAndCostsOthersNothing) {
  const auto first = night(0);
  const Appended appended = append({file("nothing"), first, first});
  EXPECT_THAT(appended.refused, ElementsAre(HasSubstr("nothing")));
  EXPECT_EQ(appended.appended, 1u);
  EXPECT_EQ(append({first}).known, 1u);
}

}  // namespace
}  // namespace gpubench
