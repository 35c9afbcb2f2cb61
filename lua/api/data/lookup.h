// Lookups for other modules of the API: layers of the input pipeline that make numbers of texts and of tokens.
#pragma once
#include <memory>
#include <variant>

#include "core/data/function/element_function.h"
#include "lua/api/data/tokenizer.h"
#include "lua/api/data/vocabulary.h"
#include "lua/bind/object.h"

namespace gpubench::lua {

/// TextVectorization, StringLookup, IntegerLookup or Hashing.
struct Lookup {
  std::shared_ptr<const Vocabulary> vocabulary;
  bool fixed = false;   ///< the script gave the vocabulary
  bool invert = false;  ///< indices to tokens
  std::optional<TokenizerOptions> text{};
  std::int64_t sequence_length = 0;  ///< of texts; 0: as many as there are tokens
};
template <>
inline constexpr const char* class_name<Lookup> = "Lookup";

/// A script's vocabulary: none, the path of a file with a token in each line, or a list.
using LookupWords = std::variant<std::monostate, std::string, std::vector<std::variant<std::int64_t, std::string>>>;

/// Throws Error for Hashing, for an unreadable or empty file, and as Vocabulary does.
void set_vocabulary(const std::shared_ptr<Lookup>& self, const LookupWords& words,
                    const std::optional<std::vector<float>>& idf_weights);

/// For map: the first tensor of an element is a byte string, or whole numbers; the others are passed on.
std::shared_ptr<const ElementFunction> lookup_function(const Lookup& lookup);

}  // namespace gpubench::lua
