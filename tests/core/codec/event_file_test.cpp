#include "core/codec/event_file.h"

#include <bit>
#include <gmock/gmock.h>

#include "core/codec/protobuf.h"
#include "core/codec/tfrecord.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class EventFiles : public TemporaryFolder {
 protected:
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(file("logs"))) found.push_back(entry.path());
    return found;
  }
  /// Each event as text: "version", or "tag step value". An event without a step has step 0.
  static std::vector<std::string> events(const std::filesystem::path& path) {
    TfrecordReader records(path, TfrecordCompression::none);
    std::vector<std::string> found;
    for (std::span<const std::byte> record; records.next(record);) {
      WireReader event(record, record, "event");
      std::string version, tag, value;
      std::uint64_t step = 0;
      double time = 0;
      while (event.next()) {
        if (event.field() == 1) time = std::bit_cast<double>(event.number());
        if (event.field() == 2) step = event.number();
        if (event.field() == 3) version = event.text();
        if (event.field() != 5) continue;
        WireReader summary(event.bytes(), record, "summary");
        EXPECT_TRUE(summary.next());
        WireReader scalar(summary.bytes(), record, "scalar");
        while (scalar.next()) {
          if (scalar.field() == 1) tag = scalar.text();
          if (scalar.field() == 2)
            value = std::to_string(std::bit_cast<float>(static_cast<std::uint32_t>(scalar.number())));
        }
      }
      EXPECT_GT(time, 1.7e9);
      found.push_back(version.empty() ? tag + " " + std::to_string(step) + " " + value : version);
    }
    return found;
  }
};

TEST_F(EventFiles, AreReadWhileTheyAreWritten) {
  EventFile events_of_training(file("logs"));
  events_of_training.add_scalar("epoch_loss", 0.5, 0);
  ASSERT_EQ(files().size(), 1U);
  EXPECT_THAT(files()[0].filename().string(), testing::StartsWith("events.out.tfevents."));
  EXPECT_THAT(events(files()[0]), ElementsAre("brain.Event:2", "epoch_loss 0 0.500000"));
  events_of_training.add_scalar(
      "a tag of more than a hundred and twenty-seven letters, whose length takes two bytes in "
      "the message, as does that of the message around it",
      -2, 300);
  EXPECT_THAT(events(files()[0]).back(), HasSubstr("around it 300 -2.000000"));
}

TEST_F(EventFiles, EachHasItsName) {
  const EventFile one(file("logs")), other(file("logs"));
  EXPECT_EQ(files().size(), 2U);
}

TEST_F(EventFiles, NeedAFolder) {
  replace_file(file("taken"), "");
  EXPECT_ERROR(HasSubstr("taken/logs: cannot be written: Not a directory"), EventFile(file("taken/logs")));
}

}  // namespace
}  // namespace gpubench
