// A library that scripts run with --trusted can load with package.loadlib, to make the first GPU fault: its kernel
// traps, after which every CUDA call of the process fails.
namespace {

__global__ void fault() {
  asm volatile("trap;");
}

}  // namespace

/// A lua_CFunction without results; blocks until the GPU has faulted.
extern "C" int gpubench_fault(void*) {
  fault<<<1, 1>>>();
  static_cast<void>(cudaDeviceSynchronize());
  return 0;
}
