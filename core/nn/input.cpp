#include "core/nn/input.h"

#include <algorithm>
#include <fmt/format.h>

namespace gpubench::nn {

LayerKind Input::layer_kind() {
  return {"Input", {"shape"}, {{"shape", Shape{}, true}}, &construct_layer<Input>};
}

Input::Input(Config config, DeviceId device)
    : Layer(std::move(config), std::move(device)), type_{this->config().shape("shape"), policy().variable} {
  const auto bad = [](std::int64_t size) { return size < 1; };
  if (std::any_of(type_.shape.begin(), type_.shape.end(), bad)) {
    fail(fmt::format("shape must list positive sizes of one example (without the batch), got {}",
                     to_string(type_.shape)));
  }
}

TensorType Input::output_type(std::span<const TensorType> inputs) const {
  if (!inputs.empty()) fail("takes no input; it stands at the start of a model");
  return type_;
}

Value Input::apply(const CallContext&, std::span<const Value>) const {
  fail("takes no input; it stands at the start of a model");
}

}  // namespace gpubench::nn
