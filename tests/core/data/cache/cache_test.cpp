#include "core/data/cache/cache.h"

#include <cstring>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/codec/checksum.h"
#include "core/data/cache/stored_elements.h"
#include "core/data/source/csv.h"
#include "core/data/source/synthetic.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/by_position.h"
#include "core/data/stage/filter.h"
#include "core/data/stage/ignore_errors.h"
#include "core/data/stage/repeat.h"
#include "core/data/stage/shuffle.h"
#include "tests/core/data/functions.h"
#include "tests/core/data/ragged.h"
#include "tests/core/data/reading.h"
#include "tests/core/data/texts.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Counts what passes.
class Counted final : public Transformation {
 public:
  using Transformation::Transformation;
  std::string_view stage() const override { return "counted"; }
  std::unique_ptr<Cursor> open(std::uint64_t epoch, const CursorOptions& options) const override {
    class CountingCursor final : public Cursor {
     public:
      CountingCursor(std::unique_ptr<Cursor> inner, std::atomic<int>& count)
          : inner_(std::move(inner)), count_(count) {}
      bool next(Element& element) override {
        ++count_;
        return inner_->next(element);
      }
      std::vector<StageStatistics> statistics() const override { return inner_->statistics(); }

     private:
      std::unique_ptr<Cursor> inner_;
      std::atomic<int>& count_;
    };
    return std::make_unique<CountingCursor>(source().open(epoch, options), taken);
  }
  mutable std::atomic<int> taken{0};
};

/// Both kinds of caches; the source's elements have fixed types or not.
class Cache : public TemporaryFolder, public testing::WithParamInterface<bool> {
 protected:
  DatasetPtr cached(DatasetPtr source) const {
    return GetParam() ? cache(std::move(source), file("kept")) : cache(std::move(source));
  }
};
INSTANTIATE_TEST_SUITE_P(Places, Cache, testing::Bool(), [](const auto& p) { return p.param ? "File" : "Memory"; });

TEST_P(Cache, ReadsItsSourceOnce) {
  const auto source = std::make_shared<Counted>(numbers(5));
  const DatasetPtr dataset = cached(source);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) EXPECT_EQ(read(dataset, epoch), counting(0, 5));
  EXPECT_EQ(source->taken, 6);  // and the end
  EXPECT_EQ(read(batch(dataset, 2)), counting(0, 5));
}

TEST_P(Cache, IsCompleteOnlyAfterAFullEpoch) {
  const auto source = std::make_shared<Counted>(numbers(5));
  const DatasetPtr dataset = cached(source);
  EXPECT_EQ(read(take(dataset, 3)), counting(0, 3));
  EXPECT_EQ(read(dataset), counting(0, 5));
  EXPECT_EQ(source->taken, 3 + 6);
}

TEST_P(Cache, ElementsPassedOverAreKeptToo) {
  const DatasetPtr dataset = cached(numbers(5));
  EXPECT_EQ(dataset->open()->skip(7), 5);
  EXPECT_EQ(read(dataset), counting(0, 5));
}

TEST_P(Cache, WhatIsKeptIsTheSourcesEpoch0) {
  const DatasetPtr source = shuffle(numbers(50), {.buffer = 50, .seed = 3});
  const DatasetPtr dataset = cached(source);
  EXPECT_EQ(read(dataset, 7), read(source, 0));
  EXPECT_EQ(read(dataset, 8), read(source, 0));
}

TEST_P(Cache, KeepsElementsOfAnyExtents) {
  const DatasetPtr dataset = cached(ragged(9));
  const std::vector<std::string> first = bytes_of(ragged(9), 0);
  EXPECT_EQ(bytes_of(dataset, 0), first);
  EXPECT_EQ(bytes_of(dataset, 1), first);
}

TEST_P(Cache, ErrorsOfTheSourcePassAndNothingIsKept) {
  const DatasetPtr dataset = cached(std::make_shared<Damaged>(numbers(5), 3));
  EXPECT_ERROR("element 3 is damaged", read(dataset));
  EXPECT_ERROR("element 3 is damaged", read(dataset));
}

TEST_P(Cache, TwoEpochsAtATime) {
  const DatasetPtr dataset = cached(numbers(5));
  const std::unique_ptr<Cursor> a = dataset->open(), b = dataset->open();
  Element element;
  ASSERT_TRUE(a->next(element) && b->next(element));
  EXPECT_EQ(read(*a), counting(1, 5));
  EXPECT_EQ(read(*b), counting(1, 5));
  EXPECT_EQ(read(dataset), counting(0, 5));
}

TEST_P(Cache, AnEmptySourceStaysEmpty) {
  const auto none = std::make_shared<Predicate>([](std::int64_t) { return false; });
  const DatasetPtr dataset = cached(take(filter(numbers(5), none), 4));
  EXPECT_TRUE(read(dataset).empty());
  EXPECT_TRUE(read(dataset).empty());
}

