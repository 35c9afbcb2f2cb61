// Tokens and their indices, as Keras' StringLookup, IntegerLookup, TextVectorization and Hashing number them.
// Immutable, so that workers of a pipeline share it. Whole numbers are tokens as the text of their digits.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gpubench::lua {

enum class LookupMode : std::uint8_t { index, one_hot, multi_hot, count, tf_idf };

struct LookupOptions {
  std::string owner;            ///< "StringLookup", in messages
  bool numbers = false;         ///< whether tokens are whole numbers
  std::int64_t max_tokens = 0;  ///< 0: no limit
  std::int64_t num_oov_indices = 1;
  std::optional<std::string> mask_token{};
  std::optional<std::string> oov_token{};
  LookupMode mode = LookupMode::index;
  bool pad_to_max_tokens = false;
  std::int64_t bins = 0;  ///< of a hash, which has no vocabulary; 0: none
};

class Vocabulary {
 public:
  /// Without tokens, which is complete for a hash alone.
  explicit Vocabulary(LookupOptions options);
  /// With these tokens; the special ones may stand in front. Throws Error for an empty, repeated or too long list, and
  /// for weights that are not as many.
  Vocabulary(LookupOptions options, std::vector<std::string> tokens, std::vector<float> idf_weights);

  const LookupOptions& options() const { return options_; }
  /// Throws Error unless there is a vocabulary, or none is needed.
  void require_tokens() const;
  /// Throws Error for a token without an index if num_oov_indices is 0. `dropped` for a mask that is not counted.
  std::int64_t index_of(std::string_view token) const;
  static constexpr std::int64_t dropped = -1;
  /// All, the special ones in front, or those alone that were learned.
  std::vector<std::string> tokens(bool special) const;
  /// The token of an index; the oov_token for others.
  std::string token_of(std::int64_t index) const;
  std::int64_t size() const;
  /// Numbers for a sample in the modes that count.
  std::int64_t depth() const;
  /// Of each index, in the mode tf_idf.
  const std::vector<float>& idf_weights() const { return idf_weights_; }

 private:
  std::int64_t oov_start() const { return options_.mask_token && options_.mode == LookupMode::index ? 1 : 0; }
  std::int64_t token_start() const { return oov_start() + options_.num_oov_indices; }

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  LookupOptions options_;
  std::vector<std::string> tokens_;
  std::vector<float> idf_weights_;
  std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> index_;
};

/// Counts the tokens of documents, from which a vocabulary is made: the most frequent first, of equally frequent ones
/// the larger first.
class TokenCounts {
 public:
  void add(std::span<const std::string> document);
  /// Throws Error if there was no token.
  Vocabulary learned(const LookupOptions& options) const;

 private:
  struct Count {
    std::int64_t all = 0, documents = 0;
  };
  std::map<std::string, Count> counts_;
  std::int64_t documents_ = 0;
};

/// FarmHash's Fingerprint64 (Pike, 2014), by which TensorFlow assigns strings to buckets.
std::uint64_t fingerprint(std::string_view text);

}  // namespace gpubench::lua
