// A folder of images with a subfolder per class: elements (image, int64 label). The label is the index of the class in
// the order of names.
//
//   const LabelledImages digits = find_images("digits");  // digits/0/a.png, digits/1/b.png, ...
//   image_folder(digits, {.shuffle = true}, {.channels = 1, .size = {{28, 28}}})
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "core/data/function/decode_image.h"
#include "core/data/map/map.h"
#include "core/data/source/list_files.h"

namespace gpubench {

struct LabelledImages {
  std::vector<std::string> class_names;
  std::vector<std::string> paths;
  std::vector<std::int64_t> labels;
};

/// All .jpg, .jpeg and .png files below a class's folder, at any depth, except names that start with a dot. Throws
/// Error if there are no classes, or one has no images.
LabelledImages find_images(const std::filesystem::path& root);

/// Lists files; a map reads and decodes them.
DatasetPtr image_folder(const LabelledImages& images, const FileOrder& order, const DecodeOptions& options,
                        const MapOptions& calls = {});

}  // namespace gpubench
