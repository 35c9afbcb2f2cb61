// Processes of other people's machines (shared/data/fleet, see its README). At most 4 of a kind were measured there, so
// the only right verdict is that there are too few.
#include <filesystem>
#include <gtest/gtest.h>
#include <set>

#include "core/compare/column_roles.h"
#include "core/compare/comparison.h"
#include "core/compare/foreign/foreign.h"

namespace gpubench {
namespace {

TEST(Fleet, NoPairOfProcessesOfOneMachineIsCalledDifferent) {
  const std::filesystem::path file = std::filesystem::path(GPUBENCH_SOURCE_DIR) / "../shared/data/fleet/processes.csv";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  Side odd{.name = "odd", .processes = {}}, even{.name = "even", .processes = {}};
  std::size_t number = 0;
  for (MeasuringProcess& process : read_foreign(file)) {
    process.source = process.name;
    (++number % 2 == 1 ? odd : even).processes.push_back(std::move(process));
  }
  std::vector<Side> sides{std::move(odd), std::move(even)};
  settle_roles(sides, {});
  const Comparison comparison = compare_sides(sides);
  EXPECT_GT(comparison.common_rows, 10u);
  EXPECT_EQ(comparison.count(ChangeVerdict::ambiguous), comparison.common_rows);
  EXPECT_EQ(comparison.tested(), 0u);
}

}  // namespace
}  // namespace gpubench
