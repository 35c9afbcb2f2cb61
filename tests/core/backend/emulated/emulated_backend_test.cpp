#include "core/backend/emulated/emulated_backend.h"

#include <array>
#include <atomic>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "core/backend/emulated/emulated_device.h"
#include "core/backend/emulated/kernel_time.h"
#include "core/device/work_order.h"
#include "core/ops/matmul.h"
#include "core/ops/recurrent.h"
#include "core/tensor/device_id.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;

class EmulatedBackendTest : public testing::Test {
 protected:
  Device& device(const std::string& name) { return *backend_.named(parse_device_id(name)); }

  /// A product of this extent, planned on the device.
  std::unique_ptr<Kernel> product(Device& on, std::int64_t extent) {
    inputs_ = {{{extent, extent}, Dtype::f32}, {{extent, extent}, Dtype::f32}};
    outputs_ = {{{extent, extent}, Dtype::f32}};
    return backend_.plan(Matmul(), {inputs_, outputs_}, on);
  }
  double product_seconds(const std::string& profile, std::int64_t extent) {
    inputs_ = {{{extent, extent}, Dtype::f32}, {{extent, extent}, Dtype::f32}};
    outputs_ = {{{extent, extent}, Dtype::f32}};
    return kernel_seconds(known_profile(profile).profile, work_of(Matmul(), {inputs_, outputs_}));
  }

  /// Keeps the stream busy for so long that the host has queued everything before, also on a busy machine.
  static void hold(Stream& stream) {
    emulated_stream(stream).wait_until(Clock::now() + std::chrono::milliseconds(200));
  }

  EmulatedBackend backend_{BackendConfig{}};
  std::vector<TensorType> inputs_, outputs_;
};

TEST_F(EmulatedBackendTest, a_device_is_made_when_it_is_named) {
  EXPECT_TRUE(backend_.devices().empty());
  EXPECT_EQ(to_string(device("emulated:h200:7").id()), "emulated:h200:7");
  EXPECT_EQ(&device("emulated:h200:7"), &device("emulated:h200:7"));
  EXPECT_NE(device("emulated:h200:7").tracer_index(), device("emulated:t4:7").tracer_index());
  EXPECT_THAT(device("emulated:t4").description(),
              HasSubstr("emulated NVIDIA T4, 14 GiB: times from a profile, nothing is computed"));
}

TEST_F(EmulatedBackendTest, names_that_there_are_not_are_refused_with_the_possible_ones) {
  EXPECT_ERROR("there is no device emulated:h200:8; there are emulated:h200:0 to emulated:h200:7",
               device("emulated:h200:8"));
  EXPECT_ERROR(HasSubstr("unknown emulated accelerator 'tpu'"), device("emulated:tpu:0"));
  EXPECT_ERROR(
      "there is no device emulated:custom:0 yet: describe "
      "it with gb.config.set_custom_profile",
      device("emulated:custom:0"));
}

TEST_F(EmulatedBackendTest, event_times_are_exactly_those_of_the_profile) {
  Device& h200 = device("emulated:h200:0");
  const auto kernel = product(h200, 2048);
  const auto begin = h200.new_event(), end = h200.new_event();
  hold(h200.stream());
  h200.stream().record(*begin);
  constexpr int runs = 3;
  for (int run = 0; run < runs; ++run) kernel->run(h200.stream(), {}, {}, {});
  h200.stream().record(*end);
  EXPECT_EQ(end->since(*begin), Seconds(runs * to_clock(product_seconds("h200", 2048))));
}

TEST_F(EmulatedBackendTest, a_recurrence_launches_the_kernels_of_its_steps) {
  Device& h200 = device("emulated:h200:0");
  constexpr std::int64_t steps = 50, kernels = 2 * steps - 1;
  inputs_ = {{{steps, 4, 32}, Dtype::f32}, {{8, 32}, Dtype::f32}};
  const Recurrence lstm({});
  outputs_ = lstm.infer(inputs_);
  const auto kernel = backend_.plan(lstm, {inputs_, outputs_}, h200);
  const auto begin = h200.new_event(), end = h200.new_event();
  hold(h200.stream());
  h200.stream().record(*begin);
  kernel->run(h200.stream(), {}, {}, {});
  h200.stream().record(*end);
  const double seconds = kernel_seconds(known_profile("h200").profile, work_of(lstm, {inputs_, outputs_}));
  EXPECT_EQ(end->since(*begin), Seconds(kernels * to_clock(seconds / kernels)));
  EXPECT_EQ(end->since(*begin), *kernel->known_time());
  EXPECT_GT(seconds, kernels * known_profile("h200").profile.kernel_s);
}

