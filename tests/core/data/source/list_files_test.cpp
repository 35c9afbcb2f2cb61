#include "core/data/source/list_files.h"

#include <gmock/gmock.h>

#include "core/data/function/read_file.h"
#include "core/data/map/map.h"
#include "tests/core/data/texts.h"
#include "tests/support/descriptors.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

class ListFiles : public TemporaryFolder {
 protected:
  std::vector<std::string> make(int count) const {
    std::vector<std::string> paths;
    for (int i = 0; i < count; ++i) paths.push_back(write("f" + std::to_string(10 + i), std::to_string(i)).string());
    return paths;
  }
  std::vector<std::string> all() const { return {file("f*").string()}; }
};

TEST_F(ListFiles, AreSortedAndEachOnce) {
  const std::vector<std::string> paths = make(3);
  const DatasetPtr dataset = list_files(std::vector{paths[2], all()[0]});
  EXPECT_EQ(to_string(dataset->element_types()), "(uint8[?])");
  EXPECT_EQ(dataset->size(), 3);
  EXPECT_THAT(describe(*dataset), testing::StartsWith("list_files(files=3 names="));
  EXPECT_EQ(read_texts(dataset), paths);
}

TEST_F(ListFiles, AreShuffledAnewInEveryEpoch) {
  const std::vector<std::string> paths = make(20);
  const DatasetPtr dataset = list_files(all(), {.shuffle = true, .seed = 3});
  const std::vector<std::string> first = read_texts(dataset, 0);
  EXPECT_THAT(first, UnorderedElementsAreArray(paths));
  EXPECT_NE(first, paths);
  EXPECT_NE(read_texts(dataset, 1), first);
  EXPECT_EQ(read_texts(list_files(all(), {.shuffle = true, .seed = 3}), 0), first);
}

TEST_F(ListFiles, CanBePassedOver) {
  const std::vector<std::string> paths = make(3);
  const std::unique_ptr<Cursor> cursor = list_files(all())->open();
  EXPECT_EQ(cursor->skip(2), 2);
  EXPECT_THAT(read_texts(*cursor), ElementsAre(paths[2]));
  EXPECT_EQ(cursor->skip(2), 0);
}

TEST_F(ListFiles, ThatMatchNothingAreAnError) {
  EXPECT_ERROR(HasSubstr("list_files: no file matches '"), list_files(all()));
}

TEST_F(ListFiles, AreReadByAMap) {
  make(3);
  const DatasetPtr dataset = map(list_files(all()), read_file());
  EXPECT_EQ(to_string(dataset->element_types()), "(uint8[?])");
  EXPECT_THAT(read_texts(dataset), ElementsAre("0", "1", "2"));
}

TEST_F(ListFiles, KeepTheirLabels) {
  const DatasetPtr dataset = map(labelled_files(make(2), {7, 8}), read_file());
  const std::unique_ptr<Cursor> cursor = dataset->open();
  Element element;
  cursor->next(element);
  cursor->next(element);
  EXPECT_EQ(text_of(element[0]), "1");
  EXPECT_EQ(element[1].values<std::int64_t>()[0], 8);
}

TEST_F(ListFiles, MayVanishBeforeTheyAreRead) {
  const std::vector<std::string> paths = make(3);
  const auto before = open_descriptors();
  const std::unique_ptr<Cursor> cursor = map(list_files(all()), read_file())->open();
  std::filesystem::remove(paths[1]);
  Element element;
  cursor->next(element);
  EXPECT_ERROR(HasSubstr(paths[1] + ": cannot be opened: No such file or directory"), cursor->next(element));
  EXPECT_THAT(read_texts(*cursor), ElementsAre("2"));
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(ListFiles, AreWhatReadFileTakes) {
  EXPECT_ERROR("read_file: takes elements that start with a byte string, uint8[?]; these are (int64[])",
               read_file()->output_types(std::vector{TensorType{{}, Dtype::i64}}));
}

}  // namespace
}  // namespace gpubench
