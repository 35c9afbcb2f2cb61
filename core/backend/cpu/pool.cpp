#include "core/backend/cpu/pool.h"

#include "core/backend/cpu/float32_only.h"
#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/parallel.h"
#include "core/backend/cpu/pool_loops.h"

namespace gpubench::cpu {
namespace {

struct Plan {
  Plan(std::string_view op, const Pool2DAttributes& options, const TensorType& image, Device& device)
      : window(op, options, image.shape), cost(image.elements() * 2) {
    require_float32(op, image);
    device.bind_to_thread();
  }

  /// body(image, first result row, last result row), in the device's threads.
  template <class Body>
  void for_rows(Body&& body) const {
    const std::int64_t lines = window.batch * window.out_height;
    parallel_ranges(threads_for(lines, cost), lines, [&](int, std::int64_t begin, std::int64_t end) {
      while (begin < end) {
        const std::int64_t image = begin / window.out_height, start = image * window.out_height;
        const std::int64_t last = std::min(end, start + window.out_height);
        body(image, begin - start, last - start);
        begin = last;
      }
    });
  }

  /// body(image), in the device's threads.
  template <class Body>
  void for_images(Body&& body) const {
    parallel_ranges(threads_for(window.batch, cost), window.batch, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t image = begin; image < end; ++image) body(image);
    });
  }

  PoolWindow window;
  std::int64_t cost;
};

template <class Winner>
std::unique_ptr<Kernel> plan_max(const Plan& plan) {
  return loop_kernel([plan](Views inputs, Views outputs) {
    const float* const x = inputs[0].as<float>();
    float* const y = outputs[0].as<float>();
    Winner* const winners = outputs[1].as<Winner>();
    const PoolWindow& w = plan.window;
    plan.for_rows([&](std::int64_t image, std::int64_t first, std::int64_t last) {
      const std::int64_t to = image * w.result_elements();
      max_pool_rows(w, first, last, x + image * w.image_elements(), y + to, winners + to);
    });
  });
}

template <class Winner>
std::unique_ptr<Kernel> plan_max_gradient(const Plan& plan) {
  return loop_kernel([plan](Views inputs, Views outputs) {
    const float* const dy = inputs[0].as<float>();
    const Winner* const winners = inputs[1].as<Winner>();
    float* const dx = outputs[0].as<float>();
    const PoolWindow& w = plan.window;
    plan.for_images([&](std::int64_t image) {
      const std::int64_t from = image * w.result_elements();
      max_pool_gradient(w, dy + from, winners + from, dx + image * w.image_elements());
    });
  });
}

float elements_of(const PoolWindow::Place& at) {
  return static_cast<float>((at.bottom - at.top) * (at.right - at.left));
}

}  // namespace

std::unique_ptr<Kernel> plan_max_pool2d(const MaxPool2D& op, const Signature& signature, Device& device) {
  const Plan plan(op.name(), op.options, signature.inputs[0], device);
  if (signature.outputs[1].dtype == Dtype::u8) return plan_max<std::uint8_t>(plan);
  return plan_max<std::int32_t>(plan);
}

std::unique_ptr<Kernel> plan_max_pool2d_gradient(const MaxPool2DGradient& op, const Signature& signature,
                                                 Device& device) {
  const Plan plan(op.name(), op.options, signature.outputs[0], device);
  if (signature.inputs[1].dtype == Dtype::u8) return plan_max_gradient<std::uint8_t>(plan);
  return plan_max_gradient<std::int32_t>(plan);
}

std::unique_ptr<Kernel> plan_average_pool2d(const AveragePool2D& op, const Signature& signature, Device& device) {
  const Plan plan(op.name(), op.options, signature.inputs[0], device);
  return loop_kernel([plan](Views inputs, Views outputs) {
    const float* const x = inputs[0].as<float>();
    float* const y = outputs[0].as<float>();
    const PoolWindow& w = plan.window;
    plan.for_rows([&](std::int64_t image, std::int64_t first, std::int64_t last) {
      const float* const from = x + image * w.image_elements();
      w.for_rows(first, last, [&](std::int64_t index, const PoolWindow::Place& at) {
        float* const to = y + image * w.result_elements() + index * w.channels;
        std::fill_n(to, w.channels, 0.0F);
        for_each_element(w, at, [&](std::int64_t offset, std::int32_t) {
          for (std::int64_t c = 0; c < w.channels; ++c) to[c] += from[offset + c];
        });
        const float scale = 1.0F / elements_of(at);
        for (std::int64_t c = 0; c < w.channels; ++c) to[c] *= scale;
      });
    });
  });
}

std::unique_ptr<Kernel> plan_average_pool2d_gradient(const AveragePool2DGradient& op, const Signature& signature,
                                                     Device& device) {
  const Plan plan(op.name(), op.options, signature.outputs[0], device);
  return loop_kernel([plan](Views inputs, Views outputs) {
    const float* const dy = inputs[0].as<float>();
    float* const gradient = outputs[0].as<float>();
    const PoolWindow& w = plan.window;
    plan.for_images([&](std::int64_t image) {
      float* const dx = gradient + image * w.image_elements();
      std::fill_n(dx, w.image_elements(), 0.0F);
      w.for_rows(0, w.out_height, [&](std::int64_t index, const PoolWindow::Place& at) {
        const float* const slope = dy + image * w.result_elements() + index * w.channels;
        const float scale = 1.0F / elements_of(at);
        for_each_element(w, at, [&](std::int64_t offset, std::int32_t) {
          for (std::int64_t c = 0; c < w.channels; ++c) dx[offset + c] += slope[c] * scale;
        });
      });
    });
  });
}

}  // namespace gpubench::cpu
