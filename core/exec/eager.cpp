#include "core/exec/eager.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <typeindex>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/exec/device_copy.h"
#include "core/graph/leaf_ops.h"
#include "core/trace/launching_node.h"

namespace gpubench {
namespace {

void mix(std::size_t& hash, std::size_t value) {
  hash ^= value + 0x9e3779b97f4a7c15U + (hash << 6U) + (hash >> 2U);
}

constexpr struct {
  const TensorType& operator()(const TensorType& type) const { return type; }
  const TensorType& operator()(const Tensor& tensor) const { return tensor.type(); }
} type_of;

class Nesting {
 public:
  explicit Nesting(int& depth) : depth_(depth) { ++depth_; }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int& depth_;
};

}  // namespace

struct Eager::Key {
  std::type_index op;
  std::string attributes;
  std::vector<TensorType> inputs;
  const Device* device;
};

/// What a key is compared with: nothing of the inputs is copied.
struct Eager::Wanted {
  std::type_index op;
  std::string attributes;
  std::span<const Tensor> inputs;
  const Device* device;
};

struct Eager::KeyHash {
  using is_transparent = void;
  template <class Either>
  std::size_t operator()(const Either& key) const {
    std::size_t hash = key.op.hash_code();
    mix(hash, std::hash<std::string>{}(key.attributes));
    mix(hash, std::hash<const void*>{}(key.device));
    for (const auto& input : key.inputs) {
      const TensorType& type = type_of(input);
      mix(hash, static_cast<std::size_t>(type.dtype));
      for (const std::int64_t extent : type.shape) mix(hash, static_cast<std::size_t>(extent));
    }
    return hash;
  }
};

struct Eager::KeyEqual {
  using is_transparent = void;
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return a.op == b.op && a.device == b.device && a.attributes == b.attributes &&
           std::ranges::equal(a.inputs, b.inputs, {}, type_of, type_of);
  }
};

/// A kernel and everything that is the same at every launch.
struct Eager::Planned {
  bool is_transfer = false;        // its input is where it shall be already
  std::unique_ptr<Kernel> kernel;  // null: a view, or a transfer
  std::vector<TensorType> outputs;
  std::vector<int> in_place;  // by output: the input it updates, or -1
  std::size_t workspace = 0;
  std::vector<TensorView> input_views, output_views;
};

Eager::Eager(Runtime& runtime) : runtime_(runtime), kernels_(std::make_unique<Kernels>()) {}
Eager::~Eager() {
  runtime_.drain();
}

std::size_t Eager::kernels() const {
  return kernels_->size();
}

Eager::Planned& Eager::plan(const OpPtr& op, std::span<const Tensor> inputs, const DeviceId& id) {
  Device& device = runtime_.devices().device(id);
  const Op& described = *op;
  Wanted wanted{typeid(described), op->attributes(), inputs, &device};
  const auto found = kernels_->find(wanted);
  if (found != kernels_->end()) return found->second;

  if (kernels_->size() >= most_kernels && applying_ == 1) {
    runtime_.synchronize();
    kernels_->clear();
  }
  Key key{wanted.op, std::move(wanted.attributes), {}, &device};
  for (const Tensor& input : inputs) key.inputs.push_back(input.type());
  Planned planned;
  planned.is_transfer = dynamic_cast<const Transfer*>(op.get()) != nullptr;
  planned.outputs = checked_outputs(*op, key.inputs);
  planned.in_place.assign(planned.outputs.size(), -1);
  bool view = false;
  for (const Alias& alias : op->aliases()) {
    view = view || alias.kind == Alias::Kind::view;
    if (alias.kind == Alias::Kind::in_place) planned.in_place[static_cast<std::size_t>(alias.output)] = alias.input;
  }
  if (!view && !planned.is_transfer) {
    const Signature signature{key.inputs, planned.outputs};
    device.bind_to_thread();  // a kernel is planned for the threads of its device
    planned.kernel = runtime_.devices().backend(id).plan(*op, signature, device);
    planned.workspace = planned.kernel->workspace_bytes();
  }
  return kernels_->emplace(std::move(key), std::move(planned)).first->second;
}

std::vector<Tensor> Eager::apply(const OpPtr& op, std::span<const Tensor> inputs, const DeviceId& id,
                                 std::string_view label, const Part& part) {
  const Computation computation;
  const Nesting nesting(applying_);
  const SpanScope launching(part.node == NodeId::none ? runtime_.spans() : nullptr, SpanClass::launch);
  const bool elsewhere = std::any_of(inputs.begin(), inputs.end(), [&](const Tensor& t) { return t.device() != id; });
  std::vector<Tensor> moved;
  if (elsewhere) {
    for (const Tensor& input : inputs) moved.push_back(transfer(input, id));
    inputs = moved;
  }
  Planned& planned = plan(op, inputs, id);
  if (planned.is_transfer) return {inputs[0]};
  if (planned.kernel == nullptr) return {Tensor(planned.outputs[0], inputs[0], view_offset(*op, planned.outputs[0]))};

  Device& device = runtime_.devices().device(id);
  device.bind_to_thread();
  std::vector<Tensor> outputs;
  outputs.reserve(planned.outputs.size());
  for (std::size_t o = 0; o < planned.outputs.size(); ++o) {
    const int updated = planned.in_place[o];
    if (updated >= 0) {
      outputs.push_back(inputs[static_cast<std::size_t>(updated)]);
      if (const VariablePtr& variable = outputs.back().variable_read()) ++runtime_.variables().writes(*variable);
    } else {
      outputs.emplace_back(planned.outputs[o], id, device.memory().allocate(planned.outputs[o].bytes(), label));
    }
  }
  Buffer workspace;
  if (planned.workspace != 0) workspace = device.memory().allocate(planned.workspace, label);
  planned.input_views.clear();
  planned.output_views.clear();
  for (const Tensor& input : inputs) planned.input_views.push_back(input.view());
  for (const Tensor& output : outputs) planned.output_views.push_back(output.view());
  run_kernel(*op, planned, {workspace.data(), planned.workspace}, device, part);
  return outputs;
}

