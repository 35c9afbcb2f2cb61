#include "core/codec/npz.h"

#include <gmock/gmock.h>
#include <zlib.h>

#include "core/codec/npy.h"
#include "tests/core/codec/damage.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;

std::string deflated(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::uint32_t checksum_of(const std::string& bytes) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

/// A zip archive as Python writes it.
std::string archive(const std::vector<std::pair<std::string, std::string>>& members, bool compressed,
                    std::uint32_t checksum_error = 0) {
  std::string all, directory;
  const auto sizes = [](const std::string& name, const std::string& stored, const std::string& bytes, bool deflate,
                        std::uint32_t crc) {
    return little<std::uint16_t>(20) + little<std::uint16_t>(0) + little<std::uint16_t>(deflate ? 8 : 0) +
           little<std::uint32_t>(0) + little(crc) + little(static_cast<std::uint32_t>(stored.size())) +
           little(static_cast<std::uint32_t>(bytes.size())) + little(static_cast<std::uint16_t>(name.size()));
  };
  for (const auto& [name, bytes] : members) {
    const std::string stored = compressed ? deflated(bytes) : bytes;
    const std::uint32_t crc = checksum_of(bytes) + checksum_error;
    const auto at = static_cast<std::uint32_t>(all.size());
    all += "PK\3\4" + sizes(name, stored, bytes, compressed, crc) + little<std::uint16_t>(4) + name + "\1\0\0\0"s;
    all += stored;
    directory += "PK\1\2" + little<std::uint16_t>(20) + sizes(name, stored, bytes, compressed, crc) +
                 little<std::uint16_t>(0) + std::string(10, '\0') + little(at) + name;
  }
  const auto count = static_cast<std::uint16_t>(members.size());
  return all + directory + "PK\5\6" + little<std::uint32_t>(0) + little(count) + little(count) +
         little(static_cast<std::uint32_t>(directory.size())) + little(static_cast<std::uint32_t>(all.size())) +
         little<std::uint16_t>(0);
}

std::string npy_file(const std::string& descr, const std::string& shape, const std::string& data) {
  const std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  return "\x93NUMPY\1\0"s + little(static_cast<std::uint16_t>(header.size())) + header + data;
}

/// What NumPy writes before the list of an array's objects, and behind it.
std::string array_pickle(const std::string& objects) {
  return "\x80\3"s + "cnumpy.core.multiarray\n_reconstruct\nq\0"s + "cnumpy\nndarray\nq\1"s + "K\0\x85q\2"s +
         "C\1bq\3"s + "\x87q\4Rq\5(K\1K\2\x85q\6"s +
         "cnumpy\ndtype\nq\7X\2\0\0\0O8q\10K\0K\1\x87q\tRq\n(K\3X\1\0\0\0|q\13NNN"s +
         "J\xff\xff\xff\xffJ\xff\xff\xff\xffK?tq\14b\x89"s + objects + "tq\20b."s;
}

/// {1, 300} and {70000, -1, 2 ^ 40}
const std::string two_lists =
    "]q\r(]q\16(K\1M,\1e]q\17("s + "Jp\x11\1\0"s + "J\xff\xff\xff\xff\x8a\6\0\0\0\0\0\1e"s + "e"s;

class Npz : public TemporaryFolder {
 protected:
  IntegerLists lists_of(const std::string& pickle, const std::string& shape = "(2,)") const {
    const auto path = write("lists.npz", archive({{"x.npy", npy_file("|O", shape, pickle)}}, true));
    return decode_integer_lists(NpzFile(path).open("x"));
  }
};

TEST_F(Npz, ArraysAreStoredOrDeflated) {
  const std::string array = npy_file("<i8", "(2,)", little<std::int64_t>(7) + little<std::int64_t>(-1));
  for (const bool compressed : {false, true}) {
    const NpzFile file(write("a.npz", archive({{"x.npy", "first"}, {"y.npy", array}}, compressed)));
    EXPECT_THAT(decode_npy(*file.open("y")).values<std::int64_t>(), ElementsAre(7, -1));
  }
}

TEST_F(Npz, ListsOfIntegersArePickled) {
  const IntegerLists lists = lists_of(array_pickle(two_lists));
  EXPECT_THAT(lists.values, ElementsAre(1, 300, 70000, -1, std::int64_t{1} << 40));
  EXPECT_THAT(lists.ends, ElementsAre(2, 5));
  // Protocol 4, and lists of one number, which is appended alone.
  const std::string framed =
      "\x80\4\x95\0\0\0\0\0\0\0\0\x8c\5numpy\x94\x8c\7ndarray\x94\x93\x94("s + "]\x94(]\x94K\5a]\x94K\6aetR."s;
  const IntegerLists single = lists_of("(" + framed);
  EXPECT_THAT(single.values, ElementsAre(5, 6));
}

TEST_F(Npz, NothingElseIsRead) {
  EXPECT_ERROR(HasSubstr("the pickle cannot be read: it has the instruction 0x47; arrays of lists of whole numbers "
                         "can"),
               lists_of(array_pickle("](](G\0\0\0\0\0\0\0\0ee"s)));
  EXPECT_ERROR(HasSubstr("a list holds something else"), lists_of(array_pickle("](](Nee"s)));
  EXPECT_ERROR(HasSubstr("it holds no list of lists"), lists_of(array_pickle("](K\1e"s)));
  EXPECT_ERROR(HasSubstr("it appends to what is no list"), lists_of(array_pickle("N(K\1e"s)));
  EXPECT_ERROR(HasSubstr("it has no mark"), lists_of("]K\1e."s));
  EXPECT_ERROR(HasSubstr("its stack is empty"), lists_of("R."s));
  EXPECT_ERROR(HasSubstr("it names what it has not kept"), lists_of("h\1."s));
  EXPECT_ERROR(HasSubstr("it has a number beyond int64"), lists_of("\x8a\11"s + std::string(9, '\1')));
  EXPECT_ERROR(HasSubstr("it has a long text"), lists_of("X\xff\xff\xff\x7f"s));
  EXPECT_ERROR(HasSubstr("it is cut short"), lists_of("]K"s));
  EXPECT_ERROR(HasSubstr("2 lists where the array's header has 3"), lists_of(array_pickle(two_lists), "(3,)"));
  const std::string many = "](K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1eq\0"s;
  std::string repeated = "]q\1(" + many;
  for (int i = 0; i < 100; ++i) repeated += "h\0"s;
  EXPECT_ERROR(HasSubstr("it repeats its lists"), lists_of(repeated + "e."));
  const auto numbers = write("n.npz", archive({{"x.npy", npy_file("<i8", "(1,)", little<std::int64_t>(1))}}, false));
  EXPECT_ERROR(HasSubstr("an array of lists is expected (npy type '|O'), got '<i8' of 1 dimensions"),
               decode_integer_lists(NpzFile(numbers).open("x")));
}

TEST_F(Npz, DamagedArchivesAreNamed) {
  EXPECT_ERROR(HasSubstr("no zip archive, as .npz files are"),
               NpzFile(write("text.npz", "no archive at all, but text")));
  const std::string array = npy_file("<i8", "(1,)", little<std::int64_t>(7));
  const NpzFile wrong(write("wrong.npz", archive({{"y.npy", array}}, true, 1)));
  EXPECT_ERROR(HasSubstr("the compressed data is damaged: incorrect data check"), decode_npy(*wrong.open("y")));
  EXPECT_ERROR(HasSubstr("has no array 'x' (known: y)"), wrong.open("x"));
  const std::string good = archive({{"y.npy", array}}, true);
  EXPECT_ERROR(HasSubstr("the archive is damaged"), NpzFile(write("cut.npz", good.substr(40))));
}

}  // namespace
}  // namespace gpubench
