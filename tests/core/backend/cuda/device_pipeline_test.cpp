// Pipelines whose elements end on a GPU. The streams of the CUDA on the CPU run as late as they may, or at once, so
// that a copy or a kernel that forgets to wait gives other elements; the host cannot read the GPU's memory.
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/data/cache/cache.h"
#include "core/data/epoch_record.h"
#include "core/data/function/graph_function.h"
#include "core/data/interleave/interleave.h"
#include "core/data/map/map.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/by_position.h"
#include "core/data/stage/combine.h"
#include "core/data/stage/filter.h"
#include "core/data/stage/ignore_errors.h"
#include "core/data/stage/padded_batch.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/repeat.h"
#include "core/data/stage/shuffle.h"
#include "core/data/stage/unbatch.h"
#include "core/data/tune/pipeline.h"
#include "core/device/device.h"
#include "core/ops/elementwise.h"
#include "core/ops/random.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/reading.h"
#include "tests/core/data/texts.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/device_configs.h"
#include "tests/support/expect_error.h"

namespace gpubench::device_pipeline_test {
namespace {

using testing::HasSubstr;

const DeviceId gpu{DeviceId::Kind::gpu, 0, {}}, cpu{};

const Devices& devices() {
  static const Devices two(support::gpu_devices({{}, {}}));
  return two;
}

DevicePlace place(const DeviceId& id = gpu) {
  return {std::shared_ptr<const Devices>(std::shared_ptr<void>(), &devices()), id};
}

CursorOptions takes_all() {
  return {.on_devices = true};
}

/// What bytes_of() gives for the same element on the host.
std::string fetched(const Element& element) {
  if (element.device == nullptr) return bytes_of(element);
  Stream& stream = devices().device(*element.device).stream();
  Element copy;
  for (const HostTensor& tensor : element) {
    HostTensor& here = copy.emplace_back(tensor.type());
    stream.copy(here.data(), tensor.data(), tensor.bytes());
  }
  stream.synchronize();
  return bytes_of(copy);
}

std::vector<std::string> fetched(Cursor& cursor) {
  std::vector<std::string> elements;
  for (Element element; cursor.next(element);) elements.push_back(fetched(element));
  return elements;
}

std::vector<std::string> fetched(const DatasetPtr& dataset, std::uint64_t epoch) {
  return fetched(*dataset->open(epoch, takes_all()));
}

/// (number, pair) -> (number, pair * 3 + uniform[2] of the element's number).
std::shared_ptr<const ElementFunction> noisy() {
  TracedElement trace;
  const Value number = trace.graph.input({{}, Dtype::i64}, "number"),
              pair = trace.graph.input({{2}, Dtype::f32}, "pair");
  const Value step = trace.graph.constant(HostTensor::scalar<std::int64_t>(0));
  const Value noise = ops::random_uniform(trace.graph, step, {2}, 0, 1, 5);
  trace.outputs = {number, ops::add(trace.graph, ops::mul(trace.graph, pair, trace.graph.constant(3.0F)), noise)};
  return graph_function(std::move(trace));
}

TracedElement doubling(std::int64_t rows) {
  TracedElement trace;
  const Value number = trace.graph.input({{rows}, Dtype::i64}, "number");
  const Value pair = trace.graph.input({{rows, 2}, Dtype::f32}, "pair");
  trace.outputs = {ops::add(trace.graph, pair, pair), number};
  return trace;
}

/// Of batches of any size.
std::shared_ptr<const ElementFunction> doubled() {
  return graph_function(doubling(2), doubling(3));
}

struct Row {
  const char* name;
  std::function<DatasetPtr(DatasetPtr numbers)> make;
  std::function<DatasetPtr(DatasetPtr numbers)> host;  // the same without a device
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.name;
}

const Row rows[] = {
    {"prefetch_to_device",
     [](DatasetPtr source) { return prefetch_to_device(batch(std::move(source), 3), place(), 2); },
     [](DatasetPtr source) { return batch(std::move(source), 3); }},
    {"map_of_elements", [](DatasetPtr source) { return map(std::move(source), noisy(), {.place = place()}); },
     [](DatasetPtr source) { return map(std::move(source), noisy()); }},
    {"map_of_batches",
     [](DatasetPtr source) { return map(batch(std::move(source), 3), doubled(), {.place = place()}); },
     [](DatasetPtr source) { return map(batch(std::move(source), 3), doubled()); }},
    {"map_of_what_is_there",
     [](DatasetPtr source) {
       return map(prefetch_to_device(map(std::move(source), noisy()), place(), 3), noisy(), {.place = place()});
     },
     [](DatasetPtr source) { return map(map(std::move(source), noisy()), noisy(), {.workers = 1}); }},
    {"stages_behind",
     [](DatasetPtr source) {
       return options(
           take(skip(repeat(map(shuffle(std::move(source), {.buffer = 5, .seed = 1}), noisy(), {.place = place()}), 3),
                     4),
                70),
           {.threads = 2});
     },
     [](DatasetPtr source) {
       return take(skip(repeat(map(shuffle(std::move(source), {.buffer = 5, .seed = 1}), noisy()), 3), 4), 70);
     }},
};

/// Over rows or opaque elements; with streams that are late or ahead.
class DeviceStages : public testing::TestWithParam<std::tuple<Row, bool, bool>> {
 protected:
  DeviceStages() { cuda_on_cpu::machine().hurry = std::get<2>(GetParam()); }
  ~DeviceStages() override { cuda_on_cpu::machine().hurry = false; }
  static DatasetPtr source() { return std::get<1>(GetParam()) ? opaque(numbers(40)) : numbers(40); }
  static DatasetPtr dataset() { return std::get<0>(GetParam()).make(source()); }
  static std::vector<std::string> expected(std::uint64_t epoch) {
    return bytes_of(std::get<0>(GetParam()).host(source()), epoch);
  }
};

std::string name_of(const testing::TestParamInfo<std::tuple<Row, bool, bool>>& info) {
  const auto& [row, elements, ahead] = info.param;
  return std::string(row.name) + (elements ? "_elements" : "_rows") + (ahead ? "_ahead" : "");
}
INSTANTIATE_TEST_SUITE_P(All, DeviceStages, testing::Combine(testing::ValuesIn(rows), testing::Bool(), testing::Bool()),
                         name_of);

TEST_P(DeviceStages, GiveWhatTheyGiveOnTheHost) {
  const DatasetPtr stage = dataset();
  ASSERT_NE(stage->device(), nullptr);
  EXPECT_EQ(*stage->device(), gpu);
  for (const std::uint64_t epoch : {0, 2}) EXPECT_EQ(fetched(stage, epoch), expected(epoch));
  const std::unique_ptr<Cursor> cursor = stage->open(0, takes_all());
  Element element;
  ASSERT_TRUE(cursor->next(element));
  ASSERT_NE(element.device, nullptr);
  EXPECT_EQ(*element.device, gpu);
}

TEST_P(DeviceStages, PassingOverElementsChangesNothingElse) {
  const DatasetPtr stage = dataset();
  const std::vector<std::string> all = expected(1);
  for (const std::size_t count : {0, 1, 3, 8, 1000}) {
    const std::unique_ptr<Cursor> cursor = stage->open(1, takes_all());
    const std::size_t passed = std::min(count, all.size());
    EXPECT_EQ(cursor->skip(static_cast<std::int64_t>(count)), static_cast<std::int64_t>(passed));
    EXPECT_EQ(fetched(*cursor), std::vector(all.begin() + static_cast<std::ptrdiff_t>(passed), all.end()));
  }
  const std::unique_ptr<Cursor> cursor = stage->open(1, takes_all());
  Element element;
  ASSERT_TRUE(cursor->next(element) && cursor->next(element));
  EXPECT_EQ(cursor->skip(2), 2);
  EXPECT_EQ(fetched(*cursor), std::vector(all.begin() + 4, all.end()));
}

void expect_no_memory_in_use() {
  EXPECT_EQ(devices().device(gpu).memory().use().in_use, 0U);
  EXPECT_EQ(devices().device(gpu).host_memory()->use().in_use, 0U);
}

TEST_P(DeviceStages, LeavingEarlyLeavesNothingBehind) {
  const std::ptrdiff_t before = thread_count();
  {
    Element element;  // outlives the cursor
    {
      const std::unique_ptr<Cursor> cursor = dataset()->open(0, takes_all());
      for (int i = 0; i < 3; ++i) ASSERT_TRUE(cursor->next(element));
      EXPECT_EQ(cursor->statistics().back().produced, 3);
    }
    EXPECT_EQ(fetched(element), expected(0)[2]);
  }
  expect_threads(before);
  expect_no_memory_in_use();
  { const std::unique_ptr<Cursor> untouched = dataset()->open(0, takes_all()); }
  expect_threads(before);
  expect_no_memory_in_use();
}

TEST_P(DeviceStages, WhoeverReadsInHostMemoryGetsAnError) {
  EXPECT_ERROR(HasSubstr(": its elements are on gpu:0, and what reads "
                         "the dataset works in host memory"),
               dataset()->open(0));
}

TEST(DevicePipeline, ElementsThatAreKeptStayAsTheyAre) {
  const DatasetPtr stage = prefetch_to_device(batch(numbers(40), 4), place(), 1);
  const std::vector<std::string> expected = bytes_of(batch(numbers(40), 4), 0);
  const std::unique_ptr<Cursor> cursor = stage->open(0, takes_all());
  std::vector<Element> kept;
  for (Element element; cursor->next(element);) kept.push_back(std::exchange(element, {}));
  ASSERT_EQ(kept.size(), expected.size());
  for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(fetched(kept[i]), expected[i]);
}

TEST(DevicePipeline, MemoryIsThatOfTheBufferAndOfWhatTheConsumerHolds) {
  const std::size_t element_bytes = 2 * MemoryPool::alignment;  // 4 numbers and 4 pairs, aligned
  const std::unique_ptr<Cursor> cursor =
      prefetch_to_device(repeat(batch(numbers(40), 4)), place(), 3)->open(0, takes_all());
  MemoryPool& memory = devices().device(gpu).memory();
  memory.reset_peak();
  Element element;
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(cursor->next(element));
  // Three in the buffer, one on its way into it, one whose copy is waited for, and the consumer's, which goes when the
  // next is asked for.
  EXPECT_LE(memory.use().peak, 6 * element_bytes);
}

TEST(DevicePipeline, CopiesAreCountedInTheStatistics) {
  const DatasetPtr stage = prefetch_to_device(batch(numbers(40), 4), place(), 2);
  const std::unique_ptr<Cursor> cursor = open_pipeline(*stage, 0, takes_all());
  for (Element element; cursor->next(element);) continue;
  const StageStatistics row = cursor->statistics().back();
  EXPECT_EQ(row.stage, "prefetch_to_device");
  EXPECT_EQ(row.produced, 10);
  EXPECT_EQ(row.bytes, 40 * 16);
  EXPECT_EQ(row.workers, 1);
  EXPECT_EQ(row.capacity, 2);
  EXPECT_GT(row.busy.count(), 0.0);
  EXPECT_EQ(describe(*stage), "from_tensor_slices > batch(size=4) > prefetch_to_device(device=gpu:0 buffer=2)");
}

TEST(DevicePipeline, AdjacentMapsOnADeviceAreOne) {
  const DatasetPtr stage = map(map(numbers(4), noisy(), {.place = place()}), noisy(), {.place = place()});
  EXPECT_EQ(describe(*stage), "from_tensor_slices > map(device=gpu:0)");
  EXPECT_EQ(fetched(stage, 1), bytes_of(map(map(numbers(4), noisy()), noisy()), 1));
}

TEST(DevicePipeline, ImagesOfABatchDrawWhatTheyDrawAlone) {
  const auto alone = map(numbers(40), noisy());
  EXPECT_EQ(bytes_of(unbatch(batch(map(numbers(40), noisy(), {.place = place(cpu)}), 8)), 3), bytes_of(alone, 3));
  EXPECT_EQ(fetched(map(numbers(40), noisy(), {.place = place()}), 3), bytes_of(alone, 3));
}

TEST(DevicePipeline, OnADeviceInHostMemoryStagesAreOrdinaryOnes) {
  const DatasetPtr stage =
      prefetch_to_device(batch(map(numbers(40), noisy(), {.place = place(cpu)}), 4), place(cpu), 2);
  EXPECT_EQ(stage->device(), nullptr);
  const std::size_t launches = cuda_on_cpu::launches();
  EXPECT_EQ(bytes_of(stage, 1), bytes_of(batch(map(numbers(40), noisy()), 4), 1));
  EXPECT_EQ(cuda_on_cpu::launches(), launches);
  const std::unique_ptr<Cursor> cursor = stage->open(0);
  Element element;
  ASSERT_TRUE(cursor->next(element));
  EXPECT_GT(devices().device(cpu).memory().use().in_use, 0U);
  EXPECT_EQ(cursor->statistics().back().stage, "prefetch_to_device");
}

TEST(DevicePipeline, ErrorsOfTheSourceComeThrough) {
  const auto damaged = [] { return std::make_shared<Damaged>(numbers(10), 3); };
  const std::unique_ptr<Cursor> mapped = map(damaged(), noisy(), {.place = place()})->open(0, takes_all());
  Element element;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(mapped->next(element));
  EXPECT_ERROR("element 3 is damaged", mapped->next(element));
  EXPECT_EQ(fetched(*mapped).size(), 7U);

  const DatasetPtr ahead = prefetch_to_device(damaged(), place(), 2);
  const std::unique_ptr<Cursor> copied = ahead->open(0, takes_all());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(copied->next(element));
  EXPECT_ERROR("element 3 is damaged", copied->next(element));

  const DatasetPtr without = prefetch_to_device(ignore_errors(damaged()), place(), 2);
  EXPECT_EQ(fetched(without, 0).size(), 10U);
  EXPECT_EQ(fetched(ignore_errors(map(damaged(), noisy(), {.place = place()})), 0).size(), 10U);
}

TEST(DevicePipeline, AnElementThatDoesNotFitTheDeviceIsAnError) {
  const auto two_mib = PoolOptions{.limit = std::size_t{2} << 20};
  const Devices small(support::gpu_devices({{.memory = two_mib}}));
  const DevicePlace there{std::shared_ptr<const Devices>(std::shared_ptr<void>(), &small), gpu};
  const DatasetPtr large = batch(from_tensor_slices({HostTensor::zeros({{1024, 1024}, Dtype::f32})}), 1024);
  const std::unique_ptr<Cursor> cursor = prefetch_to_device(large, there)->open(0, takes_all());
  Element element;
  EXPECT_ERROR_OF(OutOfMemory, HasSubstr("gpu:0: out of memory: 4 MiB asked for 'element'"), cursor->next(element));
}

TEST(DevicePipeline, ALostDeviceEndsThePipelineAndLetsItGo) {
  {
    const Devices own(support::gpu_devices({{}}));
    const DevicePlace there{std::shared_ptr<const Devices>(std::shared_ptr<void>(), &own), gpu};
    const DatasetPtr stage = map(prefetch_to_device(numbers(1000), there, 2), noisy(), {.place = there});
    const std::unique_ptr<Cursor> cursor = stage->open(0, takes_all());
    Element element;
    ASSERT_TRUE(cursor->next(element));
    cuda_on_cpu::fail_after(3, cudaErrorIllegalAddress);
    EXPECT_ERROR_OF(DeviceLost, HasSubstr("illegal memory access was encountered"),
                    while (cursor->next(element)) continue);
  }
  cuda_on_cpu::mend();
}

TEST(DevicePipeline, StagesThatWorkInHostMemoryRefuseElementsOnADevice) {
  const DatasetPtr mapped = map(batch(numbers(8), 2, true), doubled(), {.place = place()});
  const DatasetPtr copied = prefetch_to_device(batch(numbers(8), 2), place());
  const auto refuses = [](const auto& make, const std::string& text) { EXPECT_ERROR(text, make()); };
  const std::string there = ": its source's elements are on gpu:0; put the ";
  refuses([&] { batch(mapped, 2); }, "batch" + there + "map behind the batch");
  refuses([&] { padded_batch(take(copied, 2), {.size = 2}); },
          "padded_batch" + there + "prefetch_to_device behind the padded_batch");
  refuses([&] { unbatch(mapped); }, "unbatch" + there + "map behind the unbatch");
  refuses([&] { filter(mapped, doubled()); }, "filter" + there + "map behind the filter");
  refuses([&] { shuffle(mapped, {.buffer = 2}); }, "shuffle" + there + "map behind the shuffle");
  refuses([&] { cache(mapped); }, "cache" + there + "map behind the cache");
  refuses([&] { cache(mapped, "nowhere"); }, "cache" + there + "map behind the cache");
  refuses([&] { prefetch(mapped); }, "prefetch" + there + "map behind the prefetch");
  refuses([&] { prefetch_to_device(mapped, place()); },
          "prefetch_to_device" + there + "map behind the prefetch_to_device");
  refuses([&] { zip({numbers(4), mapped}); }, "zip" + there + "map behind the zip");
  refuses([&] { concatenate(mapped, mapped); }, "concatenate" + there + "map behind the concatenate");
  refuses([&] { interleave({mapped}, {}); }, "interleave" + there + "map behind the interleave");
  const auto made = interleave(numbers(2), [&](const Element&) { return mapped; }, {});
  refuses([&] { made->open(0, takes_all()); }, "interleave" + there + "map behind the interleave");
  refuses([&] { map(copied, doubled()); }, "map" + there + "prefetch_to_device behind the map");
  refuses(
      [&] {
        map(copied, doubled(), {.place = place({DeviceId::Kind::gpu, 1, {}})});
      },
      "map: it runs on gpu:1, and its source's elements are on gpu:0");
}

TEST(DevicePipeline, WhatCannotBeIsAnError) {
  EXPECT_ERROR("prefetch_to_device: a buffer of 0 elements; at least 1 is needed",
               prefetch_to_device(numbers(4), place(), 0));
  EXPECT_ERROR("there is no device gpu:7; there is gpu:0, gpu:1, cpu:0",
               prefetch_to_device(numbers(4), place({DeviceId::Kind::gpu, 7, {}})));
  EXPECT_ERROR("there is no device gpu:7; there is gpu:0, gpu:1, cpu:0",
               map(numbers(4), noisy(), {.place = place({DeviceId::Kind::gpu, 7, {}})}));
  EXPECT_ERROR(
      "map: a map on a device has no parallel calls: it runs "
      "in the consumer's thread, in order",
      map(numbers(4), noisy(), {.workers = 2, .place = place()}));
  EXPECT_ERROR(
      "map: only a function that is traced runs on a device; this one works on the host, so "
      "that it cannot be on gpu:0",
      map(numbers(4), std::make_shared<Identity>(), {.place = place()}));
  TracedElement trace;
  trace.graph.input({{}, Dtype::i64}, "number");
  const Value pair = trace.graph.input({{2}, Dtype::f32}, "pair");
  {
    const GraphScope scope(trace.graph, {DeviceId::Kind::gpu, 1, {}}, "");
    trace.outputs = {ops::add(trace.graph, pair, pair)};
  }
  const auto elsewhere = graph_function(std::move(trace));
  EXPECT_ERROR("map: its function runs on gpu:0, and places an op on gpu:1 itself",
               map(numbers(4), elsewhere, {.place = place()}));
}

}  // namespace
}  // namespace gpubench::device_pipeline_test
