#include "core/data/source/image_folder.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/function/read_file.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

bool is_image(const fs::path& path) {
  std::string extension = path.extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::array known{".jpg", ".jpeg", ".png"};
  return std::find(known.begin(), known.end(), extension) != known.end();
}

std::vector<std::string> folders_in(const fs::path& root) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) {
    if (entry.is_directory() && !is_hidden(entry.path())) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> images_in(const fs::path& folder) {
  std::vector<std::string> paths;
  const auto options = fs::directory_options::follow_directory_symlink;
  for (auto entry = fs::recursive_directory_iterator(folder, options); entry != fs::end(entry); ++entry) {
    if (is_hidden(entry->path())) {
      entry.disable_recursion_pending();
    } else if (is_image(entry->path()) && !entry->is_directory()) {
      paths.push_back(entry->path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

LabelledImages scan(const fs::path& root) {
  LabelledImages images;
  images.class_names = folders_in(root);
  for (const std::string& name : images.class_names) {
    const std::vector<std::string> found = images_in(root / name);
    if (found.empty()) {
      throw Error(fmt::format("image_folder: {} holds no images (.jpg, .jpeg, .png)", (root / name).string()));
    }
    images.labels.insert(images.labels.end(), found.size(), &name - images.class_names.data());
    images.paths.insert(images.paths.end(), found.begin(), found.end());
  }
  return images;
}

}  // namespace

LabelledImages find_images(const fs::path& root) {
  std::error_code ignored;
  if (!fs::is_directory(root, ignored)) throw Error(fmt::format("image_folder: there is no folder {}", root.string()));
  LabelledImages images;
  try {
    images = scan(root);
  } catch (const fs::filesystem_error& error) {
    throw Error(fmt::format("image_folder: {}: {}", error.path1().string(), error.code().message()));
  }
  if (images.class_names.empty()) {
    throw Error(fmt::format("image_folder: {} has no folders; each class is a folder of images", root.string()));
  }
  return images;
}

DatasetPtr image_folder(const LabelledImages& images, const FileOrder& order, const DecodeOptions& options,
                        const MapOptions& calls) {
  return map(map(labelled_files(images.paths, images.labels, order), read_file(), calls), decode_image(options), calls);
}

}  // namespace gpubench
