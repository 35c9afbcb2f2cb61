// MNIST and Fashion-MNIST: two IDX files for each split, with the same names in both sets.
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/codec/idx.h"
#include "core/data/source/image_set.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t side = 28;
constexpr std::int64_t image_classes = 10;

std::string file_name(std::string_view split, std::string_view kind) {
  return fmt::format("{}-{}-ubyte", split == "train" ? "train" : "t10k", kind);
}

bool has_any_file(const fs::path& folder) {
  for (const std::string_view split : {"train", "test"}) {
    for (const std::string_view kind : {"images-idx3", "labels-idx1"}) {
      if (!find_image_file(folder, file_name(split, kind)).empty()) return true;
    }
  }
  return false;
}

StoredImages read_idx_pair(std::string_view set, std::string_view split, const fs::path& folder) {
  const fs::path images_file = require_image_file(set, folder, file_name(split, "images-idx3"));
  const fs::path labels_file = require_image_file(set, folder, file_name(split, "labels-idx1"));
  const HostTensor images = read_idx(images_file, {{-1, side, side}, Dtype::u8});
  const HostTensor labels = read_idx(labels_file, {{-1}, Dtype::u8});
  const std::int64_t count = images.shape()[0];
  if (count != labels.shape()[0]) {
    throw Error(fmt::format("{}: {} has {} images, but {} has {} labels", set, images_file.string(), count,
                            labels_file.string(), labels.shape()[0]));
  }
  if (count == 0) throw Error(fmt::format("{}: {} has no images", set, images_file.string()));
  check_image_labels(labels, image_classes, labels_file);
  return {images.reshaped({count, side, side, 1}), labels};
}

}  // namespace

const ImageSetKind& mnist() {
  static const ImageSetKind kind{"mnist", true, &has_any_file, [](std::string_view split, const fs::path& folder) {
                                   return read_idx_pair("mnist", split, folder);
                                 }};
  return kind;
}

const ImageSetKind& fashion_mnist() {
  static const ImageSetKind kind{
      "fashion_mnist", false, &has_any_file,
      [](std::string_view split, const fs::path& folder) { return read_idx_pair("fashion_mnist", split, folder); }};
  return kind;
}

}  // namespace gpubench