TEST_P(Cache, RefusesTheEndless) {
  EXPECT_THAT([this] { cached(repeat(numbers(2))); }, ThrowsMessage<Error>("cache: the dataset never ends; use take"));
}

TEST(MemoryCache, IsRowsOfTensorsWhenComplete) {
  const DatasetPtr dataset = cache(opaque(numbers(5)));
  EXPECT_TRUE(dataset->open()->tables().empty());
  EXPECT_EQ(read(dataset), counting(0, 5));
  EXPECT_EQ(dataset->open()->tables().size(), 2U);
  EXPECT_EQ(read(batch(dataset, 2)), counting(0, 5));
}

TEST(MemoryCache, HasALimit) {
  EXPECT_EQ(read(cache(numbers(4), 64)), counting(0, 4));
  EXPECT_ERROR(
      "cache: 5 elements of 16 B need 80 B, more than the limit of 64 B; raise the limit, or cache "
      "in a file (cache(path))",
      cache(numbers(5), 64));
  const auto all = std::make_shared<Predicate>([](std::int64_t) { return true; });
  const std::string full =
      "cache: the limit of 64 B is full after 4 elements; raise the limit, or cache in a file (cache(path))";
  EXPECT_ERROR(full, read(cache(filter(numbers(5), all), 64)));
  EXPECT_EQ(read(cache(filter(numbers(4), all), 64)), counting(0, 4));
  EXPECT_ERROR(HasSubstr("is full after 4 elements"), bytes_of(cache(ragged(9), 10), 0));
}

TEST(MemoryCache, OfMoreThanTheMachineHasDoesNotStart) {
  const DatasetPtr large = synthetic({.types = {{{1 << 20}, Dtype::f32}}, .count = 1 << 24, .resident = false});
  EXPECT_ERROR(
      testing::AllOf(HasSubstr("cache: 16777216 elements of 4 MiB need 64 TiB, more than half of the free memory, "),
                     HasSubstr("; give a limit, or cache in a file (cache(path))")),
      cache(large)->open());
  EXPECT_ERROR(testing::AllOf(HasSubstr("need 64 TiB, more than the free memory, "),
                              HasSubstr("; cache in a file (cache(path))")),
               cache(large, std::size_t{1} << 50)->open());
}

TEST(MemoryCache, ThatIsFullIsNoErrorOfAnElement) {
  const auto all = std::make_shared<Predicate>([](std::int64_t) { return true; });
  const DatasetPtr dataset = cache(filter(numbers(9), all), 64);
  for (int epoch = 0; epoch < 2; ++epoch) {
    EXPECT_ERROR(HasSubstr("is full after 4 elements"), read(ignore_errors(dataset)));
  }
}

class FileCache : public TemporaryFolder {
 protected:
  static std::string bytes(const std::filesystem::path& path) { return contents(path); }
};

TEST_F(FileCache, OutlivesItsDataset) {
  EXPECT_EQ(read(cache(numbers(5), file("kept"))), counting(0, 5));
  const auto source = std::make_shared<Counted>(numbers(5));
  EXPECT_ERROR(testing::AllOf(HasSubstr("is of another dataset: it holds from_tensor_slices: 5 elements "),
                              HasSubstr("this is from_tensor_slices > counted: 5 elements ")),
               read(cache(source, file("kept"))));
  EXPECT_ERROR(HasSubstr("is of another"), read(cache(numbers(7), file("kept"))));
  EXPECT_EQ(read(cache(numbers(5), file("kept"))), counting(0, 5));
}

TEST_F(FileCache, LeavesNothingBehindWhenLeftEarly) {
  read(take(cache(numbers(5), file("kept")), 2));
  EXPECT_TRUE(std::filesystem::is_empty(file("")));
  read(cache(numbers(5), file("kept")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file("")), std::filesystem::directory_iterator()), 1);
}

TEST_F(FileCache, WhatIsHalfWrittenHasNoNameYet) {
  const DatasetPtr dataset = cache(numbers(5), file("kept"));
  const std::unique_ptr<Cursor> cursor = dataset->open(), other = dataset->open();
  Element element;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(cursor->next(element) && other->next(element));
  EXPECT_TRUE(std::filesystem::is_empty(file("")));  // what a killed program would leave
  EXPECT_EQ(read(*cursor), counting(3, 5));
  EXPECT_EQ(read(*other), counting(3, 5));  // as another process would, with the file there already
  EXPECT_EQ(read(dataset), counting(0, 5));
}

