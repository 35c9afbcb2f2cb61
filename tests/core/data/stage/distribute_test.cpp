#include "core/data/stage/distribute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "core/data/cache/cache.h"
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
#include "core/data/stage/throttle.h"
#include "core/data/stage/unbatch.h"
#include "core/data/tune/pipeline.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/ragged.h"
#include "tests/core/data/reading.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using testing::HasSubstr;

using Batches = std::vector<std::multiset<std::int64_t>>;

Batches batches_of(const DatasetPtr& dataset, std::uint64_t epoch = 0) {
  Batches found;
  const std::unique_ptr<Cursor> cursor = dataset->open(epoch);
  for (Element element; cursor->next(element);) {
    const auto ids = element[0].values<std::int64_t>();
    found.emplace_back(ids.begin(), ids.end());
  }
  return found;
}

DatasetPtr part(const DatasetPtr& dataset, int processes, int rank, Sharding shard = Sharding::element) {
  return distribute(dataset, {.shard = shard, .processes = processes, .rank = rank});
}

/// Batch k of all processes together.
Batches together(const DatasetPtr& dataset, int processes, std::uint64_t epoch = 0) {
  Batches all;
  for (int rank = 0; rank < processes; ++rank) {
    const Batches own = batches_of(part(dataset, processes, rank), epoch);
    all.resize(std::max(all.size(), own.size()));
    for (std::size_t k = 0; k < own.size(); ++k) all[k].insert(own[k].begin(), own[k].end());
  }
  return all;
}

std::shared_ptr<const ElementFunction> increment() {
  return std::make_shared<Increment>();
}

struct Pipeline {
  const char* name;
  DatasetPtr (*make)();
};

DatasetPtr shuffled(std::int64_t count) {
  return shuffle(numbers(count), {.buffer = 13, .seed = 3});
}
DatasetPtr odd(DatasetPtr source) {
  return filter(std::move(source), std::make_shared<Predicate>([](std::int64_t n) { return n % 2 == 1; }));
}

class DistributeKeepsBatches : public testing::TestWithParam<Pipeline> {};

