#include "lua/api/data/vocabulary.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <set>

#include "core/base/error.h"

namespace gpubench::lua {
namespace {

std::int64_t number_of(std::string_view token) {
  std::int64_t number = 0;
  std::from_chars(token.data(), token.data() + token.size(), number);
  return number;
}

}  // namespace

Vocabulary::Vocabulary(LookupOptions options) : options_(std::move(options)) {
  const auto refuse = [&](std::string_view what) { throw Error(fmt::format("{}: {}", options_.owner, what)); };
  if (options_.num_oov_indices < 0) {
    refuse(fmt::format("num_oov_indices must be at least 0, got {}", options_.num_oov_indices));
  }
  if (options_.max_tokens != 0 && options_.max_tokens <= token_start()) {
    refuse(fmt::format("max_tokens must be above the {} of its special tokens, got {}", token_start(),
                       options_.max_tokens));
  }
  if (options_.pad_to_max_tokens && options_.max_tokens == 0) refuse("pad_to_max_tokens needs max_tokens");
}

Vocabulary::Vocabulary(LookupOptions options, std::vector<std::string> tokens, std::vector<float> idf_weights)
    : Vocabulary(std::move(options)) {
  const auto refuse = [&](std::string_view what) {
    throw Error(fmt::format("{}: the vocabulary {}", options_.owner, what));
  };
  if (tokens.empty()) refuse("is empty; at least one token is needed");
  std::vector<std::string> special(static_cast<std::size_t>(oov_start()), options_.mask_token.value_or(""));
  special.insert(special.end(), static_cast<std::size_t>(options_.num_oov_indices), options_.oov_token.value_or(""));
  const bool has_special =
      tokens.size() >= special.size() && std::equal(special.begin(), special.end(), tokens.begin());
  const std::size_t given = tokens.size();
  if (has_special) tokens.erase(tokens.begin(), tokens.begin() + std::ssize(special));
  tokens_ = std::move(tokens);
  for (const std::string& token : tokens_) {
    if (token == options_.mask_token) {
      refuse(
          fmt::format("has the mask_token '{}' among its tokens; it may stand at the front alone, before the "
                      "oov_token",
                      token));
    }
    if (!index_.emplace(token, token_start() + std::ssize(index_)).second) refuse(fmt::format("has '{}' twice", token));
  }
  if (options_.max_tokens != 0 && size() > options_.max_tokens) {
    refuse(fmt::format("has {} tokens with the special ones, and max_tokens is {}", size(), options_.max_tokens));
  }
  if ((options_.mode == LookupMode::tf_idf) != !idf_weights.empty()) {
    refuse(options_.mode == LookupMode::tf_idf ? "needs idf_weights for output_mode = 'tf_idf'"
                                               : "has idf_weights, which are for output_mode = 'tf_idf'");
  }
  if (idf_weights.empty()) return;
  if (idf_weights.size() != given) {
    refuse(fmt::format("has {} tokens, and there are {} idf_weights", given, idf_weights.size()));
  }
  if (!has_special) {
    const float mean =
        std::accumulate(idf_weights.begin(), idf_weights.end(), 0.0F) / static_cast<float>(idf_weights.size());
    idf_weights.insert(idf_weights.begin(), static_cast<std::size_t>(token_start()), mean);
  }
  idf_weights.resize(static_cast<std::size_t>(depth()), 0.0F);
  idf_weights_ = std::move(idf_weights);
}

void Vocabulary::require_tokens() const {
  if (options_.bins > 0 || !tokens_.empty()) return;
  throw Error(fmt::format("{}: it has no vocabulary yet; call adapt or set_vocabulary, or give the option vocabulary",
                          options_.owner));
}

std::int64_t Vocabulary::index_of(std::string_view token) const {
  if (options_.bins > 0) {
    const bool masks = options_.mask_token && options_.bins > 1;
    if (masks && token == *options_.mask_token) return 0;
    const std::uint64_t bins = static_cast<std::uint64_t>(options_.bins) - (masks ? 1 : 0);
    return static_cast<std::int64_t>(fingerprint(token) % bins) + (masks ? 1 : 0);
  }
  if (options_.mask_token && token == *options_.mask_token) return options_.mode == LookupMode::index ? 0 : dropped;
  const auto found = index_.find(token);
  if (found != index_.end()) return found->second;
  const std::int64_t buckets = options_.num_oov_indices;
  if (buckets == 0) {
    throw Error(fmt::format("{}: '{}' is not in the vocabulary, and num_oov_indices is 0", options_.owner, token));
  }
  if (buckets == 1) return oov_start();
  const std::int64_t bucket = options_.numbers
                                  ? ((number_of(token) % buckets) + buckets) % buckets
                                  : static_cast<std::int64_t>(fingerprint(token) % static_cast<std::uint64_t>(buckets));
  return oov_start() + bucket;
}

std::vector<std::string> Vocabulary::tokens(bool special) const {
  if (!special) return tokens_;
  std::vector<std::string> all;
  for (std::int64_t index = 0; index < size(); ++index) all.push_back(token_of(index));
  return all;
}

std::string Vocabulary::token_of(std::int64_t index) const {
  if (index == 0 && oov_start() == 1) return *options_.mask_token;
  if (index < token_start() || index >= size()) return options_.oov_token.value_or("");
  return tokens_[static_cast<std::size_t>(index - token_start())];
}

std::int64_t Vocabulary::size() const {
  return options_.bins > 0 ? options_.bins : token_start() + std::ssize(tokens_);
}

std::int64_t Vocabulary::depth() const {
  return options_.pad_to_max_tokens ? options_.max_tokens : size();
}

void TokenCounts::add(std::span<const std::string> document) {
  ++documents_;
  std::set<std::string_view> seen;
  for (const std::string& token : document) {
    Count& count = counts_[token];
    ++count.all;
    if (seen.insert(token).second) ++count.documents;
  }
}

Vocabulary TokenCounts::learned(const LookupOptions& options) const {
  std::vector<const std::pair<const std::string, Count>*> found;
  for (const auto& entry : counts_) {
    if (entry.first != options.mask_token && entry.first != options.oov_token) found.push_back(&entry);
  }
  if (found.empty()) throw Error(fmt::format("{}: adapt: the data have no tokens", options.owner));
  std::ranges::sort(found, [&](const auto* a, const auto* b) {
    if (a->second.all != b->second.all) return a->second.all > b->second.all;
    return options.numbers ? number_of(a->first) > number_of(b->first) : a->first > b->first;
  });
  const std::int64_t special =
      options.num_oov_indices + (options.mask_token && options.mode == LookupMode::index ? 1 : 0);
  if (options.max_tokens != 0) {
    found.resize(
        std::min(found.size(), static_cast<std::size_t>(std::max<std::int64_t>(options.max_tokens - special, 1))));
  }
  std::vector<std::string> tokens;
  std::vector<float> weights;
  for (const auto* entry : found) {
    tokens.push_back(entry->first);
    if (options.mode != LookupMode::tf_idf) continue;
    const double share = static_cast<double>(documents_) / static_cast<double>(1 + entry->second.documents);
    weights.push_back(static_cast<float>(std::log(1 + share)));
  }
  return {options, std::move(tokens), std::move(weights)};
}

}  // namespace gpubench::lua
