#include "core/codec/event_file.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <span>
#include <unistd.h>
#include <vector>

#include "core/base/host_name.h"
#include "core/codec/protobuf.h"
#include "core/codec/tfrecord.h"

namespace gpubench {
namespace {

// Numbers of the messages' fields, from tensorflow/core/util/event.proto and framework/summary.proto.
constexpr std::uint32_t event_wall_time = 1, event_step = 2, event_file_version = 3, event_summary = 5;
constexpr std::uint32_t summary_value = 1, value_tag = 1, value_simple = 2;

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string event_now() {
  std::string event;
  put_fixed(event, event_wall_time, seconds_since_1970());
  return event;
}

}  // namespace

EventFile::EventFile(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) fail_to_write(folder, failed.value());
  // TensorBoard takes files with "tfevents" in their names, in the order of the numbers.
  const auto now = static_cast<std::int64_t>(seconds_since_1970());
  for (int number = 0; !descriptor_; ++number) {
    path_ = folder / fmt::format("events.out.tfevents.{:010}.{}.{}.{}.v2", now, own_host_name(), getpid(), number);
    constexpr int readable = 0644;
    descriptor_ = Descriptor(open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, readable));
    if (!descriptor_ && errno != EEXIST) fail_to_write(path_, errno);
  }
  std::string first = event_now();
  put_bytes(first, event_file_version, "brain.Event:2");
  write(first);
}

void EventFile::add_scalar(std::string_view tag, double value, std::int64_t step) {
  std::string scalar, summary, event = event_now();
  put_bytes(scalar, value_tag, tag);
  put_fixed(scalar, value_simple, static_cast<float>(value));
  put_bytes(summary, summary_value, scalar);
  put_number(event, event_step, static_cast<std::uint64_t>(step));
  put_bytes(event, event_summary, summary);
  write(event);
}

void EventFile::write(const std::string& event) {
  std::vector<std::byte> record;
  append_record(record, std::as_bytes(std::span(event)));
  std::span<const std::byte> rest = record;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_.number(), rest.data(), rest.size());
    if (written < 0 && errno != EINTR) fail_to_write(path_, errno);
    if (written > 0) rest = rest.subspan(static_cast<std::size_t>(written));
  }
}

}  // namespace gpubench
