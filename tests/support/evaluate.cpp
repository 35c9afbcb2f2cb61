#include "tests/support/evaluate.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <stdexcept>
#include <utility>

#include "core/device/device.h"
#include "core/graph/leaf_ops.h"

namespace gpubench::support {
namespace {

std::function<std::shared_ptr<Buffer>(std::size_t bytes)>& allocate_apart() {
  static std::function<std::shared_ptr<Buffer>(std::size_t bytes)> allocate;
  return allocate;
}

/// Memory on the device that may be shared by several values.
struct Held {
  std::shared_ptr<Buffer> buffer;
  TensorType type;
  std::size_t offset = 0;

  TensorView view() const { return {&type, buffer->data() + offset}; }
};

class Bench {
 public:
  Bench(const Backend& backend, Device& device) : backend_(backend), device_(device), stream_(device.stream()) {
    device.bind_to_thread();
  }

  Held upload(const HostTensor& tensor) {
    Held held = fresh(tensor.type());
    stream_.copy(held.buffer->data(), tensor.data(), tensor.bytes());
    return held;
  }

  HostTensor download(const Held& held) {
    HostTensor tensor(held.type);
    stream_.copy(tensor.data(), held.buffer->data() + held.offset, tensor.bytes());
    stream_.synchronize();
    return tensor;
  }

  std::vector<Held> run(const Op& op, const std::vector<Held>& inputs, const Alias* overwrite) {
    std::vector<TensorType> input_types, output_types;
    for (const Held& input : inputs) input_types.push_back(input.type);
    output_types = op.infer(input_types);

    bool is_view = false;
    std::vector<Held> outputs(output_types.size());
    const auto share = [&](const Alias& alias) {
      const Held& input = inputs[static_cast<std::size_t>(alias.input)];
      const TensorType& type = output_types[static_cast<std::size_t>(alias.output)];
      const bool view = alias.kind == Alias::Kind::view;
      outputs[static_cast<std::size_t>(alias.output)] = {input.buffer, type,
                                                         input.offset + (view ? view_offset(op, type) : 0)};
    };
    for (const Alias& alias : op.aliases()) {
      if (alias.kind != Alias::Kind::may_overwrite) share(alias);
      is_view = is_view || alias.kind == Alias::Kind::view;
    }
    if (is_view) return outputs;
    if (overwrite != nullptr) share(*overwrite);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].buffer == nullptr) outputs[i] = fresh(output_types[i]);
    }

    const auto kernel = backend_.plan(op, {input_types, output_types}, device_);
    testing::Test::RecordProperty(std::string(kernel->implementation()), implementation_property);
    const std::size_t workspace_bytes = kernel->workspace_bytes();
    const std::shared_ptr<Buffer> workspace = allocate(std::max<std::size_t>(workspace_bytes, 1), "workspace");
    std::vector<TensorView> input_views, output_views;
    for (const Held& input : inputs) input_views.push_back(input.view());
    for (const Held& output : outputs) output_views.push_back(output.view());
    kernel->run(stream_, input_views, output_views, {workspace->data(), workspace_bytes});
    stream_.synchronize();
    return outputs;
  }

 private:
  std::shared_ptr<Buffer> allocate(std::size_t bytes, std::string_view label) {
    if (allocate_apart()) return allocate_apart()(bytes);
    return std::make_shared<Buffer>(device_.memory().allocate(bytes, label));
  }

  Held fresh(const TensorType& type) {
    Held held{allocate(type.bytes(), "test"), type};
    if (allocate_apart()) return held;
    const std::vector<unsigned char> bytes(held.buffer->bytes(), poison);
    stream_.copy(held.buffer->data(), bytes.data(), bytes.size());
    stream_.synchronize();
    return held;
  }

  const Backend& backend_;
  Device& device_;
  Stream& stream_;
};

}  // namespace

void lay_tensors_apart(std::function<std::shared_ptr<Buffer>(std::size_t bytes)> allocate) {
  allocate_apart() = std::move(allocate);
}

std::vector<HostTensor> evaluate(const Backend& backend, Device& device, const Graph& graph,
                                 std::span<const HostTensor> inputs, Values outputs) {
  Bench bench(backend, device);
  std::vector<std::vector<Held>> values;
  for (const Node& node : graph.nodes()) {
    if (const auto* input = dynamic_cast<const InputOp*>(node.op.get())) {
      values.push_back({bench.upload(inputs[static_cast<std::size_t>(input->index())])});
      continue;
    }
    if (const auto* constant = dynamic_cast<const ConstantOp*>(node.op.get())) {
      values.push_back({bench.upload(constant->value())});
      continue;
    }
    if (dynamic_cast<const VariableOp*>(node.op.get()) != nullptr) throw std::logic_error("evaluate: a variable");
    std::vector<Held> arguments;
    for (const Value value : node.inputs) {
      arguments.push_back(values[static_cast<std::size_t>(value.node)][static_cast<std::size_t>(value.output)]);
    }
    values.push_back(bench.run(*node.op, arguments, nullptr));
  }
  std::vector<HostTensor> results;
  for (const Value value : outputs) {
    results.push_back(
        bench.download(values[static_cast<std::size_t>(value.node)][static_cast<std::size_t>(value.output)]));
  }
  return results;
}

std::vector<HostTensor> evaluate(const Backend& backend, Device& device, const Op& op,
                                 std::span<const HostTensor> inputs, const Alias* overwrite) {
  Bench bench(backend, device);
  std::vector<Held> held;
  for (const HostTensor& input : inputs) held.push_back(bench.upload(input));
  std::vector<HostTensor> results;
  for (const Held& output : bench.run(op, held, overwrite)) results.push_back(bench.download(output));
  return results;
}

}  // namespace gpubench::support
