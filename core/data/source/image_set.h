// Published sets of small labelled images: MNIST and Fashion-MNIST (IDX files), CIFAR-10 and CIFAR-100 (their binary
// versions), plain or gzip. Files are searched for in a folder that the user names, else in $GPUBENCH_DATA, else in the
// user's cache, else in what comes with gpubench: a sample of MNIST, the 10 000 test digits, of which the first 8 000
// are "train". The result says which one it was. Decoded arrays are kept in memory for the process.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/host_tensor.h"

namespace gpubench {

struct ImageSetOptions {
  bool flatten = true;  ///< images [784]; else [28, 28, 1]
  bool one_hot = true;  ///< labels float32 [classes]; else int64 []
  bool scaled = true;   ///< images float32 in [0, 1]; else uint8
};

/// The origin of the arrays, for run.json.
struct DataOrigin {
  std::string kind;  ///< "directory", "GPUBENCH_DATA", "user cache" or "sample"
  std::filesystem::path directory;
  std::int64_t examples = 0;
  std::string checksum;  ///< "crc32:89abcdef" of the decoded images and labels
};

/// A folder that may hold the files: the first one with any of them must have all requested ones.
struct ImageSetFolder {
  std::string kind;
  std::filesystem::path directory;
  /// Holds only the test images, which are split 8 000 to 2 000.
  bool is_sample = false;
};

struct ImageSet {
  HostTensor images;  ///< [n, values] or [n, height, width, channels]
  HostTensor labels;  ///< [n, classes] or [n]
  DataOrigin origin;
};

/// What the files of one split hold.
struct StoredImages {
  HostTensor images;  ///< uint8 [n, height, width, channels], n > 0
  HostTensor labels;  ///< uint8 [n], below the number of classes
};

/// How one of the sets is stored.
struct ImageSetKind {
  std::string_view name;  ///< in Lua, in messages, and of its folder: "fashion_mnist"
  bool has_sample = false;
  /// Whether a folder has any of the set's files.
  bool (*present)(const std::filesystem::path& folder) = nullptr;
  /// Throws Error naming the file and the fault.
  StoredImages (*read)(std::string_view split, const std::filesystem::path& folder) = nullptr;
  std::int64_t classes = 10;
  std::string_view holds = "images";  ///< in messages
};

const ImageSetKind& mnist();
const ImageSetKind& fashion_mnist();
const ImageSetKind& cifar10();
/// With the labels of the 20 superclasses, or of the 100 classes.
const ImageSetKind& cifar100_coarse();
const ImageSetKind& cifar100_fine();

/// The folders to search, in order; `directory` alone if it is not empty. Throws Error if it or $GPUBENCH_DATA is set
/// but is no folder.
std::vector<ImageSetFolder> image_folders(const ImageSetKind& kind, const std::filesystem::path& directory = {});

/// The first of image_folders() that has any of the set's files; throws Error naming them if none has.
ImageSetFolder require_folder(const ImageSetKind& kind, const std::filesystem::path& directory);

/// `split` is "train" or "test". Throws Error for other values, and if files are missing or damaged: a damaged file
/// never leads to the next folder. Thread-safe.
ImageSet load_images(const ImageSetKind& kind, std::string_view split, const ImageSetOptions& options = {},
                     const std::filesystem::path& directory = {});
/// The same from given folders, without keeping the arrays.
ImageSet load_images(const ImageSetKind& kind, std::string_view split, const ImageSetOptions& options,
                     std::span<const ImageSetFolder> folders);

/// The plain or the compressed file; an empty path if neither exists or the folder is unreadable.
std::filesystem::path find_image_file(const std::filesystem::path& folder, const std::string& name);
/// The same; throws Error naming `set` and the folder if neither exists.
std::filesystem::path require_image_file(std::string_view set, const std::filesystem::path& folder,
                                         const std::string& name);
/// Throws Error naming the file and the example with a label that is no class.
void check_image_labels(const HostTensor& labels, std::int64_t classes, const std::filesystem::path& file);

}  // namespace gpubench
