// The op cases and what else needs a GPU as one CTest test, skipped with the reason where there is none. With
// GPU_TESTS_MEMORY=apart every tensor of the op cases has memory of its own, for compute-sanitizer.
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string_view>

#include "tests/core/backend/cuda/memory_apart.h"
#include "tests/support/case_checks.h"
#include "tests/support/evaluate.h"

int main(int count, char** arguments) {
  constexpr int skipped = 77;  // what CTest is told (SKIP_RETURN_CODE)
  testing::InitGoogleTest(&count, arguments);
  if (gpubench::support::places().empty()) {
    std::printf("Skipped: %s\n", gpubench::support::why_no_place().c_str());
    return skipped;
  }
  const char* const memory = std::getenv("GPU_TESTS_MEMORY");
  if (memory != nullptr && std::string_view(memory) == "apart") {
    gpubench::support::lay_tensors_apart(&gpubench::allocate_apart);
  }
  return RUN_ALL_TESTS();
}
