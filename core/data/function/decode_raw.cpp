#include "core/data/function/decode_raw.h"

#include <algorithm>

#include "core/data/function/pass_through.h"

namespace gpubench {
namespace {

class DecodeRawRunner final : public ElementRunner {
 public:
  explicit DecodeRawRunner(const TensorType& type) : type_(type), result_(type) {
    TensorType one = type;
    const auto varies = std::ranges::find(one.shape, varying);
    varying_at_ = varies - one.shape.begin();
    if (varies != one.shape.end()) *varies = 1;
    unit_ = one.bytes();
  }

  void run(const ElementBlock& elements, ElementOutputs& outputs) override {
    const std::span<const std::byte> bytes = bytes_of(elements.inputs.front());
    if (varying_at_ < std::ssize(type_.shape) && unit_ > 0 && bytes.size() % unit_ == 0) {
      result_.shape[static_cast<std::size_t>(varying_at_)] = static_cast<std::int64_t>(bytes.size() / unit_);
    } else if (bytes.size() != unit_) {
      throw Error(fmt::format(
          "decode_raw: {} bytes are no {}, of which {} are needed", bytes.size(), to_text(type_),
          varying_at_ < std::ssize(type_.shape) ? fmt::format("multiples of {}", unit_) : std::to_string(unit_)));
    }
    std::byte* const to = outputs.place(0, result_);
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    pass_others(elements.inputs, outputs, 1);
  }

 private:
  const TensorType type_;
  TensorType result_;
  std::ptrdiff_t varying_at_ = 0;
  std::size_t unit_ = 0;  ///< bytes, or bytes per index of the varying extent
};

class DecodeRaw final : public ElementFunction {
 public:
  explicit DecodeRaw(TensorType type) : type_(std::move(type)) {}
  std::vector<TensorType> output_types(TensorTypes inputs) const override {
    return with_others({type_}, inputs, "decode_raw");
  }
  bool takes_any_extents() const override { return true; }
  std::unique_ptr<ElementRunner> plan(TensorTypes /*inputs*/) const override {
    return std::make_unique<DecodeRawRunner>(type_);
  }

 private:
  TensorType type_;
};

}  // namespace

std::shared_ptr<const ElementFunction> decode_raw(const TensorType& type) {
  if (type.dtype == Dtype::bytes)
    throw Error("decode_raw: bytes have no numbers; the first tensor is a string already");
  const auto refused = [](std::int64_t extent) { return extent < 0 && extent != varying; };
  if (std::ranges::any_of(type.shape, refused) || std::ranges::count(type.shape, varying) > 1) {
    throw Error(fmt::format("decode_raw: the shape {} cannot be; one extent may be -1, for as much as there is",
                            to_string(type.shape)));
  }
  return std::make_shared<DecodeRaw>(type);
}

}  // namespace gpubench
