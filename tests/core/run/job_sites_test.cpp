#include "core/run/job_sites.h"

#include <gtest/gtest.h>

namespace gpubench {
namespace {

TEST(JobSites, NamesOfOthersAreSafeToShow) {
  EXPECT_EQ(place_of({.line = 12, .function = "Digits.__getitem__", .file = "jobs/train.py"}),
            "train.py:12 (Digits.__getitem__)");
  EXPECT_EQ(place_of({.line = 3, .function = "f\x1b[2J", .file = "\xff.py"}), "\\xff.py:3 (f\\x1b[2J)");
}

}  // namespace
}  // namespace gpubench
