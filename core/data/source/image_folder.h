// A folder of images with a folder for each class: elements (image, int64 label). Labels count the classes, which are
// sorted by name.
//
//   const LabelledImages digits = find_images("digits");  // digits/0/a.png, digits/1/b.png, ...
//   image_folder(digits, {.shuffle = true}, {.channels = 1, .size = {{28, 28}}})
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/data/function/decode_image.h"
#include "core/data/source/list_files.h"

namespace gpubench {

struct LabelledImages {
  std::vector<std::string> class_names;
  std::vector<std::string> paths;
  std::vector<std::int64_t> labels;
};

/// Files called .jpg, .jpeg or .png, however deep in a class's folder; names that start with a dot are left out. Throws
/// Error when there are no classes, or one has no images.
LabelledImages find_images(const std::filesystem::path& root);

/// Lists, reads and decodes, as three stages.
DatasetPtr image_folder(const LabelledImages& images, const FileOrder& order, const DecodeOptions& options);

}  // namespace gpubench
