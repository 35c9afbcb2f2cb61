// gb.datasets.imdb: the film reviews of Keras' imdb.npz, as lists of the numbers of their words.
#include <algorithm>
#include <bit>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <variant>

#include "core/base/error.h"
#include "core/codec/checksum.h"
#include "core/codec/npy.h"
#include "core/codec/npz.h"
#include "core/data/produced.h"
#include "core/data/source/image_set.h"
#include "lua/api/data/data_origin.h"
#include "lua/api/data/dataset.h"
#include "lua/api/openers.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

constexpr std::string_view imdb_stage = "imdb";
constexpr const char* archive_name = "imdb.npz";

/// Words by how often they occur, from 1, and labels: 1 for praise.
struct RawReviews {
  IntegerLists words;
  std::vector<std::int64_t> labels;
};
using Splits = std::map<std::string, RawReviews>;

struct Reviews {
  std::vector<std::vector<std::int64_t>> words;
  std::vector<std::int64_t> labels;
};

RawReviews read_reviews(const std::filesystem::path& path, const std::string& split) {
  const NpzFile file(path);
  RawReviews reviews{decode_integer_lists(file.open("x_" + split)), {}};
  const HostTensor labels = decode_npy(*file.open("y_" + split));
  if (labels.dtype() != Dtype::i64 || labels.elements() != std::ssize(reviews.words.ends)) {
    throw Error(fmt::format("imdb: {} has {} reviews, but labels {}", path.string(), reviews.words.ends.size(),
                            to_string(labels.type())));
  }
  const auto values = labels.values<std::int64_t>();
  reviews.labels.assign(values.begin(), values.end());
  return reviews;
}

/// Both splits, read once by a process: every point of a sweep needs them.
std::shared_ptr<const Splits> splits_of(const std::filesystem::path& path) {
  static std::mutex mutex;
  static std::map<std::filesystem::path, std::shared_ptr<const Splits>> known;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Splits>& splits = known[path];
  if (splits == nullptr) {
    splits = std::make_shared<const Splits>(
        Splits{{"train", read_reviews(path, "train")}, {"test", read_reviews(path, "test")}});
  }
  return splits;
}

/// The order that NumPy's RandomState.shuffle makes of 0 to count - 1.
std::vector<std::size_t> shuffled_as_numpy(std::mt19937& random, std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = count; i-- > 1;) {
    const std::size_t mask = std::bit_ceil(i + 1) - 1;
    std::size_t other = random() & mask;
    while (other > i) other = random() & mask;
    std::swap(order[i], order[other]);
  }
  return order;
}

/// One generator shuffles the reviews for training, and then those of the test.
std::vector<std::size_t> order_of(const Splits& splits, const std::string& split, std::int64_t seed) {
  std::mt19937 random(static_cast<std::uint32_t>(seed));
  std::vector<std::size_t> order = shuffled_as_numpy(random, splits.at("train").labels.size());
  return split == "train" ? order : shuffled_as_numpy(random, splits.at("test").labels.size());
}

/// False leaves the word out.
using WordOrNone = std::variant<bool, std::int64_t>;

struct ImdbTable {
  std::optional<std::int64_t> num_words, maxlen;
  std::int64_t skip_top = 0;
  std::int64_t seed = 113;
  std::optional<WordOrNone> start_char, oov_char;
  std::int64_t index_from = 3;
  std::string directory;
  static constexpr auto fields =
      std::tuple{field("num_words", &ImdbTable::num_words),   field("skip_top", &ImdbTable::skip_top),
                 field("maxlen", &ImdbTable::maxlen),         field("seed", &ImdbTable::seed),
                 field("start_char", &ImdbTable::start_char), field("oov_char", &ImdbTable::oov_char),
                 field("index_from", &ImdbTable::index_from), field("directory", &ImdbTable::directory)};
};

std::optional<std::int64_t> word_of(const char* option, const std::optional<WordOrNone>& given,
                                    std::int64_t otherwise) {
  if (!given) return otherwise;
  if (const auto* number = std::get_if<std::int64_t>(&*given)) return *number;
  if (!std::get<bool>(*given)) return std::nullopt;
  throw ArgumentError(fmt::format("option '{}': a number or false is expected, got true", option));
}

/// As Keras' load_data: in its order, with the start, without reviews that are too long.
Reviews prepared(const Splits& splits, const std::string& split, const ImdbTable& options) {
  const std::optional<std::int64_t> start = word_of("start_char", options.start_char, 1);
  const RawReviews& raw = splits.at(split);
  const std::vector<std::size_t>& ends = raw.words.ends;
  Reviews kept;
  for (const std::size_t i : order_of(splits, split, options.seed)) {
    std::vector<std::int64_t> words;
    if (start) words.push_back(*start);
    for (std::size_t at = i == 0 ? 0 : ends[i - 1]; at < ends[i]; ++at) {
      words.push_back(raw.words.values[at] + options.index_from);
    }
    if (options.maxlen && std::ssize(words) >= *options.maxlen) continue;
    kept.words.push_back(std::move(words));
    kept.labels.push_back(raw.labels[i]);
  }
  if (!kept.words.empty()) return kept;
  throw Error(
      fmt::format("imdb: no review has fewer than maxlen = {} words; raise maxlen", options.maxlen.value_or(0)));
}

