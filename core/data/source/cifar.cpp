// The binary versions of CIFAR-10 and CIFAR-100: records of a label (of CIFAR-100 two: one of 20 superclasses, one of
// 100 classes) and the red, green and blue plane of a 32 x 32 image.
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
constexpr std::size_t most_labels = 2;

/// What a file of one of the sets holds.
struct CifarForm {
  std::string_view set;    ///< "cifar10"
  std::string_view title;  ///< "CIFAR-10"
  std::size_t labels;      ///< of a record
  std::size_t label;       ///< which of them is read
  std::int64_t classes;
  /// Records of one file as published; a file with more is something else, or a decompression bomb.
  std::size_t most_records;

  std::size_t record_bytes() const { return labels + channels * plane; }
};
constexpr CifarForm cifar10_form{"cifar10", "CIFAR-10", 1, 0, 10, 10'000};
constexpr CifarForm coarse_form{"cifar100", "CIFAR-100", 2, 0, 20, 50'000};
constexpr CifarForm fine_form{"cifar100", "CIFAR-100", 2, 1, 100, 50'000};

std::vector<std::string> file_names(const CifarForm& form, std::string_view split) {
  if (form.labels == 2) return {fmt::format("{}.bin", split)};
  if (split == "test") return {"test_batch.bin"};
  std::vector<std::string> names;
  for (int i = 1; i <= 5; ++i) names.push_back(fmt::format("data_batch_{}.bin", i));
  return names;
}

template <const CifarForm& Form>
bool has_any_file_of(const fs::path& folder) {
  for (const std::string_view split : {"train", "test"}) {
    for (const std::string& name : file_names(Form, split)) {
      if (!find_image_file(folder, name).empty()) return true;
    }
  }
  return false;
}

/// Appends the file's images, channels last, and labels.
void read_records(const CifarForm& form, const fs::path& path, std::vector<std::uint8_t>& images,
                  std::vector<std::uint8_t>& labels) {
  const std::unique_ptr<ByteSource> source = open_source(path);
  std::array<std::byte, most_labels + channels * plane> bytes{};
  const std::span<std::byte> record = std::span(bytes).first(form.record_bytes());
  std::size_t count = 0;
  for (;; ++count) {
    if (source->read_some(record.first(1)) == 0) break;
    if (count == form.most_records) {
      throw Error(fmt::format("{}: has more than the {} records of a file of {}", path.string(), count, form.title));
    }
    source->read(record.subspan(1), fmt::format("record {} of {} bytes", count + 1, record.size()));
    labels.push_back(static_cast<std::uint8_t>(record[form.label]));
    for (std::size_t pixel = 0; pixel < plane; ++pixel) {
      for (std::size_t channel = 0; channel < channels; ++channel) {
        images.push_back(static_cast<std::uint8_t>(record[form.labels + channel * plane + pixel]));
      }
    }
  }
  if (count == 0) throw Error(fmt::format("{}: {} has no images", form.set, path.string()));
}

HostTensor tensor_of(Shape shape, const std::vector<std::uint8_t>& values) {
  HostTensor tensor(TensorType{std::move(shape), Dtype::u8});
  std::copy(values.begin(), values.end(), tensor.values<std::uint8_t>().begin());
  return tensor;
}

template <const CifarForm& Form>
StoredImages read_split_of(std::string_view split, const fs::path& folder) {
  std::vector<fs::path> files;
  for (const std::string& name : file_names(Form, split)) files.push_back(require_image_file(Form.set, folder, name));
  std::vector<std::uint8_t> images, labels;
  for (const fs::path& file : files) {
    std::vector<std::uint8_t> own;
    read_records(Form, file, images, own);
    check_image_labels(tensor_of({std::ssize(own)}, own), Form.classes, file);
    labels.insert(labels.end(), own.begin(), own.end());
  }
  const std::int64_t count = std::ssize(labels);
  return {tensor_of({count, side, side, static_cast<std::int64_t>(channels)}, images), tensor_of({count}, labels)};
}

}  // namespace

const ImageSetKind& cifar10() {
  static const ImageSetKind kind{"cifar10", false, &has_any_file_of<cifar10_form>, &read_split_of<cifar10_form>};
  return kind;
}

const ImageSetKind& cifar100_coarse() {
  static const ImageSetKind kind{"cifar100", false, &has_any_file_of<coarse_form>, &read_split_of<coarse_form>,
                                 coarse_form.classes};
  return kind;
}

const ImageSetKind& cifar100_fine() {
  static const ImageSetKind kind{"cifar100", false, &has_any_file_of<fine_form>, &read_split_of<fine_form>,
                                 fine_form.classes};
  return kind;
}

}  // namespace gpubench
