#include "core/codec/safetensors.h"

#include <gmock/gmock.h>

#include "tests/core/codec/damage.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class SafetensorsFile : public TemporaryFolder {
 protected:
  static std::string file_of(const std::string& header, const std::string& data = "") {
    return little(static_cast<std::uint64_t>(header.size())) + header + data;
  }
  static NamedTensor floats(const std::string& name) {
    return {name, HostTensor::of<float>({2}, std::vector<float>{1.5F, -2.0F})};
  }
};

TEST_F(SafetensorsFile, WritesWhatItReads) {
  Safetensors contents;
  contents.metadata = {{"format", "gpubench"}, {"note", "quotes \" and \n lines"}};
  for (const Dtype dtype : {Dtype::u8, Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i64, Dtype::i32, Dtype::i16,
                            Dtype::i8, Dtype::boolean}) {
    HostTensor tensor = HostTensor::zeros({{3, 1}, dtype});
    *tensor.data() = std::byte{1};
    contents.tensors.push_back({std::string(to_string(dtype)) + "/kernel", tensor});
  }
  contents.tensors.push_back({"scalar", HostTensor::scalar(3.5F)});
  contents.tensors.push_back({"empty", HostTensor::zeros({{0, 4}, Dtype::f32})});
  write_safetensors(file("x.safetensors"), contents);

  const Safetensors back = read_safetensors(file("x.safetensors"));
  EXPECT_EQ(back.metadata, contents.metadata);
  ASSERT_EQ(back.tensors.size(), contents.tensors.size());
  for (const NamedTensor& expected : contents.tensors) {
    const auto found = std::find_if(back.tensors.begin(), back.tensors.end(),
                                    [&](const NamedTensor& tensor) { return tensor.name == expected.name; });
    ASSERT_NE(found, back.tensors.end()) << expected.name;
    EXPECT_EQ(found->tensor.type(), expected.tensor.type());
    EXPECT_EQ(std::memcmp(found->tensor.data(), expected.tensor.data(), expected.tensor.bytes()), 0) << expected.name;
  }
}

TEST_F(SafetensorsFile, ReadsAFileWrittenElsewhere) {
  const std::string header = R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]},)"
                             R"("a":{"dtype":"U8","shape":[2,1],"data_offsets":[0,2]}}   )";
  const Safetensors contents = read_safetensors(write("x", file_of(header, "\7\10" + little(2.5F))));
  ASSERT_EQ(contents.tensors.size(), 2U);
  EXPECT_EQ(contents.tensors[0].name, "a");
  EXPECT_THAT(contents.tensors[0].tensor.values<std::uint8_t>(), ElementsAre(7, 8));
  EXPECT_THAT(contents.tensors[1].tensor.values<float>(), ElementsAre(2.5F));
}

TEST_F(SafetensorsFile, AFailedWriteKeepsTheEarlierFile) {
  write_safetensors(file("x"), {{floats("a")}, {}});
  const std::string before = contents(file("x"));
  EXPECT_ERROR(HasSubstr("x: tensor name 'a' occurs twice"),
               write_safetensors(file("x"), {{floats("a"), floats("a")}, {}}));
  EXPECT_ERROR(HasSubstr("x: tensor name '__metadata__' is reserved"),
               write_safetensors(file("x"), {{floats("__metadata__")}, {}}));
  EXPECT_ERROR(HasSubstr("x: names and metadata of tensors must be UTF-8"),
               write_safetensors(file("x"), {{floats("\xff")}, {}}));
  EXPECT_ERROR(HasSubstr("none/x: cannot be written: No such file or directory"),
               write_safetensors(file("none/x"), {{floats("a")}, {}}));
  EXPECT_EQ(contents(file("x")), before);
}

