#include "tests/bench/planned_op.h"

#include <array>
#include <random>

#include "core/backend/cpu/cpu_backend.h"
#include "core/backend/cpu/processor.h"

namespace gpubench::bench {
namespace {

const CpuBackend& backend() {
  static const CpuBackend cpu(std::array{CpuDeviceOptions{.memory = {}, .threads = usable_cores()}});
  return cpu;
}

HostTensor filled(const TensorType& type) {
  HostTensor tensor = HostTensor::zeros(type);
  if (type.dtype != Dtype::f32) return tensor;
  std::minstd_rand random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& value : tensor.values<float>()) value = uniform(random);
  return tensor;
}

}  // namespace

PlannedOp::PlannedOp(OpPtr op, std::vector<TensorType> inputs)
    : op_(std::move(op)), input_types_(std::move(inputs)), output_types_(op_->infer(input_types_)) {
  Device& device = *backend().devices()[0];
  device.bind_to_thread();
  const Signature signature{input_types_, output_types_, {}, {}};
  kernel_ = backend().plan(*op_, signature, device);
  stream_ = device.new_stream();
  for (const TensorType& type : input_types_) tensors_.push_back(filled(type));
  for (const TensorType& type : output_types_) tensors_.push_back(filled(type));
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    (i < input_types_.size() ? inputs_ : outputs_).push_back(tensors_[i].view());
  }
  workspace_ = HostTensor(TensorType{{static_cast<std::int64_t>(kernel_->workspace_bytes())}, Dtype::u8});
}

void PlannedOp::run() {
  kernel_->run(*stream_, inputs_, outputs_, {workspace_.data(), workspace_.bytes()});
}

void PlannedOp::measure(benchmark::State& state) {
  run();
  measure_runs(state, [this] { run(); });
  state.counters["flops"] =
      benchmark::Counter(op_->flops(input_types_, output_types_), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["bytes"] =
      benchmark::Counter(op_->bytes(input_types_, output_types_), benchmark::Counter::kIsIterationInvariantRate);
  state.SetLabel(std::string(kernel_->implementation()));
}

}  // namespace gpubench::bench
