// The op cases and what else needs a GPU as one CTest test, skipped with the reason where there is none. With
// GPU_TESTS_MEMORY=apart every tensor of the op cases has memory of its own, for compute-sanitizer.
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string_view>

#include "tests/core/backend/cuda/memory_apart.h"
#include "tests/support/case_checks.h"
#include "tests/support/evaluate.h"

namespace {

/// Prints the op cases, or types of them, that the backend refused because it does not fuse them: nothing was checked.
void print_refused(const testing::UnitTest& tests) {
  int cases = 0;
  for (int i = 0; i < tests.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *tests.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& info = *suite.GetTestInfo(j);
      for (int k = 0; k < info.result()->test_property_count(); ++k) {
        const testing::TestProperty& property = info.result()->GetTestProperty(k);
        if (std::string_view(property.key()) != "refused") continue;
        std::printf("refused: %s.%s: %s\n", suite.name(), info.name(), property.value());
        ++cases;
      }
    }
  }
  if (cases > 0) std::printf("%d cases unchecked, at least in one type: the backend does not fuse them\n", cases);
}

}  // namespace

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
  const int status = RUN_ALL_TESTS();
  print_refused(*testing::UnitTest::GetInstance());
  return status;
}
