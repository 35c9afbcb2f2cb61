#include "core/data/source/image_folder.h"

#include <cstring>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/data/stage/batch.h"
#include "core/data/stage/ignore_errors.h"
#include "tests/core/data/images.h"
#include "tests/support/descriptors.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ImageFolder : public TemporaryFolder {
 protected:
  void make(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(file(name).parent_path());
    write(name, bytes);
  }
  void make_two_classes() const {
    make("cats/b.png", as_png(waves(4, 6, 1)));
    make("cats/deep/a.JPG", as_jpeg(waves(4, 6, 3)));
    make("cats/notes.txt", "");
    make("cats/.hidden.png", "");
    make("dogs/a.jpeg", as_jpeg(waves(4, 6, 3)));
    make("readme.png", "");
  }
  std::filesystem::path root() const { return file(""); }
};

std::vector<std::int64_t> labels(const DatasetPtr& dataset) {
  std::vector<std::int64_t> found;
  const std::unique_ptr<Cursor> cursor = dataset->open();
  Element element;
  while (cursor->next(element)) found.push_back(element[1].values<std::int64_t>()[0]);
  return found;
}

TEST_F(ImageFolder, HasAClassPerFolder) {
  make_two_classes();
  const LabelledImages images = find_images(root());
  EXPECT_THAT(images.class_names, ElementsAre("cats", "dogs"));
  const DatasetPtr dataset = image_folder(images, {}, {.channels = 3});
  EXPECT_THAT(describe(*dataset), testing::MatchesRegex("list_files.files=3 names=[0-9a-f]+. > map"));
  EXPECT_EQ(to_string(dataset->element_types()), "(uint8[?, ?, 3], int64[])");
  EXPECT_EQ(dataset->size(), 3);
  EXPECT_THAT(labels(dataset), ElementsAre(0, 0, 1));
}

TEST_F(ImageFolder, IsReadByWorkersInTheSameOrder) {
  for (int i = 0; i < 40; ++i)
    make(fmt::format("{}/{:02}.png", i % 2 == 0 ? "cats" : "dogs", i), as_png(waves(4 + i % 3, 6, 3)));
  const LabelledImages images = find_images(root());
  const DatasetPtr plain = image_folder(images, {}, {.channels = 3});
  const DatasetPtr parallel = image_folder(images, {}, {.channels = 3}, {.workers = 3});
  const std::unique_ptr<Cursor> one = plain->open(), other = parallel->open();
  Element a, b;
  int count = 0;
  while (one->next(a)) {
    ASSERT_TRUE(other->next(b));
    EXPECT_EQ(to_string(a[0].type()), to_string(b[0].type())) << count;
    EXPECT_EQ(std::memcmp(a[0].data(), b[0].data(), a[0].bytes()), 0) << count;
    EXPECT_EQ(a[1].values<std::int64_t>()[0], b[1].values<std::int64_t>()[0]);
    ++count;
  }
  EXPECT_FALSE(other->next(b));
  EXPECT_EQ(count, 40);
}

TEST_F(ImageFolder, IsBatchedWhereImagesHaveOneSize) {
  make_two_classes();
  Element element;
  ASSERT_TRUE(batch(image_folder(find_images(root()), {}, {.channels = 1}), 3)->open()->next(element));
  EXPECT_EQ(to_string(element[0].type()), "uint8[3, 4, 6, 1]");
}

TEST_F(ImageFolder, OfMixedSizesNeedsASize) {
  make_two_classes();
  make("dogs/b.png", as_png(waves(5, 5, 3)));
  const LabelledImages images = find_images(root());
  Element element;
  EXPECT_ERROR(HasSubstr("elements that are stacked need equal shapes"),
               batch(image_folder(images, {}, {.channels = 3}), 4)->open()->next(element));
  EXPECT_TRUE(batch(image_folder(images, {}, {.channels = 3, .size = {{8, 8}}}), 4)->open()->next(element));
}

TEST_F(ImageFolder, MayLoseAFileAndHaveDamagedOnes) {
  make_two_classes();
  make("dogs/b.png", "no image");
  const auto before = open_descriptors();
  const DatasetPtr dataset = image_folder(find_images(root()), {}, {.channels = 3});
  std::filesystem::remove(file("cats/b.png"));
  EXPECT_ERROR(HasSubstr("b.png: cannot be opened: No such file"), labels(dataset));
  EXPECT_THAT(labels(ignore_errors(dataset)), ElementsAre(0, 1));
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(ImageFolder, SaysWhatIsMissing) {
  EXPECT_ERROR("image_folder: there is no folder " + file("none").string(), find_images(file("none")));
  EXPECT_ERROR(HasSubstr(" has no folders; each class is a folder of images"), find_images(root()));
  make_two_classes();
  std::filesystem::create_directory(file("birds"));
  EXPECT_ERROR(HasSubstr("birds holds no images (.jpg, .jpeg, .png)"), find_images(root()));
}

}  // namespace
}  // namespace gpubench
