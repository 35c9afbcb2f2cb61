#include "core/codec/tfrecord.h"

#include <gmock/gmock.h>

#include "core/base/error.h"
#include "tests/core/codec/damage.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Tfrecord : public TemporaryFolder, public testing::WithParamInterface<TfrecordCompression> {
 protected:
  std::filesystem::path written(const std::vector<std::string>& records) const {
    TfrecordWriter writer(file("x"), GetParam());
    for (const std::string& record : records) writer.write(std::as_bytes(std::span(record)));
    writer.close();
    return file("x");
  }
  /// What is read, with the texts of errors in between.
  static std::vector<std::string> read(const std::filesystem::path& path, TfrecordCompression compression) {
    TfrecordReader reader(path, compression);
    std::vector<std::string> found;
    for (;;) {
      std::span<const std::byte> record;
      try {
        if (!reader.next(record)) return found;
        found.emplace_back(reinterpret_cast<const char*>(record.data()), record.size());
      } catch (const Error& error) {
        found.emplace_back(error.what());
      }
    }
  }
  std::vector<std::string> read() const { return read(file("x"), GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Compressions, Tfrecord, testing::Values(TfrecordCompression::none, TfrecordCompression::gzip),
                         [](const auto& way) { return way.param == TfrecordCompression::none ? "None" : "Gzip"; });

TEST_P(Tfrecord, WritesWhatItReads) {
  const std::vector<std::string> records{"one", "", std::string(600000, 'x'), "four"};
  written(records);
  EXPECT_EQ(read(), records);
}

TEST_P(Tfrecord, CanBeEmpty) {
  written({});
  EXPECT_THAT(read(), ElementsAre());
}

TEST_P(Tfrecord, AppearsWhenItIsClosed) {
  { TfrecordWriter(file("x"), GetParam()).write({}); }
  EXPECT_FALSE(std::filesystem::exists(file("x")));
  EXPECT_ERROR(HasSubstr("none/x: cannot be written: No such file or directory"),
               TfrecordWriter(file("none/x"), GetParam()));
}

using TfrecordBytes = Tfrecord;
INSTANTIATE_TEST_SUITE_P(Plain, TfrecordBytes, testing::Values(TfrecordCompression::none));

// Written by TensorFlow 2.20: tf.io.TFRecordWriter("x").write(b"abc").
TEST_P(TfrecordBytes, AreThoseOfTensorFlow) {
  written({"abc"});
  const std::string bytes = contents(file("x"));
  EXPECT_EQ(bytes, std::string("\x03\0\0\0\0\0\0\0\xb0\x99I\x0e"
                               "abcnW\xf1!",
                               19));
}

TEST_P(TfrecordBytes, AreCheckedAndReadOnBehindDamage) {
  const std::string bytes = contents(written({"first", "second", "third"}));
  const auto damaged = [&](std::size_t place) {
    std::string changed = bytes;
    changed[place] = static_cast<char>(changed[place] + 1);
    write("x", changed);
    return read();
  };
  const std::string at = file("x").string() + ": record 2 at byte 21: ";
  EXPECT_THAT(damaged(21 + 12), ElementsAre("first", at + "its data does not match its checksum", "third"));
  EXPECT_THAT(damaged(21 + 12 + 6), ElementsAre("first", at + "its data does not match its checksum", "third"));
  EXPECT_THAT(damaged(21), ElementsAre("first", at + "its length does not match its checksum"));
  EXPECT_THAT(damaged(21 + 8), ElementsAre("first", at + "its length does not match its checksum"));
}

TEST_P(TfrecordBytes, MayBeCutShort) {
  const std::string bytes = contents(written({"first", "second"}));
  const std::string at = file("x").string() + ": record 2 at byte 21: ";
  write("x", bytes.substr(0, 21));
  EXPECT_THAT(read(), ElementsAre("first"));
  for (std::size_t length = 22; length < bytes.size(); ++length) {
    write("x", bytes.substr(0, length));
    const std::string part = length < 21 + 12 ? "length" : "data";
    ASSERT_THAT(read(), ElementsAre("first", at + "the file is cut short in its " + part)) << length;
  }
}

TEST_P(TfrecordBytes, MayBeOfTheOtherCompression) {
  write("x", compressed(contents(written({"one"}))));
  EXPECT_THAT(read(), ElementsAre(HasSubstr("the file is gzip, which compression = \"gzip\" reads")));
  written({"one"});
  EXPECT_THAT(read(file("x"), TfrecordCompression::gzip), ElementsAre(HasSubstr("the compressed data is damaged")));
}

TEST(TfrecordCompressionName, IsNoneOrGzip) {
  EXPECT_EQ(parse_tfrecord_compression("none"), TfrecordCompression::none);
  EXPECT_EQ(parse_tfrecord_compression("gzip"), TfrecordCompression::gzip);
  EXPECT_ERROR("tfrecord: there is no compression 'zlib' (known: none, gzip)", parse_tfrecord_compression("zlib"));
}

}  // namespace
}  // namespace gpubench
