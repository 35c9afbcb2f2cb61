#include "core/data/function/block_function.h"

#include <gmock/gmock.h>

#include "core/data/function/read_file.h"
#include "core/data/map/map.h"
#include "core/data/source/image_folder.h"
#include "core/data/source/list_files.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/filter.h"
#include "core/data/stage/ignore_errors.h"
#include "core/data/stage/prefetch.h"
#include "core/data/stage/repeat.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/images.h"
#include "tests/core/data/reading.h"
#include "tests/core/data/texts.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using testing::ThrowsMessage;

/// Hands its inputs on, but throws what `text` makes of an element's first tensor, unless that is nothing.
std::shared_ptr<const ElementFunction> refusing(std::function<std::string(const std::string&)> text) {
  const auto same = [](TensorTypes inputs) { return std::vector<TensorType>(inputs.begin(), inputs.end()); };
  return std::make_shared<Native>(same, [text](const ElementBlock& block, ElementOutputs& outputs) {
    const TensorView& first = block.inputs[0];
    const std::string error = text({reinterpret_cast<const char*>(first.data), first.type->bytes()});
    if (!error.empty()) throw Error(error);
    std::memcpy(outputs.place(0, *first.type), first.data, first.type->bytes());
  });
}

class ElementPaths : public TemporaryFolder {
 protected:
  DatasetPtr listed() const { return list_files(std::vector{file("*").string()}); }
  std::string ending(int number, const std::string& name) const {
    return " (element " + std::to_string(number) + " of the epoch, '" + file(name).string() + "')";
  }
  static auto says(const std::string& text) { return ThrowsMessage<Error>(text); }
};

TEST(ElementError, CountsTheMapsInputsFrom1) {
  const auto error = ThrowsMessage<Error>("element 7 is bad (element 8 of the epoch)");
  for (const std::int64_t workers : {0, 2}) {
    for (const Taken taken : {Taken::as_rows, Taken::packed, Taken::whole}) {
      for (const std::int64_t block : {1, 4}) {
        const DatasetPtr dataset = map(numbers(30, taken), fails_at(7, block), {.workers = workers});
        EXPECT_THAT([&] { read(dataset); }, error);
        EXPECT_THAT([&] { read(batch(dataset, 5)); }, error);
        EXPECT_THAT([&] { read(prefetch(dataset, 2)); }, error);
      }
    }
  }
}

TEST(ElementError, CountsWhatWasPassedOver) {
  for (const std::int64_t workers : {0, 2}) {
    const std::unique_ptr<Cursor> cursor = map(numbers(30), fails_at(20, 1), {.workers = workers})->open();
    cursor->skip(18);
    EXPECT_ERROR("element 20 is bad (element 21 of the epoch)", read(*cursor));
  }
}

TEST(ElementError, OfAMapThatIsASourceIsNotCountedAgain) {
  const DatasetPtr first = map(repeat(numbers(5), 2), fails_at(3, 1));
  const DatasetPtr dataset = map(first, std::make_shared<Increment>(), {.workers = 1});
  const std::unique_ptr<Cursor> cursor = dataset->open();
  EXPECT_ERROR("element 3 is bad (element 4 of the epoch)", read(*cursor));
  EXPECT_ERROR("element 3 is bad (element 9 of the epoch)", read(*cursor));
}

TEST(ElementError, OfTheMachineStaysAsItIs) {
  const auto exhausted = std::make_shared<Increment>(1, [](const ElementBlock&) { throw OutOfMemory("no memory"); });
  EXPECT_ERROR_OF(OutOfMemory, "no memory", read(map(numbers(3), exhausted)));
}

TEST_F(ElementPaths, AreNamed) {
  for (const char* name : {"a", "b", "c"}) write(name, "");
  const auto bad = refusing([](const std::string& path) { return path.ends_with("b") ? "bad" : ""; });
  EXPECT_THAT([&] { read_texts(map(listed(), bad)); }, says("bad" + ending(2, "b")));
  EXPECT_THAT([&] { read_texts(map(listed(), bad, {.workers = 2})); }, says("bad" + ending(2, "b")));
  const auto keep = std::make_shared<Native>(
      [](TensorTypes) {
        return std::vector<TensorType>{{{}, Dtype::boolean}};
      },
      [](const ElementBlock&, ElementOutputs&) { throw Error("bad"); });
  EXPECT_THAT([&] { read_texts(filter(listed(), keep)); }, says("bad" + ending(1, "a")));
}

TEST_F(ElementPaths, AreNamedOnce) {
  const std::string path = write("a", "").string();
  const auto names_it = refusing([](const std::string& text) { return text + ": bad"; });
  EXPECT_THAT([&] { read_texts(map(listed(), names_it)); }, says(path + ": bad (element 1 of the epoch)"));
}

TEST_F(ElementPaths, AreThoseOfFiles) {
  write("a", "text");
  const auto bad = refusing([](const std::string&) { return "bad"; });
  EXPECT_THAT([&] { read_texts(map(map(listed(), read_file(), {.workers = 1}), bad)); },
              says("bad (element 1 of the epoch)"));
  std::filesystem::remove(file("a"));
  std::filesystem::create_directory(file("folder"));
  write("folder/line\nbreak", "");
  EXPECT_THAT([&] { read_texts(map(list_files(std::vector{file("folder/*").string()}), bad)); },
              says("bad" + ending(1, "folder/line\\nbreak")));
}

TEST_F(ElementPaths, OfImagesAreNamedThroughReadingAndDecoding) {
  std::filesystem::create_directories(file("cats"));
  const std::string whole = as_jpeg(waves(40, 40, 3));
  for (const char* name : {"cats/a.jpg", "cats/b.jpg", "cats/c.jpg"}) write(name, whole);
  write("cats/b.jpg", whole.substr(0, 30));
  const DatasetPtr images = image_folder(find_images(file("")), {}, {.channels = 3});
  const auto error = says("decode: JPEG: truncated before the first row" + ending(2, "cats/b.jpg"));
  EXPECT_THAT([&] { read_texts(images); }, error);
  EXPECT_THAT([&] { read_texts(batch(images, 3)); }, error);
  const std::unique_ptr<Cursor> cursor = ignore_errors(images)->open();
  EXPECT_EQ(read_texts(*cursor).size(), 2U);
  EXPECT_THAT(cursor->statistics().back().why, testing::HasSubstr(file("cats/b.jpg").string()));
}

TEST_F(ElementPaths, OfElementsThatDoNotFitIntoABatchAreNamed) {
  std::filesystem::create_directories(file("cats"));
  write("cats/a.png", as_png(waves(4, 4, 3)));
  write("cats/b.png", as_png(waves(5, 5, 3)));
  const DatasetPtr images = image_folder(find_images(file("")), {}, {.channels = 3});
  EXPECT_ERROR(testing::EndsWith("equal shapes" + ending(2, "cats/b.png")), read_texts(batch(images, 2)));
}

}  // namespace
}  // namespace gpubench