TEST_F(EmulatedBackendTest, a_wait_ends_when_the_work_does) {
  Device& t4 = device("emulated:t4:0");
  const auto kernel = product(t4, 1024);
  const auto done = t4.new_event();
  EXPECT_TRUE(done->ready()) << "nothing was queued before it";
  kernel->run(t4.stream(), {}, {}, {});
  t4.stream().record(*done);
  done->wait();
  EXPECT_TRUE(done->ready());
  EXPECT_GE(Clock::now(), static_cast<EmulatedEvent&>(*done).at());
}

TEST_F(EmulatedBackendTest, streams_wait_for_events_and_share_the_kernels) {
  Device& t4 = device("emulated:t4:0");
  const auto kernel = product(t4, 1024);
  const auto other = t4.new_stream();
  const auto first = t4.new_event(), second = t4.new_event(), third = t4.new_event();
  hold(t4.stream());
  hold(*other);
  kernel->run(t4.stream(), {}, {}, {});
  t4.stream().record(*first);
  kernel->run(*other, {}, {}, {});
  other->record(*second);
  EXPECT_EQ(second->since(*first), Seconds(to_clock(product_seconds("t4", 1024)))) << "one at a time";
  const auto idle = t4.new_stream();
  idle->wait_for(*second);
  idle->record(*third);
  EXPECT_EQ(third->since(*second), Seconds(0));
}

TEST_F(EmulatedBackendTest, launches_that_outnumber_the_kernels_times_take_the_hosts_time) {
  EmulatedOptions options;
  options.custom = known_profile("h200").profile;
  options.custom->launch_s = 50e-6;
  BackendConfig config;
  config.own<EmulatedOptions>() = options;
  EmulatedBackend backend(config);
  Device& slow = *backend.named(parse_device_id("emulated:custom:0"));
  inputs_ = {{{2, 2}, Dtype::f32}, {{2, 2}, Dtype::f32}};
  outputs_ = {{{2, 2}, Dtype::f32}};
  const auto kernel = backend.plan(Matmul(), {inputs_, outputs_}, slow);
  const auto begin = slow.new_event(), end = slow.new_event();
  kernel->run(slow.stream(), {}, {}, {});
  slow.stream().record(*begin);
  constexpr int launches = 20;
  for (int launch = 0; launch < launches; ++launch) kernel->run(slow.stream(), {}, {}, {});
  slow.stream().record(*end);
  EXPECT_GE(end->since(*begin), Seconds(launches * to_clock(50e-6)));

  const auto queue = [&](Stream& stream) {
    for (int launch = 0; launch < launches; ++launch) kernel->run(stream, {}, {}, {});
  };
  const auto recording = slow.record(std::array{RecordedWork{{}, queue}});
  slow.stream().record(*begin);
  recording->launch(slow.stream());
  slow.stream().record(*end);
  slow.stream().synchronize();
  const double kernels = launches * kernel_seconds(*options.custom, work_of(Matmul(), {inputs_, outputs_}));
  EXPECT_GE(end->since(*begin).count(), kernels - 1e-6) << "one launch for all of them";
}

TEST_F(EmulatedBackendTest, a_recording_includes_work_of_other_streams) {
  Device& t4 = device("emulated:t4:0");
  const auto kernel = product(t4, 512);
  const Buffer here = t4.memory().allocate(1 << 20, "here");
  const Buffer there = t4.host_memory()->allocate(1 << 20, "there");
  const auto side = t4.new_stream();
  const auto reached = t4.new_event(), copied = t4.new_event();
  const auto queue = [&](Stream& stream) {
    kernel->run(stream, {}, {}, {});
    stream.record(*reached);
    side->wait_for(*reached);
    side->copy(there.data(), here.data(), 1 << 20);
    side->record(*copied);
    stream.wait_for(*copied);
  };
  const auto recording = t4.record(std::array{RecordedWork{{}, queue}});
  const auto begin = t4.new_event(), end = t4.new_event();
  const Profile& profile = known_profile("t4").profile;
  const Clock::duration length =
      to_clock(product_seconds("t4", 512)) + to_clock(profile.latency_s + (1 << 20) / profile.pinned_bytes_per_s);
  for (int launch = 0; launch < 2; ++launch) {
    hold(t4.stream());
    t4.stream().record(*begin);
    recording->launch(t4.stream());
    t4.stream().record(*end);
    EXPECT_EQ(end->since(*begin), Seconds(length));
  }
  side->record(*copied);
  copied->wait();
  EXPECT_TRUE(copied->ready()) << "the other stream runs its work by itself again";
}