TEST_F(SafetensorsFile, NamesWhatIsDamaged) {
  const auto message = [&](const std::string& bytes, const std::string& text) {
    const std::filesystem::path path = write("x", bytes);
    EXPECT_ERROR(HasSubstr(path.string() + ": " + text), read_safetensors(path));
  };
  const auto tensor = [](const std::string& body) { return file_of(R"({"a":{)" + body + "}}", "12345678"); };
  message("", "the file is cut short: the safetensors header's length needs 8 bytes");
  message("this is a text file", "no safetensors file: its header would have");
  message(file_of("{no json"), "the safetensors header is damaged: it is no JSON from its byte 3 on");
  message(file_of(std::string(1'000'000, '[')), "JSON nested more than 64 deep at byte 64");
  message(file_of("[1]"), "the safetensors header is damaged: it is no JSON object");
  message(file_of(R"({"a": 1e999})"), "the safetensors header is damaged: it has a number that is out of range");
  message(tensor(R"("dtype":"F64","shape":[1],"data_offsets":[0,8])"),
          "tensor 'a' has type 'F64', which is not supported (known: F32, F16, BF16");
  message(tensor(R"("dtype":"F32","shape":[2])"),
          "the safetensors header is damaged: tensor 'a' has no 'data_offsets'");
  message(tensor(R"("dtype":32,"shape":[2],"data_offsets":[0,8])"),
          "the safetensors header is damaged: tensor 'a': 'dtype' is a text");
  message(tensor(R"("dtype":"F32","shape":{"a":2},"data_offsets":[0,8])"),
          "the safetensors header is damaged: tensor 'a': 'shape' is a list of counts");
  message(tensor(R"("dtype":"F32","shape":[2],"data_offsets":"08")"),
          "the safetensors header is damaged: tensor 'a': 'data_offsets' is two numbers");
  message(tensor(R"("dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8])"),
          "the safetensors header is damaged: 'shape' occurs twice");
  std::string rank_33 = "[1";
  for (int i = 0; i < 32; ++i) rank_33 += ",1";
  rank_33 += "]";
  for (const char* shape : {R"(["2"])", "[2.5]"})
    message(tensor(R"("dtype":"F32","data_offsets":[0,8],"shape":)" + std::string(shape)),
            "the safetensors header is damaged: ");
  message(tensor(R"("dtype":"F32","data_offsets":[0,4],"shape":)" + rank_33), "tensor 'a': a tensor of rank 33");
  message(file_of(R"({"a":{},"a":{}})"), "the safetensors header is damaged: 'a' occurs twice");
  message(file_of(R"({"a":5})"),
          "the safetensors header is damaged: tensor 'a' is no object with dtype, shape and data_offsets");
  message(file_of(R"({"__metadata__":{"k":1}})"),
          "the safetensors header is damaged: '__metadata__' is no object of texts");
  message(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0])"),
          "the safetensors header is damaged: data_offsets are two numbers");
  message(tensor(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"),
          "the safetensors header is damaged: '-2' where a count is expected");
  message(tensor(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"),
          "the safetensors header is damaged: tensor 'a' is float32[3] but has bytes 0 to 8");
  message(tensor(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0])"),
          "tensor 'a': float32[4294967296, 4294967296] is too large for any memory; at most 2^47 bytes");
  message(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"),
          "the safetensors header is damaged: tensor 'a' starts at byte 4 where 0 is expected");
  message(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), "4 bytes follow after the last tensor");
  message(tensor(R"("dtype":"F32","shape":[4],"data_offsets":[0,16])"),
          "the file is cut short: its tensors need 16 bytes, 8 are there");
  message(tensor(R"("dtype":"BOOL","shape":[8],"data_offsets":[0,8])"), "a bool is neither 0 nor 1");
}

TEST_F(SafetensorsFile, SurvivesAnyDamage) {
  write_safetensors(file("valid"), {{floats("a"), floats("b")}, {{"k", "v"}}});
  expect_error_or_success_when_damaged(contents(file("valid")), [](const std::string& bytes) {
    ByteSpanSource source("memory", std::as_bytes(std::span(bytes)));
    decode_safetensors(source);
  });
}

}  // namespace
}  // namespace gpubench
