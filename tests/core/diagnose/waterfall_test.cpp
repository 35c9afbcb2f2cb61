#include "core/diagnose/waterfall.h"

#include <gmock/gmock.h>
#include <map>
#include <numeric>

#include "tests/core/diagnose/row.h"

namespace gpubench::waterfall_test {
namespace {

using support::trained_row;

Waterfall waterfall_from(const Record& row) {
  const RunFacts facts;
  return waterfall_of(Evidence(row, facts));
}

double sum(const Waterfall& waterfall) {
  return std::accumulate(waterfall.terms.begin(), waterfall.terms.end(), 0.0,
                         [](double so_far, const WaterfallTerm& term) { return so_far + term.seconds; });
}

std::map<std::string_view, double> shares_of(const Waterfall& waterfall) {
  std::map<std::string_view, double> shares;
  for (const WaterfallTerm& term : waterfall.terms) shares[term.name] = term.share;
  return shares;
}

TEST(Waterfall, GoesFromTheIdealStepToTheMeasuredOne) {
  const Waterfall waterfall = waterfall_from(trained_row({{"compute_share", 0.5},
                                                          {"mfu", 0.2},
                                                          {"bandwidth_share", 0.3},
                                                          {"launch_share", 0.1},
                                                          {"copy_share", 0.05},
                                                          {"input_wait_share", 0.2},
                                                          {"host_share", 0.1},
                                                          {"other_share", 0.05}}));
  auto shares = shares_of(waterfall);
  EXPECT_NEAR(shares["ideal arithmetic"], 0.2, 1e-12);
  EXPECT_NEAR(shares["memory bandwidth"], 0.1, 1e-12);
  EXPECT_NEAR(shares["kernels below their peak"], 0.2, 1e-12);
  EXPECT_NEAR(shares["launch"], 0.1, 1e-12);
  EXPECT_NEAR(shares["copy"], 0.05, 1e-12);
  EXPECT_NEAR(shares["input wait"], 0.2, 1e-12);
  EXPECT_NEAR(shares["host"], 0.1, 1e-12);
  EXPECT_NEAR(shares["other"], 0.05, 1e-12);
  EXPECT_NEAR(waterfall.step_s, 0.01, 1e-12);
  EXPECT_NEAR(sum(waterfall), 0.01, 1e-12);
  EXPECT_EQ(waterfall.terms.front().name, "ideal arithmetic");
}

TEST(Waterfall, WhatIsNotKnownIsTheLastTerm) {
  Record row = trained_row({{"mfu", 0.3}});
  for (const char* column : {"compute_share", "launch_share", "host_share", "other_share", "copy_share"})
    row.set(column, Cell{});
  const Waterfall waterfall = waterfall_from(row);
  EXPECT_EQ(waterfall.terms.back().name, "other");
  EXPECT_NEAR(waterfall.terms.back().share, 0.69, 1e-12);
  EXPECT_NEAR(sum(waterfall), waterfall.step_s, 1e-12);
}

TEST(Waterfall, TermsNeverExceedTheStep) {
  const Waterfall waterfall =
      waterfall_from(trained_row({{"mfu", 1.2}, {"bandwidth_share", 2.0}, {"host_share", 0.4}}));
  EXPECT_NEAR(sum(waterfall), waterfall.step_s, 1e-12);
  for (const WaterfallTerm& term : waterfall.terms) EXPECT_GE(term.seconds, 0) << term.name;
}

TEST(Waterfall, KernelsWithoutARateAreOneTerm) {
  Record row = trained_row();
  row.set("mfu", Cell{});
  EXPECT_NEAR(shares_of(waterfall_from(row))["kernels"], 0.95, 1e-12);
}

TEST(Waterfall, WithoutAStepTimeThereIsNone) {
  EXPECT_TRUE(waterfall_from(Record{{"compute_share", 0.5}}).terms.empty());
}

}  // namespace
}  // namespace gpubench::waterfall_test
