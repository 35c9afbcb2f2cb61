// The op cases and what else needs a GPU as one CTest test, skipped with the reason where there is none. With
// GPU_TESTS_MEMORY=apart every tensor of the op cases has memory of its own, for compute-sanitizer.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/device/memory_pool.h"
#include "tests/support/case_checks.h"
#include "tests/support/evaluate.h"

namespace gpubench {
namespace {

/// One piece; the pool asks for it rounded up, and gets it as it is.
class OnePiece final : public MemorySource {
 public:
  explicit OnePiece(std::size_t bytes) : bytes_(bytes) {}
  std::byte* allocate(std::size_t) override {
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes_) != cudaSuccess) return nullptr;
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* memory, std::size_t) override { cudaFree(memory); }

 private:
  std::size_t bytes_;
};

/// A pool of one buffer, taken whole at first use.
struct Apart {
  explicit Apart(std::size_t bytes)
      : pool("apart", std::make_unique<OnePiece>(bytes), {.growth = false, .limit = rounded(bytes)}),
        buffer(pool.allocate(bytes, "test")) {}
  static std::size_t rounded(std::size_t bytes) {
    return (bytes + MemoryPool::alignment - 1) / MemoryPool::alignment * MemoryPool::alignment;
  }
  MemoryPool pool;
  Buffer buffer;
};

/// Device memory of its own from the CUDA runtime, exactly as large as asked for, so that compute-sanitizer sees every
/// access beside it and every read of what was not written. On the current GPU. Throws OutOfMemory.
std::shared_ptr<Buffer> allocate_apart(std::size_t bytes) {
  const auto apart = std::make_shared<Apart>(std::max<std::size_t>(bytes, 1));
  return {apart, &apart->buffer};
}

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

/// Prints how many tests took each implementation: tests/gpu/page.lua names the traced ones that none took.
void print_implementations(const testing::UnitTest& tests) {
  std::map<std::string, int> counts;
  for (int i = 0; i < tests.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *tests.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestResult& result = *suite.GetTestInfo(j)->result();
      for (int k = 0; k < result.test_property_count(); ++k) {
        const testing::TestProperty& property = result.GetTestProperty(k);
        if (std::string_view(property.value()) == support::implementation_property) ++counts[property.key()];
      }
    }
  }
  for (const auto& [name, count] : counts) std::printf("implementation: %d tests took %s\n", count, name.c_str());
}

}  // namespace
}  // namespace gpubench

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
  gpubench::print_refused(*testing::UnitTest::GetInstance());
  gpubench::print_implementations(*testing::UnitTest::GetInstance());
  return status;
}
