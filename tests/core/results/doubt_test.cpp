#include "core/results/doubt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "core/results/mean_over_processes.h"

namespace gpubench {
namespace {

TEST(Doubt, KindsHaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const DoubtWords& one : doubt_words()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    if (one.kind == DoubtKind::none) continue;
    EXPECT_EQ(doubt_kind(one.name), one.kind);
    EXPECT_EQ(to_string(one.kind), one.name);
  }
  for (const char* name : {"", "none", "Busy", "of another program"}) EXPECT_EQ(doubt_kind(name), DoubtKind::unknown);
}

TEST(Doubt, RemediesNameABudgetOnlyWhereItHelps) {
  using ::testing::HasSubstr;
  using ::testing::Not;
  for (const DoubtKind kind : {DoubtKind::busy, DoubtKind::shared_gpu, DoubtKind::trained_once, DoubtKind::unfinished,
                               DoubtKind::shared_gpu, DoubtKind::wrong_result}) {
    EXPECT_THAT(std::string(words_of(kind).remedy), Not(HasSubstr("--budget"))) << to_string(kind);
  }
  EXPECT_THAT(std::string(words_of(DoubtKind::busy).remedy), HasSubstr("--wait-idle"));
  EXPECT_THAT(std::string(words_of(DoubtKind::overlap).remedy_if_learned), HasSubstr("'trials'"));
}

TEST(Doubt, OfARowIsItsKindAndItsSentence) {
  Record row{{"point", std::int64_t{1}}};
  set_doubt(row, {});
  EXPECT_EQ(to_text(row.get("quality")), "ok");
  EXPECT_FALSE(row.has("doubt"));
  EXPECT_FALSE(doubt_in(row));
  set_doubt(row, {DoubtKind::busy, "others took 20 %"});
  EXPECT_EQ(to_text(row.get("quality")), "unreliable: others took 20 %");
  EXPECT_EQ(to_text(row.get("doubt")), "busy");
  EXPECT_EQ(doubt_in(row).kind, DoubtKind::busy);
  EXPECT_EQ(doubt_in(row).text, "others took 20 %");
  set_doubt(row, {});
  EXPECT_FALSE(row.has("doubt"));
}

TEST(Doubt, OfAnOlderRunHasAnUnknownKind) {
  const Record row{{"quality", std::string("unreliable: others took 20 %")}, {"memory_quality", std::string("kept")}};
  EXPECT_EQ(doubt_in(row).kind, DoubtKind::unknown);
  EXPECT_EQ(doubt_in(row).text, "others took 20 %");
  EXPECT_EQ(doubt_in(row, "memory_quality").text, "kept");
  EXPECT_FALSE(doubt_in(Record{{"doubt", std::string("busy")}})) << "the quality decides";
}

TEST(Doubt, OfOneProcessIsThatOfTheirMean) {
  Record sound{{"process", std::int64_t{0}}, {"point", std::int64_t{1}}}, doubted = sound;
  set_doubt(sound, {});
  set_doubt(doubted, {DoubtKind::scatter, "known to 18 % only"});
  doubted.set("process", std::int64_t{1});
  const std::vector<Record> rows{sound, doubted};
  EXPECT_EQ(doubt_in(mean_over_processes(rows).at(0)).kind, DoubtKind::scatter);
}

}  // namespace
}  // namespace gpubench
