// Lookups as functions of elements, and what they make of tokens.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/function/pass_through.h"
#include "core/tensor/integer_type.h"
#include "lua/api/data/lookup_values.h"

namespace gpubench::lua {

std::string token_of_number(std::int64_t number) {
  return std::to_string(number);
}

TensorType encoded_type(const Lookup& lookup, const Shape& tokens) {
  const Vocabulary& vocabulary = *lookup.vocabulary;
  const LookupOptions& options = vocabulary.options();
  const Dtype counted = options.mode == LookupMode::tf_idf || options.bins > 0 ? Dtype::f32 : Dtype::i64;
  TensorType type{tokens, options.mode == LookupMode::index ? Dtype::i64 : counted};
  if (options.mode == LookupMode::index) return type;
  const bool keeps = options.mode == LookupMode::one_hot && (tokens.size() < 2 || tokens.back() != 1);
  if (!keeps && !type.shape.empty()) type.shape.pop_back();
  type.shape.push_back(vocabulary.depth());
  return type;
}

HostTensor encoded(const Lookup& lookup, const Shape& shape, std::span<const std::string> tokens) {
  const Vocabulary& vocabulary = *lookup.vocabulary;
  HostTensor result = HostTensor::zeros(encoded_type(lookup, shape));
  const LookupMode mode = vocabulary.options().mode;
  if (mode == LookupMode::index) {
    std::ranges::transform(tokens, result.values<std::int64_t>().begin(),
                           [&](const std::string& token) { return vocabulary.index_of(token); });
    return result;
  }
  const auto depth = static_cast<std::size_t>(vocabulary.depth());
  const std::size_t sample = mode == LookupMode::one_hot || shape.empty() ? 1 : static_cast<std::size_t>(shape.back());
  const auto count = [&]<class T>(T) {
    const std::span<T> numbers = result.values<T>();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::int64_t index = vocabulary.index_of(tokens[i]);
      if (index == Vocabulary::dropped) continue;
      T& number = numbers[i / sample * depth + static_cast<std::size_t>(index)];
      const bool adds = mode == LookupMode::count || mode == LookupMode::tf_idf;
      number = adds ? static_cast<T>(number + 1) : T{1};
    }
  };
  if (result.dtype() == Dtype::i64) count(std::int64_t{});
  if (result.dtype() == Dtype::f32) count(float{});
  if (mode != LookupMode::tf_idf) return result;
  const std::vector<float>& weights = vocabulary.idf_weights();
  const std::span<float> numbers = result.values<float>();
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] *= weights[i % depth];
  return result;
}

HostTensor encoded_text(const Lookup& lookup, std::string_view text) {
  std::vector<std::string> tokens = tokens_of_text(text, *lookup.text);
  if (lookup.vocabulary->options().mode != LookupMode::index) {
    const std::int64_t count = std::ssize(tokens);
    return encoded(lookup, {count}, tokens);
  }
  const std::int64_t length = lookup.sequence_length;
  if (length > 0) tokens.resize(std::min(tokens.size(), static_cast<std::size_t>(length)));
  HostTensor found = encoded(lookup, {std::ssize(tokens)}, tokens);
  if (length == 0 || found.elements() == length) return found;
  HostTensor padded = HostTensor::zeros({{length}, Dtype::i64});
  std::ranges::copy(found.values<std::int64_t>(), padded.values<std::int64_t>().begin());
  return padded;
}

std::vector<std::string> tokens_of_numbers(const TensorView& tensor, const std::string& owner) {
  std::vector<std::string> tokens;
  const std::int64_t count = tensor.type->elements();
  const auto append = [&]<class T>(T) {
    for (std::int64_t i = 0; i < count; ++i) tokens.push_back(token_of_number(tensor.as<T>()[i]));
  };
  if (!for_integer_type(tensor.type->dtype, append))
    throw Error(fmt::format("{}: whole numbers are expected, got {}", owner, to_text(*tensor.type)));
  return tokens;
}

namespace {

bool is_string(const TensorType& type) {
  return type.dtype == Dtype::u8 && type.rank() == 1;
}

class LookupRunner final : public ElementRunner {
 public:
  explicit LookupRunner(const Lookup& lookup) : lookup_(lookup) {}

  void run(const ElementBlock& elements, ElementOutputs& outputs) override {
    const TensorView& first = elements.inputs.front();
    const HostTensor result = of_element(first);
    std::byte* const place = outputs.place(0, result.type());
    if (result.bytes() > 0) std::memcpy(place, result.data(), result.bytes());
    pass_others(elements.inputs, outputs, 1);
  }

 private:
  HostTensor of_element(const TensorView& first) const {
    const LookupOptions& options = lookup_.vocabulary->options();
    if (lookup_.text) return encoded_text(lookup_, gpubench::text_of(first));
    if (!options.numbers && is_string(*first.type)) {
      const std::string token(gpubench::text_of(first));
      return encoded(lookup_, {}, {&token, 1});
    }
    return encoded(lookup_, first.type->shape, tokens_of_numbers(first, options.owner));
  }

  Lookup lookup_;
};

class LookupFunction final : public ElementFunction {
 public:
  explicit LookupFunction(Lookup lookup) : lookup_(std::move(lookup)) {}

  std::vector<TensorType> output_types(TensorTypes inputs) const override {
    const LookupOptions& options = lookup_.vocabulary->options();
    const bool takes_numbers = options.numbers || (options.bins > 0 && !inputs.empty() && !is_string(inputs.front()));
    if (!takes_numbers) return with_others({type_of_string()}, inputs, options.owner);
    if (inputs.empty() || is_floating(inputs.front().dtype) || inputs.front().dtype == Dtype::boolean ||
        inputs.front().dtype == Dtype::bytes) {
      throw Error(fmt::format("{}: takes elements that start with whole numbers; these are {}", options.owner,
                              to_string(inputs)));
    }
    std::vector<TensorType> types{encoded_type(lookup_, inputs.front().shape)};
    types.insert(types.end(), inputs.begin() + 1, inputs.end());
    return types;
  }
  bool takes_any_extents() const override { return true; }
  std::unique_ptr<ElementRunner> plan(TensorTypes) const override { return std::make_unique<LookupRunner>(lookup_); }

 private:
  TensorType type_of_string() const {
    if (!lookup_.text) return encoded_type(lookup_, {});
    const TensorType type = encoded_type(lookup_, {lookup_.sequence_length == 0 ? varying : lookup_.sequence_length});
    return type;
  }

  Lookup lookup_;
};

}  // namespace

std::shared_ptr<const ElementFunction> lookup_function(const Lookup& lookup) {
  lookup.vocabulary->require_tokens();
  if (lookup.invert) {
    throw Error(fmt::format("{}: with invert = true it gives strings, which datasets do not hold; call it on tensors",
                            lookup.vocabulary->options().owner));
  }
  return std::make_shared<LookupFunction>(lookup);
}

}  // namespace gpubench::lua
