#include "core/data/function/parse_example.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "core/codec/example.h"
#include "core/data/function/pass_through.h"

namespace gpubench {
namespace {

TensorType type_of(const FeatureSpec& feature) {
  if (feature.dtype == Dtype::bytes) return {{varying}, Dtype::u8};
  return {feature.shape, feature.dtype};
}

/// One feature of all examples: its expected type and how it is stored.
class FeatureParser {
 public:
  explicit FeatureParser(const FeatureSpec& feature)
      : feature_(feature), type_(type_of(feature)), varies_(!is_fixed({&type_, 1})) {}

  void run(const FeatureView& found, ElementOutputs& outputs, std::size_t index) {
    try {
      if (found.missing()) {
        put_default(outputs, index);
      } else if (feature_.dtype == Dtype::bytes) {
        put_bytes(found, outputs, index);
      } else if (feature_.dtype == Dtype::f32) {
        put_numbers<float>(found, outputs, index);
      } else {
        put_numbers<std::int64_t>(found, outputs, index);
      }
    } catch (const OutOfMemory&) {
      throw;
    } catch (const Error& error) {
      throw Error(fmt::format("parse_example: feature '{}': {}", feature_.name, error.what()));
    }
  }

 private:
  void put_default(ElementOutputs& outputs, std::size_t index) const {
    if (!feature_.default_value) throw Error("it is missing, and has no default");
    const HostTensor& value = *feature_.default_value;
    std::memcpy(outputs.place(index, value.type()), value.data(), value.bytes());
  }

  void put_bytes(const FeatureView& found, ElementOutputs& outputs, std::size_t index) {
    std::span<const std::byte> value;
    const std::size_t count = found.read({&value, 1});
    if (count != 1) throw Error(fmt::format("it has {} byte strings, one is expected", count));
    type_.shape[0] = std::ssize(value);
    std::byte* const place = outputs.place(index, type_);
    if (!value.empty()) std::memcpy(place, value.data(), value.size());
  }

  template <class T>
  void put_numbers(const FeatureView& found, ElementOutputs& outputs, std::size_t index) {
    if (varies_) type_.shape[0] = static_cast<std::int64_t>(found.read(std::span<T>{}));
    const auto expected = static_cast<std::size_t>(type_.elements());
    const std::size_t count = found.read(std::span(reinterpret_cast<T*>(outputs.place(index, type_)), expected));
    if (count != expected) {
      throw Error(fmt::format("it has {} values, {} needs {}", count, to_string(type_), expected));
    }
  }

  const FeatureSpec& feature_;
  TensorType type_;
  bool varies_;
};

class ParseExampleRunner final : public ElementRunner {
 public:
  explicit ParseExampleRunner(std::shared_ptr<const std::vector<FeatureSpec>> features)
      : features_(std::move(features)), reader_(names_of(*features_)) {
    for (const FeatureSpec& feature : *features_) parsers_.emplace_back(feature);
  }

  void run(const ElementBlock& elements, ElementOutputs& outputs) override {
    const std::span<const FeatureView> found = reader_.read(bytes_of(elements.inputs.front()));
    for (std::size_t i = 0; i < parsers_.size(); ++i) parsers_[i].run(found[i], outputs, i);
    pass_others(elements.inputs, outputs, parsers_.size());
  }

 private:
  static std::vector<std::string> names_of(const std::vector<FeatureSpec>& features) {
    std::vector<std::string> names;
    for (const FeatureSpec& feature : features) names.push_back(feature.name);
    return names;
  }

  std::shared_ptr<const std::vector<FeatureSpec>> features_;
  ExampleReader reader_;
  std::vector<FeatureParser> parsers_;
};

class ParseExample final : public ElementFunction {
 public:
  explicit ParseExample(std::vector<FeatureSpec> features)
      : features_(std::make_shared<const std::vector<FeatureSpec>>(std::move(features))) {}
  std::vector<TensorType> output_types(TensorTypes inputs) const override {
    std::vector<TensorType> types;
    for (const FeatureSpec& feature : *features_) types.push_back(type_of(feature));
    return with_others(std::move(types), inputs, "parse_example");
  }
  bool takes_any_extents() const override { return true; }
  std::unique_ptr<ElementRunner> plan(TensorTypes /*inputs*/) const override {
    return std::make_unique<ParseExampleRunner>(features_);
  }

 private:
  std::shared_ptr<const std::vector<FeatureSpec>> features_;
};

[[noreturn]] void refuse(const FeatureSpec& feature, const std::string& why) {
  throw Error(fmt::format("parse_example: feature '{}': {}", feature.name, why));
}

void check(const FeatureSpec& feature) {
  if (feature.dtype != Dtype::f32 && feature.dtype != Dtype::i64 && feature.dtype != Dtype::bytes) {
    refuse(feature, fmt::format("an example holds no {} (known: float32, int64, bytes)", to_string(feature.dtype)));
  }
  if (feature.dtype == Dtype::bytes && !feature.shape.empty()) {
    refuse(feature, "bytes are one value, of shape {}; lists of byte strings are no tensor");
  }
  const bool varies = std::count(feature.shape.begin(), feature.shape.end(), varying) > 0;
  const bool negative = std::any_of(feature.shape.begin(), feature.shape.end(), [](auto n) { return n < varying; });
  if (negative || (varies && feature.shape.size() > 1)) {
    refuse(feature,
           fmt::format("the shape {} cannot be; it has given extents, or is {{-1}} for a feature as long as it is",
                       to_string(feature.shape)));
  }
  if (!feature.default_value) return;
  const TensorType type = type_of(feature);
  const TensorType& given = feature.default_value->type();
  const bool fits =
      given.dtype == type.dtype && (is_fixed({&type, 1}) ? given.shape == type.shape : given.rank() == type.rank());
  if (!fits) refuse(feature, fmt::format("the default is {}, the feature {}", to_string(given), to_text(type)));
}

}  // namespace

std::shared_ptr<const ElementFunction> parse_example(std::vector<FeatureSpec> features) {
  if (features.empty()) throw Error("parse_example: no features given; at least one is needed");
  for (const FeatureSpec& feature : features) {
    check(feature);
    const auto same = [&](const FeatureSpec& other) { return other.name == feature.name; };
    if (std::count_if(features.begin(), features.end(), same) > 1) refuse(feature, "it is given twice");
  }
  return std::make_shared<ParseExample>(std::move(features));
}

}  // namespace gpubench
