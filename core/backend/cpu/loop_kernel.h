// gpubench's own CPU kernels: a function object that holds the planned choices and is called with the memory of each
// run.
#pragma once
#include <memory>
#include <utility>

#include "core/backend/backend.h"

namespace gpubench::cpu {

using Views = std::span<const TensorView>;

template <class Body>
class LoopKernel final : public Kernel {
 public:
  LoopKernel(Body body, std::size_t workspace) : body_(std::move(body)), workspace_bytes_(workspace) {}
  std::string_view implementation() const override { return "loop"; }
  std::size_t workspace_bytes() const override { return workspace_bytes_; }
  void run(Stream&, Views inputs, Views outputs, std::span<std::byte> workspace) override {
    if constexpr (std::is_invocable_v<Body&, Views, Views, std::span<std::byte>>) {
      body_(inputs, outputs, workspace);
    } else {
      body_(inputs, outputs);
    }
  }

 private:
  Body body_;
  std::size_t workspace_bytes_;
};

/// body(inputs, outputs) or body(inputs, outputs, workspace).
template <class Body>
std::unique_ptr<Kernel> loop_kernel(Body body, std::size_t workspace_bytes = 0) {
  return std::make_unique<LoopKernel<Body>>(std::move(body), workspace_bytes);
}

}  // namespace gpubench::cpu
