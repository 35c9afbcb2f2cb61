#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/codec/tfrecord.h"
#include "core/data/cache/cache.h"
#include "core/data/interleave/interleave.h"
#include "core/data/map/map.h"
#include "core/data/source/csv.h"
#include "core/data/source/image_folder.h"
#include "core/data/source/range.h"
#include "core/data/source/tfrecord.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/by_position.h"
#include "core/data/stage/combine.h"
#include "core/data/stage/distribute.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/repeat.h"
#include "core/data/stage/shuffle.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/texts.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing::UnorderedElementsAre;

class DistributeFiles : public TemporaryFolder {
 protected:
  void SetUp() override {
    TemporaryFolder::SetUp();
    for (const std::string name : {"a", "b", "c", "d", "e"}) {
      TfrecordWriter writer(file(name), TfrecordCompression::none);
      for (const char* record : {"0", "1"}) {
        const std::string text = name + record;
        writer.write(std::as_bytes(std::span(text)));
      }
      writer.close();
    }
  }
  DatasetPtr records() const { return tfrecord(std::vector{file("[abcde]").string()}); }
  DatasetPtr paths() const { return list_files(std::vector{file("[abcde]").string()}); }
  DatasetPtr interleaved() const {
    return interleave(paths(), [](const Element& path) { return tfrecord(std::vector{text_of(path[0])}); },
                      {.cycle_length = 2});
  }
};

DatasetPtr part_by_files(const DatasetPtr& dataset, int processes, int rank, Sharding shard = Sharding::automatic) {
  return distribute(dataset, {.shard = shard, .processes = processes, .rank = rank});
}

TEST_F(DistributeFiles, GivesEachProcessFilesOfItsOwn) {
  EXPECT_THAT(read_texts(part_by_files(batch(records(), 4), 2, 0)), ElementsAre("a0a1", "c0c1", "e0e1"));
  EXPECT_THAT(read_texts(part_by_files(batch(records(), 4), 2, 1)), ElementsAre("b0b1", "d0d1"));
  EXPECT_THAT(read_texts(part_by_files(prefetch(batch(interleaved(), 2)), 2, 1)), ElementsAre("b0", "d0", "b1", "d1"));
  const DatasetPtr everything =
      repeat(batch(shuffle(map(records(), std::make_shared<Identity>()), {.buffer = 9}), 2), 2);
  EXPECT_THAT(read_texts(part_by_files(everything, 2, 1, Sharding::file)),
              UnorderedElementsAre("b0", "b1", "d0", "d1", "b0", "b1", "d0", "d1"));
}

TEST_F(DistributeFiles, TakesEverySoManythInputOfAnInterleave) {
  std::vector<DatasetPtr> inputs;
  for (const char* name : {"a", "b", "c"}) inputs.push_back(tfrecord(std::vector{file(name).string()}));
  EXPECT_THAT(read_texts(part_by_files(batch(interleave(inputs, {.cycle_length = 2}), 2), 2, 0)),
              ElementsAre("a0", "c0", "a1", "c1"));
  inputs.push_back(map(repeat(concatenate(inputs[0], inputs[1])), std::make_shared<Identity>()));
  EXPECT_ERROR(StartsWith("distribute: shard = 'file': interleave reads "
                          "no files that could be shared"),
               part_by_files(batch(interleave(inputs, {}), 2), 2, 0, Sharding::file));
}

TEST_F(DistributeFiles, TakesRowsOfCsvFiles) {
  write("x.csv", "1\n2\n");
  write("y.csv", "3\n4\n5\n");
  const DatasetPtr rows =
      csv(std::vector{file("*.csv").string()}, {.columns = {{.name = "n", .dtype = Dtype::i64}}, .header = false});
  Element element;
  const std::unique_ptr<Cursor> cursor = part_by_files(batch(rows, 6), 2, 1)->open();
  ASSERT_TRUE(cursor->next(element));
  EXPECT_THAT(element[0].values<std::int64_t>(), ElementsAre(3, 4, 5));
}

TEST_F(DistributeFiles, PrefersElementsWhereEachIsAFile) {
  const DatasetPtr labelled = labelled_files({"p", "q", "r"}, {7, 8, 9});
  const DatasetPtr dataset = batch(map(labelled, std::make_shared<Identity>()), 2);
  EXPECT_THAT(describe(*part_by_files(dataset, 2, 1)), HasSubstr("shard(count=2 index=1) > map"));
  const DatasetPtr by_file = part_by_files(dataset, 2, 0, Sharding::file);
  Element element;
  const std::unique_ptr<Cursor> cursor = by_file->open();
  EXPECT_THAT(read_texts(by_file), ElementsAre("p", "r"));
  ASSERT_TRUE(cursor->skip(1) == 1 && cursor->next(element));
  EXPECT_EQ(element[1].values<std::int64_t>()[0], 9);
}

TEST_F(DistributeFiles, TakesElementsWhereFilesAreTooFewOrCountedTogether) {
  EXPECT_THAT(read_texts(part_by_files(batch(records(), 6), 6, 5)), ElementsAre("c1"));
  EXPECT_THAT(read_texts(part_by_files(batch(take(records(), 4), 2), 2, 1)), ElementsAre("a1", "b1"));
  EXPECT_THAT(describe(*part_by_files(batch(cache(records(), file("kept")), 2), 2, 1)),
              HasSubstr("> shard(count=2 index=1) >"));
}

TEST_F(DistributeFiles, RefusesToShardByFileWhatHasNoFilesForAll) {
  EXPECT_ERROR(
      "distribute: shard = 'file': tfrecord reads 5 files for 6 processes, of which each "
      "needs one; shard = 'element' is possible",
      part_by_files(batch(records(), 6), 6, 0, Sharding::file));
  EXPECT_ERROR(
      "distribute: shard = 'file': range reads no files that could be shared (tfrecord, "
      "csv, image_folder and list_files do, and interleave of "
      "these); shard = 'element' is possible",
      part_by_files(batch(range(0, 6), 2), 2, 0, Sharding::file));
  EXPECT_ERROR(HasSubstr("skip counts the elements of all files together"),
               part_by_files(batch(skip(records(), 4), 2), 2, 0, Sharding::file));
  EXPECT_ERROR(HasSubstr("cache(file=kept) would keep another part for each process"),
               part_by_files(batch(cache(records(), "kept"), 2), 2, 0, Sharding::file));
}

}  // namespace
}  // namespace gpubench