TEST_P(DistributeKeepsBatches, WhateverTheNumberOfProcesses) {
  const DatasetPtr dataset = GetParam().make();
  for (const std::uint64_t epoch : {0U, 1U}) {
    const Batches whole = batches_of(dataset, epoch);
    ASSERT_GT(whole.size(), 2U);
    for (const int processes : {1, 2, 3, 4, 6, 12}) {
      EXPECT_EQ(together(dataset, processes, epoch), whole) << processes << " processes, epoch " << epoch;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Pipelines, DistributeKeepsBatches,
    testing::Values(
        Pipeline{"Even", [] { return batch(numbers(60), 12); }},
        Pipeline{"UnevenEnd", [] { return batch(numbers(41), 12); }},
        Pipeline{"EndOfOne", [] { return batch(numbers(49), 12); }},
        Pipeline{"Elements", [] { return batch(opaque(numbers(41)), 12); }},
        Pipeline{"DropRemainder", [] { return batch(numbers(47), 12, true); }},
        Pipeline{"DropRemainderOfUnknown", [] { return batch(odd(numbers(95)), 12, true); }},
        Pipeline{"DropRemainderRepeated", [] { return repeat(batch(shuffled(47), 12, true), 3); }},
        Pipeline{"Map", [] { return prefetch(batch(map(shuffled(50), increment(), {.workers = 2}), 12)); }},
        Pipeline{"MapOfBatches", [] { return map(batch(map(shuffled(50), increment()), 12), increment()); }},
        Pipeline{"Prefetch", [] { return batch(prefetch(map(prefetch(shuffled(50)), increment())), 12); }},
        Pipeline{"Repeat", [] { return batch(map(repeat(shuffled(25), 3), increment()), 12); }},
        Pipeline{"RepeatedBatches", [] { return repeat(batch(shuffled(30), 12, true), 3); }},
        Pipeline{"ShuffledBatches", [] { return shuffle(batch(numbers(60), 12), {.buffer = 3, .seed = 5}); }},
        Pipeline{"Cache", [] { return batch(shuffle(cache(map(numbers(50), increment())), {.buffer = 9}), 12); }},
        Pipeline{"CacheLast", [] { return batch(cache(map(numbers(50), increment())), 12); }},
        Pipeline{"CacheOfBatches", [] { return cache(batch(numbers(50), 12)); }},
        Pipeline{"TakeAndSkip",
                 [] { return take(skip(batch(map(take(skip(numbers(99), 7), 80), increment()), 12), 1), 4); }},
        Pipeline{"Filter", [] { return batch(map(odd(numbers(99)), increment()), 12); }},
        Pipeline{"Unbatch", [] { return batch(map(unbatch(batch(numbers(50), 5)), increment()), 12); }},
        Pipeline{"Zip", [] { return batch(map(zip({numbers(50)}), increment()), 12); }},
        Pipeline{"Concatenate", [] { return batch(concatenate(shuffled(25), numbers(25)), 12); }},
        Pipeline{"Damaged", [] { return batch(ignore_errors(std::make_shared<Damaged>(numbers(50), 17)), 12); }},
        Pipeline{"Throttle", [] { return batch(throttle(shuffled(50), {}), 12); }},
        Pipeline{
            "Options",
            [] { return options(options(batch(map(shuffled(50), increment()), 12), {.deterministic = true}), {}); }}),
    [](const auto& test) { return test.param.name; });

TEST(Distribute, IsAllThereIsForOneProcess) {
  const DatasetPtr dataset = batch(numbers(10), 4);
  EXPECT_EQ(distribute(dataset, {.replicas = 4}), dataset);
  const DatasetPtr elements = numbers(10);
  EXPECT_EQ(distribute(elements, {}), elements);
}

TEST(Distribute, ShardsBelowWhatEachElementCosts) {
  const DatasetPtr dataset =
      prefetch(map(batch(map(cache(prefetch(map(shuffled(50), increment()), 2)), increment()), 12), increment()), 2);
  EXPECT_EQ(
      describe(*part(dataset, 4, 1)),
      "from_tensor_slices > shuffle(buffer=13 seed=3) > shard(count=4 index=1) > map > prefetch(buffer=2) > cache "
      "> map > batch(size=3) > map > prefetch(buffer=2)");
  EXPECT_EQ(part(dataset, 4, 1)->examples_per_element(), 3);
}

TEST(Distribute, MapsMakeOnlyAProcesssOwnElements) {
  std::multiset<std::int64_t> seen;
  const auto watch = [&seen](const ElementBlock& block) { seen.insert(block.inputs[0].as<std::int64_t>()[0]); };
  const DatasetPtr dataset = batch(map(numbers(12), std::make_shared<Increment>(1, watch)), 4);
  for (int rank = 0; rank < 2; ++rank) read(part(dataset, 2, rank));
  const std::vector<std::int64_t> once = counting(0, 12);
  EXPECT_EQ(seen, std::multiset<std::int64_t>(once.begin(), once.end()));
}

TEST(Distribute, MapsDrawForAnElementWhateverTheNumberOfProcesses) {
  std::multiset<std::pair<std::int64_t, std::int64_t>> seen;
  const auto watch = [&seen](const ElementBlock& block) {
    for (std::int64_t i = 0; i < block.count; ++i) {
      seen.emplace(block.inputs[0].as<std::int64_t>()[i], block.number + i * block.stride);
    }
  };
  const auto watched = std::make_shared<Increment>(1, watch);
  const DatasetPtr dataset = batch(map(shuffled(24), watched), 12);
  read(dataset, 2);
  const auto whole = std::exchange(seen, {});
  for (int rank = 0; rank < 3; ++rank) read(part(dataset, 3, rank), 2);
  EXPECT_EQ(seen, whole);
  // Of a shard of a shard, too.
  seen.clear();
  for (int i = 0; i < 4; ++i) read(map(shard(shard(shuffled(24), 2, i / 2), 2, i % 2), watched), 2);
  EXPECT_EQ(seen, whole);
}

TEST(Distribute, MapsOfBatchesDrawApart) {
  std::set<std::int64_t> seen;
  const auto watch = [&seen](const ElementBlock& block) { EXPECT_TRUE(seen.insert(block.number).second); };
  const DatasetPtr dataset = map(batch(numbers(24), 6), std::make_shared<Increment>(1, watch));
  for (int rank = 0; rank < 3; ++rank) read(part(dataset, 3, rank));
  EXPECT_EQ(seen, (std::set<std::int64_t>{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22}));
}

TEST(Distribute, GivesAllProcessesAsManyBatchesWhenTheRemainderIsDropped) {
  const DatasetPtr known = batch(numbers(23), 4, true), unknown = batch(odd(numbers(46)), 4, true);
  for (const DatasetPtr& dataset : {known, unknown}) {
    for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(batches_of(part(dataset, 4, rank)).size(), 5U) << rank;
  }
  EXPECT_EQ(part(known, 4, 3)->size(), 5);
}

TEST(Distribute, CompleteRoundsOutliveDamagedElements) {
  for (std::int64_t damaged = 0; damaged < 7; ++damaged) {
    std::vector<std::int64_t> all;
    for (int rank = 0; rank < 3; ++rank) {
      const auto source = odd(std::make_shared<Damaged>(opaque(numbers(16)), damaged));
      const std::vector<std::int64_t> own = read(ignore_errors(shard(source, 3, rank, Rounds::complete)));
      EXPECT_EQ(own.size(), 2U) << "element " << damaged << " rank " << rank;
      all.insert(all.end(), own.begin(), own.end());
    }
    EXPECT_EQ(std::set<std::int64_t>(all.begin(), all.end()).size(), 6U) << damaged;
  }
}

TEST(Distribute, TheLastBatchMayBeOfSomeProcessesOnly) {
  const DatasetPtr dataset = batch(numbers(9), 4);
  EXPECT_EQ(batches_of(part(dataset, 2, 0)), (Batches{{0, 2}, {4, 6}, {8}}));
  EXPECT_EQ(batches_of(part(dataset, 2, 1)), (Batches{{1, 3}, {5, 7}}));
}

TEST(Distribute, GrowsBatchesOfEachReplica) {
  const DatasetPtr dataset = prefetch(batch(numbers(24), 4, true), 2);
  const DatasetPtr one = distribute(dataset, {.batch = BatchOf::per_replica, .replicas = 3});
  EXPECT_EQ(describe(*one), "from_tensor_slices > batch(size=12 drop_remainder) > prefetch(buffer=2)");
  const DatasetPtr second =
      distribute(dataset, {.batch = BatchOf::per_replica, .processes = 2, .rank = 1, .replicas = 3});
  EXPECT_EQ(batches_of(second), (Batches{{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23}}));
  EXPECT_EQ(distribute(dataset, {.batch = BatchOf::per_replica}), dataset);
}

TEST(Distribute, PadsEachProcesssBatches) {
  const DatasetPtr dataset = padded_batch(ragged(10), {.size = 4, .shapes = {{6}}});
  const DatasetPtr own = part(dataset, 2, 1);
  EXPECT_EQ(describe(*own), "ragged > shard(count=2 index=1) > padded_batch(size=2)");
  Element element;
  ASSERT_TRUE(own->open()->next(element));
  EXPECT_EQ(element[0].shape(), (Shape{2, 6}));
  EXPECT_EQ(element[0].values<std::uint8_t>()[6], 3);  // element 3
}

TEST(Distribute, LeavesAloneWhatIsShardedOrNotToBe) {
  const DatasetPtr sharded = batch(map(shard(numbers(24), 2, 1), increment()), 4);
  EXPECT_EQ(part(sharded, 2, 1), sharded);
  const DatasetPtr own = batch(numbers(24), 4);
  EXPECT_EQ(part(own, 2, 1, Sharding::off), own);
  const DatasetPtr grown = distribute(
      own, {.shard = Sharding::off, .batch = BatchOf::per_replica, .processes = 2, .rank = 1, .replicas = 2});
  EXPECT_EQ(describe(*grown), "from_tensor_slices > batch(size=8)");
}

TEST(Distribute, RefusesWhatIsNotBatched) {
  const DistributeOptions two{.processes = 2};
  EXPECT_ERROR(
      "distribute: the dataset is not batched, so that there is nothing to share; batch it "
      "first: from_tensor_slices > map",
      distribute(map(numbers(9), increment()), two));
  EXPECT_ERROR(HasSubstr("not batched"), distribute(unbatch(batch(numbers(9), 3)), two));
  EXPECT_ERROR(HasSubstr("not batched"), distribute(numbers(9), {.batch = BatchOf::per_replica, .replicas = 2}));
}

TEST(Distribute, RefusesBatchesThatCannotBeShared) {
  EXPECT_ERROR("distribute: batches of 10 cannot be shared evenly by 3 processes; 9 or 12 can",
               part(batch(numbers(90), 10), 3, 0));
  EXPECT_ERROR("distribute: batches of 2 cannot be shared evenly by 3 processes; 3 can",
               part(batch(numbers(90), 2), 3, 0));
}

TEST(Distribute, RefusesStagesBehindTheBatchByName) {
  const DatasetPtr dataset = batch(numbers(24), 4);
  const auto any = std::make_shared<Predicate>([](std::int64_t) { return true; });
  EXPECT_ERROR(
      "distribute: filter behind the batch may do otherwise for each process's part of it; "
      "put it before the batch",
      part(filter(dataset, any), 2, 0));
  EXPECT_ERROR(HasSubstr("ignore_errors behind"), part(ignore_errors(dataset), 2, 0));
  EXPECT_ERROR(HasSubstr("opaque behind"), part(opaque(dataset), 2, 0));
  EXPECT_ERROR(
      "distribute: cache(file=digits.cache) behind the batch would keep another part for "
      "each process under one name; put it before the batch",
      part(cache(dataset, "digits.cache"), 2, 0));
  EXPECT_ERROR("distribute: it cannot look through zip for the batches to share; batch behind it",
               part(zip({dataset, dataset}), 2, 0));
  EXPECT_ERROR(HasSubstr("look through interleave"), part(interleave({dataset, dataset}, {}), 2, 0));
}

TEST(Distribute, RefusesToPairOtherBatches) {
  EXPECT_ERROR(
      "distribute: the last batch, of 1 rows, may leave some of 4 processes without rows, "
      "and repeat behind it would then pair other batches; put repeat before the batch, or "
      "set drop_remainder = true",
      part(repeat(batch(numbers(25), 8)), 4, 0));
  EXPECT_ERROR(HasSubstr("the last batch, of unknown size, may leave some of 4 processes without "
                         "rows, and shuffle behind it"),
               part(shuffle(batch(odd(numbers(25)), 8), {.buffer = 2}), 4, 0));
  EXPECT_NO_THROW(part(repeat(batch(numbers(28), 8)), 4, 0));
}

TEST(Distribute, RefusesDatasetsThatAreTooSmall) {
  EXPECT_ERROR("distribute: 3 elements cannot be shared by 4 processes, of which each needs one",
               part(batch(numbers(3), 8), 4, 0));
  EXPECT_ERROR(HasSubstr("3 elements"), part(batch(numbers(3), 8), 4, 0, Sharding::automatic));
}

TEST(Distribute, RefusesElementsInAnyOrder) {
  const InterleaveOptions any{.cycle_length = 2, .parallel = 2, .deterministic = false};
  const InterleaveOptions unsaid{.cycle_length = 2, .parallel = 2};
  const std::vector<DatasetPtr> inputs{numbers(8), numbers(8)};
  EXPECT_ERROR(HasSubstr("so that processes do not agree whose they are; deterministic = true keeps "
                         "their order"),
               part(batch(interleave(inputs, any), 4), 2, 0));
  EXPECT_ERROR(HasSubstr("do not agree"),
               part(options(batch(interleave(inputs, unsaid), 4), {.deterministic = false}), 2, 0));
  EXPECT_NO_THROW(part(batch(interleave(inputs, unsaid), 4), 2, 0));
}

TEST(Distribute, AMarkedPartStaysOneBehindFurtherStages) {
  const DatasetPtr whole = batch(numbers(8), 2);
  const DatasetPtr own = part(whole, 2, 0);
  EXPECT_TRUE(own->is_sharded());
  EXPECT_FALSE(own->is_distributed()) << "until the script's own call marks it";
  own->mark_distributed();
  EXPECT_TRUE(prefetch(own, 1)->is_distributed());
  EXPECT_TRUE(prefetch(own, 1)->is_sharded());
  EXPECT_FALSE(whole->is_distributed());
  EXPECT_FALSE(whole->is_sharded());
}

TEST(Distribute, RefusesUnknownNamesAndPlaces) {
  EXPECT_EQ(parse_sharding("file"), Sharding::file);
  EXPECT_EQ(parse_batch_of("per_replica"), BatchOf::per_replica);
  EXPECT_ERROR("distribute: unknown shard 'rows' (known: auto, file, element, off)", parse_sharding("rows"));
  EXPECT_ERROR("distribute: unknown batch 'rows' (known: global, per_replica)", parse_batch_of("rows"));
  EXPECT_ERROR("distribute: process 3 of 3; processes are counted from 0", part(batch(numbers(9), 3), 3, 3));
  EXPECT_ERROR("distribute: 0 replicas; at least 1 is needed", distribute(numbers(9), {.replicas = 0}));
}

}  // namespace
}  // namespace gpubench
