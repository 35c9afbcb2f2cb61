// cudnnSoftmaxForward and its backward, over any strides.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "tests/support/cuda_on_cpu/dnn.h"

struct cudnnTensorStruct {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::array<int, 4> dims{};  // 0: not set
  std::array<int, 4> strides{};

  bool operator==(const cudnnTensorStruct&) const = default;
};

namespace gpubench::cuda_on_cpu {
namespace {

/// body(offsets of one softmax) for each: all of an image, or all channels of a pixel.
template <class Body>
void for_each_softmax(const cudnnTensorStruct& tensor, cudnnSoftmaxMode_t mode, const Body& body) {
  const auto& [n, c, h, w] = tensor.dims;
  std::vector<std::int64_t> offsets;
  const auto add = [&](int image, int channel, int row, int column) {
    offsets.push_back(std::int64_t{image} * tensor.strides[0] + std::int64_t{channel} * tensor.strides[1] +
                      std::int64_t{row} * tensor.strides[2] + std::int64_t{column} * tensor.strides[3]);
  };
  const bool by_pixel = mode == CUDNN_SOFTMAX_MODE_CHANNEL;
  for (int image = 0; image < n; ++image) {
    for (int pixel = 0; pixel < h * w; ++pixel) {
      if (by_pixel || pixel == 0) offsets.clear();
      for (int channel = 0; channel < c; ++channel) add(image, channel, pixel / w, pixel % w);
      if (by_pixel || pixel == h * w - 1) body(offsets);
    }
  }
}

cudnnStatus_t check_arguments(cudnnHandle_t handle, std::initializer_list<cudnnTensorDescriptor_t> descriptors,
                              std::initializer_list<const void*> pointers) {
  if (handle == nullptr) return refused(CUDNN_STATUS_BAD_PARAM, "no handle");
  for (const void* pointer : pointers) {
    if (pointer == nullptr) return refused(CUDNN_STATUS_BAD_PARAM, "a null pointer");
  }
  const cudnnTensorStruct& first = **descriptors.begin();
  for (const cudnnTensorDescriptor_t each : descriptors) {
    if (each->dims[0] == 0) return refused(CUDNN_STATUS_BAD_PARAM, "a tensor descriptor that was never set");
    if (each->dims != first.dims || each->type != first.type) {
      return refused(CUDNN_STATUS_BAD_PARAM, "the tensors differ in dimensions or type");
    }
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* descriptor) {
  *descriptor = new cudnnTensorStruct;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t descriptor, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w) {
  if (n <= 0 || c <= 0 || h <= 0 || w <= 0) return refused(CUDNN_STATUS_BAD_PARAM, "an extent below 1");
  descriptor->type = type;
  descriptor->dims = {n, c, h, w};
  descriptor->strides =
      format == CUDNN_TENSOR_NHWC ? std::array{c * h * w, 1, w * c, c} : std::array{c * h * w, h * w, w, 1};
  return CUDNN_STATUS_SUCCESS;
}

// The scaling factors are float for these types, on the host, and read by the call.
cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode,
                                  const void* alpha, const cudnnTensorDescriptor_t x_descriptor, const void* x,
                                  const void* beta, const cudnnTensorDescriptor_t y_descriptor, void* y) {
  const cudnnStatus_t status = check_arguments(handle, {x_descriptor, y_descriptor}, {alpha, x, beta, y});
  if (status != CUDNN_STATUS_SUCCESS) return status;
  if (!(*x_descriptor == *y_descriptor)) return refused(CUDNN_STATUS_NOT_SUPPORTED, "different strides");
  const float scale = *static_cast<const float*>(alpha), keep = *static_cast<const float*>(beta);
  return queue(handle, [=, tensor = *x_descriptor] {
    for_each_softmax(tensor, mode, [&](const std::vector<std::int64_t>& at) {
      double largest = -INFINITY, sum = 0;
      for (const std::int64_t i : at) largest = std::max(largest, load(x, tensor.type, i));
      if (algorithm == CUDNN_SOFTMAX_FAST) largest = 0;
      for (const std::int64_t i : at) sum += std::exp(load(x, tensor.type, i) - largest);
      for (const std::int64_t i : at) {
        const double shifted = load(x, tensor.type, i) - largest;
        double value = algorithm == CUDNN_SOFTMAX_LOG ? shifted - std::log(sum) : std::exp(shifted) / sum;
        value *= static_cast<double>(scale);
        if (keep != 0) value += static_cast<double>(keep) * load(y, tensor.type, i);
        store(y, tensor.type, i, value);
      }
    });
  });
}

cudnnStatus_t cudnnSoftmaxBackward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode,
                                   const void* alpha, const cudnnTensorDescriptor_t y_descriptor, const void* y,
                                   const cudnnTensorDescriptor_t dy_descriptor, const void* dy, const void* beta,
                                   const cudnnTensorDescriptor_t dx_descriptor, void* dx) {
  const cudnnStatus_t status =
      check_arguments(handle, {y_descriptor, dy_descriptor, dx_descriptor}, {alpha, y, dy, beta, dx});
  if (status != CUDNN_STATUS_SUCCESS) return status;
  if (!(*y_descriptor == *dx_descriptor) || !(*dy_descriptor == *dx_descriptor)) {
    return refused(CUDNN_STATUS_NOT_SUPPORTED, "different strides");
  }
  const float scale = *static_cast<const float*>(alpha), keep = *static_cast<const float*>(beta);
  return queue(handle, [=, tensor = *y_descriptor] {
    const bool logarithm = algorithm == CUDNN_SOFTMAX_LOG;
    for_each_softmax(tensor, mode, [&](const std::vector<std::int64_t>& at) {
      double sum = 0;
      for (const std::int64_t i : at) {
        sum += load(dy, tensor.type, i) * (logarithm ? 1 : load(y, tensor.type, i));
      }
      for (const std::int64_t i : at) {
        const double result = load(y, tensor.type, i), slope = load(dy, tensor.type, i);
        double value = logarithm ? slope - std::exp(result) * sum : result * (slope - sum);
        value *= static_cast<double>(scale);
        if (keep != 0) value += static_cast<double>(keep) * load(dx, tensor.type, i);
        store(dx, tensor.type, i, value);
      }
    });
  });
}
}

}  // namespace gpubench::cuda_on_cpu
