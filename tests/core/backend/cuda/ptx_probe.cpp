#include "tests/core/backend/cuda/ptx_probe.h"

#include <cstdlib>
#include <vector>

#include "tests/support/cuda_on_cpu/queue.h"
#include "tests/support/ptx/launch.h"

namespace gpubench::ptx {
namespace {

void require(cudaError_t status) {
  if (status != cudaSuccess) std::_Exit(1);
}

}  // namespace

std::string probe(std::string_view body, std::string_view variables) {
  std::string text(header);
  text.append(variables).append(
      ".visible .entry probe(.param .u64 out, .param .u64 a, .param .u64 b, .param .u64 c)\n{\n"
      ".reg .pred %p<16>;\n.reg .b16 %rs<16>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n"
      ".reg .f32 %f<16>;\n.reg .f64 %fd<16>;\n");
  return text.append(body).append("\nret;\n}\n");
}

void launch_probe(const std::string& text, unsigned threads, std::initializer_list<std::uint64_t> arguments) {
  launch_probe(Module(text), threads, arguments);
}

void launch_probe(const Module& module, unsigned threads, std::initializer_list<std::uint64_t> arguments) {
  std::vector<std::uint64_t> values(arguments);
  values.resize(4);
  std::vector<const void*> places;
  for (const std::uint64_t& value : values) places.push_back(&value);
  cudaStream_t stream = nullptr;
  require(cudaSetDevice(0));
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const Launch launch = make_launch(module, module.function("probe"), dim3(threads), 0, places.data());
  const auto work = [&] { run(launch, dim3(1), dim3(threads), nullptr); };
  require(cuda_on_cpu::queue(stream, work));
  require(cudaStreamSynchronize(stream));
  require(cudaStreamDestroy(stream));
}

std::uint64_t device_memory(std::size_t bytes) {
  void* memory = nullptr;
  require(cudaSetDevice(0));
  require(cudaMalloc(&memory, bytes));
  return reinterpret_cast<std::uint64_t>(memory);
}

std::uint64_t zeros(std::size_t bytes) {
  const std::uint64_t memory = device_memory(bytes);
  require(cudaMemsetAsync(reinterpret_cast<void*>(memory), 0, bytes, cudaStreamLegacy));
  require(cudaStreamSynchronize(cudaStreamLegacy));
  return memory;
}

}  // namespace gpubench::ptx
