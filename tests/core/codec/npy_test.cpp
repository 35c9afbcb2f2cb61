#include "core/codec/npy.h"

#include <gmock/gmock.h>

#include "tests/core/codec/damage.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Npy : public TemporaryFolder {
 protected:
  static std::string npy(const std::string& header, const std::string& data, char major = 1) {
    const auto length = static_cast<std::uint32_t>(header.size());
    const std::string size = major == 1 ? little(static_cast<std::uint16_t>(length)) : little(length);
    return "\x93NUMPY" + std::string{major, '\0'} + size + header + data;
  }
  static std::string header(const std::string& descr, const std::string& shape, bool fortran = false) {
    return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape +
           ", }\n";
  }
  static std::string pair() { return npy(header("<f4", "(2,)"), little(1.5F) + little(-2.0F)); }
};

TEST_F(Npy, ReadsAllVersionsAndBothByteOrders) {
  for (const char major : {'\1', '\2', '\3'}) {
    const HostTensor tensor = read_npy(write("a.npy", npy(header("<i4", "(1, 2)"), little(7) + little(-8), major)));
    EXPECT_EQ(to_string(tensor.type()), "int32[1, 2]");
    EXPECT_THAT(tensor.values<std::int32_t>(), ElementsAre(7, -8));
  }
  EXPECT_THAT(read_npy(write("b.npy", npy(header(">i8", "(1,)"), big<std::int64_t>(-3)))).values<std::int64_t>(),
              ElementsAre(-3));
  EXPECT_EQ(read_npy(write("c.npy", npy(header("|b1", "()"), "\1"))).shape(), Shape{});
  EXPECT_EQ(to_string(read_npy(write("d.npy", npy(header("<f2", "(0, 4)"), ""))).type()), "float16[0, 4]");
}

TEST_F(Npy, ReadsTheHeadersOthersWrite) {
  const std::string odd = R"({"shape":(2L,),'fortran_order':True,"descr":'|u1'}      )";
  EXPECT_THAT(read_npy(write("odd.npy", npy(odd, "\5\6"))).values<std::uint8_t>(), ElementsAre(5, 6));
}

TEST_F(Npy, WritesWhatItReads) {
  for (const Dtype dtype :
       {Dtype::f32, Dtype::f16, Dtype::i64, Dtype::i32, Dtype::i16, Dtype::i8, Dtype::u8, Dtype::boolean}) {
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 5}, Shape{0, 3}}) {
      HostTensor tensor = HostTensor::zeros({shape, dtype});
      if (tensor.elements() > 0) *tensor.data() = std::byte{1};
      write_npy(file("x.npy"), tensor);
      const HostTensor back = read_npy(file("x.npy"));
      EXPECT_EQ(back.type(), tensor.type());
      EXPECT_EQ(std::memcmp(back.data(), tensor.data(), tensor.bytes()), 0);
      const std::string bytes = contents(file("x.npy"));
      EXPECT_EQ((bytes.size() - tensor.bytes()) % 64, 0U);
    }
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file("")), {}), 1) << "partial files are left";
}

TEST_F(Npy, RefusesToWriteWhatNumpyLacksOrWhereItCannot) {
  EXPECT_ERROR(HasSubstr("x.npy: npy files have no bfloat16; cast it first"),
               write_npy(file("x.npy"), HostTensor::zeros({{1}, Dtype::bf16})));
  EXPECT_ERROR(HasSubstr("no/x.npy: cannot be written: No such file or directory"),
               write_npy(file("no/x.npy"), HostTensor::zeros({{1}, Dtype::f32})));
  EXPECT_ERROR(HasSubstr("cannot be written: Not a directory"),
               write_npy("/dev/full/x.npy", HostTensor::zeros({{1}, Dtype::f32})));
}

TEST_F(Npy, SaysHowToSaveWhatIsNotSupported) {
  EXPECT_ERROR(HasSubstr("f64.npy: npy type '<f8' is not supported; save the array with .astype()"),
               read_npy(write("f64.npy", npy(header("<f8", "(1,)"), little(1.0)))));
  EXPECT_ERROR(HasSubstr("the array is in Fortran order; save numpy.ascontiguousarray() of it"),
               read_npy(write("fortran.npy", npy(header("|u1", "(2, 2)", true), "abcd"))));
  EXPECT_ERROR(HasSubstr("npy type '|O' is not supported"),
               read_npy(write("object.npy", npy(header("|O", "(1,)"), ""))));
  EXPECT_ERROR(HasSubstr("npy version 9 is not supported (known: 1, 2, 3)"),
               read_npy(write("v9.npy", npy(header("|u1", "(1,)"), "a", 9))));
}

TEST_F(Npy, NamesWhatIsDamaged) {
  const auto message = [&](const std::string& bytes, const std::string& text) {
    const std::filesystem::path path = write("x.npy", bytes);
    EXPECT_ERROR(path.string() + ": " + text, read_npy(path));
  };
  message("PK\3\4 or something else", "no npy file: it does not start with \\x93NUMPY");
  message(npy(header("<f4", "(2,)"), little(1.5F)),
          "the file is cut short: float32[2] needs 8 bytes, the file has 4 at most after byte 68");
  message(pair() + "x", "bytes follow after float32[2], which ends at byte 76");
  message(npy("{'descr': '<f4', 'shape': (1,)}", ""),
          "the npy header is damaged: a missing key; descr, fortran_order and shape are needed at character 32");
  message(npy("{'descr': '<f4', 'descr': '<f4'}", ""), "the npy header is damaged: key 'descr' at character 26");
  message(npy("{'descr': [('a', '<f4')], 'shape': (1,)}", ""),
          "the npy header is damaged: no string (structured types are not supported) at character 11");
  message(npy(header("<f4", "(-1,)"), ""), "the npy header is damaged: no extent at character 52");
  message(npy("{'fortran_order': Perhaps}", ""), "the npy header is damaged: neither True nor False at character 19");
  message(npy(header("|b1", "(2,)"), "\1\2"), "a bool is neither 0 nor 1");
  message(npy(header("<f4", "(99999999999, 99999999999)"), ""),
          "float32[99999999999, 99999999999] is too large for any memory; at most 2^47 bytes (128 TiB) are possible");
  message("\x93NUMPY\2" + std::string(1, '\0') + little<std::uint32_t>(1 << 20),
          "an npy header of 1048576 bytes; at most 65536 are read");
}

TEST_F(Npy, SurvivesAnyDamage) {
  expect_error_or_success_when_damaged(pair(), [](const std::string& bytes) {
    ByteSpanSource source("memory", std::as_bytes(std::span(bytes)));
    decode_npy(source);
  });
}

}  // namespace
}  // namespace gpubench
