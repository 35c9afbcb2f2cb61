#include "core/data/source/tfrecord.h"

#include <gmock/gmock.h>

#include "core/data/stage/batch.h"
#include "core/data/stage/ignore_errors.h"
#include "core/data/stage/prefetch.h"
#include "tests/core/data/texts.h"
#include "tests/support/descriptors.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TfrecordSource : public TemporaryFolder {
 protected:
  void make(const std::string& name, const std::vector<std::string>& records) const {
    TfrecordWriter writer(file(name), TfrecordCompression::none);
    for (const std::string& record : records) writer.write(std::as_bytes(std::span(record)));
    writer.close();
  }
  /// Changes a byte of the second record of "b", of which each has two bytes.
  void damage_b() const {
    std::string bytes = contents(file("b"));
    bytes[18 + 12] = 'X';
    write("b", bytes);
  }
  void make_three() const {
    make("a", {"a0", "a1"});
    make("b", {"b0", "b1", "b2"});
    make("c", {"c0"});
  }
  DatasetPtr all() const { return tfrecord(std::vector{file("[abc]").string()}); }
};

TEST_F(TfrecordSource, ReadsOneFileAfterTheOther) {
  make_three();
  EXPECT_EQ(to_string(all()->element_types()), "(uint8[?])");
  EXPECT_EQ(all()->size(), std::nullopt);
  EXPECT_THAT(describe(*all()), testing::StartsWith("tfrecord(files=3 names="));
  EXPECT_THAT(read_texts(all()), ElementsAre("a0", "a1", "b0", "b1", "b2", "c0"));
}

TEST_F(TfrecordSource, PassesOverRecords) {
  make_three();
  const std::unique_ptr<Cursor> cursor = all()->open();
  EXPECT_EQ(cursor->skip(4), 4);
  EXPECT_THAT(read_texts(*cursor), ElementsAre("b2", "c0"));
  EXPECT_EQ(cursor->skip(1), 0);
}

TEST_F(TfrecordSource, IsBatchedWhereRecordsAreEquallyLong) {
  make_three();
  EXPECT_THAT(read_texts(batch(all(), 4)), ElementsAre("a0a1b0b1", "b2c0"));
  make("c", {"longer"});
  EXPECT_ERROR(
      "batch: an element has uint8[6] where the ones before have uint8[2]; elements that "
      "are stacked need equal shapes",
      read_texts(batch(all(), 6)));
}

TEST_F(TfrecordSource, GoesOnAfterAnError) {
  make_three();
  damage_b();
  const std::unique_ptr<Cursor> cursor = all()->open();
  cursor->skip(3);
  Element element;
  EXPECT_ERROR(file("b").string() + ": record 2 at byte 18: its data does not match its checksum",
               cursor->next(element));
  EXPECT_THAT(read_texts(*cursor), ElementsAre("b2", "c0"));
}

TEST_F(TfrecordSource, CountsErrorsThatAreIgnored) {
  make_three();
  damage_b();
  const std::unique_ptr<Cursor> cursor = ignore_errors(all())->open();
  EXPECT_THAT(read_texts(*cursor), ElementsAre("a0", "a1", "b0", "b2", "c0"));
  EXPECT_EQ(cursor->statistics().back().errors, 1);
  EXPECT_EQ(cursor->statistics().back().produced, 5);
}

TEST_F(TfrecordSource, GoesOnBehindAFileThatVanished) {
  make_three();
  const DatasetPtr dataset = all();
  std::filesystem::remove(file("b"));
  EXPECT_ERROR(HasSubstr("b: cannot be opened: No such file or directory"), read_texts(dataset));
  EXPECT_THAT(read_texts(ignore_errors(dataset)), ElementsAre("a0", "a1", "c0"));
}

TEST_F(TfrecordSource, LeavesNoFileOpen) {
  make_three();
  damage_b();
  const auto before = open_descriptors();
  Element element;
  all()->open()->next(element);
  EXPECT_ANY_THROW(read_texts(all()));
  EXPECT_ANY_THROW(read_texts(prefetch(all(), 1)));
  prefetch(all(), 1)->open()->next(element);
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace gpubench
