#include "core/data/source/image_set.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <tuple>

#include "core/base/error.h"
#include "core/base/resources.h"
#include "core/codec/checksum.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t sample_train_examples = 8000;
constexpr std::array splits{std::string_view("train"), std::string_view("test")};

/// Images uint8 or float32 [n, height, width, channels], labels uint8 [n]: the base of every requested form.
struct Decoded {
  StoredImages examples;
  DataOrigin origin;
};

const ImageSetFolder& choose_folder(const ImageSetKind& kind, std::span<const ImageSetFolder> folders) {
  std::string looked_in;
  for (const ImageSetFolder& folder : folders) {
    if (kind.present(folder.directory)) return folder;
    looked_in += fmt::format("{}{} ({})", looked_in.empty() ? "" : ", ", folder.directory.string(), folder.kind);
  }
  throw Error(fmt::format("{}: no {} found; looked in {}", kind.name, kind.holds,
                          looked_in.empty() ? "no folder at all" : looked_in));
}

std::span<const std::byte> bytes_of(const HostTensor& tensor) {
  return {tensor.data(), tensor.bytes()};
}

StoredImages sample_part(const StoredImages& all, std::string_view split) {
  const std::int64_t count = all.labels.shape()[0], border = std::min(sample_train_examples, count);
  const std::int64_t first = split == "train" ? 0 : border, last = split == "train" ? border : count;
  return {all.images.rows(first, last), all.labels.rows(first, last)};
}

HostTensor scaled(const HostTensor& images) {
  constexpr float white = 255.0F;
  std::array<float, 256> value{};
  for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<float>(i) / white;
  HostTensor floats(TensorType{images.shape(), Dtype::f32});
  const auto from = images.values<std::uint8_t>();
  std::transform(from.begin(), from.end(), floats.values<float>().begin(), [&](std::uint8_t v) { return value[v]; });
  return floats;
}

HostTensor one_hot(const HostTensor& labels, std::int64_t classes) {
  HostTensor rows = HostTensor::zeros({{labels.shape()[0], classes}, Dtype::f32});
  float* row = rows.values<float>().data();
  for (const std::uint8_t label : labels.values<std::uint8_t>()) {
    row[label] = 1.0F;
    row += classes;
  }
  return rows;
}

HostTensor as_int64(const HostTensor& labels) {
  HostTensor numbers(TensorType{labels.shape(), Dtype::i64});
  const auto from = labels.values<std::uint8_t>();
  std::copy(from.begin(), from.end(), numbers.values<std::int64_t>().begin());
  return numbers;
}

Decoded decode(const ImageSetKind& kind, std::string_view split, const ImageSetFolder& folder, bool is_scaled) {
  StoredImages examples = kind.read(folder.is_sample ? "test" : split, folder.directory);
  if (folder.is_sample) examples = sample_part(examples, split);
  const std::uint32_t checksum = crc32_of(bytes_of(examples.labels), crc32_of(bytes_of(examples.images)));
  const std::int64_t count = examples.labels.shape()[0];
  if (is_scaled) examples.images = scaled(examples.images);
  return {std::move(examples), {folder.kind, folder.directory, count, fmt::format("crc32:{:08x}", checksum)}};
}

ImageSet shaped(const Decoded& decoded, const ImageSetKind& kind, const ImageSetOptions& options) {
  const HostTensor& images = decoded.examples.images;
  const std::int64_t count = images.shape()[0];
  return {options.flatten ? images.reshaped({count, images.elements() / count}) : images,
          options.one_hot ? one_hot(decoded.examples.labels, kind.classes) : as_int64(decoded.examples.labels),
          decoded.origin};
}

/// Keeps decoded images for the life of the process, the only such memory in the pipeline: decoding the full digits
/// takes half a second, and every point of a sweep needs them.
class Cache {
 public:
  Decoded get(const ImageSetKind& kind, std::string_view split, const ImageSetFolder& folder, bool is_scaled) {
    const std::lock_guard lock(mutex_);
    const Key key(&kind, folder.directory, split, is_scaled);
    const auto known = decoded_.find(key);
    if (known != decoded_.end()) return known->second;
    return decoded_.emplace(key, decode(kind, split, folder, is_scaled)).first->second;
  }

