// CIFAR-10's binary version: records of a label and the red, green and blue plane of a 32 x 32 image; five files of
// training images and one of test images.
#include <array>
#include <fmt/format.h>
#include <vector>

#include "core/base/error.h"
#include "core/codec/byte_source.h"
#include "core/data/source/image_set.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t side = 32;
constexpr std::size_t plane = side * side;
constexpr std::size_t channels = 3;
constexpr std::size_t record_bytes = 1 + channels * plane;
/// Records of one file as published; a file with more is something else, or a decompression bomb.
constexpr std::size_t most_records = 10'000;

std::vector<std::string> file_names(std::string_view split) {
  if (split == "test") return {"test_batch.bin"};
  std::vector<std::string> names;
  for (int i = 1; i <= 5; ++i) names.push_back(fmt::format("data_batch_{}.bin", i));
  return names;
}

bool has_any_file(const fs::path& folder) {
  for (const std::string_view split : {"train", "test"}) {
    for (const std::string& name : file_names(split)) {
      if (!find_image_file(folder, name).empty()) return true;
    }
  }
  return false;
}

/// Appends the file's images, channels last, and labels.
void read_records(const fs::path& path, std::vector<std::uint8_t>& images, std::vector<std::uint8_t>& labels) {
  const std::unique_ptr<ByteSource> source = open_source(path);
  std::array<std::byte, record_bytes> record{};
  std::size_t count = 0;
  for (;; ++count) {
    if (source->read_some(std::span(record).first(1)) == 0) break;
    if (count == most_records) {
      throw Error(fmt::format("{}: has more than the {} records of a file of CIFAR-10", path.string(), most_records));
    }
    source->read(std::span(record).subspan(1), fmt::format("record {} of {} bytes", count + 1, record_bytes));
    labels.push_back(static_cast<std::uint8_t>(record[0]));
    for (std::size_t pixel = 0; pixel < plane; ++pixel) {
      for (std::size_t channel = 0; channel < channels; ++channel) {
        images.push_back(static_cast<std::uint8_t>(record[1 + channel * plane + pixel]));
      }
    }
  }
  if (count == 0) throw Error(fmt::format("cifar10: {} has no images", path.string()));
}

HostTensor tensor_of(Shape shape, const std::vector<std::uint8_t>& values) {
  HostTensor tensor(TensorType{std::move(shape), Dtype::u8});
  std::copy(values.begin(), values.end(), tensor.values<std::uint8_t>().begin());
  return tensor;
}

StoredImages read_split(std::string_view split, const fs::path& folder) {
  std::vector<fs::path> files;
  for (const std::string& name : file_names(split)) files.push_back(require_image_file("cifar10", folder, name));
  std::vector<std::uint8_t> images, labels;
  for (const fs::path& file : files) {
    std::vector<std::uint8_t> own;
    read_records(file, images, own);
    check_image_labels(tensor_of({std::ssize(own)}, own), file);
    labels.insert(labels.end(), own.begin(), own.end());
  }
  const std::int64_t count = std::ssize(labels);
  return {tensor_of({count, side, side, static_cast<std::int64_t>(channels)}, images), tensor_of({count}, labels)};
}

}  // namespace

const ImageSetKind& cifar10() {
  static const ImageSetKind kind{"cifar10", false, &has_any_file, &read_split};
  return kind;
}

}  // namespace gpubench
