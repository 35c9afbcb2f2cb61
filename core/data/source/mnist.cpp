#include "core/data/source/mnist.h"

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
#include "core/codec/idx.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t side = 28;
constexpr std::int64_t pixels = side * side;
constexpr std::int64_t classes = 10;
constexpr std::int64_t sample_train_examples = 8000;
constexpr std::array splits{std::string_view("train"), std::string_view("test")};

/// Images uint8 or float32 [n, 784], labels uint8 [n]: the base of every requested form.
struct Digits {
  HostTensor images;
  HostTensor labels;
  DataOrigin origin;
};

std::string prefix_of(std::string_view split) {
  return split == "train" ? "train" : "t10k";
}

/// The plain or the compressed file; an empty path if neither exists or the folder is unreadable.
fs::path find_file(const fs::path& folder, const std::string& name) {
  for (const std::string& candidate : {name, name + ".gz"}) {
    std::error_code unreadable;
    if (fs::exists(folder / candidate, unreadable)) return folder / candidate;
  }
  return {};
}

fs::path require_file(const fs::path& folder, const std::string& name) {
  fs::path found = find_file(folder, name);
  if (found.empty()) throw Error(fmt::format("mnist: {} has neither {} nor {}.gz", folder.string(), name, name));
  return found;
}

bool has_any_file(const fs::path& folder) {
  for (const std::string_view split : splits) {
    for (const std::string_view kind : {"images-idx3", "labels-idx1"}) {
      if (!find_file(folder, fmt::format("{}-{}-ubyte", prefix_of(split), kind)).empty()) return true;
    }
  }
  return false;
}

const MnistFolder& choose_folder(std::span<const MnistFolder> folders) {
  std::string looked_in;
  for (const MnistFolder& folder : folders) {
    if (has_any_file(folder.directory)) return folder;
    looked_in += fmt::format("{}{} ({})", looked_in.empty() ? "" : ", ", folder.directory.string(), folder.kind);
  }
  throw Error(fmt::format("mnist: no digits found; looked in {}", looked_in.empty() ? "no folder at all" : looked_in));
}

void check_labels(const HostTensor& labels, const fs::path& file) {
  const auto values = labels.values<std::uint8_t>();
  const auto bad = std::find_if(values.begin(), values.end(), [](std::uint8_t label) { return label >= classes; });
  if (bad == values.end()) return;
  throw Error(fmt::format("{}: label {} of example {} is out of range; labels are 0 to {}", file.string(), *bad,
                          bad - values.begin(), classes - 1));
}

std::span<const std::byte> bytes_of(const HostTensor& tensor) {
  return {tensor.data(), tensor.bytes()};
}

Digits read_digits(std::string_view split, const MnistFolder& folder) {
  const std::string prefix = prefix_of(folder.is_sample ? "test" : split);
  const fs::path images_file = require_file(folder.directory, prefix + "-images-idx3-ubyte");
  const fs::path labels_file = require_file(folder.directory, prefix + "-labels-idx1-ubyte");
  HostTensor images = read_idx(images_file, {{-1, side, side}, Dtype::u8});
  HostTensor labels = read_idx(labels_file, {{-1}, Dtype::u8});
  const std::int64_t count = images.shape()[0];
  if (count != labels.shape()[0]) {
    throw Error(fmt::format("mnist: {} has {} images, but {} has {} labels", images_file.string(), count,
                            labels_file.string(), labels.shape()[0]));
  }
  if (count == 0) throw Error(fmt::format("mnist: {} has no images", images_file.string()));
  check_labels(labels, labels_file);
  images = images.reshaped({count, pixels});
  if (folder.is_sample) {
    const std::int64_t border = std::min(sample_train_examples, count);
    const bool is_train = split == "train";
    images = is_train ? images.rows(0, border) : images.rows(border, count);
    labels = is_train ? labels.rows(0, border) : labels.rows(border, count);
  }
  const std::uint32_t checksum = crc32_of(bytes_of(labels), crc32_of(bytes_of(images)));
  return {images, labels, {folder.kind, folder.directory, images.shape()[0], fmt::format("crc32:{:08x}", checksum)}};
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

HostTensor one_hot(const HostTensor& labels) {
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

Digits decode(std::string_view split, const MnistFolder& folder, bool is_scaled) {
  Digits digits = read_digits(split, folder);
  if (is_scaled) digits.images = scaled(digits.images);
  return digits;
}

Mnist shaped(const Digits& digits, const MnistOptions& options) {
  const std::int64_t count = digits.images.shape()[0];
  return {options.flatten ? digits.images : digits.images.reshaped({count, side, side, 1}),
          options.one_hot ? one_hot(digits.labels) : as_int64(digits.labels), digits.origin};
}

/// Keeps decoded digits for the life of the process, the only such memory in the pipeline: decoding the full set takes
/// half a second, and every point of a sweep needs it.
class Cache {
 public:
  Digits get(std::string_view split, const MnistFolder& folder, bool is_scaled) {
    const std::lock_guard lock(mutex_);
    const Key key(folder.directory, split, is_scaled);
    const auto known = digits_.find(key);
    if (known != digits_.end()) return known->second;
    return digits_.emplace(key, decode(split, folder, is_scaled)).first->second;
  }

 private:
  using Key = std::tuple<fs::path, std::string, bool>;
  std::mutex mutex_;
  std::map<Key, Digits> digits_;
};

void check_split(std::string_view split) {
  if (std::find(splits.begin(), splits.end(), split) != splits.end()) return;
  throw Error(fmt::format("mnist: unknown split '{}' (known: train, test)", split));
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

}  // namespace

std::vector<MnistFolder> mnist_folders() {
  std::vector<MnistFolder> folders;
  if (const fs::path data = variable("GPUBENCH_DATA"); !data.empty()) {
    if (!fs::is_directory(data))
      throw Error(fmt::format("mnist: GPUBENCH_DATA is {}, which is no folder", data.string()));
    // A folder named by the user is used or an error, never silently replaced.
    return {{"GPUBENCH_DATA", data / "mnist"}, {"GPUBENCH_DATA", data}};
  }
  if (const fs::path cache = user_cache(); !cache.empty()) {
    folders.push_back({"user cache", cache / "gpubench" / "mnist"});
  }
  folders.push_back({"sample", resource("data/mnist"), true});
  return folders;
}

Mnist load_mnist(std::string_view split, const MnistOptions& options) {
  static Cache cache;
  check_split(split);
  return shaped(cache.get(split, choose_folder(mnist_folders()), options.scaled), options);
}

Mnist load_mnist(std::string_view split, const MnistOptions& options, std::span<const MnistFolder> folders) {
  check_split(split);
  return shaped(decode(split, choose_folder(folders), options.scaled), options);
}

}  // namespace gpubench
