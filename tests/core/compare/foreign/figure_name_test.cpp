#include "core/compare/foreign/figure_name.h"

#include <gmock/gmock.h>

#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

struct Named {
  std::string name, column;
  double scale = 1;
  Better better = Better::lower;
};

class FigureNames : public ::testing::TestWithParam<Named> {};

TEST_P(FigureNames, HaveUnitsOfOurs) {
  const auto& [name, column, scale, better] = GetParam();
  const ForeignColumn found = foreign_column(name);
  EXPECT_EQ(found.column.name, column) << name;
  EXPECT_EQ(found.scale, scale) << name;
  EXPECT_EQ(found.column.better, better) << name;
}

INSTANTIATE_TEST_SUITE_P(Times, FigureNames,
                         ::testing::Values(Named{"time_s", "time_s"}, Named{"time_ms", "time_s", 1e-3},
                                           Named{"gpu_time_us", "gpu_time_s", 1e-6}, Named{"step.ns", "step_s", 1e-9},
                                           Named{"seconds", "time_s"}, Named{"elapsed_seconds", "elapsed_s"},
                                           Named{"Milliseconds", "time_s", 1e-3}, Named{"Time (s)", "Time_s"},
                                           Named{"Time [ms]", "Time_s", 1e-3},
                                           Named{"wall time usec", "wall_time_s", 1e-6}, Named{"latency", "latency"},
                                           Named{"p99 latency (\u00B5s)", "p99_latency_s", 1e-6}));

INSTANTIATE_TEST_SUITE_P(Rates, FigureNames,
                         ::testing::Values(Named{"fps", "frames_per_s", 1, Better::higher},
                                           Named{"video_fps", "video_frames_per_s", 1, Better::higher},
                                           Named{"Elem/s", "elem_per_s", 1, Better::higher},
                                           Named{"BW (bytes/sec)", "BW_bytes_per_s", 1, Better::higher},
                                           Named{"examples per second", "examples_per_s", 1, Better::higher},
                                           Named{"bandwidth_gb_s", "bandwidth_gb_per_s", 1, Better::higher},
                                           Named{"throughput", "throughput", 1, Better::higher},
                                           Named{"examples_per_s", "examples_per_s", 1, Better::higher}));

INSTANTIATE_TEST_SUITE_P(NoTimes, FigureNames,
                         ::testing::Values(Named{"timestamp_ms", "timestamp_ms", 1, Better::neither},
                                           Named{"items_per_ms", "items_per_ms", 1, Better::neither},
                                           Named{"lr", "lr", 1, Better::neither},
                                           Named{"rms", "rms", 1, Better::neither},
                                           Named{"Util (%)", "Util_share", 1e-2, Better::neither},
                                           Named{"2nd try", "_2nd_try", 1, Better::neither}));

TEST(FigureName, NeedsALetterOrDigit) {
  EXPECT_ERROR(HasSubstr("cannot name a column"), foreign_column("--"));
  EXPECT_ERROR(HasSubstr("'' cannot name a column"), foreign_column(""));
}

}  // namespace
}  // namespace gpubench