 private:
  using Key = std::tuple<const ImageSetKind*, fs::path, std::string, bool>;
  std::mutex mutex_;
  std::map<Key, Decoded> decoded_;
};

void check_split(const ImageSetKind& kind, std::string_view split) {
  if (std::find(splits.begin(), splits.end(), split) != splits.end()) return;
  throw Error(fmt::format("{}: unknown split '{}' (known: train, test)", kind.name, split));
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

fs::path user_cache() {
  if (const std::string cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache;
  if (const std::string home = variable("HOME"); !home.empty()) return fs::path(home) / ".cache";
  return {};
}

bool is_folder(const fs::path& path) {
  std::error_code unreadable;
  return fs::is_directory(path, unreadable);
}

}  // namespace

std::vector<ImageSetFolder> image_folders(const ImageSetKind& kind, const fs::path& directory) {
  // A folder named by the user is used or an error, never silently replaced.
  if (!directory.empty()) {
    if (!is_folder(directory)) throw Error(fmt::format("{}: {} is no folder", kind.name, directory.string()));
    return {{"directory", directory}};
  }
  if (const fs::path data = variable("GPUBENCH_DATA"); !data.empty()) {
    if (!is_folder(data))
      throw Error(fmt::format("{}: GPUBENCH_DATA is {}, which is no folder", kind.name, data.string()));
    std::vector<ImageSetFolder> folders{{"GPUBENCH_DATA", data / kind.name}};
    // Files of MNIST and Fashion-MNIST have the same names; those of the folder itself are the digits.
    if (&kind != &fashion_mnist()) folders.push_back({"GPUBENCH_DATA", data});
    return folders;
  }
  std::vector<ImageSetFolder> folders;
  if (const fs::path cache = user_cache(); !cache.empty()) {
    folders.push_back({"user cache", cache / "gpubench" / kind.name});
  }
  if (kind.has_sample) folders.push_back({"sample", resource("data") / kind.name, true});
  return folders;
}

ImageSetFolder require_folder(const ImageSetKind& kind, const fs::path& directory) {
  return choose_folder(kind, image_folders(kind, directory));
}

ImageSet load_images(const ImageSetKind& kind, std::string_view split, const ImageSetOptions& options,
                     const fs::path& directory) {
  static Cache cache;
  check_split(kind, split);
  const ImageSetFolder folder = require_folder(kind, directory);
  return shaped(cache.get(kind, split, folder, options.scaled), kind, options);
}

ImageSet load_images(const ImageSetKind& kind, std::string_view split, const ImageSetOptions& options,
                     std::span<const ImageSetFolder> folders) {
  check_split(kind, split);
  return shaped(decode(kind, split, choose_folder(kind, folders), options.scaled), kind, options);
}

fs::path find_image_file(const fs::path& folder, const std::string& name) {
  for (const std::string& candidate : {name, name + ".gz"}) {
    std::error_code unreadable;
    if (fs::exists(folder / candidate, unreadable)) return folder / candidate;
  }
  return {};
}

fs::path require_image_file(std::string_view set, const fs::path& folder, const std::string& name) {
  fs::path found = find_image_file(folder, name);
  if (found.empty()) throw Error(fmt::format("{}: {} has neither {} nor {}.gz", set, folder.string(), name, name));
  return found;
}

void check_image_labels(const HostTensor& labels, std::int64_t classes, const fs::path& file) {
  const auto values = labels.values<std::uint8_t>();
  const auto bad = std::find_if(values.begin(), values.end(), [=](std::uint8_t label) { return label >= classes; });
  if (bad == values.end()) return;
  throw Error(fmt::format("{}: label {} of example {} is out of range; labels are 0 to {}", file.string(), *bad,
                          bad - values.begin(), classes - 1));
}

}  // namespace gpubench