TEST_F(FileCache, IsOfTheSameSettingsAndFiles) {
  const auto of = [&](DatasetPtr source) { return cache(std::move(source), file("kept")); };
  read(of(shuffle(numbers(5), {.buffer = 5, .seed = 1})));
  EXPECT_ERROR(HasSubstr("kept is of another dataset: it holds from_tensor_slices > "
                         "shuffle(buffer=5 seed=1)"),
               read(of(shuffle(numbers(5), {.buffer = 5, .seed = 2}))));
  std::filesystem::remove(file("kept"));
  const std::string one = write("one.csv", "1\n2\n"), two = write("two.csv", "3\n4\n");
  const CsvOptions column{.columns = {{}}, .header = false};
  EXPECT_EQ(bytes_of(of(csv({&one, 1}, column)), 0).size(), 2U);
  EXPECT_ERROR(HasSubstr("kept is of another dataset: it holds csv(files=1 names="),
               bytes_of(of(csv({&two, 1}, column)), 0));
}

TEST_F(FileCache, EveryCutIsNoticed) {
  const DatasetPtr dataset = cache(numbers(5), file("kept"));
  read(dataset);
  const std::string whole = bytes(file("kept"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write("kept", whole.substr(0, size));
    EXPECT_ERROR(HasSubstr("kept: is cut short; remove the file"), read(dataset));
  }
}

TEST_F(FileCache, ChangedBytesOfTheFrameAreNoticed) {
  const DatasetPtr dataset = cache(ragged(3), file("kept"));
  bytes_of(dataset, 0);
  const std::string whole = bytes(file("kept"));
  std::string no_cache = whole;
  no_cache[0] = 'X';
  write("kept", no_cache);
  EXPECT_ERROR(HasSubstr("kept: is no cache of gpubench"), bytes_of(dataset, 0));
  std::string index = whole;
  index[index.size() - 40] ^= 1;  // the last element's place
  write("kept", index);
  EXPECT_ERROR(HasSubstr("kept: is damaged"), bytes_of(dataset, 0));
}

/// Puts a number into a file's bytes, as one that means harm would: with the checksum of its index.
std::string forged(std::string whole, std::size_t at, std::uint64_t number, std::size_t elements) {
  std::memcpy(&whole[at], &number, sizeof number);
  const std::size_t footer = whole.size() - 32, index = footer - elements * 8;
  const std::uint32_t checksum = crc32_of(std::as_bytes(std::span(whole)).subspan(index, elements * 8));
  std::memcpy(&whole[footer + 16], &checksum, sizeof checksum);
  return whole;
}

TEST_F(FileCache, PlacesAndExtentsThatLeadElsewhereAreNoticed) {
  constexpr std::size_t count = 3;
  const DatasetPtr dataset = cache(batch(numbers(2 * count), 2, true), file("kept"));
  const std::vector<std::string> elements = bytes_of(dataset, 0);
  const std::string whole = bytes(file("kept"));
  const std::size_t index = whole.size() - 32 - count * 8;
  const auto damaged = [&](const std::string& as) {
    write("kept", as);
    EXPECT_ERROR(HasSubstr("kept: is damaged; remove the file"), bytes_of(dataset, 0));
  };
  for (const std::uint64_t place :
       {std::uint64_t{0}, std::uint64_t{index} - 4, std::uint64_t{1} << 63, ~std::uint64_t{7}})
    for (std::size_t i = 0; i < count; ++i) damaged(forged(whole, index + 8 * i, place, count));
  std::uint64_t first = 0;
  std::memcpy(&first, &whole[index], sizeof first);
  for (const std::uint64_t extent : {std::uint64_t{1}, std::uint64_t{1} << 40, ~std::uint64_t{0}})
    damaged(forged(whole, first, extent, count));
  for (const std::uint64_t size : {std::uint64_t{index}, ~std::uint64_t{0}}) damaged(forged(whole, 8, size, count));
  write("kept", forged(whole, 8, 1, count));
  EXPECT_ERROR(HasSubstr("is of another dataset"), bytes_of(dataset, 0));
  write("kept", whole);
  EXPECT_EQ(bytes_of(dataset, 0), elements);
}

TEST_F(FileCache, AFileThatIsShortenedWhileItIsReadIsAnError) {
  constexpr std::int64_t large = 100000;
  const DatasetPtr dataset = cache(batch(numbers(4 * large), large, true), file("kept"));
  bytes_of(dataset, 0);
  const std::unique_ptr<Cursor> cursor = dataset->open();
  Element element;
  ASSERT_TRUE(cursor->next(element));
  std::filesystem::resize_file(file("kept"), 1000);
  EXPECT_ERROR(HasSubstr("kept: is cut short"), cursor->next(element));
}

TEST_F(FileCache, SaysWhyItCannotBeWritten) {
  const DatasetPtr dataset = cache(numbers(5), file("nowhere/kept"));
  EXPECT_ERROR(HasSubstr("cannot be written: No such file"), read(dataset));
}

}  // namespace
}  // namespace gpubench
