#include <gtest/gtest.h>

#include "core/telemetry/cupti/cupti.h"
#include "tests/core/telemetry/cupti/fake_cupti.h"

namespace gpubench {
namespace {

using support::FakeCupti;
using Kind = CuptiActivity::Kind;

template <class Record>
std::optional<CuptiActivity> decoded(const Record& record) {
  return decode(reinterpret_cast<const CUpti_Activity&>(record), FakeCupti::functions());
}

template <class Record>
Record record_of(CUpti_ActivityKind kind) {
  Record record{};
  record.kind = kind;
  record.start = 10;
  record.end = 20;
  record.correlationId = 5;
  return record;
}

TEST(Decode, KernelsHaveReadableNames) {
  const auto kernel = decoded(FakeCupti::kernel("_Z4reluPfi", 10, 20, 5));
  EXPECT_EQ(kernel->kind, Kind::kernel);
  EXPECT_EQ(kernel->name, "relu(float*, int)");
  EXPECT_EQ(kernel->begin_ns, 10U);
  EXPECT_EQ(kernel->end_ns, 20U);
  EXPECT_EQ(kernel->correlation, 5U);
  EXPECT_EQ(kernel->device, 2U);
  EXPECT_EQ(kernel->stream, 7U);
  EXPECT_EQ(decoded(FakeCupti::kernel("sm90_gemm_bf16", 1, 2, 3))->name, "sm90_gemm_bf16");
  EXPECT_EQ(decoded(FakeCupti::kernel(nullptr, 1, 2, 3))->name, "unknown");
}

TEST(Decode, CopiesAndFills) {
  auto copy = record_of<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.streamId = 9;
  EXPECT_EQ(decoded(copy)->kind, Kind::copy);
  EXPECT_EQ(decoded(copy)->name, "copy from the host to the device");
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  EXPECT_EQ(decoded(copy)->name, "copy from pageable memory to the device");
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  EXPECT_EQ(decoded(copy)->name, "copy from pinned memory to the device");
  EXPECT_EQ(decoded(copy)->stream, 9U);
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  EXPECT_EQ(decoded(copy)->name, "copy from the device to the host");
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
  EXPECT_EQ(decoded(copy)->name, "copy within the device");
  EXPECT_EQ(decoded(record_of<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2))->kind, Kind::peer_copy);
  EXPECT_EQ(decoded(record_of<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET))->kind, Kind::memset);
  EXPECT_EQ(decoded(record_of<CUpti_ActivityGraphTrace2>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE))->kind, Kind::graph);
}

TEST(Decode, CallsAreNamedByTheirNumber) {
  auto call = record_of<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
  call.cbid = 13;
  call.threadId = 4;
  EXPECT_EQ(decoded(call)->kind, Kind::api_call);
  EXPECT_EQ(decoded(call)->name, "cudaLaunchKernel_v7000");
  EXPECT_EQ(decoded(call)->thread, 4U);
  call.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  EXPECT_EQ(decoded(call)->name, "cuLaunchKernel");
  call.cbid = 9999;
  EXPECT_EQ(decoded(call)->name, "CUDA call");
}

TEST(Decode, OnlyTheHostsWaitingIsSynchronization) {
  auto wait = record_of<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  EXPECT_EQ(decoded(wait)->kind, Kind::synchronization);
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
  EXPECT_FALSE(decoded(wait));
}

TEST(Decode, OtherRecordsAreNoSpans) {
  CUpti_Activity record{};
  record.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  EXPECT_FALSE(decoded(record));
}

}  // namespace
}  // namespace gpubench
