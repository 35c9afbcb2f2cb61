#include "core/results/step_classes.h"

#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/results/append_file.h"
#include "core/results/column.h"

namespace gpubench {
namespace {

using namespace std::chrono_literals;

TEST(StepClasses, ARowsSharesSumToOneWhateverTheStepDoes) {
  for (std::size_t alone = 0; alone < span_class_count; ++alone) {
    Breakdown parts{.window = {Clock::time_point(0s), Clock::time_point(1s)}, .doubt = {}};
    parts.charged[alone] = 600ms;
    parts.charged[span_class_count - 1 - alone] += 400ms;
    Record row;
    set_breakdown(row, parts, 4, ExchangeSource::host);
    double sum = 0;
    for (const StepClass& one : step_classes) sum += number_in(row.get(one.column)).value();
    EXPECT_NEAR(sum, 1, 1e-12) << to_string(static_cast<SpanClass>(alone));
    EXPECT_EQ(row.get("traced_step_time_s"), Cell(0.25));
  }
}

TEST(StepClasses, ExchangesAreLeftToWhoKnowsThem) {
  const Breakdown parts{.window = {Clock::time_point(0s), Clock::time_point(1s)}, .doubt = {}};
  Record alone, on_devices;
  set_breakdown(alone, parts, 1);
  EXPECT_TRUE(alone.has("communication_share"));
  EXPECT_FALSE(alone.has("peer_wait_share"));
  set_breakdown(on_devices, parts, 1, ExchangeSource::devices);
  EXPECT_FALSE(on_devices.has("communication_share") || on_devices.has("peer_wait_share"));
}

/// Steps of one second and a bit, of which `computing` is the share in kernels.
std::vector<Breakdown> steps_with(std::initializer_list<double> computing) {
  std::vector<Breakdown> steps;
  for (const double share : computing) {
    Breakdown& one = steps.emplace_back();
    one.window.end = one.window.begin + 1s + 10ms * steps.size();
    one.charged[0] = std::chrono::duration_cast<Clock::duration>(one.window.length() * share);
    one.charged[span_class_count - 1] = one.window.length() - one.charged[0];
  }
  return steps;
}

TEST(StepClasses, SharesHaveIntervalsFromSixStepsOn) {
  Record row{{"compute_share", 0.25}, {"copy_share", 0.0}};
  set_share_intervals(row, steps_with({0.5, 0.5, 0.5, 0.5, 0.5}));
  EXPECT_FALSE(row.has("compute_low_share"));
  set_share_intervals(row, steps_with({0.4, 0.5, 0.6, 0.4, 0.5, 0.6}));
  const double low = number_in(row.get("compute_low_share")).value(),
               high = number_in(row.get("compute_high_share")).value();
  // Student's t of six values with a deviation of 0.09: 0.5 +- 0.094, and half of it for half of the share.
  EXPECT_NEAR(low, 0.25 - 0.047, 0.003);
  EXPECT_NEAR(high, 0.25 + 0.047, 0.003);
  EXPECT_FALSE(row.has("copy_low_share")) << "no step copies";
  EXPECT_FALSE(row.has("other_low_share")) << "the row has no such share";
  set_share_intervals(row, steps_with({0.5, 0.5, 0.5, 0.5, 0.5, 0.5}));
  EXPECT_NEAR(number_in(row.get("compute_low_share")).value(), 0.25, 1e-6) << "steps differ in length alone";
}

TEST(StepClasses, AreDeclaredAndDocumented) {
  std::string table = "| column | the moments in which |\n|---|---|\n";
  for (const StepClass& one : step_classes) {
    const Column* const column = find_standard_column(one.column);
    ASSERT_NE(column, nullptr) << one.column;
    EXPECT_THAT(column->description, ::testing::HasSubstr(one.meaning));
    table += fmt::format("| `{}` | {} |\n", one.column, one.meaning);
  }
  const std::string page = read_file(std::filesystem::path(GPUBENCH_SOURCE_DIR) / "docs/profiles.md");
  EXPECT_THAT(page, ::testing::HasSubstr(table)) << "docs/profiles.md";
}

}  // namespace
}  // namespace gpubench
