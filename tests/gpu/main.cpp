// The op cases on a real GPU: one CTest test, skipped with the reason where there is none.
#include <cstdio>
#include <gtest/gtest.h>

#include "tests/support/case_checks.h"

int main(int count, char** arguments) {
  constexpr int skipped = 77;  // what CTest is told (SKIP_RETURN_CODE)
  testing::InitGoogleTest(&count, arguments);
  if (!gpubench::support::places().empty()) return RUN_ALL_TESTS();
  std::printf("Skipped: %s\n", gpubench::support::why_no_place().c_str());
  return skipped;
}
