// One op at one size for kernel benchmarks: matrix products and convolutions, described by their extents.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend/backend.h"
#include "core/graph/op.h"
#include "core/ops/window.h"

namespace gpubench {

struct KernelCase {
  std::string op;     ///< "matmul", "conv2d"
  std::string shape;  ///< "1024x1024x1024": for rows and messages
  Dtype dtype = Dtype::f32;
  OpPtr description;
  std::vector<TensorType> inputs;
};

struct MatmulExtents {
  std::int64_t m = 0, n = 0, k = 0;
};
/// [m, k] times [k, n]. Throws Error for extents below 1 and non-floating types.
KernelCase matmul_case(const MatmulExtents& extents, Dtype dtype);

struct Conv2DExtents {
  std::int64_t batch = 0, height = 0, width = 0, channels = 0;
  std::int64_t filters = 0, kernel_size = 3, strides = 1;
  Padding padding = Padding::valid;
};
/// Throws Error as matmul_case does, and for windows that do not fit.
KernelCase conv2d_case(const Conv2DExtents& extents, Dtype dtype);

/// An op planned for fixed types on one device, with its own memory. The memory holds numbers of ordinary size, because
/// zeros, denormals or garbage would change the speed; that of an emulated device holds none.
class PlannedKernel {
 public:
  /// Throws as Op::infer, Backend::plan and MemoryPool::allocate do. Integers are 0.
  PlannedKernel(const Backend& backend, Device& device, const Op& op, std::vector<TensorType> inputs);

  /// Queues one run.
  void run() { kernel_->run(*stream_, inputs_, outputs_, {workspace_.data(), workspace_.bytes()}); }
  void synchronize() { stream_->synchronize(); }

  std::string_view implementation() const { return kernel_->implementation(); }
  std::optional<Seconds> known_time() const { return kernel_->known_time(); }
  double flops() const { return flops_; }
  double bytes() const { return bytes_; }

 private:
  TensorView allocate(Device& device, const TensorType& type);

  std::vector<TensorType> types_;  // inputs, then outputs
  std::unique_ptr<Kernel> kernel_;
  Stream* stream_ = nullptr;
  std::vector<Buffer> buffers_;
  std::vector<TensorView> inputs_, outputs_;
  Buffer workspace_;
  double flops_ = 0, bytes_ = 0;
};

}  // namespace gpubench
