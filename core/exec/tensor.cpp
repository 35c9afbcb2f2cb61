#include "core/exec/tensor.h"

#include <utility>

#include "core/base/error.h"

namespace gpubench {

Tensor::Tensor(TensorType type, DeviceId device, Buffer buffer) {
  std::byte* const data = buffer.data();
  state_ = std::make_shared<const State>(State{std::move(type),
                                               std::move(device),
                                               std::make_shared<const Buffer>(std::move(buffer)),
                                               data,
                                               nullptr,
                                               nullptr,
                                               {}});
}

Tensor::Tensor(TensorType type, DeviceId device, std::byte* memory)
    : state_(std::make_shared<const State>(
          State{std::move(type), std::move(device), nullptr, memory, nullptr, nullptr, {}})) {}

Tensor::Tensor(TensorType type, DeviceId device, std::shared_ptr<std::byte> memory) {
  std::byte* const data = memory.get();
  state_ = std::make_shared<const State>(
      State{std::move(type), std::move(device), std::move(memory), data, nullptr, nullptr, {}});
}

Tensor::Tensor(VariablePtr variable, std::byte* memory) {
  TensorType type = variable->type;
  DeviceId device = variable->device;
  state_ = std::make_shared<const State>(
      State{std::move(type), std::move(device), nullptr, memory, std::move(variable), nullptr, {}});
}

Tensor::Tensor(TensorType type, const Tensor& base, std::size_t offset)
    : state_(std::make_shared<const State>(State{std::move(type),
                                                 base.device(),
                                                 base.state_->owner,
                                                 base.view().data + offset,
                                                 base.state_->variable,
                                                 nullptr,
                                                 {},
                                                 true})) {}

Tensor::Tensor(std::shared_ptr<Trace> trace, Value value) {
  TensorType type = trace->graph.type(value);
  DeviceId device = trace->graph.node(value).device;
  state_ = std::make_shared<const State>(
      State{std::move(type), std::move(device), nullptr, nullptr, nullptr, std::move(trace), value});
}

Tensor Tensor::with_mask(Tensor mask) const {
  Tensor masked = *this;
  masked.mask_ = std::make_shared<const Tensor>(std::move(mask));
  return masked;
}

void Tensor::refuse_values() {
  throw Error("a tensor of a traced function has a type but no values");
}

}  // namespace gpubench
