#include "core/trace/activity.h"

#include <gmock/gmock.h>

namespace gpubench {
namespace {

using ::testing::ElementsAre;
using namespace std::chrono_literals;
using Kind = CuptiActivity::Kind;

// CUPTI's clock is 1000 ns ahead and runs as fast as ours.
const ClockConversion shifted({Clock::time_point(0ns), 1000}, {Clock::time_point(500ns), 1500});

CuptiActivity activity(Kind kind, const std::string& name, std::uint64_t begin, std::uint64_t end,
                       std::uint32_t correlation = 0) {
  CuptiActivity result;
  result.kind = kind;
  result.name = name;
  result.begin_ns = begin;
  result.end_ns = end;
  result.correlation = correlation;
  return result;
}

class ActivityTest : public ::testing::Test {
 protected:
  std::span<const Span> converted(const std::vector<CuptiActivity>& activities) {
    lost_ = add_spans(activities, shifted, timeline_);
    return timeline_.spans();
  }
  std::vector<bool> exact(const std::vector<CuptiActivity>& activities) {
    std::vector<bool> result;
    for (const Span& span : converted(activities)) result.push_back(span.is_exact);
    timeline_.clear();
    return result;
  }

  Timeline timeline_{16};
  std::size_t lost_ = 0;
};

TEST_F(ActivityTest, ClocksAreConvertedWithTheirDrift) {
  EXPECT_EQ(shifted(1250), Clock::time_point(250ns));
  EXPECT_EQ(shifted(900), Clock::time_point(-100ns)) << "before the first reading too";
  const ClockConversion drifting({Clock::time_point(0ns), 1000000}, {Clock::time_point(2000000ns), 2000000});
  EXPECT_EQ(drifting(1500000), Clock::time_point(1000000ns));
  const ClockConversion late({Clock::time_point(1h), 9'000'000'000'000'000'000U},
                             {Clock::time_point(1h + 1s), 9'000'000'001'000'000'000U});
  EXPECT_EQ(late(9'000'000'000'000'000'007U), Clock::time_point(1h + 7ns)) << "no digit is lost";
  const ClockConversion one_moment({Clock::time_point(5ns), 10}, {Clock::time_point(5ns), 10});
  EXPECT_EQ(one_moment(11), Clock::time_point(6ns));
}

TEST_F(ActivityTest, RecordsBecomeSpansOfTheirClass) {
  CuptiActivity kernel = activity(Kind::kernel, "gemm", 1100, 1200, 7);
  kernel.device = 1;
  kernel.stream = 13;
  CuptiActivity call = activity(Kind::api_call, "cudaLaunchKernel_v7000", 1050, 1060, 7);
  call.thread = 99;
  const auto spans = converted(
      {kernel, call, activity(Kind::copy, "copy host to device", 1, 2),
       activity(Kind::peer_copy, "copy between devices", 1, 2), activity(Kind::memset, "memset", 1, 2),
       activity(Kind::synchronization, "waiting", 1, 2), activity(Kind::kernel, "ncclDevKernel_AllReduce", 1, 2)});
  std::vector<SpanClass> classes;
  for (const Span& span : spans) classes.push_back(span.span_class);
  EXPECT_THAT(classes, ElementsAre(SpanClass::compute, SpanClass::launch, SpanClass::copy, SpanClass::communication,
                                   SpanClass::memset, SpanClass::host_sync, SpanClass::communication));
  EXPECT_EQ(spans[0].begin, Clock::time_point(100ns));
  EXPECT_EQ(spans[0].end, Clock::time_point(200ns));
  EXPECT_EQ(spans[0].correlation, spans[1].correlation);
  EXPECT_EQ(timeline_.text(spans[0].name), "gemm");
  EXPECT_EQ(timeline_.text(spans[0].lane), "gpu:1 stream 13");
  EXPECT_EQ(timeline_.text(spans[1].lane), "host thread 99");
  EXPECT_EQ(spans[0].gpu, 1);
  EXPECT_EQ(spans[1].gpu, -1) << "the host";
  EXPECT_EQ(spans[2].gpu, 0);
  EXPECT_EQ(spans[5].gpu, -1);
  EXPECT_EQ(lost_, 0U);
}

TEST_F(ActivityTest, CallsAreClassedByWhatTheHostDoesInThem) {
  for (const char* name :
       {"cudaLaunchKernel_v7000", "cuLaunchKernelEx", "cudaGraphLaunch_v10000", "cudaMemcpyAsync_v3020",
        "cudaMemsetAsync_v3020", "cudaEventRecord_v3020", "cudaStreamWaitEvent_v3020"}) {
    EXPECT_EQ(class_of_call(name), SpanClass::launch) << name;
  }
  for (const char* name :
       {"cudaDeviceSynchronize_v3020", "cuStreamSynchronize", "cudaMemcpy_v3020", "cudaEventQuery_v3020"}) {
    EXPECT_EQ(class_of_call(name), SpanClass::host_sync) << name;
  }
  for (const char* name : {"cuModuleLoadData", "cudaGraphInstantiate_v12000", "cuLibraryLoadData"}) {
    EXPECT_EQ(class_of_call(name), SpanClass::compile) << name;
  }
  EXPECT_EQ(class_of_call("cudaMalloc_v3020"), SpanClass::host_compute);
}

TEST_F(ActivityTest, RecordsWithoutTimesAreLost) {
  EXPECT_TRUE(converted({activity(Kind::kernel, "gemm", 0, 0), activity(Kind::kernel, "gemm", 1100, 0)}).empty());
  EXPECT_EQ(lost_, 2U);
}

TEST_F(ActivityTest, AGraphsLaunchIsExactWithItsNodesTimes) {
  const CuptiActivity launch = activity(Kind::api_call, "cudaGraphLaunch_v10000", 1000, 1010, 5);
  const CuptiActivity plain = activity(Kind::api_call, "cudaLaunchKernel_v7000", 1020, 1030, 6);
  const CuptiActivity node = activity(Kind::kernel, "gemm", 1100, 1200, 5);
  EXPECT_THAT(exact({launch, node, plain}), ElementsAre(true, true, true));
  EXPECT_THAT(exact({launch, plain}), ElementsAre(false, true));
  EXPECT_THAT(exact({launch, activity(Kind::graph, "graph", 1100, 1200, 5)}), ElementsAre(false, false));
}

TEST_F(ActivityTest, TheDriversLaunchInsideTheRuntimesIsTheSame) {
  const CuptiActivity runtime = activity(Kind::api_call, "cudaGraphLaunch_v10000", 1000, 1010, 5);
  CuptiActivity driver = activity(Kind::api_call, "cuGraphLaunch", 1002, 1008, 6);
  const CuptiActivity node = activity(Kind::kernel, "gemm", 1100, 1200, 6);
  EXPECT_THAT(exact({runtime, driver, node}), ElementsAre(true, true, true));
  driver.thread = 2;
  EXPECT_THAT(exact({runtime, driver, node}), ElementsAre(false, true, true)) << "another thread's launch";
  const CuptiActivity later = activity(Kind::api_call, "cudaGraphLaunch_v10000", 2000, 2010, 9);
  EXPECT_THAT(exact({driver, node, later}), ElementsAre(true, true, false));
}

}  // namespace
}  // namespace gpubench