/// Words that are too rare or too frequent become `oov_char`, or are left out.
void limit_words(Reviews& reviews, std::int64_t num_words, const ImdbTable& options) {
  const std::optional<std::int64_t> unknown = word_of("oov_char", options.oov_char, 2);
  const auto is_out = [&](std::int64_t word) { return word < options.skip_top || word >= num_words; };
  for (std::vector<std::int64_t>& words : reviews.words) {
    if (unknown) {
      std::ranges::replace_if(words, is_out, *unknown);
    } else {
      std::erase_if(words, is_out);
    }
  }
}

/// Keras' limit where none is given; as it says "below", the rarest word is unknown then.
std::int64_t largest_word(const Reviews& reviews) {
  std::int64_t most = 0;
  for (const std::vector<std::int64_t>& words : reviews.words) {
    for (const std::int64_t word : words) most = std::max(most, word);
  }
  return most;
}

std::uint32_t crc_of(const Reviews& reviews) {
  std::uint32_t checksum = crc32_of(std::as_bytes(std::span(reviews.labels)));
  for (const std::vector<std::int64_t>& words : reviews.words) {
    checksum = crc32_of(std::as_bytes(std::span(words)), checksum);
  }
  return checksum;
}

class ReviewCursor final : public Cursor {
 public:
  ReviewCursor(std::shared_ptr<const Reviews> reviews, TensorTypes types)
      : reviews_(std::move(reviews)), produced_(types) {}

  bool next(Element& element) override {
    if (position_ == reviews_->labels.size()) return false;
    const std::vector<std::int64_t>& words = reviews_->words[position_];
    element.assign({HostTensor::of<std::int64_t>({std::ssize(words)}, std::span(words)),
                    HostTensor::scalar(reviews_->labels[position_])});
    ++position_;
    produced_.add(element);
    return true;
  }
  std::int64_t skip(std::int64_t count) override {
    const auto left = static_cast<std::int64_t>(reviews_->labels.size() - position_);
    const std::int64_t skipped = std::min(count, left);
    position_ += static_cast<std::size_t>(skipped);
    return skipped;
  }
  std::vector<StageStatistics> statistics() const override { return {produced_.row(imdb_stage)}; }

 private:
  const std::shared_ptr<const Reviews> reviews_;
  std::size_t position_ = 0;
  Produced produced_;
};

class ReviewDataset final : public Dataset {
 public:
  ReviewDataset(Reviews reviews, std::string settings)
      : reviews_(std::make_shared<const Reviews>(std::move(reviews))), settings_(std::move(settings)) {}
  std::string_view stage() const override { return imdb_stage; }
  std::string settings() const override { return settings_; }
  const std::vector<TensorType>& element_types() const override { return types_; }
  std::optional<std::int64_t> size() const override { return std::ssize(reviews_->labels); }
  std::unique_ptr<Cursor> open(std::uint64_t, const CursorOptions&) const override {
    return std::make_unique<ReviewCursor>(reviews_, types_);
  }

 private:
  std::shared_ptr<const Reviews> reviews_;
  std::string settings_;
  std::vector<TensorType> types_{{{varying}, Dtype::i64}, {{}, Dtype::i64}};
};

const ImageSetKind& imdb_kind() {
  const auto has_archive = [](const std::filesystem::path& folder) {
    std::error_code unreadable;
    return std::filesystem::exists(folder / archive_name, unreadable);
  };
  static const ImageSetKind kind{.name = "imdb", .present = has_archive, .holds = archive_name};
  return kind;
}

void check_imdb(const std::string& split, const ImdbTable& options) {
  if (split != "train" && split != "test") {
    throw Error(fmt::format("imdb: unknown split '{}' (known: train, test)", split));
  }
  const auto require = [](const char* option, std::int64_t value, std::int64_t least) {
    if (value >= least) return;
    throw ArgumentError(fmt::format("option '{}': at least {} is expected, got {}", option, least, value));
  };
  require("num_words", options.num_words.value_or(1), 1);
  require("maxlen", options.maxlen.value_or(1), 1);
  require("skip_top", options.skip_top, 0);
  require("seed", options.seed, 0);
  if (options.seed > std::numeric_limits<std::uint32_t>::max()) {
    throw ArgumentError(fmt::format("option 'seed': at most 4294967295 is expected, got {}", options.seed));
  }
  require("index_from", options.index_from, 0);
}

/// gb.datasets.imdb(split, options)
DatasetPtr imdb(lua_State* L, const std::string& split, const ImdbTable& options) {
  check_imdb(split, options);
  const ImageSetFolder folder = require_folder(imdb_kind(), options.directory);
  const auto splits = splits_of(folder.directory / archive_name);
  Reviews reviews = prepared(*splits, split, options);
  const std::int64_t num_words =
      options.num_words ? *options.num_words
                        : std::max(largest_word(reviews),
                                   largest_word(prepared(*splits, split == "train" ? "test" : "train", options)));
  limit_words(reviews, num_words, options);
  const std::string checksum = fmt::format("crc32:{:08x}", crc_of(reviews));
  note_origin(L, "imdb " + split, {folder.kind, folder.directory, std::ssize(reviews.labels), checksum});
  const std::string settings =
      fmt::format("{} num_words={} skip_top={} maxlen={} seed={} index_from={}", split, num_words, options.skip_top,
                  options.maxlen.value_or(0), options.seed, options.index_from);
  return std::make_shared<ReviewDataset>(std::move(reviews), settings);
}

}  // namespace

void open_imdb(lua_State* L) {
  const Module gb = Module::root(L);
  const Module datasets = gb.submodule("datasets");
  datasets.function<&imdb>("imdb");
}

}  // namespace gpubench::lua
