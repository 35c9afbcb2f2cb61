#include "core/codec/npz.h"

#include <gmock/gmock.h>

#include "core/codec/npy.h"
#include "tests/core/codec/damage.h"

namespace gpubench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// A zip archive put together by hand, so that every field can be wrong.
struct Member {
  std::string name;
  std::string bytes;
  bool deflated = false;
  bool zip64 = false;
  std::uint16_t flags = 0;
  std::uint16_t method = 0xffff;  ///< other than stored or deflated
  std::uint32_t crc_change = 0;
};

std::string zip(const std::vector<Member>& members) {
  constexpr std::uint32_t in_zip64 = 0xffffffff;
  std::string local;
  std::string directory;
  for (const Member& member : members) {
    const std::string data = member.deflated ? compressed(member.bytes, false) : member.bytes;
    const auto* const start = reinterpret_cast<const Bytef*>(member.bytes.data());
    const auto crc = static_cast<std::uint32_t>(crc32_z(0, start, member.bytes.size())) ^ member.crc_change;
    const std::uint16_t method = member.method != 0xffff ? member.method : member.deflated ? 8 : 0;
    const auto size = static_cast<std::uint32_t>(member.bytes.size());
    const auto packed_size = static_cast<std::uint32_t>(data.size());
    const auto offset = static_cast<std::uint32_t>(local.size());
    const std::string extra = member.zip64 ? little<std::uint16_t>(1) + little<std::uint16_t>(16) +
                                                 little<std::uint64_t>(size) + little<std::uint64_t>(packed_size)
                                           : "";
    const std::string common = little(member.flags) + little(method) + little<std::uint32_t>(0) + little(crc) +
                               little(member.zip64 ? in_zip64 : packed_size) + little(member.zip64 ? in_zip64 : size) +
                               little(static_cast<std::uint16_t>(member.name.size())) +
                               little(static_cast<std::uint16_t>(extra.size()));
    local += "PK\3\4" + little<std::uint16_t>(20) + common + member.name + extra + data;
    directory += "PK\1\2" + little<std::uint32_t>(20) + common + little<std::uint16_t>(0) + little<std::uint64_t>(0) +
                 little(offset) + member.name + extra;
  }
  const auto count = static_cast<std::uint16_t>(members.size());
  return local + directory + "PK\5\6" + little<std::uint32_t>(0) + little(count) + little(count) +
         little(static_cast<std::uint32_t>(directory.size())) + little(static_cast<std::uint32_t>(local.size())) +
         little<std::uint16_t>(0);
}

class Npz : public TemporaryFolder {
 protected:
  /// uint8[3] as a .npy file.
  std::string array() const {
    write_npy(file("array.npy"), HostTensor::of<std::uint8_t>({3}, std::vector<std::uint8_t>{1, 2, 3}));
    return contents(file("array.npy"));
  }
};

TEST_F(Npz, ReadsStoredDeflatedAndZip64Entries) {
  const std::vector<NamedTensor> arrays = read_npz(write(
      "x.npz", zip({{"images.npy", array()}, {"labels.npy", array(), true}, {"large.npy", array(), true, true}})));
  ASSERT_EQ(arrays.size(), 3U);
  EXPECT_EQ(arrays[0].name, "images");
  EXPECT_EQ(arrays[1].name, "labels");
  EXPECT_EQ(arrays[2].name, "large");
  for (const NamedTensor& named : arrays) EXPECT_THAT(named.tensor.values<std::uint8_t>(), ElementsAre(1, 2, 3));
}

TEST_F(Npz, ReadsAnArchiveWithAComment) {
  std::string bytes = zip({{"a.npy", array()}});
  bytes[bytes.size() - 2] = 5;
  EXPECT_EQ(read_npz(write("x.npz", bytes + "hello")).size(), 1U);
}

TEST_F(Npz, NamesWhatIsDamaged) {
  const auto message = [&](const std::string& bytes, const std::string& text) {
    const std::filesystem::path path = write("x.npz", bytes);
    EXPECT_THAT([&] { read_npz(path); }, ThrowsMessage<Error>(HasSubstr(path.string() + text)));
  };
  message("no archive at all, just text", ": no zip archive: it has no end record");
  message("", ": no zip archive: it has no end record");
  message(zip({}), ": holds no arrays");
  message(zip({{"readme.txt", "hello"}}), ": entry 'readme.txt' is no .npy array");
  message(zip({{"a.npy", "hello, world"}}), "(a.npy): no npy file");
  message(zip({{.name = "a.npy", .bytes = array(), .flags = 1}}), "(a.npy): is encrypted");
  message(zip({{.name = "a.npy", .bytes = array(), .method = 12}}),
          "(a.npy): zip method 12 is not supported (known: 0 stored, 8 deflated)");
  message(zip({{.name = "a.npy", .bytes = array(), .deflated = true, .crc_change = 1}}),
          "(a.npy): the zip archive is damaged: its checksum is wrong");
  const std::string valid = zip({{"a.npy", array()}});
  message(valid.substr(10), ": the zip archive is damaged: the directory lies outside the file");
  std::string no_magic = valid;
  no_magic[0] = 'X';
  message(no_magic, "(a.npy): the zip archive is damaged: its header has no magic");
}

TEST_F(Npz, SurvivesAnyDamage) {
  const auto decode = [this](const std::string& bytes) { read_npz(write("x.npz", bytes)); };
  for (const bool deflated : {false, true}) {
    const std::string valid = zip({{"a.npy", array(), deflated}});
    std::mt19937 random(1);
    for (int i = 0; i < 300; ++i) {
      std::string bytes = i % 2 == 0 ? valid.substr(0, random() % valid.size()) : valid;
      if (!bytes.empty()) bytes[random() % bytes.size()] = static_cast<char>(random());
      try {
        decode(bytes);
      } catch (const Error&) {
        continue;
      }
    }
  }
}

}  // namespace
}  // namespace gpubench
