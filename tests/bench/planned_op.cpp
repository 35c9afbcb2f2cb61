#include "tests/bench/planned_op.h"

#include <array>

#include "core/backend/cpu/cpu_backend.h"
#include "core/backend/cpu/processor.h"
#include "core/experiment/kernels/kernel_case.h"

namespace gpubench::bench {
namespace {

const CpuBackend& backend() {
  static const CpuBackend cpu(std::array{CpuDeviceOptions{.memory = {}, .threads = usable_cores()}});
  return cpu;
}

}  // namespace

void measure_op(benchmark::State& state, const OpPtr& op, std::vector<TensorType> inputs) {
  PlannedKernel kernel(backend(), *backend().devices()[0], *op, std::move(inputs));
  kernel.run();
  measure_runs(state, [&] {
    kernel.run();
    kernel.synchronize();
  });
  state.counters["flops"] = benchmark::Counter(kernel.flops(), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["bytes"] = benchmark::Counter(kernel.bytes(), benchmark::Counter::kIsIterationInvariantRate);
  state.SetLabel(std::string(kernel.implementation()));
}

}  // namespace gpubench::bench
