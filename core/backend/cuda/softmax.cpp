// Rows are cuDNN's images of one pixel, classes their channels: [rows, classes, 1, 1]. cuDNN documents that the
// gradient may overwrite dy or y; that the result may overwrite x holds because every kernel reads a row before it
// writes it.
#include "core/ops/softmax.h"

#include <limits>

#include "core/backend/cuda/cuda_device.h"
#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/cuda_stream.h"
#include "core/backend/cuda/cudnn.h"
#include "core/backend/cuda/status.h"

namespace gpubench::cuda {
namespace {

constexpr float one = 1, zero = 0;

class SoftmaxKernel final : public Kernel {
 public:
  SoftmaxKernel(const Op& op, const TensorType& type, Device& device, cudnnSoftmaxAlgorithm_t algorithm, bool gradient)
      : handle_(cuda_device(device).cudnn()), algorithm_(algorithm), gradient_(gradient) {
    require_floating(op, type);
    // cuDNN counts in int, and knows no empty tensors.
    if (type.elements() > std::numeric_limits<int>::max()) refuse(op, "more than 2147483647 elements");
    empty_ = type.elements() == 0;
    if (empty_) return;
    const auto classes = static_cast<int>(type.shape.back());
    const auto rows = static_cast<int>(type.elements() / type.shape.back());
    check(cudnn().set_tensor_4d_descriptor(rows_.get(), CUDNN_TENSOR_NCHW, cudnn_type(type.dtype), rows, classes, 1, 1),
          "cudnnSetTensor4dDescriptor");
  }

  std::string_view implementation() const override { return "cudnn:softmax"; }

  void run(Stream& stream, std::span<const TensorView> inputs, std::span<const TensorView> outputs,
           std::span<std::byte>) override {
    if (empty_) return;
    if (gradient_) {
      handle_.queue(handle_of(stream), "cudnnSoftmaxBackward", [&](cudnnHandle_t handle) {
        return cudnn().softmax_backward(handle, algorithm_, mode, &one, rows_.get(), inputs[1].data, rows_.get(),
                                        inputs[0].data, &zero, rows_.get(), outputs[0].data);
      });
    } else {
      handle_.queue(handle_of(stream), "cudnnSoftmaxForward", [&](cudnnHandle_t handle) {
        return cudnn().softmax_forward(handle, algorithm_, mode, &one, rows_.get(), inputs[0].data, &zero, rows_.get(),
                                       outputs[0].data);
      });
    }
  }

 private:
  static constexpr cudnnSoftmaxMode_t mode = CUDNN_SOFTMAX_MODE_INSTANCE;

  CudnnHandle& handle_;
  TensorDescriptor rows_;
  cudnnSoftmaxAlgorithm_t algorithm_;
  bool gradient_;
  bool empty_ = false;
};

std::unique_ptr<Kernel> plan_softmax(const Softmax& op, const Signature& signature, Device& device) {
  return std::make_unique<SoftmaxKernel>(op, signature.inputs[0], device, CUDNN_SOFTMAX_ACCURATE, false);
}

std::unique_ptr<Kernel> plan_softmax_gradient(const SoftmaxGradient& op, const Signature& signature, Device& device) {
  return std::make_unique<SoftmaxKernel>(op, signature.inputs[0], device, CUDNN_SOFTMAX_ACCURATE, true);
}

std::unique_ptr<Kernel> plan_log_softmax(const LogSoftmax& op, const Signature& signature, Device& device) {
  return std::make_unique<SoftmaxKernel>(op, signature.inputs[0], device, CUDNN_SOFTMAX_LOG, false);
}

std::unique_ptr<Kernel> plan_log_softmax_gradient(const LogSoftmaxGradient& op, const Signature& signature,
                                                  Device& device) {
  return std::make_unique<SoftmaxKernel>(op, signature.inputs[0], device, CUDNN_SOFTMAX_LOG, true);
}

}  // namespace

void add_softmax(KernelTable& table) {
  add_row<&plan_softmax>(table);
  add_row<&plan_softmax_gradient>(table);
  add_row<&plan_log_softmax>(table);
  add_row<&plan_log_softmax_gradient>(table);
}

}  // namespace gpubench::cuda