void Eager::run_kernel(const Op& op, const Planned& planned, std::span<std::byte> workspace, Device& device,
                       const Part& part) {
  HostSpans* const spans = runtime_.spans();
  if (spans == nullptr) {
    planned.kernel->run(device.stream(), planned.input_views, planned.output_views, workspace);
    return;
  }
  const NodeId traced = part.node == NodeId::none ? node(op, part) : part.node;
  const LaunchingNode launching(traced);
  const Clock::time_point begin = spans->now();
  planned.kernel->run(device.stream(), planned.input_views, planned.output_views, workspace);
  spans->add(device.shares_host_memory() ? SpanClass::compute : SpanClass::launch, traced, begin, spans->now());
}

NodeId Eager::node(const Op& op, const Part& part) const {
  return runtime_.spans()->node(op.name(), part.owner == nullptr ? std::string_view() : part.owner->name,
                                to_string(part.role));
}

Tensor Eager::upload(const HostTensor& value, const DeviceId& id, std::string_view label) {
  Buffer buffer = runtime_.devices().device(id).memory().allocate(value.bytes(), label);
  const SpanScope copying(runtime_.copy_spans(id), CopyPath::host_to_device);
  Stream& stream = runtime_.stream(id);
  stream.copy(buffer.data(), value.data(), value.bytes());
  stream.synchronize();
  return {value.type(), id, std::move(buffer)};
}

Tensor Eager::borrow(const TensorView& host, const DeviceId& id, std::string_view label) {
  Device& device = runtime_.devices().device(id);
  if (device.shares_host_memory()) return {*host.type, id, host.data};
  Buffer buffer = device.memory().allocate(host.type->bytes(), label);
  runtime_.stream(id).copy(buffer.data(), host.data, host.type->bytes());
  return {*host.type, id, std::move(buffer)};
}

HostTensor Eager::download(const Tensor& tensor) {
  HostTensor value(tensor.type());
  const SpanScope copying(runtime_.copy_spans(tensor.device()), CopyPath::device_to_host);
  Stream& stream = runtime_.stream(tensor.device());
  stream.copy(value.data(), tensor.view().data, value.bytes());
  stream.synchronize();
  return value;
}

HostTensor Eager::on_host(const Tensor& tensor) {
  if (!runtime_.devices().device(tensor.device()).shares_host_memory()) return download(tensor);
  std::shared_ptr<std::byte> memory = tensor.memory();
  if (memory == nullptr) return download(tensor);
  runtime_.stream(tensor.device()).synchronize();
  return {tensor.type(), std::move(memory)};
}

Tensor Eager::transfer(const Tensor& tensor, const DeviceId& id) {
  if (tensor.device() == id) return tensor;
  Buffer buffer = runtime_.devices().device(id).memory().allocate(tensor.type().bytes(), "transfer");
  const bool on_host = runtime_.copy_spans(tensor.device()) != nullptr && runtime_.copy_spans(id) != nullptr;
  const SpanScope copying(on_host ? runtime_.spans() : nullptr, CopyPath::between_devices);
  DeviceCopy copy(runtime_.devices().device(tensor.device()), runtime_.devices().device(id));
  copy.queue(buffer.data(), tensor.view().data, tensor.type().bytes());
  copy.release_source();  // the tensor may be released before the copy has run
  return {tensor.type(), id, std::move(buffer)};
}

Tensor Eager::copy(const Tensor& tensor) {
  Device& device = runtime_.devices().device(tensor.device());
  Buffer buffer = device.memory().allocate(tensor.type().bytes(), "copy");
  const SpanScope copying(runtime_.copy_spans(tensor.device()), CopyPath::within_device);
  runtime_.stream(tensor.device()).copy(buffer.data(), tensor.view().data, tensor.type().bytes());
  return {tensor.type(), tensor.device(), std::move(buffer)};
}

namespace {

/// The page-locked memory of a device that is in use, else of the first that can be used; nullptr for none.
MemoryPool* page_locked(const Devices& devices) {
  for (const bool tries : {false, true}) {
    for (const DeviceId& id : devices.ids()) {
      Device& device = devices.device(id);
      if (device.host_memory() == nullptr) continue;
      if (device.in_use() || (tries && !devices.fault(id))) return device.host_memory();
    }
  }
  return nullptr;
}

}  // namespace

Tensor Eager::pin(const Tensor& tensor) {
  const Devices& devices = runtime_.devices();
  if (!devices.device(tensor.device()).shares_host_memory()) {
    throw Error(fmt::format("pin_memory: the tensor is in the memory of {}; only memory of the host can be page-locked",
                            to_string(tensor.device())));
  }
  MemoryPool* const memory = page_locked(devices);
  if (memory == nullptr) throw Error("pin_memory: there is no GPU here that would copy from page-locked memory");
  Buffer buffer = memory->allocate(tensor.type().bytes(), "pin_memory");
  runtime_.stream(tensor.device()).copy(buffer.data(), tensor.view().data, tensor.type().bytes());
  return {tensor.type(), tensor.device(), std::move(buffer)};
}

Tensor Eager::of(const VariablePtr& variable) {
  return {variable, runtime_.variables().view(*variable).data};
}

}  // namespace gpubench
