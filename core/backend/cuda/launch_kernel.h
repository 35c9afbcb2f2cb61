// gpubench's own GPU kernels: a function object that holds the planned choices and launches with the stream and memory
// of each run.
#pragma once
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "core/backend/backend.h"
#include "core/backend/cuda/cuda_device.h"
#include "core/backend/cuda/cuda_stream.h"
#include "core/backend/cuda/kernels/launch.h"
#include "core/backend/cuda/status.h"

namespace gpubench::cuda {

using Views = std::span<const TensorView>;

template <class Body>
class LaunchKernel final : public Kernel {
 public:
  LaunchKernel(std::string_view op, Device& device, Body body, std::size_t workspace)
      : op_(op),
        multiprocessors_(cuda_device(device).properties().multiprocessors),
        body_(std::move(body)),
        workspace_bytes_(workspace) {}

  std::string_view implementation() const override { return "kernel"; }
  std::size_t workspace_bytes() const override { return workspace_bytes_; }
  void run(Stream& stream, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    const LaunchOn on{handle_of(stream), multiprocessors_};
    if constexpr (std::is_invocable_v<Body&, const LaunchOn&, Views, Views, std::span<std::byte>>) {
      check(body_(on, inputs, outputs, workspace), op_);
    } else {
      check(body_(on, inputs, outputs), op_);
    }
  }

 private:
  std::string op_;
  int multiprocessors_;
  Body body_;
  std::size_t workspace_bytes_;
};

/// body(on, inputs, outputs) or body(on, inputs, outputs, workspace) launches and returns CUDA's status.
template <class Body>
std::unique_ptr<Kernel> launch_kernel(const Op& op, Device& device, Body body, std::size_t workspace_bytes = 0) {
  return std::make_unique<LaunchKernel<Body>>(op.name(), device, std::move(body), workspace_bytes);
}

}  // namespace gpubench::cuda
