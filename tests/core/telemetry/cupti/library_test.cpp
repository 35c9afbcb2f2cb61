// The real library needs no driver to walk a buffer of records.
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <vector>

#include "core/base/error.h"
#include "core/base/shared_library.h"
#include "core/telemetry/cupti/activity_tracer.h"
#include "core/telemetry/cupti/cupti.h"

namespace gpubench {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

TEST(CuptiLibrary, OpensOrSaysWhyNot) {
  try {
    const ActivityTracer tracer;
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("libcupti.so"));
  }
}

template <class Record>
void put(std::vector<std::uint64_t>& buffer, CUpti_ActivityKind kind) {
  Record record{};
  record.kind = kind;
  const std::size_t begin = buffer.size();
  buffer.resize(begin + sizeof(Record) / sizeof(std::uint64_t));
  std::memcpy(&buffer[begin], &record, sizeof(Record));
}

TEST(CuptiLibrary, RecordsAreAsLongAsTheHeadersSay) {
  const std::string name = fmt::format("libcupti.so.{}", CUDA_VERSION / 1000);
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  std::unique_ptr<SharedLibrary> library;
  try {
    library = std::make_unique<SharedLibrary>(std::array<std::string_view, 1>{name},
                                              cuda_library_folders(python_package_folders()));
    library->bind(next_record, "cuptiActivityGetNextRecord");
    const ActivityTracer keeps_it_loaded;
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  std::vector<std::uint64_t> buffer;
  put<CUpti_ActivityKernel10>(buffer, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  put<CUpti_ActivityMemcpy6>(buffer, CUPTI_ACTIVITY_KIND_MEMCPY);
  put<CUpti_ActivityMemset4>(buffer, CUPTI_ACTIVITY_KIND_MEMSET);
  put<CUpti_ActivityMemcpyPtoP4>(buffer, CUPTI_ACTIVITY_KIND_MEMCPY2);
  put<CUpti_ActivityAPI>(buffer, CUPTI_ACTIVITY_KIND_RUNTIME);
  put<CUpti_ActivitySynchronization2>(buffer, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  put<CUpti_ActivityGraphTrace2>(buffer, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  put<CUpti_ActivityAPI>(buffer, CUPTI_ACTIVITY_KIND_DRIVER);
  std::vector<int> kinds;
  CUpti_Activity* record = nullptr;
  while (next_record(reinterpret_cast<std::uint8_t*>(buffer.data()), buffer.size() * sizeof(std::uint64_t), &record) ==
         CUPTI_SUCCESS) {
    kinds.push_back(record->kind);
  }
  EXPECT_THAT(kinds, ElementsAreArray({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                       CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMCPY2,
                                       CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                       CUPTI_ACTIVITY_KIND_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_DRIVER}));
}

}  // namespace
}  // namespace gpubench