TEST_F(EmulatedBackendTest, copies_take_the_times_of_their_link_and_bring_no_numbers) {
  Device& a100 = device("emulated:a100:0");
  const Profile& profile = known_profile("a100").profile;
  constexpr std::size_t bytes = 4 << 20;
  const Buffer memory = a100.memory().allocate(bytes, "memory"), other = a100.memory().allocate(bytes, "other");
  const Buffer pinned = a100.host_memory()->allocate(bytes, "pinned");
  std::vector<float> ordinary(bytes / sizeof(float), 1);
  const auto time_of = [&](void* to, const void* from) {
    EmulatedStream& stream = emulated_stream(a100.stream());
    hold(stream);
    const Clock::time_point before = stream.end();
    stream.copy(to, from, bytes);
    return Seconds(stream.end() - before).count();
  };
  EXPECT_NEAR(time_of(memory.data(), pinned.data()), profile.latency_s + bytes / profile.pinned_bytes_per_s, 1e-8);
  EXPECT_NEAR(time_of(ordinary.data(), memory.data()), profile.latency_s + bytes / profile.pageable_bytes_per_s, 1e-8);
  EXPECT_TRUE(std::isnan(ordinary.front()) && std::isnan(ordinary.back()));
  EXPECT_NEAR(time_of(other.data(), memory.data()), profile.kernel_s + 2 * bytes / profile.memory_bytes_per_s, 1e-8);
}

TEST_F(EmulatedBackendTest, memory_is_limited_and_takes_none_of_the_machines) {
  Device& t4 = device("emulated:t4:1");
  const Buffer most = t4.memory().allocate(std::size_t{13} << 30, "most of it");
  EXPECT_ERROR_OF(OutOfMemory, HasSubstr("emulated:t4:1: out of memory"),
                  t4.memory().allocate(std::size_t{4} << 30, "more"));
  BackendConfig config;
  config.own<EmulatedOptions>().memory[parse_device_id("emulated:t4:0")].limit = std::size_t{1} << 40;
  EmulatedBackend backend(config);
  EXPECT_ERROR(HasSubstr("emulated:t4:0: a memory limit of 1 TiB is more than the 14 GiB of NVIDIA T4"),
               backend.named(parse_device_id("emulated:t4:0")));
}

TEST_F(EmulatedBackendTest, the_label_says_how_far_times_are_checked) {
  Device& t4 = device("emulated:t4:0");
  EXPECT_EQ(t4.emulation(), "emulated NVIDIA T4, not measured on one");
  const auto kernel = product(t4, 8);
  kernel->run(t4.stream(), {}, {}, {});
  EXPECT_THAT(t4.emulation(), HasSubstr("; 100 % of its kernel time is in kernels below 50 µs, which are not checked "
                                        "against a GPU"));
  EXPECT_EQ(device("emulated:h200:0").emulation(),
            "emulated NVIDIA H200, not measured on one; its profile is not checked against a GPU");
}

TEST_F(EmulatedBackendTest, a_tracer_records_the_work_and_the_hosts_part_in_it) {
  Device& t4 = device("emulated:t4:0");
  const auto kernel = product(t4, 512);
  const std::unique_ptr<Tracer> tracer = backend_.new_tracer(), second = backend_.new_tracer();
  tracer->start();
  EXPECT_ERROR(HasSubstr("another trace of the emulated devices is running"), second->start());
  hold(t4.stream());  // so that the host waits for the kernel
  kernel->run(t4.stream(), {}, {}, {});
  t4.stream().synchronize();
  Timeline timeline(100);
  EXPECT_EQ(tracer->stop(timeline), 0U);
  std::vector<SpanClass> classes;
  for (const Span& span : timeline.spans()) classes.push_back(span.span_class);
  EXPECT_THAT(classes, testing::UnorderedElementsAre(SpanClass::launch, SpanClass::compute, SpanClass::host_sync));
  for (const Span& span : timeline.spans()) {
    if (span.span_class != SpanClass::compute) continue;
    EXPECT_EQ(span.end - span.begin, to_clock(product_seconds("t4", 512)));
    EXPECT_EQ(span.gpu, *t4.tracer_index());
    EXPECT_EQ(timeline.text(span.name), "matmul");
  }
  kernel->run(t4.stream(), {}, {}, {});
  timeline.clear();
  tracer->start();
  EXPECT_EQ(tracer->stop(timeline), 0U);
  EXPECT_TRUE(timeline.spans().empty()) << "work between two traces is in none";
}

}  // namespace
}  // namespace gpubench
